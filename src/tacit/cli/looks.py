"""What people see of a run: words, columns and figures of each system that trains."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Protocol

from tacit.cli.common import program

if TYPE_CHECKING:
    from tacit.rebel.train import Progress
    from tacit.rebel.train import Trainer as RebelTrainer
    from tacit.training.system import System


SYSTEMS = ("rebel",)


class Look(Protocol):
    """How one system shows itself. Metrics and trainers are those of the system."""

    label: str
    """Its name in pictures."""
    kind: str
    """What its figures of exploitability are: `exact` or `upper bound`."""
    columns: str
    """The heading of the table of evaluated epochs."""

    def intro(self, trainer: Any) -> str:
        """Returns what is about to happen."""
        ...

    def searches(self, trainer: Any) -> int:
        """Returns about how many searches an evaluation takes; 0 where it takes no time."""
        ...

    def row(self, now: Any) -> str:
        """Returns a line of the table."""
        ...

    def rate(self, now: Any, wide: bool) -> str:
        """Returns the speed."""
        ...

    def note(self, now: Any) -> str:
        """Returns the loss."""
        ...

    def bound(self, now: Any, wide: bool) -> str:
        """Returns the exploitability of an evaluated epoch."""
        ...

    def published(self, trainer: Any) -> float | None:
        """Returns the paper's exploitability for this game, if it gives one."""
        ...

    def report(self, trainer: Any, last: Any) -> dict[str, Any]:
        """Returns what the system adds to the report of a run."""
        ...

    def lines(self, report: dict[str, Any]) -> list[str]:
        """Returns what people read of a report."""
        ...


class RebelLook:
    """ReBeL: examples, and upper bounds by playthroughs."""

    label, kind = "ReBeL", "upper bound"
    columns = f"{'epoch':>7}{'seconds':>9}{'examples':>12}{'loss':>9}{'exploitability':>16}"

    def intro(self, trainer: RebelTrainer) -> str:
        config = trainer.config
        return (
            f"training {trainer.game}: epochs {trainer.epoch + 1} to {config.epochs}, {config.solver} with "
            f"{config.iterations} iterations, {config.games:,} games at once; evaluated by {config.playthroughs} playthroughs"
        )

    def searches(self, trainer: RebelTrainer) -> int:
        from tacit.search.playthroughs import max_searches

        return max_searches(trainer.space) * trainer.config.playthroughs

    def row(self, now: Progress) -> str:
        return f"{now.epoch:>7}{now.seconds:>9.0f}{now.examples:>12,}{now.loss:>9.4f}   <= {now.exploitability:.4f}"

    def rate(self, now: Progress, wide: bool) -> str:
        return f"{now.examples_per_second:,.0f} {'examples' if wide else 'ex'}/s"

    def note(self, now: Progress) -> str:
        return f"loss {now.loss:.4f}"

    def bound(self, now: Progress, wide: bool) -> str:
        return f"{'exploitability ' if wide else ''}<= {now.exploitability:.4f}"

    def published(self, trainer: RebelTrainer) -> float | None:
        from tacit.reproduce.dice import published_exploitability

        return published_exploitability(str(trainer.game), trainer.config.solver)

    def report(self, trainer: RebelTrainer, last: Progress) -> dict[str, Any]:
        return {"examples": trainer.examples, "loss": last.loss, "playthroughs": last.playthroughs}

    def lines(self, report: dict[str, Any]) -> list[str]:
        made = f"{report['epoch']} epochs, {report['examples']:,} examples in {report['seconds']:.0f} s of training"
        lines = [f"{report['game']}: {made}"]
        if report["exploitability"] is not None:
            beside = "" if report["published"] is None else f"; published: {report['published']:.3f} (ReBeL, Table 2)"
            lines.append(
                f"exploitability at most {report['exploitability']:.4f} ({report['playthroughs']} playthroughs){beside}"
            )
        tighter = f"a tighter bound: {program()} evaluate {shlex.quote(report['run'])} --playthroughs 256"
        return [*lines, tighter]


def find_system(name: str) -> tuple[System[Any, Any], Look]:
    """Returns a system of `SYSTEMS` and its look."""
    if name == "rebel":
        from tacit.rebel.folder import REBEL

        return REBEL, RebelLook()
    raise KeyError(name)
