"""The base class for users' own systems: they define how an epoch learns, and everything else is here."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tacit.errors import DivergedError
from tacit.games import AnyGame
from tacit.nets.checkpoint import prefixed, unprefixed
from tacit.nets.optimizers import optimizer_state, restore_optimizer
from tacit.search.judging import judge_search, max_judge_searches
from tacit.search.search import BatchSearch
from tacit.training.ranges import Count, CountOrZero, Seed
from tacit.training.settings import Settings
from tacit.training.system import C, SearchMetrics, Trainer, generator_state

PLAYTHROUGHS = 64
"""How many playthroughs an evaluation during training takes."""


@dataclass(frozen=True)
class SearchSettings(Settings):
    """The settings that every run has, with defaults. Subclass it as a frozen dataclass to add more."""

    epochs: Count = 10
    evaluate_every: CountOrZero = 0
    seed: Seed = 0


class SearchTrainer(Trainer[C, SearchMetrics]):
    """A run that trains the networks of its search. Subclasses make their networks and `search` in `__init__`, and `learn`.

    Attributes that are torch modules or optimizers are saved: weight files contain the modules, and checkpoints contain all of
    them, with `generator` and torch's own random number generator.

    A subclass that implements `generate` and learns from `example_source.next()` can be trained by workers (`--engine`).

    Attributes:
      search: The search that is evaluated, and that plays when the run is opened by name.
      generator: The random number generator of the epochs.
    """

    search: BatchSearch

    def __init__(self, game: AnyGame, config: C) -> None:
        super().__init__(game, config)
        torch.manual_seed(config.seed)
        self.generator = np.random.default_rng(config.seed)

    @abstractmethod
    def learn(self) -> float:
        """Returns the loss after learning for one epoch."""

    def run_epoch(self, clock: Callable[[], float]) -> SearchMetrics:
        start, loss = clock(), self.learn()
        self.example_source.publish()
        if not math.isfinite(loss):
            raise DivergedError(f"the loss became {loss}: lower the learning rate")
        self.epoch, self.seconds = self.epoch + 1, self.seconds + clock() - start
        return replace(self.at_rest(), loss=loss)

    def reseed(self, *numbers: int) -> None:
        self.generator.bit_generator.state = np.random.default_rng(numbers).bit_generator.state
        torch.manual_seed(int(self.generator.integers(2**32)))

    def judged(self, metrics: SearchMetrics, on_search: Callable[[int], None]) -> SearchMetrics:
        return replace(metrics, **judge_search(self.search, PLAYTHROUGHS, self.config.seed, on_search)._asdict())

    def max_searches(self) -> int:
        """Returns the most searches that an evaluation during training can take."""
        return max_judge_searches(self.search, PLAYTHROUGHS)

    def at_rest(self) -> SearchMetrics:
        return SearchMetrics(self.epoch, self.seconds, math.nan)

    def weights(self) -> dict[str, Tensor]:
        return _joined({name: module.state_dict() for name, module in self._modules().items()})

    def tensors(self) -> dict[str, Tensor]:
        optimizers = {name: optimizer_state(optimizer) for name, optimizer in self._optimizers().items()}
        return {**self.weights(), **_joined(optimizers), "torch_generator": torch.get_rng_state()}

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors, header = super().state()
        return tensors, {**header, "generator": generator_state(self.generator)}

    def load_weights(self, weights: dict[str, Tensor]) -> None:
        for name, module in self._modules().items():
            module.load_state_dict(unprefixed(name, weights))

    def restore(self, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
        super().restore(tensors, header)
        self.load_weights(tensors)
        for name, optimizer in self._optimizers().items():
            restore_optimizer(optimizer, unprefixed(name, tensors))
        torch.set_rng_state(tensors["torch_generator"])
        self.generator.bit_generator.state = header["generator"]

    def _modules(self) -> dict[str, nn.Module]:
        return {name: part for name, part in vars(self).items() if isinstance(part, nn.Module)}

    def _optimizers(self) -> dict[str, torch.optim.Optimizer]:
        return {name: part for name, part in vars(self).items() if isinstance(part, torch.optim.Optimizer)}


def _joined(parts: dict[str, dict[str, Any]]) -> dict[str, Tensor]:
    """Returns the tensors of all parts, each name prefixed with its part's name."""
    return {name: tensor for part, tensors in parts.items() for name, tensor in prefixed(part, tensors).items()}
