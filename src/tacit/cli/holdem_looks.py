"""How a run of ReBeL at hold'em is shown: examples, and how far the networks' values are from those of searches."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.common import program
from tacit.cli.looks import Look

if TYPE_CHECKING:
    from tacit.rebel.holdem.train import HoldemProgress as Progress
    from tacit.rebel.holdem.train import HoldemTrainer


class HoldemLook(Look):
    """ReBeL at hold'em."""

    label, kind, unit = "ReBeL", "sampled", "searches"
    figure_name = "error of values"
    columns = f"{'epoch':>7}{'seconds':>9}{'examples':>12}{'loss':>9}{'error':>9}{'of':>9}{'searches/s':>12}"

    def intro(self, trainer: HoldemTrainer) -> str:
        config = trainer.config
        return (
            f"training {trainer.game}: epochs {trainer.epoch + 1} to {config.epochs}, {config.solver} with "
            f"{config.iterations} iterations, {config.games:,} boards at once; error: of hands' values beyond their odds, in "
            "units of what either player has put in, beside the error of the odds alone"
        )

    def evaluated(self, now: Progress) -> bool:
        return True

    def figure(self, now: Progress) -> float:
        return now.error

    def row(self, now: Progress) -> str:
        progress = f"{now.epoch:>7}{now.seconds:>9.0f}{now.examples:>12,}{now.loss:>9.4f}"
        return f"{progress}{now.error:>9.4f}{now.still:>9.4f}{now.searches_per_second:>12,.0f}"

    def status(self, now: Progress, wide: bool) -> tuple[str, str]:
        return f"{now.searches_per_second:,.0f} searches/s", f"loss {now.loss:.4f}"

    def bound(self, now: Progress, wide: bool) -> str:
        return f"{'error ' if wide else ''}{now.error:.4f} of {now.still:.4f}"

    def published(self, trainer: HoldemTrainer) -> float | None:
        return None

    def report(self, trainer: HoldemTrainer, last: Progress) -> dict[str, Any]:
        return {
            "examples": last.examples, "loss": last.loss, "error": last.error, "error_of_odds": last.still, "kind": self.kind,
        }  # fmt: skip

    def lines(self, report: dict[str, Any]) -> list[str]:
        effort = f"{report['epoch']} epochs, {report['examples']:,} examples in {report['seconds']:.0f} s of training"
        beside = f"odds alone {report['error_of_odds']:.4f}"
        error = f"error {report['error']:.4f} of what either player has put in (noise of the next card included); {beside}"
        return [f"{report['game']}: {effort}", error, f"how it plays: {program()} evaluate {shlex.quote(report['run'])}"]

    def draw(self, history: Sequence[Any], game: str, paper: float | None, path: Path) -> None:
        from tacit.plots import error_curves

        errors = {
            "networks": [(now.seconds, now.error) for now in history],
            "odds alone": [(now.seconds, now.still) for now in history],
        }
        error_curves(errors, game, path)
