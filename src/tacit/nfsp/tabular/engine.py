"""NFSP on a compiled game: games are walks over integers, and networks are small enough for vector units."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import AnyGame
from tacit.kernels import make_passes
from tacit.learning.returns import uniform_return
from tacit.nets.descent import OPTIMIZERS
from tacit.nets.encoded_game import EncodedGame
from tacit.nets.player_networks import Networks, strategy_table
from tacit.nfsp.config import APART, EXPONENTIAL, WINDOW, TabularConfig
from tacit.nfsp.progress import ExactProgress
from tacit.nfsp.strategies import AVERAGE, BEST_RESPONSE, STRATEGIES
from tacit.nfsp.tabular.learn import NEVER, make_batches
from tacit.nfsp.tabular.memory import Behaviour, Transitions, make_behaviour, make_transitions
from tacit.nfsp.tabular.networks import POLICY, Q, make_networks
from tacit.nfsp.tabular.rounds import STREAMS, RoundSettings, play_rounds
from tacit.nfsp.tabular.selfplay import PERSISTENT, begin_games, make_games
from tacit.nfsp.train import NfspTrainer, filled_rows
from tacit.random_numbers import make_streams
from tacit.tree.public_tree import Floats, PublicTree


class PlayedGame(EncodedGame):
    """A compiled game that makes NFSP's networks for it."""

    def make_networks(self, hidden: Sequence[int], generator: np.random.Generator) -> Networks:
        """Returns both players' networks with random weights; they have an output for each action of the game."""
        return make_networks(self.num_features, hidden, self.num_outputs, generator)

    def strategy(self, networks: Networks, name: str) -> Floats:
        """Returns `[E]` the strategies of both players' networks; `name` is one of `STRATEGIES`."""
        kind, greedy = Q if name == BEST_RESPONSE else POLICY, name != AVERAGE
        return np.asarray(strategy_table(networks, kind, greedy, self.encodings, self.table, self.tree.infostate_player))


TYPICAL_REWARD = 3.359375
"""The mean absolute payoff of uniform play in Leduc, where the learning rates of the presets were found."""


def fit_reward_unit(config: TabularConfig, tree: PublicTree) -> TabularConfig:
    """Returns the configuration with a unit of reward: 1, or more if uniform play wins or loses more than it does in Leduc.

    Gradients grow with rewards, so with payoffs in chips SGD would diverge at once.
    """
    if "reward_unit" not in config.left_open():
        return config
    return replace(config, reward_unit=max(1.0, uniform_return(tree) / TYPICAL_REWARD))


class TabularTrainer(NfspTrainer):
    """Both players' networks, memories and games, on the CPU."""

    config: TabularConfig
    progress = ExactProgress

    def __init__(self, game: AnyGame, config: TabularConfig, device: str = "cpu") -> None:
        if device != "cpu":
            raise TacitError("nfsp trains on the CPU only: leave out --device")
        self.played = PlayedGame.of(game)
        config = fit_reward_unit(config, self.played.tree)
        super().__init__(game, config)
        tree = self.played.tree
        self._passes = make_passes(tree)
        self.networks = self.played.make_networks(config.hidden_layers(), np.random.default_rng(config.seed))
        self._transitions, self._behaviour = make_transitions(config.transitions), make_behaviour(config.behaviour)
        self._batches = make_batches(tree.num_infostates, tree.num_entries, config.batch_size)
        self._games = make_games(config.games, tree.num_infostates, tree.num_entries)
        self._streams = make_streams(config.seed, STREAMS)
        begin_games(self._games, self.played.table, config.anticipation, self._streams, 0)
        self._settings = RoundSettings(
            config.anticipation, config.exploration, config.exploration_decay, config.reward_unit, config.explores == APART,
            config.memory == WINDOW,
            config.least_probability if config.memory == EXPONENTIAL else 0.0, config.batch_size, config.updates, config.share,
            config.refit_every, OPTIMIZERS.index(config.optimizer), OPTIMIZERS.index(config.policy_optimizer),
        )  # fmt: skip
        learnt = slice(Q, None, POLICY - Q)  # a view without the targets between them
        self.loss, self.loss_steps = (torch.from_numpy(part[:, learnt]) for part in (self.networks.loss, self.networks.steps))
        self.finished = torch.from_numpy(self._games.finished)

    def play(self, done: int, count: int) -> None:
        play_rounds(
            count, done, self._learning_rates(done, count), self._settings, self._games, self.networks,
            self._transitions, self._behaviour, self._batches, self.played.encodings, self.played.table, self._streams,
        )  # fmt: skip

    def strategy(self, name: str = AVERAGE) -> Floats:
        """Returns `[E]` both players' strategies by name, one of `STRATEGIES`."""
        return self.played.strategy(self.networks, name)

    def judge(self, on_match: Callable[[int], None]) -> dict[str, float]:
        """Returns the exact exploitability of the average strategies and of the other two."""
        del on_match
        average, best, greedy = (evaluate(self._passes, self.strategy(name)) for name in STRATEGIES)
        return {
            "exploitability": average.exploitability, "nash_conv": average.nash_conv, "value": average.value,
            "best_response_exploitability": best.exploitability, "greedy_average_exploitability": greedy.exploitability,
        }  # fmt: skip

    def weights(self) -> dict[str, Tensor]:
        return {"params": torch.from_numpy(self.networks.params.copy())}

    def kept(self, saved: Mapping[str, Tensor] | None = None) -> dict[str, Tensor]:
        arrays = {name: getattr(self.networks, name) for name in ("params", "moments", "updates")}
        arrays |= {f"games.{name}": getattr(self._games, name) for name in PERSISTENT}
        kept = {name: torch.from_numpy(array) for name, array in arrays.items()}
        kept["streams"] = torch.from_numpy(self._streams.view(np.int64))
        memories: dict[str, Transitions | Behaviour] = {"transitions": self._transitions, "behaviour": self._behaviour}
        for name, memory in memories.items():
            columns = {column: torch.from_numpy(array) for column, array in memory._asdict().items()}
            kept |= filled_rows(name, columns, columns.pop("offered"), memory.entry.shape[1], saved)
        return kept

    def restore(self, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
        super().restore(tensors, header)
        self._batches.refits[:] = NEVER

    def _learning_rates(self, done: int, count: int) -> NDArray[np.float32]:
        """Returns `[count, 2]` the learning rates of action values and policies in the rounds after the first `done` ones."""
        config, before = self.config, done + np.arange(count)
        factor = np.ones(count)
        if config.slowdown:
            factor /= np.sqrt(1.0 + before / config.slowdown)
        policy_factor = factor
        if config.decay > 0.0:
            share = np.maximum(before / (config.epochs * config.epoch_rounds), self.progress_share())
            policy_factor = factor * np.clip((1.0 - share) / config.decay, 0.0, 1.0)
        return np.stack((config.learning_rate * factor, config.policy_learning_rate * policy_factor), axis=1).astype(np.float32)
