"""Self-play as a job: every worker is a trainer that only generates, with the weights that it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.processes import Message
    from tacit.training.system import Trainer


@dataclass(frozen=True)
class SelfPlayJob:
    """Every order asks for one lot of examples.

    Attributes:
      system: The name of the system.
      game: The name of the game.
      settings: The run's settings, those that were left open filled in.
      device: Where workers search.
      seed: What random numbers start from, together with a worker's number and life.
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
        """Takes over weights, and the epoch that the run has come to."""
        weights, facts = shared
        self._trainer.follow(weights, facts["epoch"])

    def answer(self, order: Message) -> Message:
        """Returns a lot of examples, with who made it and how many lots it had made before."""
        del order
        self._lots += 1
        return self._trainer.generate(), {**self._who, "lot": self._lots - 1}
