"""How a run on a board game is shown: games, losses, and the score against search without a network."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.common import program
from tacit.cli.looks import Look

if TYPE_CHECKING:
    from tacit.sog.boards.train import BoardProgress as Progress
    from tacit.sog.boards.train import BoardTrainer


class BoardLook(Look):
    """Student of Games on boards."""

    label, kind, unit = "SoG", "sampled", "games"
    figure_name = "score against search without a network"
    columns = f"{'epoch':>7}{'seconds':>9}{'games':>10}{'examples':>12}{'policy':>9}{'value':>8}{'score':>8}"

    def intro(self, trainer: BoardTrainer) -> str:
        config = trainer.config
        return (
            f"training {trainer.game}: epochs {trainer.epoch + 1} to {config.epochs}, SoG({config.expansions}, "
            f"{config.per_update}), {config.games:,} games at once; score: mean payoff against search without a network"
        )

    def searches(self, trainer: BoardTrainer) -> int:
        return trainer.config.match_games

    def evaluated(self, now: Progress) -> bool:
        return now.score is not None

    def figure(self, now: Progress) -> float:
        return now.score or 0.0

    def row(self, now: Progress) -> str:
        counts = f"{now.epoch:>7}{now.seconds:>9.0f}{now.games:>10,}{now.examples:>12,}"
        return f"{counts}{now.policy_loss:>9.3f}{now.value_loss:>8.3f}{now.score or 0.0:>8.2f}"

    def status(self, now: Progress, wide: bool) -> tuple[str, str]:
        return f"{now.moves_per_second:,.0f} moves/s", f"loss {now.policy_loss:.3f} + {now.value_loss:.3f}"

    def bound(self, now: Progress, wide: bool) -> str:
        return f"{'score ' if wide else ''}{now.score:.2f}"

    def published(self, trainer: BoardTrainer) -> float | None:
        return None

    def report(self, trainer: BoardTrainer, last: Progress) -> dict[str, Any]:
        return {
            "games": last.games, "examples": last.examples, "policy_loss": last.policy_loss, "value_loss": last.value_loss,
            "score": last.score, "kind": self.kind,
        }  # fmt: skip

    def lines(self, report: dict[str, Any]) -> list[str]:
        effort = f"{report['epoch']} epochs, {report['games']:,} games in {report['seconds']:.0f} s of training"
        lines = [f"{report['game']}: {effort}"]
        if report["score"] is not None:
            lines.append(f"mean payoff {report['score']:.2f} against the same search without a network (sampled)")
        return [*lines, f"a match: {program()} evaluate {shlex.quote(report['run'])} --playthroughs 200"]

    def draw(self, history: Sequence[Any], game: str, paper: float | None, path: Path) -> None:
        from tacit.plots import score_panels

        losses = {
            "policy, cross entropy": [(now.seconds, now.policy_loss) for now in history],
            "value, squared error": [(now.seconds, now.value_loss) for now in history],
        }
        score_panels(losses, [(now.seconds, now.score) for now in history], game, path)
