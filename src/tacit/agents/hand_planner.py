"""Planning hands of hold'em by search on every street (`hand_search`), and a view of what such a search found."""

from __future__ import annotations

import numpy as np

from tacit.agents.base import Agent, Sight
from tacit.agents.hand_policy import HandPolicy, HandWalk, policy_of
from tacit.agents.hand_search import HandSearch
from tacit.agents.options import SAMPLED
from tacit.agents.search import SearchAgent
from tacit.agents.situation import Situation
from tacit.agents.view import View
from tacit.cards.grid import CELLS, reach_grid
from tacit.cards.hands import hand_name, meetings, possible_hands
from tacit.cards.ranges import write_range
from tacit.games.betting import BOARD_CARDS
from tacit.tree.public_tree import Floats

STEPS = 4
"""The weights of a range are shown as multiples of 1 / `STEPS` of the largest."""


class HandPlanner:
    """Plans hands of hold'em by search over all hands at once (see `Planner`).

    Attributes:
      search: Runs the searches.
      safety: How a search deals with the searches below it (`options.SAFETY`).
      policy: The strategy of every hand; None if it is sampled anew for each game.
    """

    def __init__(self, search: HandSearch) -> None:
        self.search, self.safety, self._walk = search, search.safety, HandWalk(search.game)
        self.policy = None if search.safety == SAMPLED else search

    def start(self, player: int) -> None:
        self._player = player
        self._walk.start()
        self.search.start_hand()

    def observe(self, sight: Sight) -> None:
        self._walk.observe(sight)

    def weights(self) -> tuple[list[int], Floats]:
        public = self._walk.public
        return list(public.actions), self.search.probabilities(public)[:, self._walk.hand]

    def view(self) -> View | None:
        public = self._walk.public
        if public.betting.actor < 0 or len(public.board) < BOARD_CARDS[public.betting.street]:
            return None
        return hand_view(self.search, self.search.situation(public, self._player))


def drawn_policy(agent: Agent) -> HandPolicy | None:
    """Returns an agent's hold'em policy, given its random choices in one game; None if it has no such policy."""
    if isinstance(agent, SearchAgent) and isinstance(agent.planner, HandPlanner):
        return agent.planner.search
    return policy_of(agent)


def hand_view(search: HandSearch, now: Situation) -> View:
    """Returns the view of a search's solution at a decision."""
    strategy, spot = now.solution, now.spot
    tree, node = strategy.tree, spot.node
    hands = tree.hands(spot)
    order = np.argsort(hands)  # on full boards lanes are ordered by strength, not by hand
    ranges = [part[hands] for part in now.ranges_here()]
    meets = [meetings(part)[hands].clip(min=0.0) for part in now.ranges_here()]  # each hand's compatible weight
    beliefs, values = [], []
    for player in (0, 1):
        hand_values = search.values(now, player)
        values.append(np.where(meets[1 - player] > 0, hand_values, np.nan)[order])
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
        action_values=search.action_values(now).T[order].astype(np.float64),
    )


def _in_short(weights: Floats, board: tuple[int, ...]) -> str:
    """Returns a range in the usual notation: the 169 kinds of hands, with weights as rounded shares of the largest."""
    grid = reach_grid(weights, possible_hands(board))
    return write_range(np.round(STEPS * grid.ravel()[CELLS]) / STEPS)
