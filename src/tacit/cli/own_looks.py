"""How a run of a user's own system is shown: the metrics it has."""

from __future__ import annotations

import math
import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tacit.cli.common import program
from tacit.cli.looks import Look
from tacit.training.system import SearchMetrics

if TYPE_CHECKING:
    from tacit.training.system import Metrics, System, Trainer


class OwnLook(Look):
    """Shows epochs, the loss if there is one, and exploitability where it was evaluated."""

    columns = f"{'epoch':>7}{'seconds':>9}{'loss':>9}{'exploitability':>16}"

    def __init__(self, system: System[Any, Any]) -> None:
        self.label = system.name
        self.kind = "upper bound" if issubclass(system.metrics, SearchMetrics) else "its own figure"

    def intro(self, trainer: Trainer[Any, Any]) -> str:
        return f"training {trainer.game}: epochs {trainer.epoch + 1} to {trainer.config.epochs} of {self.label}"

    def searches(self, trainer: Trainer[Any, Any]) -> int:
        return int(trainer.max_searches()) if hasattr(trainer, "max_searches") else 0

    def row(self, now: Metrics) -> str:
        return f"{now.epoch:>7}{now.seconds:>9.0f}{_loss(now):>9.4f}   {self.bound(now, False)}"

    def status(self, now: Metrics, wide: bool) -> tuple[str, str]:
        del wide
        return "", "" if math.isnan(_loss(now)) else f"loss {_loss(now):.4f}"

    def bound(self, now: Metrics, wide: bool) -> str:
        sign = {"upper bound": "<= ", "lower bound": ">= "}.get(getattr(now, "kind", None) or "", "")
        return f"{'exploitability ' if wide else ''}{sign}{now.exploitability:.4f}"

    def published(self, trainer: Trainer[Any, Any]) -> float | None:
        return None

    def report(self, trainer: Trainer[Any, Any], last: Metrics) -> dict[str, Any]:
        return {key: value for key, value in asdict(last).items() if key not in ("epoch", "seconds")}

    def lines(self, report: dict[str, Any]) -> list[str]:
        lines = [f"{report['game']}: {report['epoch']} epochs of {self.label} in {report['seconds']:.0f} s of training"]
        if report["exploitability"] is not None:
            kind = f" ({report['kind']})" if report["kind"] else ""
            lines.append(f"exploitability {report['exploitability']:.4f}{kind}")
        return [*lines, f"evaluate it again: {program()} evaluate {shlex.quote(report['run'])}"]


def _loss(now: Metrics) -> float:
    loss = getattr(now, "loss", None)
    return math.nan if loss is None else float(loss)
