"""How a run of a blueprint is shown: iterations, and what its strategy wins from bots in the abstract game."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.common import program
from tacit.cli.looks import Look

if TYPE_CHECKING:
    from tacit.blueprint.train import BlueprintProgress as Progress
    from tacit.blueprint.train import BlueprintTrainer

RATES = {"always_call": "always-call", "pot_odds": "pot-odds"}


class BlueprintLook(Look):
    """MCCFR: win rates with 95 % intervals."""

    label, kind, unit = "blueprint", "sampled", "matches"
    figure_name = "mbb/hand from pot-odds"
    columns = f"{'epoch':>7}{'seconds':>9}{'iterations':>15}{'always-call':>16}{'pot-odds':>16}"

    def intro(self, trainer: BlueprintTrainer) -> str:
        config, tree = trainer.config, trainer.tree
        buckets = "/".join(str(count) for count in tree.num_buckets if count)
        return (
            f"training {trainer.game}: epochs {trainer.epoch + 1} to {config.epochs}, each {config.epoch_iterations:,} "
            f"iterations on {trainer.threads} threads; {tree.num_decisions:,} betting decisions, {buckets} buckets, "
            f"{8 * tree.num_entries / 1e6:,.0f} MB of regrets and averages; what the average strategy wins from bots in "
            f"mbb/hand in the abstract game over {2 * config.deals:,} hands, each deal in both seats. First all hands are "
            "sorted into buckets on all boards: a minute or two on two cores, a moment for an endgame"
        )

    def searches(self, trainer: BlueprintTrainer) -> int:
        del trainer
        return len(RATES)

    def evaluated(self, now: Progress) -> bool:
        return now.pot_odds is not None

    def figure(self, now: Progress) -> float:
        return now.pot_odds or 0.0

    def row(self, now: Progress) -> str:
        intervals = ((getattr(now, bot), getattr(now, f"{bot}_half")) for bot in RATES)
        rates = "".join(f"{f'{mean:+,.0f} ±{half:,.0f}':>16}" for mean, half in intervals)
        return f"{now.epoch:>7}{now.seconds:>9.0f}{now.iterations:>15,}{rates}"

    def status(self, now: Progress, wide: bool) -> tuple[str, str]:
        rate = f"{now.iterations_per_second:,.0f} {'iterations' if wide else 'it'}/s"
        return rate, f"{now.decisions_per_second / 1e6:,.1f} M decisions/s"

    def bound(self, now: Progress, wide: bool) -> str:
        return f"{'against pot-odds ' if wide else ''}{now.pot_odds:+,.0f} mbb/hand"

    def published(self, trainer: BlueprintTrainer) -> float | None:
        del trainer
        return None

    def report(self, trainer: BlueprintTrainer, last: Progress) -> dict[str, Any]:
        rates = None
        if last.pot_odds is not None:
            rates = {}
            for bot, name in RATES.items():
                mean, half = getattr(last, bot), getattr(last, f"{bot}_half")
                rates[name] = {"mbb_per_hand": mean, "interval": [mean - half, mean + half]}
        return {
            "iterations": trainer.iterations, "iterations_per_second": last.iterations_per_second,
            "decisions": trainer.tree.num_decisions, "entries": trainer.tree.num_entries,
            "buckets": list(trainer.tree.num_buckets), "win_rates": rates,
        }  # fmt: skip

    def lines(self, report: dict[str, Any]) -> list[str]:
        speed = report["iterations"] / max(report["seconds"], 1e-9)
        lines = [
            f"{report['game']}: {report['epoch']} epochs, {report['iterations']:,} iterations in {report['seconds']:.0f} s of "
            f"training, {speed:,.0f} iterations/s"
        ]
        for bot, rate in (report["win_rates"] or {}).items():
            low, high = rate["interval"]
            wins = f"{rate['mbb_per_hand']:+,.0f} mbb/hand (sampled; 95 % interval {low:+,.0f} to {high:+,.0f})"
            lines.append(f"average strategy against {bot} in the abstract game: {wins}")
        match = f"{program()} match {shlex.quote(report['run'])} pot-odds --game {shlex.quote(report['game'])} --aivat"
        return [*lines, f"a match at the table: {match}"]

    def draw(self, history: Sequence[Any], game: str, paper: float | None, path: Path) -> None:
        del paper
        from tacit.plots import house_pyplot, save_figure

        figure, axis = house_pyplot().subplots(figsize=(5.2, 3.8))
        seconds = [epoch.seconds for epoch in history]
        for bot, name in RATES.items():
            means, halves = ([getattr(epoch, field) for epoch in history] for field in (bot, f"{bot}_half"))
            axis.errorbar(seconds, means, halves, label=name, marker=".", markersize=4, capsize=2, linewidth=1)
        axis.axhline(0.0, color="black", linewidth=0.5)
        axis.set_title(f"{game}: won from bots", fontsize=10)
        axis.set_xlabel("seconds of training")
        axis.set_ylabel("mbb/hand (sampled, 95 % intervals)")
        axis.grid(True, alpha=0.3)
        axis.legend(fontsize=8, frameon=False)
        save_figure(figure, path)
