"""An agent for hold'em that searches on every street (`hand_search`), and shows what it thinks."""

from __future__ import annotations

import numpy as np

from tacit.agents.base import Sight
from tacit.agents.hand_policy import HandAgent
from tacit.agents.hand_search import HandSearch, Situation
from tacit.agents.view import View
from tacit.cards.grid import CELLS, reach_grid
from tacit.cards.hands import hand_name, meetings, possible_hands
from tacit.cards.ranges import write_range
from tacit.evaluation.exact import infostate_values
from tacit.games.base import TERMINAL
from tacit.games.betting import BOARD_CARDS
from tacit.games.holdem import Holdem
from tacit.kernels.numba_hands import HandPasses
from tacit.leaves.check_down import CheckDownLeaves
from tacit.tree.public_tree import Floats

STEPS = 4
"""Weights of a range are told to a quarter of the largest."""


class HoldemAgent(HandAgent):
    """Plays hold'em by search.

    Args:
      game: the rules.
      generator: draws the moves.
      solver: the algorithm of the search, and
      iterations: its length.
    """

    def __init__(self, game: Holdem, generator: np.random.Generator, *, solver: str = "dcfr", iterations: int = 100) -> None:
        self.search = HandSearch(game, solver=solver, iterations=iterations)
        super().__init__(game, self.search, generator, "holdem-search")

    def observe(self, sight: Sight) -> None:
        if sight.actor != TERMINAL:  # the last decision is what is shown afterwards
            super().observe(sight)

    def view(self) -> View | None:  # type: ignore[override]
        public = self._public
        if public.betting.actor < 0 or len(public.board) < BOARD_CARDS[public.betting.street]:
            return None
        return hand_view(self.search.situation(public))


def hand_view(now: Situation) -> View:
    """Returns what a solution says at a decision."""
    strategy, spot = now.solution, now.spot
    tree, node = strategy.tree, spot.node
    hands = tree.hands(spot)
    order = np.argsort(hands)  # on full boards lanes are in order of strength
    ranges = [part[hands] for part in now.ranges_here()]
    meets = [meetings(part)[hands].clip(min=0.0) for part in now.ranges_here()]  # what each hand can be met with
    passes = HandPasses(tree, keep=True)
    beliefs, values = [], []
    for player in (0, 1):
        found = infostate_values(passes, strategy.probabilities, player, node, CheckDownLeaves())
        values.append(np.where(meets[1 - player] > 0, found, np.nan)[order])
        joint = ranges[player] * meets[1 - player]
        beliefs.append(joint[order] / joint.sum())
    names = [hand_name(int(hand)) for hand in hands[order]]
    first, second = (_in_short(part, now.board) for part in now.ranges_here())
    return View(
        public=tree.label(spot),
        actor=int(tree.actor[node]),
        private_states=(names, names),
        beliefs=(beliefs[0], beliefs[1]),
        actions=tree.action_names(node),
        strategy=tree.decision(strategy.probabilities, node).T[order].astype(np.float64),
        values=(values[0], values[1]),
        in_short=(first, second),
    )


def _in_short(weights: Floats, board: tuple[int, ...]) -> str:
    """Returns a range in the usual notation: kinds of hands, their weights as shares of the largest, rounded."""
    grid = reach_grid(weights, possible_hands(board))
    return write_range(np.round(STEPS * grid.ravel()[CELLS]) / STEPS)
