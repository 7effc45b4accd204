"""The equilibrium's strategy at each decision of a hand and the cost of the person's moves, for games small enough to solve.

The game is solved once in a worker. An action's value is its average payoff if the person then follows the solution, against
the solution; the cost of a move is the difference to the best action. With a small probability (`TREMBLE`) the opponent
deviates, so that values also exist where its solution never goes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from tacit.agents.base import Sight, follow
from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.kernels.numba_rows import RowPasses
from tacit.solvers import solve
from tacit.tree.base import Floats
from tacit.tree.compiler import compile_game, has_direct_builder
from tacit.tree.estimate import estimate
from tacit.tree.navigate import START, player_navigator
from tacit.tree.public_tree import PublicTree
from tacit.web.play.mind import number

ITERATIONS, SECONDS = 1_000, 12.0
"""The most iterations and seconds that a game is solved for."""
MOST_HISTORIES = {True: 2_000_000, False: 60_000}
"""The largest games to solve, by whether a direct builder makes their trees: larger ones take too long to wait for."""
KEPT = 4
"""The number of solutions that a worker keeps."""
TREMBLE = 1e-4
"""How often the opponent deviates from its solution when values are computed."""

_solved: OrderedDict[str, Oracle] = OrderedDict()


class Oracle:
    """An equilibrium of a game with the value of every action.

    Attributes:
      tree: The game's tree.
      strategy: `[E]`, the solution.
      exploitability: The exact exploitability of the solution.
    """

    def __init__(self, tree: PublicTree, strategy: Floats, exploitability: float) -> None:
        self.tree, self.strategy, self.exploitability = tree, strategy, exploitability
        self._navigator = player_navigator(tree)
        trembling = (1.0 - TREMBLE) * strategy + TREMBLE * tree.uniform_strategy()
        self._action_values = _action_values(tree, strategy, trembling)

    def judge(self, seat: int, sights: Sequence[Sight]) -> list[dict[str, Any]]:
        """Returns judgements of a person's decisions by the equilibrium, in order.

        Args:
          seat: The person's seat.
          sights: The person's sights in a finished hand.
        """
        spot, judgements = START, []
        for sight, after in pairwise(sights):
            spot = follow(self._navigator, seat, spot, sight)
            if sight.actor == seat:
                assert after.action is not None
                judgements.append(self._judge(seat, spot.row, sight, after.action))
        return judgements

    def _judge(self, seat: int, row: int, sight: Sight, action: int) -> dict[str, Any]:
        infostate = int(self.tree.rows[seat].infostate[row])
        entries = range(self.tree.entry_start[infostate], self.tree.entry_start[infostate + 1])
        names = sight.action_names if sight.chips is None else [sight.chips.name(one) for one in sight.legal_actions]
        by_action = dict(zip(sight.legal_actions, names, strict=True))
        moves = [
            {
                "name": by_action[int(self.tree.entry_action[entry])], "share": number(float(self.strategy[entry])),
                "value": number(float(self._action_values[entry])), "taken": int(self.tree.entry_action[entry]) == action,
            }
            for entry in entries
        ]  # fmt: skip
        return judgement("The equilibrium plays", "against the equilibrium", moves, self.exploitability)


def judgement(title: str, source: str, moves: list[dict[str, Any]], small: float) -> dict[str, Any]:
    """Returns the judgement of a decision, ready for JSON.

    Args:
      title: The title above the moves.
      source: What costs are measured against, as the words that follow a cost.
      moves: The moves, each with `name`, `share`, `value` and whether it was `taken`.
      small: Costs up to this are not significant.
    """
    values = [move["value"] for move in moves if move["value"] is not None]
    taken = next((move["value"] for move in moves if move["taken"]), None)
    cost = None if taken is None or not values else number(max(values) - taken)
    small = max(small, 1e-3 * max(map(abs, values), default=0.0))
    return {"title": title, "source": source, "actions": moves, "cost": cost, "small": small}


def find_oracle(game: AnyGame, progress: Callable[[str], None] = lambda _: None) -> Oracle:
    """Returns the oracle of a game, solving it unless it is already solved.

    Raises:
      TacitError: the game is too large, or it has no public tree.
    """
    name = str(game)
    if name not in _solved:
        if game.tree_layout != "rows":
            raise TacitError(f"{name} is too large to solve")
        direct = has_direct_builder(game)
        if estimate(game, direct).size.histories > MOST_HISTORIES[direct]:
            raise TacitError(f"{name} is too large to solve while you wait")
        progress("solving the game to judge your moves")
        result = solve(game, iterations=ITERATIONS, time_limit=SECONDS)
        tree = compile_game(game)
        if tree.nodes is None:
            raise TacitError(f"{name} has no public states")
        probabilities = np.asarray(result.strategy.probabilities, np.float64)
        if len(probabilities) != tree.num_entries:
            raise TacitError(f"{name} is solved in a different layout from its tree's")
        _solved[name] = Oracle(tree, probabilities, result.exploitability)
        while len(_solved) > KEPT:
            _solved.popitem(last=False)
    _solved.move_to_end(name)
    return _solved[name]


def has_oracle(game: AnyGame) -> bool:
    """Returns whether a game is already solved."""
    return str(game) in _solved


def _action_values(tree: PublicTree, strategy: Floats, trembling: Floats) -> Floats:
    """Returns `[E]`, the value of each action to the player who takes it, given its private state.

    Values below the action are those of `strategy`; the opponent's reach is that of `trembling`.
    """
    passes, ones = RowPasses(tree), RowPasses(replace(tree, payoff=tree.payoff_chance))  # payoffs of 1: values are reaches
    worth, likely = np.zeros(tree.num_entries), np.zeros(tree.num_entries)
    entries, reached = passes.entries(strategy), passes.entries(trembling)
    for player, sign in enumerate((1.0, -1.0)):
        faced = passes.reach(1 - player, reached)
        rows = tree.rows[player]
        own = (rows.entry >= 0) & (rows.entry < tree.num_entries)
        for one in (passes, ones):
            one.values(player, entries, faced)
        worth += np.bincount(rows.entry[own], passes.row_values(player)[own], tree.num_entries)
        likely += np.bincount(rows.entry[own], sign * ones.row_values(player)[own], tree.num_entries)
    values: Floats = np.divide(worth, likely, out=np.full(len(worth), np.nan), where=likely > 0)
    return values
