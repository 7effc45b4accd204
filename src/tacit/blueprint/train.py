"""A run of a blueprint in memory: epochs of MCCFR iterations on all cores."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tacit.blueprint.betting_tree import LANES, NO_ACTION, build_betting_tree
from tacit.blueprint.buckets import STREET_NAMES, bucket_tables, find_abstraction
from tacit.blueprint.config import BlueprintConfig
from tacit.blueprint.deals import DealTables, deal_tables
from tacit.blueprint.judge import BOTS, AbstractJudge
from tacit.blueprint.mccfr import average_strategy, discount, run_iterations
from tacit.blueprint.menus import cut_rules
from tacit.blueprint.trained import pack, quantise
from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.holdem import require_holdem
from tacit.random_numbers import make_streams
from tacit.threads import num_threads, run_together
from tacit.training.system import Metrics, Trainer

STREAMS = 256
"""The number of random streams, one per thread: more than any machine has, so that a run can be resumed anywhere."""


@dataclass(frozen=True)
class BlueprintProgress(Metrics):
    """The progress of a run after an epoch.

    Attributes:
      epoch: finished epochs.
      seconds: time spent on iterations, over all sessions.
      iterations: iterations so far, each one deal with a traversal for each player.
      iterations_per_second: the speed of this epoch in iterations.
      decisions_per_second: the speed of this epoch in visited decisions of the betting tree.
      exploitability: always None; `tacit evaluate` computes it for endgames.
      always_call: the average strategy's winnings from a player that always calls, in mbb/hand, sampled in the abstract game;
        None without an evaluation.
      always_call_half: half the width of the 95 % interval of `always_call`.
      pot_odds: the average strategy's winnings from `pot-odds` by buckets, likewise.
      pot_odds_half: half the width of the 95 % interval of `pot_odds`.
    """

    epoch: int
    seconds: float
    iterations: int
    iterations_per_second: float
    decisions_per_second: float
    exploitability: float | None = None
    always_call: float | None = None
    always_call_half: float | None = None
    pot_odds: float | None = None
    pot_odds_half: float | None = None


class BlueprintTrainer(Trainer[BlueprintConfig, BlueprintProgress]):
    """Trains the regrets and averages of an abstract game.

    Attributes:
      abstraction: the buckets of hands.
      tree: the betting tree.
      threads: the number of threads.
      sums: `[E / 4, 2, 4]` float32, weighted regrets and averages of each block of four entries, side by side.
      streams: `[256]` uint64, the state of each thread's random numbers.
    """

    why_alone = "has threads that share one table of regrets (--set threads=N), and copies of it would be slower"

    def __init__(self, game: AnyGame, config: BlueprintConfig, device: str = "cpu") -> None:
        rules = require_holdem(game, "blueprint")
        if device != "cpu":
            raise TacitError(f"a blueprint is trained on the CPU only: leave out --device {device}")
        if len(rules.known_board) == 0 and rules.rules.first_street:
            raise TacitError(f"a blueprint needs the blinds or a board to start from: {game} deals its board first")
        super().__init__(game, config)
        self.threads = config.threads or num_threads()
        self.abstraction = find_abstraction(rules, config.buckets, config.seed, self.threads)
        abstract = cut_rules(rules.rules, config.bets, config.raises, config.max_raises)
        self.tree = build_betting_tree(abstract, self.abstraction.num_buckets)
        self.sums = np.zeros((self.tree.num_entries // LANES, 2, LANES), np.float32)
        self.sums[:, 0][~self.tree.is_action.reshape(-1, LANES)] = NO_ACTION
        self.streams = make_streams(config.seed, STREAMS)
        self._judge: AbstractJudge | None = None

    @cached_property
    def _tables(self) -> DealTables:
        """The tables for deals, made on first use because that takes a minute for a whole game."""
        return deal_tables(self.abstraction.game, bucket_tables(self.abstraction, self.threads))

    @property
    def regret(self) -> NDArray[np.float32]:
        """`[E]` the weighted sums of regrets, as a copy."""
        return self.sums[:, 0].ravel()

    @property
    def average(self) -> NDArray[np.float32]:
        """`[E]` the weighted sums of strategies, as a copy."""
        return self.sums[:, 1].ravel()

    @property
    def iterations(self) -> int:
        """The number of iterations so far."""
        return self.epoch * self.config.epoch_iterations

    def run_epoch(self, clock: Callable[[], float] = time.perf_counter) -> BlueprintProgress:
        tables, count, begun = self._tables, self.config.epoch_iterations, clock()
        if self.epoch:
            run_together(self.threads, discount, np.float32(self.epoch / (self.epoch + 1)), self.sums.ravel())
        visited = np.zeros(self.threads, np.int64)
        run_together(
            self.threads, run_iterations, count, self.tree.nodes, self.tree.depth, self.tree.rules.first_street, tables,
            self.sums.ravel(), self.streams, visited,
        )  # fmt: skip
        self.epoch += 1
        took = max(clock() - begun, 1e-9)
        self.seconds += took
        return BlueprintProgress(self.epoch, self.seconds, self.iterations, count / took, float(visited.sum() / took))

    def judged(self, metrics: BlueprintProgress, on_search: Callable[[int], None]) -> BlueprintProgress:
        if self._judge is None:
            self._judge = AbstractJudge(self.tree, self.abstraction, self._tables, self.config.deals, self.config.seed)
        strategy = self.strategy()
        win_rates: dict[str, Any] = {}
        for number, bot in enumerate(BOTS):
            on_search(number)
            rate = self._judge.win_rate(strategy, bot)
            win_rates |= {bot: rate.mbb, f"{bot}_half": rate.half}
        return replace(metrics, **win_rates)

    def at_rest(self) -> BlueprintProgress:
        return BlueprintProgress(self.epoch, self.seconds, self.iterations, 0.0, 0.0)

    def strategy(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Returns `[E]` the average strategy."""
        strategy = np.zeros(self.tree.num_entries, np.float32)
        buckets = np.array(self.tree.num_buckets)
        run_together(self.threads, average_strategy, self.tree.nodes, buckets, self.sums.ravel(), strategy)
        return strategy

    def weights(self) -> dict[str, Tensor]:
        return {"strategy": torch.from_numpy(pack(quantise(self.strategy())[self.tree.is_action])), **self._centres()}

    def tensors(self) -> dict[str, Tensor]:
        return {
            "sums": torch.from_numpy(self.sums), "streams": torch.from_numpy(self.streams.view(np.int64)), **self._centres(),
        }  # fmt: skip

    def restore(self, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
        super().restore(tensors, header)
        self.sums[:] = tensors["sums"].numpy()
        self.streams[:] = tensors["streams"].numpy().view(np.uint64)

    def _centres(self) -> dict[str, Tensor]:
        named = zip(STREET_NAMES, self.abstraction.centres, strict=True)
        return {f"centres.{name}": torch.from_numpy(part) for name, part in named if part is not None}
