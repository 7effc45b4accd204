"""How a run of Deep CFR or a policy gradient is shown: samples, losses and exact exploitability."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from tacit.cli.looks import Look


class _ExactLook(Look):
    """Shows a run on a compiled game, with exact exploitability."""

    kind = "exact"

    def __init__(self, label: str) -> None:
        self.label = label

    def bound(self, now: Any, wide: bool) -> str:
        return f"{'exploitability ' if wide else ''}{now.exploitability:.4f}"

    def published(self, trainer: Any) -> float | None:
        del trainer
        return None

    @abstractmethod
    def work(self, report: dict[str, Any]) -> str:
        """Returns in words how much was sampled."""

    def lines(self, report: dict[str, Any]) -> list[str]:
        effort = f"{report['game']}: {report['epoch']} epochs, {self.work(report)} in {report['seconds']:.0f} s of training"
        if report["exploitability"] is None:
            return [effort]
        return [effort, f"exploitability {report['exploitability']:.4f} (exact; NashConv {report['nash_conv']:.4f})"]


class DeepCfrLook(_ExactLook):
    """Deep CFR and Single Deep CFR: iterations, samples, and the average strategy's exploitability."""

    columns = f"{'epoch':>7}{'seconds':>9}{'iterations':>12}{'samples':>14}{'advantage loss':>16}{'exploitability':>16}"

    def intro(self, trainer: Any) -> str:
        config = trainer.config
        return (
            f"training {trainer.game}: epochs {trainer.epoch + 1} to {config.epochs}, each {config.epoch_iterations} "
            f"iterations of {config.traversals:,} sampled games and {config.advantage_steps:,} steps of descent for each "
            "player; exploitability is exact (NashConv / 2)"
        )

    def row(self, now: Any) -> str:
        progress = f"{now.epoch:>7}{now.seconds:>9.0f}{now.iterations:>12,}{now.samples:>14,}"
        return f"{progress}{now.loss:>16.3f}{now.exploitability:>16.4f}"

    def status(self, now: Any, wide: bool) -> tuple[str, str]:
        policy = "" if now.policy_loss is None else f" {now.policy_loss:.3f}"
        return f"{now.samples_per_second:,.0f} {'samples' if wide else 'sm'}/s", f"loss {now.loss:.3f}{policy}"

    def report(self, trainer: Any, last: Any) -> dict[str, Any]:
        return {
            "iterations": last.iterations, "samples": last.samples, "loss": last.loss, "policy_loss": last.policy_loss,
            "nash_conv": last.nash_conv, "value": last.value,
        }  # fmt: skip

    def work(self, report: dict[str, Any]) -> str:
        return f"{report['iterations']:,} iterations, {report['samples']:,} samples"


class PolicyGradientLook(_ExactLook):
    """Regret policy gradients: games, and the current policies' exploitability."""

    columns = f"{'epoch':>7}{'seconds':>9}{'games':>15}{'value loss':>12}{'exploitability':>16}"

    def intro(self, trainer: Any) -> str:
        config = trainer.config
        return (
            f"training {trainer.game}: epochs {trainer.epoch + 1} to {config.epochs}, each {config.epoch_rounds:,} rounds of "
            f"{config.games} games; policies descend {config.update}; exploitability is exact (NashConv / 2)"
        )

    def row(self, now: Any) -> str:
        return f"{now.epoch:>7}{now.seconds:>9.0f}{now.games:>15,}{now.loss:>12.4f}{now.exploitability:>16.4f}"

    def status(self, now: Any, wide: bool) -> tuple[str, str]:
        return f"{now.games_per_second:,.0f} {'games' if wide else 'gm'}/s", f"loss {now.loss:.4f}"

    def report(self, trainer: Any, last: Any) -> dict[str, Any]:
        del trainer
        return {"games": last.games, "loss": last.loss, "nash_conv": last.nash_conv, "value": last.value}

    def work(self, report: dict[str, Any]) -> str:
        return f"{report['games']:,} games"
