"""The beliefs at which a running search values its leaves (ReBeL, appendix E)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import TacitError
from tacit.kernels.base import (
    AnyPasses,
    DecidingEvaluator,
    LeafDecisions,
    LeafEvaluator,
    LeafOracle,
    LeafValues,
    RememberingEvaluator,
)

if TYPE_CHECKING:
    from torch import Tensor

    from tacit.solvers.driver import Driver

CFR_D, CFR_AVE, MODIFIED_CFR_AVE = "cfr-d", "cfr-ave", "modified-cfr-ave"
DECOMPOSITIONS = (CFR_D, CFR_AVE, MODIFIED_CFR_AVE)
AVERAGES = "averages"
"""Fictitious play's own decomposition: leaves are valued at the averages, which responses also answer."""


class Valuation:
    """Asks an evaluator for leaf values as often as needed, and converts them for updates.

    Attributes:
      beliefs: `[2 * H, L]` the beliefs at which leaves are valued: those of the current strategies (CFR-D) or of the averages.
    """

    def __init__(self, passes: AnyPasses, evaluator: LeafEvaluator, decomposition: str, alternating: bool, period: int) -> None:
        """Prepares for the first evaluation.

        Args:
          passes: the passes whose leaves are valued.
          evaluator: the evaluator of the leaves.
          decomposition: one of `DECOMPOSITIONS`, or `AVERAGES`.
          alternating: whether player 1 answers player 0's new strategy within an iteration.
          period: the number of iterations that use the same values; if more than one, both players' updates share them.
        """
        self._passes, self._evaluator, self._decomposition = passes, evaluator, decomposition
        self._alternating, self._period = alternating, period
        self.beliefs = passes.new_beliefs()
        self._half = self.beliefs.shape[0] // 2
        self._values: list[Tensor | None] = [None, None]
        self._changed = {0, 1}
        self._latest: Tensor | None = None
        self._asked = 0
        self._decisions: LeafDecisions | None = None
        if decomposition == CFR_D and isinstance(evaluator, DecidingEvaluator):
            self._decisions = evaluator.begin(passes.leaf_states)
        # If private states are known at the leaves, the strategies above a leaf cannot change its value.
        self._asks_once = passes.knows_leaves and self._decisions is None
        self._shares = self._asks_once or period > 1
        self._before = [self.beliefs[: self._half].clone() for _ in (0, 1)]
        if decomposition == CFR_AVE and not isinstance(evaluator, LeafOracle):
            raise TacitError("cfr-ave needs leaves that are solved: use an oracle, or modified-cfr-ave with a network")

    def follow(self, player: int, play: Driver) -> None:
        """Updates the beliefs to a player's new strategy."""
        reaches = play.reaches if self._decomposition == CFR_D else play.mean_reaches
        self._passes.leaf_beliefs(player, reaches[player], self.beliefs)
        self._changed.add(player)
        if self._decisions is not None:
            self._decisions.settle(player)

    def ask(self, players: tuple[int, ...], play: Driver) -> None:
        """Has all leaves valued for the given players when due; once for both if they share values."""
        self._asked += players[0] == 0
        later = self._asks_once or (self._asked - 1) % self._period or (self._shares and players[0] == 1)
        if self._values[players[0]] is not None and later:
            return
        asking = (0, 1) if self._shares else players
        if self._decisions is not None:
            for player in asking:
                weight = self._passes.leaf_weight(player, play.reaches[1 - player])
                self._values[player] = self._decisions.answer(player, self.beliefs, weight, play.clock)
            return
        values = self.evaluate(play)
        for player in asking:
            self._values[player] = values
        if self._decomposition == MODIFIED_CFR_AVE and play.clock.iteration == 1 and players[0] == 0:
            # Player 1 first answers player 0's second strategy, by when the values against the first must be known.
            self._note(1, values, play)

    def evaluate(self, play: Driver) -> Tensor:
        """Returns `[2 * H, L]` the evaluator's values at the current beliefs."""
        states = self._passes.leaf_states
        changed, self._changed = self._changed, set()
        if self._decomposition != CFR_AVE:
            if isinstance(self._evaluator, RememberingEvaluator):
                return self._evaluator.evaluate_changed(states, self.beliefs, changed)
            return self._evaluator.evaluate(states, self.beliefs)
        played = self._passes.new_beliefs()
        for player in (0, 1):
            self._passes.leaf_beliefs(player, play.reaches[player], played)
        assert isinstance(self._evaluator, LeafOracle)
        return self._evaluator.evaluate_played(states, self.beliefs, played)

    def values(self, player: int, play: Driver, faced: Any) -> LeafValues:
        """Returns a player's leaf values in the current update.

        Args:
          player: the player to update.
          play: the driver.
          faced: the opponent's reach that the update answers.
        """
        values = self._values[player]
        assert values is not None
        if self._decomposition == MODIFIED_CFR_AVE:
            return LeafValues(self._latest_part(player, values, play), counterfactual=True)
        return self.weighted(player, values, faced)

    def weighted(self, player: int, values: Tensor, faced: Any) -> LeafValues:
        """Returns the evaluator's values for a player who faces the opponent's reach `faced`."""
        if not self._evaluator.counterfactual:
            return LeafValues(values)
        return LeafValues(values * self._passes.leaf_weight(player, faced).to(values), counterfactual=True)

    def start_after(self, values: Tensor, play: Driver) -> None:
        """Continues as if the mean strategies, to which `values` belong, had been the latest ones."""
        for player in (0, 1):
            self._note(player, values, play)

    def _mine(self, player: int) -> slice:
        return slice(player * self._half, (player + 1) * self._half)

    def _note(self, player: int, values: Tensor, play: Driver) -> None:
        """Keeps a player's counterfactual values against the opponent's mean strategy."""
        self._before[player].copy_(self._against_mean(player, values, play))

    def _against_mean(self, player: int, values: Tensor, play: Driver) -> Tensor:
        """Returns `[H, L]` a player's counterfactual values against the opponent's mean strategy."""
        weigh = self._passes.leaf_weight if self._evaluator.counterfactual else self._passes.leaf_likelihood
        return values[self._mine(player)] * weigh(player, play.mean_reaches[1 - player]).to(values)

    def _latest_part(self, player: int, values: Tensor, play: Driver) -> Tensor:
        """Returns `[2 * H, L]` counterfactual values against the opponent's latest strategy (modified CFR-AVE, appendix E).

        If `share` is the latest strategy's weight in the average, `average = (1 - share) * before + share * latest`. So the
        values at the current and the previous average give those against the latest strategy, as if the leaves' own strategies
        stayed the same. Only the player's own half of the result is meaningful.
        """
        if self._latest is None:
            self._latest = values.new_zeros(values.shape)
        before, current = self._before[player], self._against_mean(player, values, play)
        ahead = 1 if player == 1 and self._alternating else 0  # player 0 has moved already
        share = play.clock.share(back=1 - ahead)
        self._latest[self._mine(player)] = before.lerp(current.to(before), 1.0 / share)
        before.copy_(current)
        return self._latest
