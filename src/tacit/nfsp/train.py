"""A run of NFSP in memory (Heinrich & Silver 2016, Algorithm 1).

Where we differ: games advance in step and networks change between steps only, so a player sees its own latest weights at
once; chance that nobody ever sees is averaged in payoffs; a memory is learnt from as soon as it fills a batch. The judged
strategy is exact: the policy networks are asked at every infostate, and a best response is computed over the whole tree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import AnyGame
from tacit.kernels import make_passes
from tacit.nfsp.config import DqnConfig, NfspConfig
from tacit.nfsp.epochs import SelfPlayTrainer
from tacit.nfsp.learn import NEVER, make_batches
from tacit.nfsp.memory import Behaviour, Transitions, make_behaviour, make_transitions
from tacit.nfsp.networks import POLICY, Networks, Q, make_networks
from tacit.nfsp.players import AVERAGE, BEST_RESPONSE, GREEDY_AVERAGE, PlayedGame, strategy_of
from tacit.nfsp.progress import SelfPlayProgress
from tacit.nfsp.random_numbers import make_streams
from tacit.nfsp.rounds import STREAMS, play_rounds
from tacit.nfsp.selfplay import PERSISTENT, begin_games, make_games
from tacit.tree.public_tree import Floats


@dataclass(frozen=True)
class NfspProgress(SelfPlayProgress):
    """A line of `metrics.jsonl`: where a run stands after an epoch.

    Attributes:
      exploitability: of the average strategies where they were evaluated: exact, NashConv / 2.
      nash_conv: the same as a sum over both players.
      value: of the average strategies for player 0.
      best_response_exploitability: of the greedy strategies of the action values.
      greedy_average_exploitability: of the average strategies' likeliest actions.
    """

    exploitability: float | None = None
    nash_conv: float | None = None
    value: float | None = None
    best_response_exploitability: float | None = None
    greedy_average_exploitability: float | None = None


class NfspTrainer(SelfPlayTrainer[NfspConfig, NfspProgress]):
    """Two players that learn from games against each other."""

    def __init__(self, game: AnyGame, config: NfspConfig, device: str = "cpu") -> None:
        if device != "cpu":
            raise TacitError("nfsp trains on the CPU: leave --device away")
        super().__init__("dqn" if isinstance(config, DqnConfig) else "nfsp", game, config, NfspProgress)
        self.played = PlayedGame.of(game)
        self._passes = make_passes(self.played.tree)
        generator = np.random.default_rng(config.seed)
        self.networks: Networks = make_networks(
            self.played.num_features, config.hidden_layers(), self.played.num_actions, generator
        )
        self._transitions, self._behaviour = make_transitions(config.transitions), make_behaviour(config.behaviour)
        self._batches = make_batches(self.played.tree.num_infostates, self.played.tree.num_entries, config.batch_size)
        self._games = make_games(config.games, self.played.tree.num_infostates, self.played.tree.num_entries)
        self._streams = make_streams(config.seed, STREAMS)
        begin_games(self._games, self.played.table, config.anticipation, self._streams, 0)

    @property
    def rounds(self) -> int:
        """Rounds played so far."""
        return self.epoch * self.config.epoch_rounds

    def strategy(self, kind: str = AVERAGE) -> Floats:
        """Returns `[E]` what the players do: `AVERAGE`, `BEST_RESPONSE` or `GREEDY_AVERAGE`."""
        return strategy_of(self.played, self.networks, kind)

    def judged(self, metrics: NfspProgress, on_search: Callable[[int], None] = lambda _: None) -> NfspProgress:
        """Returns an epoch's progress with the exact exploitability of the average strategies, and of the others beside it."""
        del on_search
        average, best, greedy = (
            evaluate(self._passes, self.strategy(kind)) for kind in (AVERAGE, BEST_RESPONSE, GREEDY_AVERAGE)
        )
        return replace(
            metrics,
            exploitability=average.exploitability,
            nash_conv=average.nash_conv,
            value=average.value,
            best_response_exploitability=best.exploitability,
            greedy_average_exploitability=greedy.exploitability,
        )

    def weights(self) -> dict[str, Tensor]:
        """Returns both players' networks."""
        return {"params": torch.from_numpy(self.networks.params.copy())}

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Returns the tensors and the header that `restore` needs: networks, optimizers, memories, games, random numbers."""
        return {name: torch.from_numpy(array) for name, array in self._kept().items()}, self.header()

    def _take(self, tensors: dict[str, Tensor]) -> None:
        for name, array in self._kept(tensors).items():
            array[...] = tensors[name].numpy()
        self._batches.refits[:] = NEVER

    def _kept(self, saved: dict[str, Tensor] | None = None) -> dict[str, NDArray[Any]]:
        """Returns the arrays that change, by name; of memories only what is filled, now or in what was `saved`."""
        networks, games = self.networks, self._games
        memories: dict[str, Transitions | Behaviour] = {"transitions": self._transitions, "behaviour": self._behaviour}
        arrays: dict[str, NDArray[Any]] = {
            "params": networks.params,
            "moments": networks.moments,
            "updates": networks.updates,
            "streams": self._streams.view(np.int64),
            **{f"games.{name}": getattr(games, name) for name in PERSISTENT},
        }
        for name, memory in memories.items():
            offered = memory.offered if saved is None else saved[f"{name}.offered"].numpy()
            for part, array in memory._asdict().items():
                arrays[f"{name}.{part}"] = array if part == "offered" else array[:, : int(offered.max())]
        return arrays

    def _learning_rates(self, first: int, count: int) -> NDArray[np.float32]:
        """Returns `[count, 2]` the learning rates of rounds of this epoch, after the `first` ones."""
        config = self.config
        done = self.rounds + first + np.arange(count)
        factor = np.ones(count)
        if config.slowdown:
            factor /= np.sqrt(1.0 + done / config.slowdown)
        policy_factor = factor
        if config.decay > 0.0:
            policy_factor = factor * np.clip((1.0 - done / (config.epochs * config.epoch_rounds)) / config.decay, 0.0, 1.0)
        return np.stack((config.learning_rate * factor, config.policy_learning_rate * policy_factor), axis=1).astype(np.float32)

    def _forget_losses(self) -> None:
        self.networks.loss[:], self.networks.steps[:] = 0.0, 0

    def _play(self, first: int, count: int) -> None:
        play_rounds(
            count, self.rounds + first, self._learning_rates(first, count), self.config.round_settings(), self._games,
            self.networks, self._transitions, self._behaviour, self._batches, self.played.encodings, self.played.table,
            self._streams,
        )  # fmt: skip

    def _losses(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        kinds = [Q, POLICY]
        return self.networks.loss[:, kinds].sum(0), self.networks.steps[:, kinds].sum(0)

    def _games_finished(self) -> int:
        return int(self._games.finished[0])
