"""How a run of Student of Games or DeepStack is shown: solved queries, and the exact exploitability of re-solving."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from tacit.cli.common import program
from tacit.cli.looks import Look

if TYPE_CHECKING:
    from tacit.sog.train import SogProgress, SogTrainer


class SogLook(Look):
    """Student of Games and DeepStack: an epoch is a cycle of self-play, solving and training."""

    kind = "exact"
    columns = f"{'cycle':>7}{'seconds':>9}{'queries':>11}{'loss':>9}{'new loss':>10}{'root moved':>12}{'exploitability':>16}"

    def __init__(self, label: str) -> None:
        self.label = label

    def intro(self, trainer: SogTrainer) -> str:
        config = trainer.config
        judged = "exploitability of re-solving is exact" if trainer.space.compiled else "too large for exact exploitability"
        return (
            f"training {trainer.game}: cycles {trainer.epoch + 1} to {config.epochs} of {config.cycle_queries:,} queries, "
            f"{config.solver} with {config.iterations} iterations, {config.games:,} games at once; {judged}"
        )

    def searches(self, trainer: SogTrainer) -> int:
        return trainer.space.tree.num_nodes if trainer.space.compiled else 0

    def row(self, now: SogProgress) -> str:
        new, moved = now.validation_loss or 0.0, now.policy_change or 0.0
        line = f"{now.epoch:>7}{now.seconds:>9.0f}{now.examples:>11,}{now.loss:>9.4f}{new:>10.4f}{moved:>12.1e}"
        return f"{line}{self.bound(now, False):>16}"

    def status(self, now: SogProgress, wide: bool) -> tuple[str, str]:
        return f"{now.examples_per_second:,.0f} {'queries' if wide else 'q'}/s", f"loss {now.loss:.4f}"

    def bound(self, now: SogProgress, wide: bool) -> str:
        return f"{'exploitability ' if wide else ''}{now.exploitability:.4f}"

    def published(self, trainer: SogTrainer) -> float | None:
        del trainer
        return None

    def report(self, trainer: SogTrainer, last: SogProgress) -> dict[str, Any]:
        units = {} if last.exploitability is None else trainer.game.in_units(last.exploitability)
        return {
            "examples": trainer.examples, "loss": last.loss, "validation_loss": last.validation_loss,
            "policy_change": last.policy_change, **{f"exploitability_{unit}": part for unit, part in units.items()},
        }  # fmt: skip

    def lines(self, report: dict[str, Any]) -> list[str]:
        lines = [f"{report['game']}: {report['epoch']} cycles, {report['examples']:,} queries in {report['seconds']:.0f} s"]
        if report["exploitability"] is not None:
            units = [f"{part:.2f} {name.removeprefix('exploitability_')}" for name, part in report.items() if "ity_" in name]
            beside = f" ({', '.join(units)})" if units else ""
            lines.append(f"exploitability of re-solving {report['exploitability']:.4f}{beside}, exact")
        return [*lines, f"with more search: {program()} evaluate {shlex.quote(report['run'])} --iterations 1000"]
