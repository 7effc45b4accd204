"""How a run of NFSP or DQN is shown: exact exploitability or, in limit hold'em, what its strategies win from bots."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.common import program
from tacit.cli.looks import Look
from tacit.nfsp.progress import MATCHES, NfspProgress

if TYPE_CHECKING:
    from tacit.nfsp.train import NfspTrainer

COLUMNS = {
    "always_call": "always-call",
    "random": "random",
    "pot_odds": "pot-odds",
    "greedy_average_pot_odds": "greedy",
    "best_response_pot_odds": "response",
}
"""Headings of the win rates that have columns."""


class NfspLook(Look):
    """NFSP and DQN on compiled games: decisions of self-play, and exact exploitability."""

    kind = "exact"
    columns = f"{'epoch':>7}{'seconds':>9}{'steps':>15}{'Q loss':>9}{'policy':>8}{'exploitability':>16}{'best response':>15}"
    finished = "games"

    def __init__(self, label: str) -> None:
        self.label = label

    def intro(self, trainer: NfspTrainer) -> str:
        config = trainer.config
        return (
            f"training {trainer.game}: epochs {trainer.epoch + 1} to {config.epochs}, each {config.epoch_rounds:,} rounds of "
            f"{config.games} steps and {config.updates} updates for each network; {self.measured(config)}"
        )

    def measured(self, config: Any) -> str:
        """Returns a description of the table's figures."""
        del config
        return "exploitability is exact (NashConv / 2)"

    def row(self, now: Any) -> str:
        return (
            f"{now.epoch:>7}{now.seconds:>9.0f}{now.steps:>15,}{now.loss:>9.3f}{now.policy_loss:>8.3f}"
            f"{now.exploitability:>16.4f}{now.best_response_exploitability:>15.3f}"
        )

    def status(self, now: NfspProgress, wide: bool) -> tuple[str, str]:
        return f"{now.steps_per_second:,.0f} {'steps' if wide else 'st'}/s", f"loss {now.loss:.3f} {now.policy_loss:.3f}"

    def bound(self, now: Any, wide: bool) -> str:
        return f"{'exploitability ' if wide else ''}{now.exploitability:.4f}"

    def published(self, trainer: NfspTrainer) -> float | None:
        return 0.06 if str(trainer.game) == "leduc_poker" and self.label == "NFSP" else None

    def report(self, trainer: NfspTrainer, last: Any) -> dict[str, Any]:
        learnt = {"steps": trainer.steps, "games": last.games, "loss": last.loss, "policy_loss": last.policy_loss}
        return {**learnt, **self.judgement(last)}

    def judgement(self, last: Any) -> dict[str, Any]:
        """Returns the report's figures of how good the strategies are."""
        names = ("nash_conv", "value", "best_response_exploitability", "greedy_average_exploitability")
        return {name: getattr(last, name) for name in names}

    def lines(self, report: dict[str, Any]) -> list[str]:
        effort = f"{report['steps']:,} steps, {report['games']:,} {self.finished} in {report['seconds']:.0f} s of training"
        return [f"{report['game']}: {report['epoch']} epochs, {effort}", *self.verdict(report)]

    def verdict(self, report: dict[str, Any]) -> list[str]:
        """Returns lines that say how good the strategies are."""
        if report["exploitability"] is None:
            return []
        beside = "" if report["published"] is None else f"; published: {report['published']:.2f} (NFSP, Figure 1)"
        exact = f"{report['exploitability']:.4f} (exact; NashConv {report['nash_conv']:.4f}){beside}"
        others = f"best response {report['best_response_exploitability']:.4f}"
        greedy = f"greedy average {report['greedy_average_exploitability']:.4f}"
        return [f"exploitability of the average strategy {exact}", f"of the others: {others}, {greedy}"]


class LimitLook(NfspLook):
    """NFSP on limit hold'em: win rates with 95 % intervals."""

    kind, unit, finished = "sampled", "matches", "hands"
    figure_name = "mbb/hand from pot-odds"
    columns = f"{'epoch':>6}{'seconds':>8}" + "".join(f"{head:>13}" for head in COLUMNS.values())  # fits in 80 columns

    def measured(self, config: Any) -> str:
        return (
            f"what the average strategy wins from bots in mbb/hand over {2 * config.deals:,} hands, each deal in both seats; "
            "greedy and response play pot-odds"
        )

    def searches(self, trainer: NfspTrainer) -> int:
        del trainer
        return len(MATCHES)

    def evaluated(self, now: Any) -> bool:
        return now.pot_odds is not None

    def figure(self, now: Any) -> float:
        return now.pot_odds or 0.0

    def row(self, now: Any) -> str:
        intervals = ((getattr(now, match), getattr(now, f"{match}_half")) for match in COLUMNS)
        rates = "".join(f"{f'{mean:+,.0f} ±{half:,.0f}':>13}" for mean, half in intervals)
        return f"{now.epoch:>6}{now.seconds:>8.0f}{rates}"

    def bound(self, now: Any, wide: bool) -> str:
        return f"{'against pot-odds ' if wide else ''}{now.pot_odds:+,.0f} mbb/hand"

    def judgement(self, last: Any) -> dict[str, Any]:
        rates: dict[str, Any] = {}
        for match, (strategy, bot) in MATCHES.items():
            mean, half = getattr(last, match), getattr(last, f"{match}_half")
            if mean is not None:
                interval = [mean - half, mean + half]
                rates[match] = {"strategy": strategy, "bot": bot, "mbb_per_hand": mean, "interval": interval}
        return {"win_rates": rates or None}

    def verdict(self, report: dict[str, Any]) -> list[str]:
        lines = []
        for rate in (report["win_rates"] or {}).values():
            low, high = rate["interval"]
            wins = f"{rate['mbb_per_hand']:+,.0f} mbb/hand (sampled; 95 % interval {low:+,.0f} to {high:+,.0f})"
            lines.append(f"{rate['strategy']} strategy against {rate['bot']}: {wins}")
        judge = f"{program()} evaluate {shlex.quote(report['run'])} --metric lbr"
        return [*lines, f"a lower bound on exploitability: {judge} --lbr all-rounds"]

    def draw(self, history: Sequence[Any], game: str, paper: float | None, path: Path) -> None:
        del paper
        from tacit.plots import house_pyplot, save_figure

        figure, axis = house_pyplot().subplots(figsize=(5.2, 3.8))
        seconds = [epoch.seconds for epoch in history]
        for match, head in COLUMNS.items():
            means, halves = ([getattr(epoch, name) for epoch in history] for name in (match, f"{match}_half"))
            bot = MATCHES[match][1]
            label = bot if bot == head else f"{bot}, {head}"
            axis.errorbar(seconds, means, halves, label=label, marker=".", markersize=4, capsize=2, linewidth=1)
        axis.axhline(0.0, color="black", linewidth=0.5)
        axis.set_title(f"{game}: won from bots", fontsize=10)
        axis.set_xlabel("seconds of training")
        axis.set_ylabel("mbb/hand (sampled, 95 % intervals)")
        axis.grid(True, alpha=0.3)
        axis.legend(fontsize=8, frameon=False)
        save_figure(figure, path)
