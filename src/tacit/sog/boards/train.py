"""A run of Student of Games on a board, in memory: self-play by growing trees, and the network that learns from it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tacit.errors import DivergedError
from tacit.games import AnyGame
from tacit.games.boards import make_boards
from tacit.learning.rates import cosine_decay
from tacit.nets.board_net import BoardNet, NetBoards
from tacit.nets.checkpoint import prefixed, unprefixed
from tacit.search.boards.match import play_match
from tacit.search.boards.search import BoardSearch, UniformBoards
from tacit.sog.boards.config import BoardConfig
from tacit.sog.boards.learner import BoardLearner
from tacit.sog.boards.selfplay import BoardSelfPlay, Story
from tacit.training.system import Metrics, Spilling, Trainer, generator_state


@dataclass(frozen=True)
class BoardProgress(Metrics):
    """A line of `metrics.jsonl`: the progress of a run after an epoch.

    Attributes:
      epoch: finished epochs.
      seconds: time spent on self-play and training, over all sessions.
      games: finished games.
      examples: examples made.
      policy_loss: mean cross entropy of the epoch; NaN before the first training step.
      value_loss: mean squared error of the epoch.
      moves_per_second: moves per second in this epoch.
      score: mean payoff against the same search without a network, if it was evaluated.
      exploitability: always None, boards are not judged exactly.
    """

    epoch: int
    seconds: float
    games: int
    examples: int
    policy_loss: float
    value_loss: float
    moves_per_second: float
    score: float | None = None
    exploitability: float | None = None


class BoardTrainer(Trainer[BoardConfig, BoardProgress]):
    """Self-play on a board and the network that learns from it."""

    def __init__(self, game: AnyGame, config: BoardConfig, device: str = "cpu") -> None:
        super().__init__(game, config)
        boards = make_boards(game)
        torch.manual_seed(config.seed)
        net = BoardNet(boards.plane_shape, boards.num_actions, config.channels, config.blocks)
        net = net.to(device)
        if device != "cpu":
            net = net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.device, self.learner = device, BoardLearner(net, boards, config, device)
        self.search = BoardSearch(boards, NetBoards(net, boards), config.growth())
        self.selfplay = BoardSelfPlay(self.search, config.games, config.uniform_mix, config.queries, config.outcome_share)
        self._numpy = np.random.default_rng(config.seed)
        self._torch = torch.Generator(device=device).manual_seed(config.seed)

    def run_epoch(self, clock: Callable[[], float] = time.perf_counter) -> BoardProgress:
        """Returns the progress after one epoch: `epoch_steps` moves of every game; it ends early when the run's time is up."""
        config, start, steps = self.config, clock(), 0
        ends = math.inf if self.finish_by is None else start + self.finish_by - self.seconds
        rate, losses = self._learning_rate(), []
        while steps == 0 or (steps < config.epoch_steps and clock() < ends):
            loss = self.learner.learn(self.selfplay.advance(self._numpy), rate, self._torch)
            if loss is not None:
                losses.append(loss)
            steps += 1
            self.on_share(steps / config.epoch_steps)
        self.epoch += 1
        means = torch.stack(losses).mean(0).tolist() if losses else [math.nan, math.nan]
        if losses and not math.isfinite(sum(means)):
            raise DivergedError(f"the loss became {sum(means)}: lower learning_rate")
        took = clock() - start
        self.seconds += took
        return replace(self.at_rest(), policy_loss=means[0], value_loss=means[1], moves_per_second=steps * config.games / took)

    def judged(self, metrics: BoardProgress, on_search: Callable[[int], None]) -> BoardProgress:
        """Returns an epoch's progress with the mean payoff against the same search without a network."""
        plain = BoardSearch(self.search.boards, UniformBoards(self.search.boards), self.search.config)
        payoffs = play_match(
            self.search, plain, self.config.match_games, np.random.default_rng(self.config.seed + 1), on_search
        )
        return replace(metrics, score=float(payoffs.mean()))

    def at_rest(self) -> BoardProgress:
        return BoardProgress(
            self.epoch, self.seconds, self.selfplay.games_played, self.learner.replay.added, math.nan, math.nan, 0.0
        )

    def weights(self) -> dict[str, Tensor]:
        return dict(self.learner.net.state_dict())

    def replays(self) -> dict[str, Spilling]:
        return {"examples": self.learner.replay}

    def tensors(self) -> dict[str, Tensor]:
        story = {name: torch.from_numpy(part) for name, part in vars(self.selfplay.story).items()}
        return {
            **prefixed("learner", self.learner.state()),
            **prefixed("story", story),
            "queries": torch.from_numpy(self.selfplay.queries),
            "generator": self._torch.get_state(),
        }

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors, header = super().state()
        return tensors, {**header, "numpy": generator_state(self._numpy), "games_played": self.selfplay.games_played}

    def restore(self, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
        super().restore(tensors, header)
        self.learner.restore(unprefixed("learner", tensors))
        self.selfplay.story = Story(**{name: part.numpy() for name, part in unprefixed("story", tensors).items()})
        self.selfplay.queries = tensors["queries"].numpy()
        self.selfplay.games_played = int(header["games_played"])
        self._torch.set_state(tensors["generator"])
        self._numpy.bit_generator.state = header["numpy"]

    def _learning_rate(self) -> float:
        return self.config.learning_rate * cosine_decay(self.progress_share())
