"""A run of Deep CFR (Brown et al. 2019, Algorithm 1) in memory.

In each iteration, each player in turn samples games by external sampling, with strategies by regret matching on both players'
advantage networks, and then trains its advantage network from scratch on all samples so far.

Where we differ: infostates are entries of a compiled tree, so a network is queried once for each of them in an iteration, and a
batch has one gradient for each infostate in it; both are exact. The average policy is learnt throughout, not only at the end,
so a run can be evaluated, and played, at any time. While one player learns its advantages, the other learns its average policy
on another core. Preset `cpu` continues from the last advantage network instead of starting from new weights.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tacit.deep_cfr.averages import Average, ExactAverage, LearntAverage
from tacit.deep_cfr.config import DeepCfrConfig, SdCfrConfig
from tacit.deep_cfr.learn import ADVANTAGE, POLICY, learn, make_batch_sums, match_advantages
from tacit.deep_cfr.memory import Samples, make_samples
from tacit.deep_cfr.progress import DeepCfrProgress
from tacit.deep_cfr.traversals import traverse
from tacit.errors import DivergedError, TacitError
from tacit.evaluation import evaluate
from tacit.games import AnyGame
from tacit.kernels import make_passes
from tacit.kernels.numba_walks import make_frames
from tacit.learning.returns import uniform_return
from tacit.nets.encoded_game import EncodedGame
from tacit.nets.player_networks import make_networks
from tacit.nets.sparse_mlp import Params, initial_params, make_scratch
from tacit.random_numbers import make_streams
from tacit.training.system import Trainer, generator_state
from tacit.tree.public_tree import Floats

STREAMS = 5
"""The number of random streams: for the walks, both players' advantages, and both players' policies."""


class DeepCfrTrainer(Trainer[SdCfrConfig, DeepCfrProgress]):
    """Both players' networks and memories, on the CPU."""

    why_alone = "spends many times as long on learning as on sampling games, so workers that sample would gain nothing"

    def __init__(self, game: AnyGame, config: SdCfrConfig, device: str = "cpu") -> None:
        if device != "cpu":
            raise TacitError(f"{config.system} trains on the CPU only: leave out --device")
        self.encoded = encoded = EncodedGame.of(game)
        if "reward_unit" in config.left_open():
            config = replace(config, reward_unit=uniform_return(encoded.tree))
        super().__init__(game, config)
        tree, hidden = encoded.tree, config.hidden_layers()
        self._passes = make_passes(tree)
        self._generator = np.random.default_rng(config.seed)
        learns_policy = isinstance(config, DeepCfrConfig)
        kinds = (ADVANTAGE, POLICY) if learns_policy else (ADVANTAGE,)
        self.networks = make_networks(encoded.num_features, hidden, encoded.num_outputs, kinds, self._generator)
        self.networks.params[:, ADVANTAGE] = 0.0  # no advantages are known yet, so the first strategy is uniform
        self._streams = make_streams(config.seed, STREAMS)
        self._advantages = make_samples(config.advantage_memory, encoded.num_outputs)
        self._batch = make_batch_sums(tree.num_infostates, tree.num_entries)
        self._scratch = make_scratch(encoded.num_features, hidden, encoded.num_outputs)
        self._frames = make_frames(len(tree.require_nodes().level_start), encoded.num_outputs)
        self._strategy: Floats = np.asarray(tree.uniform_strategy(), np.float64)
        self.average: Average = (
            LearntAverage(encoded, self.networks, config, self._streams)
            if isinstance(config, DeepCfrConfig)
            else ExactAverage(encoded)
        )
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="deep-cfr")

    @property
    def iterations(self) -> int:
        """The number of iterations of CFR so far."""
        return self.epoch * self.config.epoch_iterations

    @property
    def samples(self) -> int:
        """The number of samples offered to all memories so far."""
        return int(self._advantages.offered.sum() + self.average.samples.offered.sum())

    def run_epoch(self, clock: Callable[[], float] = time.perf_counter) -> DeepCfrProgress:
        start, before, count = clock(), self.samples, self.config.epoch_iterations
        self.networks.loss[:] = 0.0
        self.networks.steps[:] = 0
        for done in range(count):
            self._iterate(self.iterations + done + 1, self.progress_share() + done / count / self.config.epochs)
            self.on_share((done + 1) / count)
        losses = self._mean_losses()
        self.epoch += 1
        took = clock() - start
        self.seconds += took
        speed = (self.samples - before) / max(took, 1e-9)
        return replace(self.at_rest(), loss=losses[0], policy_loss=losses[1], samples_per_second=speed)

    def _iterate(self, iteration: int, share_done: float) -> None:
        """Runs one iteration of CFR; `share_done` is the share of the run before it."""
        config, table = self.config, self.encoded.table
        left = max(0.0, 1.0 - share_done)
        for player in (0, 1):
            self.average.add(1 - player, iteration, self._strategy)
            traverse(
                config.traversals, player, iteration, table, self._strategy, config.reward_unit, self._advantages,
                self.average.samples, self._frames, self._streams, 0,
            )  # fmt: skip
            policy = self._beside.submit(self.average.learn, 1 - player, iteration, left)
            self._learn_advantages(player, iteration)
            policy.result()

    def _learn_advantages(self, player: int, iteration: int) -> None:
        """Trains a player's advantage network and updates its strategy.

        The learning rate does not fall. A network that stops moving stops the strategy, and the average, in which late
        iterations count most, drifts to that one strategy: exploitability rises.
        """
        config, encoded, networks = self.config, self.encoded, self.networks
        if config.restart or iteration == 1:
            networks.params[player, ADVANTAGE] = self._new_params()
            networks.moments[player, ADVANTAGE], networks.updates[player, ADVANTAGE] = 0.0, 0
        learn(
            ADVANTAGE, player, config.advantage_steps, config.batch_size, config.learning_rate, config.clip,
            iteration, networks, networks.gradient[player], self._scratch, self._advantages, self._batch, encoded.encodings,
            encoded.table, self._streams, 1 + player,
        )  # fmt: skip
        self._match(player)

    def _new_params(self) -> Params:
        """Returns new random weights for a network."""
        encoded = self.encoded
        return initial_params(encoded.num_features, self.config.hidden_layers(), encoded.num_outputs, self._generator)

    def _match(self, player: int) -> None:
        """Updates a player's strategy from its advantages."""
        encoded = self.encoded
        match_advantages(
            self.networks,
            player,
            self._scratch,
            encoded.encodings,
            encoded.table,
            encoded.tree.infostate_player,
            self._strategy,
        )

    def _mean_losses(self) -> tuple[float, float | None]:
        """Returns the mean losses of advantages and policies in this epoch.

        Raises:
          DivergedError: A loss is not a finite number.
        """
        losses = self.networks.loss.sum(0) / np.maximum(1, self.networks.steps.sum(0))
        for setting, loss in zip(("learning_rate", "policy_learning_rate"), losses, strict=False):
            if not math.isfinite(loss):
                raise DivergedError(f"the loss became {loss}: lower {setting}")
        return float(losses[ADVANTAGE]), float(losses[POLICY]) if len(losses) > POLICY else None

    def judged(self, metrics: DeepCfrProgress, on_search: Callable[[int], None] = lambda _: None) -> DeepCfrProgress:
        """Returns the metrics with the exact exploitability of the average strategy."""
        del on_search
        quality = evaluate(self._passes, self.strategy())
        return replace(metrics, exploitability=quality.exploitability, nash_conv=quality.nash_conv, value=quality.value)

    def strategy(self) -> Floats:
        """Returns `[E]`, the average strategy of both players."""
        return self.average.strategy()

    def at_rest(self) -> DeepCfrProgress:
        return DeepCfrProgress(self.epoch, self.seconds, self.iterations, self.samples, math.nan, None, 0.0)

    def weights(self) -> dict[str, Tensor]:
        return {name: part.clone() for name, part in self.average.weights().items()}

    def load_weights(self, weights: dict[str, Tensor]) -> None:
        """Loads weights that `weights` returned.

        Raises:
          TacitError: They do not fit the game and the settings.
        """
        for name, part in self.average.weights().items():
            if name not in weights or weights[name].shape != part.shape:
                raise TacitError(f"the network does not fit {self.game}: it was made by another version")
            part.copy_(weights[name])

    def header(self) -> dict[str, Any]:
        return {**super().header(), "generator": generator_state(self._generator)}

    def tensors(self) -> dict[str, Tensor]:
        return {name: part.clone() for name, part in self._kept().items()}

    def restore(self, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
        super().restore(tensors, header)
        for name, part in self._kept(tensors).items():
            part.copy_(tensors[name])
        self._generator.bit_generator.state = header["generator"]

    def _kept(self, saved: Mapping[str, Tensor] | None = None) -> dict[str, Tensor]:
        """Returns the tensors that change, by name; of memories the rows that are filled now, or in the `saved` state."""
        arrays = {name: getattr(self.networks, name) for name in ("params", "moments", "updates")}
        arrays |= {"streams": self._streams.view(np.int64), "strategy": self._strategy}
        kept = {name: torch.from_numpy(array) for name, array in arrays.items()}
        kept |= {f"average.{name}": part for name, part in self.average.weights().items() if name != "params"}
        memories: dict[str, Samples] = {"advantages": self._advantages, "policies": self.average.samples}
        for memory, samples in memories.items():
            offered = torch.from_numpy(samples.offered)
            count = min(int((offered if saved is None else saved[f"{memory}.offered"]).max()), samples.infostate.shape[1])
            columns = {column: torch.from_numpy(part) for column, part in samples._asdict().items() if column != "offered"}
            kept |= {f"{memory}.offered": offered, **{f"{memory}.{name}": part[:, :count] for name, part in columns.items()}}
        return kept
