"""A run of regret policy gradients (Srinivasan et al. 2018) in memory.

Where we differ: action values learn from the winnings of whole games, not from the value of the next action; entropy and
learning rate fall linearly. The current policy is evaluated and played, as in the paper: nothing is averaged, and there is no
proof that it converges.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tacit.errors import DivergedError, TacitError
from tacit.evaluation import evaluate
from tacit.games import AnyGame
from tacit.kernels import make_passes
from tacit.learning.returns import uniform_return
from tacit.nets.descent import OPTIMIZERS
from tacit.nets.encoded_game import EncodedGame
from tacit.nets.player_networks import make_networks, strategy_table
from tacit.policy_gradient.config import UPDATES, PolicyGradientConfig
from tacit.policy_gradient.progress import PolicyGradientProgress
from tacit.policy_gradient.rounds import POLICY, GradientSettings, Q, make_round_buffers, play_rounds
from tacit.random_numbers import make_streams
from tacit.training.system import Trainer
from tacit.tree.public_tree import Floats

CHUNK = 256
"""The number of rounds between checks of the losses and for Ctrl-C."""


class PolicyGradientTrainer(Trainer[PolicyGradientConfig, PolicyGradientProgress]):
    """Both players' networks, on the CPU."""

    why_alone = "learns from each game once, with the policies that played it, so workers would lag behind"

    def __init__(self, game: AnyGame, config: PolicyGradientConfig, device: str = "cpu") -> None:
        if device != "cpu":
            raise TacitError("rpg trains on the CPU only: leave out --device")
        self.encoded = encoded = EncodedGame.of(game)
        tree = encoded.tree
        if "reward_unit" in config.left_open():
            config = replace(config, reward_unit=uniform_return(tree))
        super().__init__(game, config)
        self._passes = make_passes(tree)
        generator = np.random.default_rng(config.seed)
        hidden = config.hidden_layers()
        self.networks = make_networks(encoded.num_features, hidden, encoded.num_outputs, (Q, POLICY), generator)
        self._played = make_round_buffers(tree.num_infostates, tree.num_entries, len(tree.require_nodes().level_start))
        self._streams = make_streams(config.seed, 1)
        self._settings = GradientSettings(
            UPDATES.index(config.update), config.games, config.critic_steps, config.critic_rounds,
            OPTIMIZERS.index(config.critic_optimizer), OPTIMIZERS.index(config.optimizer), config.critic_learning_rate,
            config.clip, config.reward_unit,
        )  # fmt: skip

    def run_epoch(self, clock: Callable[[], float] = time.perf_counter) -> PolicyGradientProgress:
        start, rounds, networks = clock(), self.config.epoch_rounds, self.networks
        networks.loss[:] = 0.0
        networks.steps[:] = 0
        for first in range(0, rounds, CHUNK):
            count = min(CHUNK, rounds - first)
            share = self.progress_share() + (first + np.arange(count)) / rounds / self.config.epochs
            play_rounds(
                count, self.epoch * rounds + first, self._rates(share), self._settings, networks, self._played,
                self.encoded.encodings, self.encoded.table, self._streams,
            )  # fmt: skip
            loss = float(networks.loss[:, Q].sum() / max(1, networks.steps[:, Q].sum()))
            if not math.isfinite(loss):
                raise DivergedError(f"the loss became {loss}: lower critic_learning_rate")
            self.on_share(min(1.0, (first + count) / rounds))
        self.epoch += 1
        took = clock() - start
        self.seconds += took
        speed = rounds * self.config.games / max(took, 1e-9)
        return replace(self.at_rest(), loss=loss, games_per_second=speed)

    def _rates(self, share: Floats) -> Floats:
        """Returns `[count, 2]`, the policies' learning rate and the weight of their entropy at given shares of the run."""
        config, left = self.config, np.clip(1.0 - share, 0.0, 1.0)
        rate = config.learning_rate * (config.decay + (1.0 - config.decay) * left)
        entropy = config.entropy * (config.entropy_floor + (1.0 - config.entropy_floor) * left)
        return np.stack((rate, entropy), axis=1)

    def judged(
        self, metrics: PolicyGradientProgress, on_search: Callable[[int], None] = lambda _: None
    ) -> PolicyGradientProgress:
        """Returns the metrics with the exact exploitability of the current policies."""
        del on_search
        quality = evaluate(self._passes, self.strategy())
        return replace(metrics, exploitability=quality.exploitability, nash_conv=quality.nash_conv, value=quality.value)

    def strategy(self) -> Floats:
        """Returns `[E]`, the current policies of both players."""
        arguments = self.encoded.encodings, self.encoded.table, self.encoded.tree.infostate_player
        return np.asarray(strategy_table(self.networks, POLICY, False, *arguments))

    def at_rest(self) -> PolicyGradientProgress:
        games = self.epoch * self.config.epoch_rounds * self.config.games
        return PolicyGradientProgress(self.epoch, self.seconds, games, math.nan, 0.0)

    def weights(self) -> dict[str, Tensor]:
        return {"params": torch.from_numpy(self.networks.params.copy())}

    def load_weights(self, weights: dict[str, Tensor]) -> None:
        """Loads weights that `weights` returned.

        Raises:
          TacitError: They do not fit the game and the settings.
        """
        params = torch.from_numpy(self.networks.params)
        if weights.keys() != {"params"} or weights["params"].shape != params.shape:
            raise TacitError(f"the network does not fit {self.game}: it was made by another version")
        params.copy_(weights["params"])

    def tensors(self) -> dict[str, Tensor]:
        return {name: part.clone() for name, part in self._kept().items()}

    def restore(self, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
        super().restore(tensors, header)
        for name, part in self._kept().items():
            part.copy_(tensors[name])
        self._played.asked[:] = -1

    def _kept(self) -> dict[str, Tensor]:
        """Returns the tensors that change, by name."""
        arrays = {name: getattr(self.networks, name) for name in ("params", "moments", "updates")}
        return {name: torch.from_numpy(array) for name, array in (arrays | {"streams": self._streams.view(np.int64)}).items()}
