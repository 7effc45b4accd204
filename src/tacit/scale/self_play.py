"""Self-play as a job: every worker is a trainer that only generates, with the weights that the learner shares.

An order asks for some lots of examples, which come back in one answer. Sending an answer costs the same whether it holds one
lot or several, so the faster lots are made, the more of them an order asks for (`next_lots`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    from tacit.processes import Message
    from tacit.training.system import Trainer


SHORT, LONG = 0.4, 2.0
"""In seconds: orders ask for more lots after one that took less than `SHORT`, and for fewer after more than `LONG`."""


def next_lots(lots: int, seconds: float, most: int) -> int:
    """Returns how many lots the next order should ask for, after one for `lots` lots took `seconds`."""
    if seconds < SHORT:
        return min(2 * lots, most)
    return max(1, lots // 2) if seconds > LONG else lots


@dataclass(frozen=True)
class SelfPlayJob:
    """Generation by the trainers of a system, one in each worker.

    Attributes:
      system: The name of the system.
      game: The name of the game.
      settings: The run's settings, with those left open filled in.
      device: Where workers search.
      seed: The seed of random numbers, together with a worker's number and life.
    """

    system: str
    game: str
    settings: dict[str, Any]
    device: str
    seed: tuple[int, ...]

    def open(self, number: int, life: int) -> Generator:
        from tacit.artifacts.systems import find_system
        from tacit.games import load_game

        game = load_game(self.game)
        system = find_system(self.system, game)
        trainer: Trainer[Any, Any] = system.trainer(game, system.config(**self.settings), self.device)
        trainer.reseed(*self.seed, number, life)
        return Generator(trainer, {"worker": number, "life": life})


class Generator:
    """A trainer that only generates."""

    def __init__(self, trainer: Trainer[Any, Any], who: dict[str, int]) -> None:
        self._trainer, self._who, self._lots = trainer, who, 0

    def hear(self, shared: Message) -> None:
        """Updates the weights and the epoch to those of the run."""
        weights, facts = shared
        self._trainer.follow(weights, facts["epoch"])

    def answer(self, order: Message) -> Message:
        """Returns some lots of examples, with the worker, the number of lots it made before, and the time they took."""
        began, count = time.perf_counter(), order[1]["lots"]
        tensors: dict[str, Tensor] = {}
        for place in range(count):
            tensors |= {f"{place}.{name}": part for name, part in self._trainer.generate().items()}
        self._lots += count
        facts = {"lot": self._lots - count, "lots": count, "seconds": time.perf_counter() - began}
        return tensors, {**self._who, **facts}
