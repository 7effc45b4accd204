"""The luck-adjusted result of a hand by AIVAT: the person's result with the luck of the deal taken out."""

from __future__ import annotations

from typing import Any

from tacit.agents.base import Agent
from tacit.agents.hand_policy import policy_of
from tacit.arena.aivat import AivatEstimator
from tacit.arena.aivat_cases import hand_estimator, pair_values, row_estimator, row_line
from tacit.arena.hand_values import check_down
from tacit.arena.match import Sights
from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.base import InfostateGame
from tacit.games.boards import is_board
from tacit.games.holdem import Holdem
from tacit.tree.navigate import NOWHERE, Navigator
from tacit.web.play.oracle import Oracle, find_oracle

_NO_LUCK = "nothing is left to luck here"


class _Unknown:
    """Stands for the person, whose strategy is unknown."""

    name = "you"


class Luck:
    """Estimates the luck-adjusted results of hands.

    Attributes:
      reason: Why there is no estimate in this game against this opponent, or None if there is one.
    """

    def __init__(self, game: AnyGame, agent: Agent) -> None:
        self._game, self._agent = game, agent
        self._estimator: AivatEstimator | None = None
        self.reason: str | None = None
        if isinstance(game, InfostateGame):
            self.reason = "AIVAT needs a game that gives observations"
        elif is_board(game):
            self.reason = _NO_LUCK

    def adjusted(self, sights: Sights, seat: int) -> float | None:
        """Returns the luck-adjusted result of a finished hand for the person's seat, or None if there is no estimate."""
        if self.reason is not None:
            return None
        try:
            if self._estimator is None:
                self._estimator = self._make()
            return float(self._estimator(sights, seat))
        except TacitError as error:
            if self._estimator is None:  # with an estimator, only this hand has no estimate
                self.reason = str(error)
            return None

    def _make(self) -> AivatEstimator:
        """Returns an estimator that uses the opponent's strategy or, if unknown, corrects only chance in a solved game."""
        person: Any = _Unknown()
        if isinstance(self._game, Holdem):
            policy = policy_of(self._agent)
            if policy is None:
                raise TacitError("this opponent's strategy for all hands is not known")
            return hand_estimator(self._game, (None, policy), [check_down, check_down])
        oracle = find_oracle(self._game)
        try:
            return row_estimator(oracle.tree, (person, self._agent))
        except TacitError:
            return chance_estimator(oracle)


def chance_estimator(oracle: Oracle) -> AivatEstimator:
    """Returns an estimator for two players with unknown strategies: it corrects the deal by an equilibrium's values."""
    tree = oracle.tree
    navigator, values = Navigator(tree), pair_values(tree, oracle.strategy)

    def line(sights: Sights) -> Any:
        place = NOWHERE
        for seen in sights:
            place = navigator.follow_sights(place, seen[0].actor, seen)
        return row_line(tree, place)

    return AivatEstimator([None, None], [values, values], line)
