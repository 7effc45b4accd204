"""Public states under a strategy, with the value of every private state; all values come from one pass for each player.

An infostate value is a player's expected return at a public state, given its private state, when both play the strategy: its
counterfactual value divided by the probability that chance and the opponent lead there. It is in the game's units and counts
from the start of the game: in hold'em, chips already in the pot are lost unless the player wins the pot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from tacit.kernels import make_passes
from tacit.kernels.numba_rows import RowPasses
from tacit.tree.base import Decision, Floats, Spot, Strategy
from tacit.tree.node_view import NodeView, PlayerView
from tacit.tree.public_tree import PublicTree

_NONE = np.zeros(0)
_NOBODY = PlayerView([], np.zeros(0, np.int64), _NONE, _NONE, _NONE, _NONE)


class StrategyViews:
    """Views of a strategy at its public states; iterating yields those where a player acts, parents before children.

    Attributes:
      strategy: Both players' strategies, in float64.
      given_dtype: The dtype of the strategy as given.
    """

    def __init__(self, strategy: Strategy) -> None:
        tree, probabilities = strategy.tree, strategy.probabilities
        self.given_dtype = probabilities.dtype
        if probabilities.dtype != np.float64:  # in float32, sums to 1 and to 0 hold only roughly
            strategy = tree.strategy(tree.normalise(probabilities.astype(np.float64)))
        self.strategy = strategy

    def at(self, line: str = "") -> NodeView:
        """Returns the view of the public state that a line leads to (`Tree.find`), with values.

        Raises:
          TacitError: The line does not exist, or no player acts there.
        """
        return self.view(self.strategy.tree.find(line))

    def view(self, spot: Spot) -> NodeView:
        """Returns the view of a public state, with values.

        Raises:
          TacitError: No player acts there, or the game has no public states.
        """
        view = self.strategy.view(spot)
        players = []
        for player, part in enumerate(view.players):
            cfv = self._values[player](spot.node)[part.rows]
            players.append(replace(part, infostate_value=_given(cfv, part.counterfactual_reach)))
        return replace(view, players=(players[0], players[1]))

    def __iter__(self) -> Iterator[NodeView]:
        tree = self.strategy.tree
        if isinstance(tree, PublicTree) and tree.nodes is None:
            return self._by_infostate(tree)
        return (self.view(spot) for spot in tree.decision_spots)

    def decisions(self) -> Iterator[Decision]:
        """Yields the decisions at all infostates that can occur, which are those that their player's own strategy reaches."""
        return (decision for view in self for decision in view)

    def _by_infostate(self, tree: PublicTree) -> Iterator[NodeView]:
        """Yields a view for each infostate of a game in which the player to act is not public.

        Such private states have no weights, and the views leave out the opponent's: no public state tells which ones can meet.
        """
        passes, ones = RowPasses(tree), RowPasses(replace(tree, payoff=tree.payoff_chance))  # pays 1: values are likelihoods
        entries = passes.entries(self.strategy.probabilities)
        reaches = [passes.reach(player, entries) for player in (0, 1)]
        for player, sign in enumerate((1.0, -1.0)):
            for either in (passes, ones):
                either.values(player, entries, reaches[1 - player])
            own, faced = passes.rows_to_numpy(player, reaches[player]), sign * ones.row_values(player)
            values = _given(passes.row_values(player), faced)
            for infostate in np.flatnonzero(tree.infostate_player == player).tolist():
                row = [int(tree.infostate_row[infostate])]
                if own[row[0]] > 0:
                    decision = self.strategy.decision(infostate)
                    held = PlayerView([decision.private], np.array(row), own[row], faced[row], np.full(1, np.nan), values[row])
                    players = (held, _NOBODY) if player == 0 else (_NOBODY, held)
                    played = np.array([[*decision.probabilities.values()]])
                    yield NodeView(str(tree.game), "", "", player, [*decision.probabilities], played, players, math.nan, [])

    @cached_property
    def _values(self) -> tuple[Callable[[int], Floats], Callable[[int], Floats]]:
        """For each player, a function from a node to the counterfactual values of its private states."""
        first, second = (self._values_of(player) for player in (0, 1))
        return first, second

    def _values_of(self, player: int) -> Callable[[int], Floats]:
        passes = make_passes(self.strategy.tree).keeping()  # one for each player: a pass overwrites earlier values
        entries = passes.entries(self.strategy.probabilities)
        passes.values(player, entries, passes.reach(1 - player, entries))
        values: Callable[[int], Floats] = passes.values_by_node(player)
        return values


def _given(cfv: Floats, likelihood: Floats) -> Floats:
    """Returns counterfactual values as infostate values; NaN where chance and the opponent never lead there."""
    values: Floats = np.divide(cfv, likelihood, out=np.full(len(cfv), np.nan), where=likelihood > 0)
    return values
