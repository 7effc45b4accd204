"""A worker: a trainer that only generates, with the weights it is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tacit.artifacts.systems import find_system
from tacit.errors import TacitError
from tacit.games import load_game
from tacit.scale.frames import pack, unpack


@dataclass(frozen=True)
class WorkerPlan:
    """What a worker needs to know to be opened anywhere.

    Attributes:
      system: The name of the system.
      game: The name of the game.
      settings: The run's settings, those that were left open filled in.
      device: Where it searches.
      seed: What its random numbers start from, together with its number and its life.
    """

    system: str
    game: str
    settings: dict[str, Any]
    device: str
    seed: tuple[int, ...]


class Worker:
    """Makes examples on order.

    Args:
      plan: what it works on.
      number: which worker it is.
      life: how often workers of this number were started before; each life has random numbers of its own, because what the
        last one had made and not delivered is lost, and what it delivered must not be made again.
    """

    def __init__(self, plan: WorkerPlan, number: int, life: int) -> None:
        game = load_game(plan.game)
        system = find_system(plan.system, game)
        self._trainer = system.trainer(game, system.config(**plan.settings), plan.device)
        self._trainer.reseed(*plan.seed, number, life)

    def make(self, weights: bytes | None, order: int) -> bytes:
        """Returns a frame of examples, with the number of the order that it answers.

        Args:
          weights: a frame of new weights with the run's `epoch`; None where they have not changed.
          order: its number.
        """
        try:
            if weights is not None:
                tensors, facts = unpack(weights)
                self._trainer.follow(tensors, facts["epoch"])
            return pack(self._trainer.generate(), order=order)
        except TacitError as error:
            return pack({}, order=order, error=str(error))
