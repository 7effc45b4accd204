"""What people see of a run: words, columns and figures of each system that trains."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tacit.cli.common import program

if TYPE_CHECKING:
    from tacit.games import AnyGame
    from tacit.nfsp.train import NfspProgress, NfspTrainer
    from tacit.rebel.train import Progress
    from tacit.rebel.train import Trainer as RebelTrainer
    from tacit.training.system import System


SYSTEMS = ("rebel", "nfsp", "dqn")


class Look(Protocol):
    """How one system shows itself. Metrics and trainers are those of the system."""

    label: str
    """Its name in pictures."""
    kind: str
    """What its figures are: `exact`, `upper bound` or `sampled`."""
    unit: str
    """What an evaluation counts while it runs: `searches` or `matches`."""
    columns: str
    """The heading of the table of evaluated epochs."""

    def intro(self, trainer: Any) -> str:
        """Returns what is about to happen."""
        ...

    def searches(self, trainer: Any) -> int:
        """Returns about how many searches or matches an evaluation takes; 0 where it takes no time."""
        ...

    def evaluated(self, now: Any) -> bool:
        """Returns whether an epoch was evaluated."""
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
        """Returns how good an evaluated epoch was."""
        ...

    def published(self, trainer: Any) -> float | None:
        """Returns the paper's exploitability for this game, if it gives one."""
        ...

    def report(self, trainer: Any, last: Any) -> dict[str, Any]:
        """Returns what the system adds to the report of a run."""
        ...

    def lines(self, report: dict[str, Any]) -> list[str]:
        """Returns what people read of a report; `asked` in it is the game as the user wrote it."""
        ...

    def draw(self, history: Sequence[Any], game: str, paper: float | None, path: Path) -> None:
        """Draws the learning curve of a run with some evaluated epochs; `paper` is the published figure."""
        ...


class _ExploitabilityLook:
    """What looks of systems have in common whose exploitability is known."""

    label: str
    kind: str
    unit = "searches"

    def evaluated(self, now: Any) -> bool:
        return now.exploitability is not None

    def draw(self, history: Sequence[Any], game: str, paper: float | None, path: Path) -> None:
        from tacit.plots import LearningCurve, learning_panels

        points = [(epoch.seconds, epoch.exploitability) for epoch in history]
        learning_panels({game: [LearningCurve(self.label, points, paper)]}, "", path, self.kind)


class RebelLook(_ExploitabilityLook):
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
        own = f" --game {shlex.quote(report['asked'])}" if ".py:" in report["asked"] else ""  # its name does not find it
        return [*lines, f"a tighter bound: {program()} evaluate {shlex.quote(report['run'])}{own} --playthroughs 256"]


class NfspLook(_ExploitabilityLook):
    """NFSP and DQN: decisions of self-play, and exact exploitability."""

    kind = "exact"
    columns = f"{'epoch':>7}{'seconds':>9}{'steps':>15}{'Q loss':>9}{'policy':>8}{'exploitability':>16}{'best response':>15}"

    def __init__(self, label: str) -> None:
        self.label = label

    def intro(self, trainer: NfspTrainer) -> str:
        config = trainer.config
        return (
            f"training {trainer.game}: epochs {trainer.epoch + 1} to {config.epochs}, each {config.epoch_rounds:,} rounds of "
            f"{config.games} steps and {config.updates} updates for each network; exploitability is exact (NashConv / 2)"
        )

    def searches(self, trainer: NfspTrainer) -> int:
        del trainer
        return 0

    def row(self, now: NfspProgress) -> str:
        return (
            f"{now.epoch:>7}{now.seconds:>9.0f}{now.steps:>15,}{now.loss:>9.3f}{now.policy_loss:>8.3f}"
            f"{now.exploitability:>16.4f}{now.best_response_exploitability:>15.3f}"
        )

    def rate(self, now: NfspProgress, wide: bool) -> str:
        return f"{now.steps_per_second:,.0f} {'steps' if wide else 'st'}/s"

    def note(self, now: NfspProgress) -> str:
        return f"loss {now.loss:.3f} {now.policy_loss:.3f}"

    def bound(self, now: NfspProgress, wide: bool) -> str:
        return f"{'exploitability ' if wide else ''}{now.exploitability:.4f}"

    def published(self, trainer: NfspTrainer) -> float | None:
        return 0.06 if str(trainer.game) == "leduc_poker" and self.label == "NFSP" else None

    def report(self, trainer: NfspTrainer, last: NfspProgress) -> dict[str, Any]:
        names = ("nash_conv", "value", "best_response_exploitability", "greedy_average_exploitability")
        of = {name: getattr(last, name) for name in names}
        return {"steps": trainer.steps, "games": last.games, "loss": last.loss, "policy_loss": last.policy_loss, **of}

    def lines(self, report: dict[str, Any]) -> list[str]:
        made = f"{report['steps']:,} steps, {report['games']:,} games in {report['seconds']:.0f} s of training"
        lines = [f"{report['game']}: {report['epoch']} epochs, {made}"]
        if report["exploitability"] is not None:
            beside = "" if report["published"] is None else f"; published: {report['published']:.2f} (NFSP, Figure 1)"
            exact = f"{report['exploitability']:.4f} (exact; NashConv {report['nash_conv']:.4f}){beside}"
            lines.append(f"exploitability of the average strategy {exact}")
            others = f"best response {report['best_response_exploitability']:.4f}"
            lines.append(f"of the others: {others}, greedy average {report['greedy_average_exploitability']:.4f}")
        return lines


def find_system(name: str, game: AnyGame) -> tuple[System[Any, Any], Look]:
    """Returns the system of `SYSTEMS` that learns a game, and its look.

    NFSP on limit hold'em from the blinds on, which is too large to compile, is a system of its own.
    """
    from tacit.games.holdem import is_full_limit_holdem

    if name == "rebel":
        from tacit.rebel.system import REBEL

        return REBEL, RebelLook()
    if name == "nfsp" and is_full_limit_holdem(game):
        from tacit.cli.limit_look import LimitLook
        from tacit.nfsp.limit.system import NFSP_LIMIT

        return NFSP_LIMIT, LimitLook()
    from tacit.nfsp.system import SYSTEMS as FOUND

    return FOUND[name], NfspLook(name.upper())
