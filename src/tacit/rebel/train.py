"""A ReBeL run in memory: self-play makes examples, a network learns them, and the next self-play uses it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.kernels import make_passes
from tacit.nets.checkpoint import prefixed, unprefixed
from tacit.nets.numba_mlp import NumbaValueNet
from tacit.nets.value_net import ValueNet
from tacit.rebel.config import RebelConfig
from tacit.rebel.fitter import Fitter
from tacit.rebel.random_beliefs import RandomBeliefs
from tacit.rebel.replay import ReplayBuffer
from tacit.rebel.selfplay import SelfPlay
from tacit.search.leaves import LeafEvaluator
from tacit.search.playthroughs import playthrough_quality
from tacit.search.search import BatchSearch
from tacit.search.tables import SearchSpace, search_space
from tacit.tree.compiler import compile_game
from tacit.tree.public_tree import PublicTree


@dataclass(frozen=True)
class Progress:
    """A line of `metrics.jsonl`: where a run stands after an epoch.

    Attributes:
      epoch: finished epochs.
      seconds: time spent on self-play and training, over all sessions.
      examples: examples made.
      loss: mean training loss of the epoch.
      examples_per_second: in this epoch.
      exploitability: of `playthroughs` averaged playthroughs (an upper bound), where it was evaluated.
      playthroughs: their number.
    """

    epoch: int
    seconds: float
    examples: int
    loss: float
    examples_per_second: float
    exploitability: float | None = None
    playthroughs: int = 0


class Trainer:
    """Self-play, replay buffer, network and optimizer; `state` and `restore` make them survive a kill."""

    def __init__(self, game: AnyGame, config: RebelConfig, device: str = "cpu") -> None:
        self.game, self.config, self.device = game, config, device
        self.space: SearchSpace = search_space(compile_game(game), config.depth)
        H = self.space.tables.num_private_states
        torch.manual_seed(config.seed)
        scale = typical_return(self.space.tree)
        self.net = ValueNet(len(self.space.classes), H, config.hidden, config.layers, scale).to(device)
        self.search = make_search(self.space, self.net, config, device)
        self._numpy = np.random.default_rng(config.seed)
        self._torch = torch.Generator(device=device).manual_seed(config.seed)
        self.selfplay: SelfPlay | RandomBeliefs
        if config.beliefs == "random":
            self.selfplay = RandomBeliefs(self.search, config.games, self._numpy)
        else:
            self.selfplay = SelfPlay(self.search, config.games, config.exploration, self._numpy)
        self.replay = ReplayBuffer(config.replay_size, 2 * H, device)
        self._fitter = Fitter(self.net, _real_values(self.space).to(device))
        self.epoch, self.seconds = 0, 0.0
        self.finish_by: float | None = None  # seconds after which the run ends, if that comes before the last epoch

    def run_epoch(self, clock: Callable[[], float] = time.perf_counter) -> Progress:
        """Returns the progress after one epoch: `epoch_examples` new examples, `ratio` times as many trained on."""
        config, start, made = self.config, clock(), 0
        self._set_learning_rate()
        losses = []
        while made < config.epoch_examples:
            examples = self.selfplay.advance()
            self.replay.add(examples)
            made += len(examples.public_class)
            steps = max(1, round(config.ratio * len(examples.public_class) / config.batch_size))
            losses.append(self._train(steps))
            _refresh(self.search.evaluator)
        self.epoch += 1
        if self.epoch == config.drop_half_at:
            self.replay.drop_oldest_half()
        took = clock() - start
        self.seconds += took
        loss = float(np.mean(losses))
        if not math.isfinite(loss):
            raise TacitError(f"the loss became {loss}: lower learning_rate; the checkpoint of epoch {self.epoch - 1} is kept")
        return Progress(self.epoch, self.seconds, self.replay.added, loss, made / took)

    def evaluate(self, playthroughs: int, seed: int = 0, progress: Callable[[int], None] = lambda _: None) -> float:
        """Returns the exploitability of the average policy of so many playthroughs: an upper bound, in the game's units."""
        self.net.eval()
        return playthrough_quality(self.search, playthroughs, np.random.default_rng(seed), progress).exploitability

    def header(self) -> dict[str, Any]:
        """Returns what a file of this run's weights says about itself."""
        return {"game": str(self.game), "config": self.config.as_dict(), "epoch": self.epoch, "seconds": self.seconds}

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Returns the tensors and the header that `restore` needs: weights, optimizer, replay, games in play, generators."""
        tensors = {
            **prefixed("net", self.net.state_dict()),
            **prefixed("optimizer", self._fitter.state()),
            **prefixed("replay", self.replay.state()),
            "selfplay.class": torch.from_numpy(self.selfplay.game_class),
            "selfplay.reaches": self.selfplay.reaches,
            "generator": self._torch.get_state(),
        }
        return tensors, {**self.header(), "numpy": _jsonable(self._numpy.bit_generator.state)}

    def restore(self, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
        """Goes on from a `state`.

        Raises:
          TacitError: it is of another game.
        """
        if header["game"] != str(self.game):
            raise TacitError(f"the checkpoint is of {header['game']}, not of {self.game}")
        self.net.load_state_dict(unprefixed("net", tensors))
        self._fitter.restore(unprefixed("optimizer", tensors))
        self.replay.restore(unprefixed("replay", tensors))
        self.selfplay.game_class = tensors["selfplay.class"].numpy()
        self.selfplay.reaches = tensors["selfplay.reaches"].to(self.device)
        self._torch.set_state(tensors["generator"])
        self._numpy.bit_generator.state = header["numpy"]
        self.epoch, self.seconds = header["epoch"], header["seconds"]
        _refresh(self.search.evaluator)

    def _train(self, steps: int) -> float:
        """Returns the mean loss of so many steps."""
        total = torch.zeros((), device=self.device)
        for _ in range(steps):
            total += self._fitter.step(self.replay.sample(self.config.batch_size, self._torch))
        return float(total) / steps

    def _set_learning_rate(self) -> None:
        config = self.config
        if config.halve_every:
            factor = 0.5 ** (self.epoch // config.halve_every)
        else:
            done = self.epoch / config.epochs
            if self.finish_by is not None:
                done = max(done, self.seconds / max(self.finish_by, 1e-9))
            factor = 0.01 + 0.99 * 0.5 * (1.0 + math.cos(math.pi * min(1.0, done)))
        self._fitter.learning_rate = config.learning_rate * factor


def make_search(space: SearchSpace, net: ValueNet, config: RebelConfig, device: str) -> BatchSearch:
    """Returns the search of a run, with the fastest forward pass of its network that the device has."""
    evaluator: Any = NumbaValueNet(net) if device == "cpu" and isinstance(net, ValueNet) else net
    if device != "cpu" and config.layers == 2 and config.hidden in (16, 32, 64, 128, 256):
        from tacit.nets.triton_mlp import FusedValueNet

        evaluator = FusedValueNet(net)
    return BatchSearch(space, evaluator, config.search(), device)


def typical_return(tree: PublicTree) -> float:
    """Returns the mean absolute return of uniform play."""
    passes = make_passes(tree)
    uniform = passes.uniform()
    first, second = (passes.rows_to_numpy(player, passes.reach(player, uniform)) for player in (0, 1))
    return float((np.abs(tree.payoff) * first[tree.payoff_rows[0]] * second[tree.payoff_rows[1]]).sum()) or 1.0


def _refresh(evaluator: LeafEvaluator) -> None:
    """Tells a fused network that the weights have changed."""
    refresh = getattr(evaluator, "refresh", None)
    if refresh is not None:
        refresh()


def _real_values(space: SearchSpace) -> torch.Tensor:
    """Returns `[C, 2 * H]`: 1 where a class has the private state, 0 beyond."""
    H = space.tables.num_private_states
    masks = [torch.arange(H) < torch.from_numpy(table.num_roots)[:, None] for table in space.tables.players]
    return torch.cat(masks, dim=1).float()


def _jsonable(state: Any) -> Any:
    return json.loads(json.dumps(state, default=int))
