"""Networks of NFSP and DQN, for a tree or for limit hold'em: run folders and network files.

A name may end with one of its strategies: `RUN:best-response`, `RUN:greedy-average`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.limit import LimitAgent
from tacit.agents.options import SearchOptions
from tacit.artifacts.base import Artifact, Evaluation, Monitor, trained_game
from tacit.artifacts.holdem import hand_measures
from tacit.artifacts.table import TableArtifact
from tacit.evaluation import evaluate
from tacit.games import AnyGame
from tacit.games.holdem import LimitHoldem, require_holdem
from tacit.games.limit_batch import LimitRules
from tacit.kernels import make_passes
from tacit.nfsp.limit.judge import LimitJudge
from tacit.nfsp.limit.networks import Layer
from tacit.nfsp.strategies import STRATEGIES, split_strategy
from tacit.nfsp.system import DQN, NFSP, NFSP_LIMIT
from tacit.nfsp.trained import LimitPolicy, load_nfsp
from tacit.training.folder import system_of
from tacit.tree.strategy import RowStrategy


class NfspArtifact(TableArtifact):
    """Trained networks as the table of probabilities they play."""

    def __init__(self, name: str, game: AnyGame | None = None, monitor: Monitor | None = None) -> None:
        self._trained = load_nfsp(name)
        super().__init__(name, trained_game(name, self._trained.game, game, self._trained.source), monitor)

    @cached_property
    def _strategies(self) -> dict[str, RowStrategy]:
        return self._trained.strategies(self.game)

    def strategy(self) -> RowStrategy:
        return self._strategies[self._trained.strategy]

    def exploitability(self) -> Evaluation:
        """Returns the exact exploitability of its strategy, with those of all three strategies as details."""
        passes, trained, evaluation = make_passes(self.strategy().tree), self._trained, super().exploitability()
        figures = {kind: evaluate(passes, table.probabilities).exploitability for kind, table in self._strategies.items()}
        details = {"strategy": trained.strategy, "epoch": trained.epoch, "strategies": figures}
        return replace(evaluation, details=evaluation.details | details)


class LimitArtifact(Artifact):
    """Networks for limit hold'em, whose strategy for every hand is known."""

    def __init__(self, name: str, game: AnyGame | None = None, monitor: Monitor | None = None) -> None:
        self._policy = load_nfsp(name).policy()
        super().__init__(name, trained_game(name, self._policy.game, game), monitor)

    def make_agent(self, generator: np.random.Generator, options: SearchOptions) -> Agent:
        return LimitAgent(require_holdem(self.game, self.name), self._policy, generator, self.name)

    def policy(self) -> LimitPolicy:
        return self._policy

    def measures(self) -> dict[str, Callable[..., Evaluation]]:
        return {"win-rates": self.win_rates, **hand_measures(self)}

    def win_rates(self, *, hands: int = 20_000, device: str = "cpu", seed: int = 0) -> Evaluation:
        """Returns what each of the three strategies wins from bots, with every deal played in both seats."""
        policy, deals, game = self._policy, -(-hands // 2), cast("LimitHoldem", self.game)  # what it was trained on
        layers = [Layer(*(part.to(device) for part in layer)) for layer in policy.layers]
        judge = LimitJudge(LimitRules.of(game, device), deals, seed)
        rates: dict[str, dict[str, Any]] = {strategy: {} for strategy in STRATEGIES}
        matches = [(strategy, bot) for strategy in STRATEGIES for bot in judge.bots]
        for number, (strategy, bot) in enumerate(matches):
            self.monitor.step("playing", number, len(matches), "matches", f"{strategy} against {bot}")
            rate = judge.win_rate(layers, strategy, bot)
            rates[strategy][bot] = {"mbb_per_hand": rate.mbb, "interval": (rate.mbb - rate.half, rate.mbb + rate.half)}
        return self.evaluation("win-rates", rates, "sampled", unit="mbb", hands=2 * deals, epoch=policy.epoch)


def find(name: str, game: AnyGame | None, monitor: Monitor | None) -> Artifact | None:
    """Returns the artifact of a folder or file, or None unless NFSP or DQN trained it."""
    kind = _KINDS.get(system_of(split_strategy(name)[0]) or "")
    return None if kind is None else kind(name, game, monitor)


_KINDS: dict[str, type[Artifact]] = {NFSP.name: NfspArtifact, DQN.name: NfspArtifact, NFSP_LIMIT.name: LimitArtifact}
