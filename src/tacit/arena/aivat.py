"""AIVAT (Burch et al. 2018): what a game was worth with most of the luck taken out, without bias.

Two parts, for the players whose strategies are known, and chance:

- *imaginary observations*: not the hand that was held counts but the mean over all hands that could have been held, as likely
  as the known strategies make them;
- *corrections*: whenever chance or a known player moves, the estimate gets the difference between what was expected before the
  move and what is expected after it, by a value function that is fixed before the game. Its mean is 0 whatever that says.

An outsider who follows a game knows the public state and the hand of the unknown player, if there is one: call that the
*outlook* `o`. Let `w(h)` be the chance of a history times the known players' reach, and `V(o)` the mean of the value function
`v(h)` over the histories of an outlook, weighted by `w`. Then with the end `z` of a game and `o_1, o_2, ..., z` on the way

    estimate = V(z) + sum over steps of  E[V(o_t) | before] - V(o_t),

where the expectation is over what chance and known players could have done, and at an unknown player's step over what chance
did after the action that was taken. So the estimate depends on the last outlook only and is computed once for all of them.

Where we differ: an action and the chance moves right after it are one step, as in the public tree. With a known player's that
is the same martingale with fewer terms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tacit.agents.base import Agent
from tacit.agents.bots import PokerBot, RandomBot
from tacit.agents.table import Table
from tacit.agents.tabular import TabularAgent
from tacit.arena.match import Estimator
from tacit.errors import TacitError
from tacit.games.base import InfostateGame
from tacit.tree.navigate import NOWHERE, Navigator, Place
from tacit.tree.public_tree import Floats, PublicTree

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Aivat:
    """Estimates for all ends of a game.

    Attributes:
      unknown: the player whose strategy is not known, or None where both are.
      estimates: of player 0's return, by the outlook at the end: the unknown player's row `[R]`, or the public state `[N]`.
    """

    unknown: int | None
    estimates: Floats

    def at(self, end: Place) -> float:
        """Returns the estimate for a game that ended at a place."""
        return float(self.estimates[end.node if self.unknown is None else end.rows[self.unknown]])


def make_aivat(tree: PublicTree, strategies: Sequence[Floats | None], value_strategy: Floats) -> Aivat:
    """Returns the estimates of a game's ends.

    Args:
      tree: the game.
      strategies: for both players the strategy `[E]` by which they play, None if it is not known; one has to be.
      value_strategy: `[E]` of both players; the value function is what it makes of a history. Any is right, one that is
        near to what is played makes estimates vary less.

    Raises:
      TacitError: neither is known, or the game has no public states.
    """
    known = [player for player in (0, 1) if strategies[player] is not None]
    if not known:
        raise TacitError("AIVAT needs the strategy of one player at least: a saved solve, or a bot that plays by a table")
    unknown = None if len(known) == 2 else 1 - known[0]
    pairs = _pairs(tree, value_strategy)
    weight, worth = pairs.chance, pairs.worth
    for player in known:
        strategy = strategies[player]
        assert strategy is not None
        reach = _own_reach(tree, player, strategy)[pairs.rows[player]]
        weight, worth = weight * reach, worth * reach
    nodes = tree.require_nodes()
    if unknown is None:
        outlook, parent, move = pairs.node, nodes.parent.astype(np.int64), np.zeros(len(nodes), np.int64)
        level_start = nodes.level_start
    else:
        rows = tree.rows[unknown]
        outlook, parent, move = pairs.rows[unknown], rows.parent.astype(np.int64), rows.entry.astype(np.int64)
        level_start = rows.level_start
    size = len(parent)
    weights, worths = _sums(outlook, weight, size), _sums(outlook, worth, size)
    group = np.unique((parent + 1) * (tree.num_entries + 1) + move, return_inverse=True)[1].ravel()
    expected = _ratio(_sums(group, worths, size), _sums(group, weights, size))[group]
    value = _ratio(worths, weights)
    total = np.where(weights > 0, expected - value, 0.0)
    for first, last in pairwise(level_start[1:]):
        total[first:last] += total[parent[first:last]]
    return Aivat(unknown, total + value)


@dataclass(frozen=True)
class _Pairs:
    """All pairs of rows that meet, those of terminal nodes included.

    Attributes:
      rows: `[2, P]`.
      node: `[P]`.
      chance: `[P]` that nature lets them meet.
      worth: `[P]` that times player 0's expected return.
    """

    rows: Index
    node: Index
    chance: Floats
    worth: Floats


def _pairs(tree: PublicTree, strategy: Floats) -> _Pairs:
    """Returns the pairs with what a strategy `[E]` of both players makes of them."""
    nodes, width = tree.require_nodes(), len(tree.rows[1])
    rows = np.concatenate([nodes.joint_rows, tree.payoff_rows], axis=1).astype(np.int64)
    chance = np.concatenate([nodes.joint_chance, tree.payoff_chance])
    worth = np.concatenate([np.zeros(len(nodes.joint_chance)), tree.payoff])
    node = nodes.of_row[0][rows[0]]
    order = np.argsort(rows[0] * width + rows[1])
    rows, chance, worth, node = rows[:, order], chance[order], worth[order], node[order]
    above = np.stack([tree.rows[player].parent[rows[player]] for player in (0, 1)]).astype(np.int64)
    place = np.searchsorted(rows[0] * width + rows[1], above[0] * width + above[1])
    played = np.append(strategy, 1.0)
    factor = played[tree.rows[0].entry[rows[0]]] * played[tree.rows[1].entry[rows[1]]]
    level = np.searchsorted(nodes.level_start, node, side="right") - 1
    for depth in range(int(level.max()), 0, -1):
        here = np.flatnonzero(level == depth)
        worth += np.bincount(place[here], factor[here] * worth[here], len(worth))
    return _Pairs(rows, node, chance, worth)


def _own_reach(tree: PublicTree, player: int, strategy: Floats) -> Floats:
    """Returns `[R]` how likely a player's own actions lead to each of its rows."""
    rows, played = tree.rows[player], np.append(strategy, 1.0)
    reach = np.ones(len(rows))
    for first, last in pairwise(rows.level_start[1:]):
        reach[first:last] = reach[rows.parent[first:last]] * played[rows.entry[first:last]]
    return reach


def _sums(groups: Index, numbers: Floats, num_groups: int) -> Floats:
    return np.bincount(groups, numbers, num_groups).astype(np.float64)


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


class AivatEstimator(Estimator):
    """Values the hands of a match between two agents, one of whom plays by a known strategy at least.

    The value function is self-play of the first agent with a known strategy. Where both are known their exact result
    could be computed without playing; this says how well they did in the hands that were played.
    """

    def __init__(self, tree: PublicTree, agents: Sequence[Agent]) -> None:
        """Makes the estimates for both seats.

        Raises:
          TacitError: the game or the agents do not allow it.
        """
        if isinstance(tree.game, InfostateGame):
            raise TacitError(f"AIVAT needs a game that sends observations: {tree.game} names infostates")
        strategies = [known_strategy(agent, tree) for agent in agents]
        valued = next((strategy for strategy in strategies if strategy is not None), None)
        if valued is None:
            names = " nor ".join(agent.name for agent in agents)
            raise TacitError(f"AIVAT needs a strategy that is known: neither {names} plays by a table")
        self._navigator = Navigator(tree)
        self._by_seat = [make_aivat(tree, order, valued) for order in (strategies, strategies[::-1])]
        self._seat, self._place = 0, NOWHERE

    def watcher(self, seat: int) -> Callable[[Table], None]:
        self._seat, self._place = seat, NOWHERE
        return self._watch

    def estimate(self, payoff: float) -> float:
        del payoff  # it is in the estimate, with its luck taken out
        return (1 - 2 * self._seat) * self._by_seat[self._seat].at(self._place)

    def _watch(self, table: Table) -> None:
        self._place = self._navigator.follow_sights(self._place, table.actor, table.sights)


def known_strategy(agent: Agent, tree: PublicTree) -> Floats | None:
    """Returns the strategy `[E]` by which an agent plays a game, for both seats, or None where that is not known."""
    if isinstance(agent, TabularAgent):
        return agent.strategy.probabilities if agent.strategy.tree.num_entries == tree.num_entries else None
    if isinstance(agent, RandomBot):
        return tree.uniform_strategy()
    return _by_words(agent, tree) if isinstance(agent, PokerBot) else None


def _by_words(bot: PokerBot, tree: PublicTree) -> Floats:
    uniform = tree.strategy(tree.uniform_strategy())
    chosen = [np.array(bot.choose(list(decision.probabilities))) for decision in uniform]
    played = np.zeros(tree.num_entries)
    played[tree.entry_start[:-1] + np.array(chosen)] = 1.0
    return played
