"""A comparison as work for other processes, each bound to one core."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.processes import Message


@dataclass(frozen=True)
class ComparisonPlan:
    """What all runs of a comparison have in common.

    Attributes:
      game: The game's name, as the user gives it.
      seconds: How long each system works.
      preset: The settings of systems that train.
      settings: Changes to the preset, by system.
    """

    game: str
    seconds: float
    preset: str = "cpu"
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def open(self, number: int, life: int) -> ComparisonWork:
        """Returns the plan as work for this process, and binds the process to one core."""
        del life  # a run's results do not depend on the process, except for timing
        keep_to_one_core(number)
        return ComparisonWork(self)


def keep_to_one_core(number: int) -> None:
    """Binds this process to one of the cores it may use, if the operating system supports it."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[number % len(cores)]})


class ComparisonWork:
    """Answers each order with a run."""

    def __init__(self, plan: ComparisonPlan) -> None:
        self._plan = plan

    def hear(self, shared: Message) -> None:
        """Does nothing: runs share nothing."""

    def answer(self, order: Message) -> Message:
        """Returns the run of the system and seed that are ordered."""
        from tacit.comparison.work import run_system
        from tacit.games import load_game

        plan, (_, wanted) = self._plan, order
        run = run_system(
            wanted["system"],
            load_game(plan.game),
            plan.seconds,
            seed=wanted["seed"],
            preset=plan.preset,
            settings=plan.settings.get(wanted["system"]),
        )
        return {}, {"run": asdict(run)}
