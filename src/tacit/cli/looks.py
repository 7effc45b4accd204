"""How runs are shown: the words, columns and figures of each system that trains."""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.common import program

if TYPE_CHECKING:
    from tacit.games import AnyGame
    from tacit.rebel.train import RebelProgress as Progress
    from tacit.rebel.train import RebelTrainer
    from tacit.training.system import System


class Look(ABC):
    """How the runs of one system are shown. `now` is an epoch's metrics; metrics and trainers are of the system's classes.

    Attributes:
      label: The system's name in pictures.
      kind: The kind of its figures: `exact`, `upper bound` or `sampled`.
      unit: What an evaluation counts while it runs: `searches` or `matches`.
      columns: The heading of the table of evaluated epochs.
      figure_name: The name of the figure by which several runs are compared.
    """

    label: str
    kind: str
    unit = "searches"
    figure_name = "exploitability"
    columns: str

    @abstractmethod
    def intro(self, trainer: Any) -> str:
        """Returns the line printed before training: what will be trained, and how."""

    def searches(self, trainer: Any) -> int:
        """Returns about how many searches or matches an evaluation takes; 0 if it takes no time."""
        del trainer
        return 0

    def evaluated(self, now: Any) -> bool:
        """Returns whether an epoch was evaluated."""
        return now.exploitability is not None

    def figure(self, now: Any) -> float:
        """Returns an evaluated epoch's figure, by which runs are compared."""
        return float(now.exploitability)

    @abstractmethod
    def row(self, now: Any) -> str:
        """Returns an evaluated epoch's line of the table."""

    @abstractmethod
    def status(self, now: Any, wide: bool) -> tuple[str, str]:
        """Returns the speed and the loss of an epoch."""

    @abstractmethod
    def bound(self, now: Any, wide: bool) -> str:
        """Returns in words how good an evaluated epoch was."""

    @abstractmethod
    def published(self, trainer: Any) -> float | None:
        """Returns the paper's exploitability for this game, if it gives one."""

    @abstractmethod
    def report(self, trainer: Any, last: Any) -> dict[str, Any]:
        """Returns what the system adds to the report of a run."""

    @abstractmethod
    def lines(self, report: dict[str, Any]) -> list[str]:
        """Returns the lines that a report prints for people."""

    def draw(self, history: Sequence[Any], game: str, paper: float | None, path: Path) -> None:
        """Draws the learning curve of a run that has evaluated epochs; `paper` is the published figure."""
        from tacit.plots import LearningCurve, learning_panels

        points = [(epoch.seconds, epoch.exploitability) for epoch in history]
        kind = getattr(history[-1], "kind", None) or self.kind
        learning_panels({game: [LearningCurve(self.label, points, paper)]}, "", path, kind)


class RebelLook(Look):
    """ReBeL: examples, and bounds on exploitability, from above by playthroughs or, in large games, from below."""

    label, kind = "ReBeL", "upper bound"
    columns = f"{'epoch':>7}{'seconds':>9}{'examples':>12}{'loss':>9}{'exploitability':>16}"

    def intro(self, trainer: RebelTrainer) -> str:
        config = trainer.config
        return (
            f"training {trainer.game}: epochs {trainer.epoch + 1} to {config.epochs}, {config.solver} with "
            f"{config.iterations} iterations, {config.games:,} games at once; evaluated by {config.playthroughs} "
            + ("playthroughs" if trainer.space.compiled else "games of a best responder in each seat")
        )

    def searches(self, trainer: RebelTrainer) -> int:
        return trainer.max_searches()

    def row(self, now: Progress) -> str:
        return f"{now.epoch:>7}{now.seconds:>9.0f}{now.examples:>12,}{now.loss:>9.4f}   {self.bound(now, False)}"

    def status(self, now: Progress, wide: bool) -> tuple[str, str]:
        return f"{now.examples_per_second:,.0f} {'examples' if wide else 'ex'}/s", f"loss {now.loss:.4f}"

    def bound(self, now: Progress, wide: bool) -> str:
        sign = "<=" if now.margin is None else ">="
        sampled = "" if now.margin is None else f" +- {now.margin:.3f}"
        return f"{'exploitability ' if wide else ''}{sign} {now.exploitability:.4f}{sampled}"

    def published(self, trainer: RebelTrainer) -> float | None:
        from tacit.reproduce.dice import published_exploitability

        return published_exploitability(str(trainer.game), trainer.config.solver)

    def report(self, trainer: RebelTrainer, last: Progress) -> dict[str, Any]:
        interval = None
        if last.margin is not None and last.exploitability is not None:
            interval = (last.exploitability - last.margin, last.exploitability + last.margin)
        return {
            "examples": trainer.examples, "loss": last.loss, "playthroughs": last.playthroughs,
            "kind": last.kind or self.kind, "interval": interval,
        }  # fmt: skip

    def lines(self, report: dict[str, Any]) -> list[str]:
        effort = f"{report['epoch']} epochs, {report['examples']:,} examples in {report['seconds']:.0f} s of training"
        lines = [f"{report['game']}: {effort}"]
        if report["exploitability"] is not None:
            beside = "" if report["published"] is None else f"; published: {report['published']:.3f} (ReBeL, Table 2)"
            bound = f"at most {report['exploitability']:.4f} ({report['playthroughs']} playthroughs)"
            if report["interval"] is not None:
                low, high = report["interval"]
                interval = f"95 % interval {low:.4f} to {high:.4f}, {report['playthroughs']} games in each seat"
                bound = f"at least {report['exploitability']:.4f} (sampled: {interval})"
            lines.append(f"exploitability {bound}{beside}")
        return [*lines, f"a tighter bound: {program()} evaluate {shlex.quote(report['run'])} --playthroughs 256"]


def find_system(name: str, game: AnyGame) -> tuple[System[Any, Any], Look]:
    """Returns the system that learns a game, and its look."""
    from tacit.artifacts.systems import find_system as find

    system = find(name, game)
    return system, find_look(system)


def find_look(system: System[Any, Any]) -> Look:
    """Returns the look of a system's runs."""
    if system.source is not None:
        from tacit.cli.own_looks import OwnLook

        return OwnLook(system)
    module, name, *label = _LOOKS[system.name]
    look: Look = getattr(import_module(f"tacit.cli.{module}"), name)(*label)
    return look


def kind_of(system: str) -> str:
    """Returns the kind of a system's figures; `system` is its name in the files of runs."""
    if system not in _LOOKS:
        return "its own figure"
    module, name, *_ = _LOOKS[system]
    look: type[Look] = getattr(import_module(f"tacit.cli.{module}"), name)
    return look.kind


def variants(name: str) -> dict[str, System[Any, Any]]:
    """Returns the variants of a system by the games they are for: some games have settings of their own."""
    from tacit.artifacts.systems import own_system

    own = own_system(name)
    if own is not None:
        return {own.name: own}
    if name == "rebel":
        from tacit.rebel.holdem.system import REBEL_HOLDEM
        from tacit.rebel.system import REBEL

        return {"any game but hold'em": REBEL, "hold'em": REBEL_HOLDEM}
    if name == "sog":
        from tacit.sog.boards.system import SOG_BOARDS
        from tacit.sog.system import SOG

        return {"games with hidden information": SOG, "boards": SOG_BOARDS}
    if name == "deepstack":
        from tacit.sog.system import DEEPSTACK

        return {"games with hidden information": DEEPSTACK}
    if name == "blueprint":
        from tacit.blueprint.system import BLUEPRINT

        return {"hold'em": BLUEPRINT}
    if name in ("deep-cfr", "sd-cfr"):
        from tacit.deep_cfr.system import DEEP_CFR, SD_CFR

        return {"compiled games": DEEP_CFR if name == "deep-cfr" else SD_CFR}
    if name == "rpg":
        from tacit.policy_gradient.system import RPG

        return {"compiled games": RPG}
    from tacit.nfsp.system import DQN, NFSP, NFSP_LIMIT

    return {"compiled games": DQN} if name == "dqn" else {"compiled games": NFSP, "limit hold'em": NFSP_LIMIT}


_LOOKS: dict[str, tuple[str, ...]] = {
    "rebel": ("looks", "RebelLook"),
    "rebel-holdem": ("holdem_looks", "HoldemLook"),
    "sog": ("sog_looks", "SogLook", "Student of Games"),
    "deepstack": ("sog_looks", "SogLook", "DeepStack"),
    "sog-boards": ("board_looks", "BoardLook"),
    "nfsp": ("nfsp_looks", "NfspLook", "NFSP"),
    "dqn": ("nfsp_looks", "NfspLook", "DQN"),
    "nfsp-limit": ("nfsp_looks", "LimitLook", "NFSP"),
    "deep-cfr": ("learnt_table_looks", "DeepCfrLook", "Deep CFR"),
    "sd-cfr": ("learnt_table_looks", "DeepCfrLook", "Single Deep CFR"),
    "rpg": ("learnt_table_looks", "PolicyGradientLook", "RPG"),
    "blueprint": ("blueprint_looks", "BlueprintLook"),
}
"""Module, class and, for classes that take one, the label in pictures, by the system's name."""
