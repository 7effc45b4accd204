"""What people see of a run of NFSP on limit hold'em: what its strategies win from bots."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.common import program

if TYPE_CHECKING:
    from tacit.nfsp.limit.train import LimitProgress, LimitTrainer

BOTS = ("always_call", "random", "pot_odds", "greedy_average_pot_odds", "best_response_pot_odds")
"""The win rates that have columns."""
_HEADS = ("always-call", "random", "pot-odds", "greedy", "response")


class LimitLook:
    """Decisions of self-play, and win rates with 95 % intervals."""

    label, kind, unit = "NFSP", "sampled", "matches"
    columns = f"{'epoch':>6}{'seconds':>8}" + "".join(f"{head:>13}" for head in _HEADS)  # fits into 80

    def intro(self, trainer: LimitTrainer) -> str:
        config = trainer.config
        return (
            f"training {trainer.game}: epochs {trainer.epoch + 1} to {config.epochs}, each {config.epoch_rounds:,} rounds of "
            f"{config.games} steps and {config.updates} updates for each network; what the average strategy wins from bots in "
            f"mbb/hand over {2 * config.deals:,} hands, each deal in both seats; greedy and response play pot-odds"
        )

    def searches(self, trainer: LimitTrainer) -> int:
        del trainer
        from tacit.nfsp.limit.train import MATCHES

        return len(MATCHES)

    def evaluated(self, now: LimitProgress) -> bool:
        return now.pot_odds is not None

    def row(self, now: LimitProgress) -> str:
        found = ((getattr(now, bot), getattr(now, f"{bot}_half")) for bot in BOTS)
        rates = "".join(f"{f'{mean:+,.0f} ±{half:,.0f}':>13}" for mean, half in found)
        return f"{now.epoch:>6}{now.seconds:>8.0f}{rates}"

    def rate(self, now: LimitProgress, wide: bool) -> str:
        return f"{now.steps_per_second:,.0f} {'steps' if wide else 'st'}/s"

    def note(self, now: LimitProgress) -> str:
        return f"loss {now.loss:.3f} {now.policy_loss:.3f}"

    def bound(self, now: LimitProgress, wide: bool) -> str:
        return f"{'against pot-odds ' if wide else ''}{now.pot_odds:+,.0f} mbb/hand"

    def published(self, trainer: LimitTrainer) -> None:
        """The paper's opponents, the programs of the 2014 competition, are not here."""
        del trainer

    def report(self, trainer: LimitTrainer, last: LimitProgress) -> dict[str, Any]:
        from tacit.nfsp.limit.train import MATCHES

        rates = None
        if self.evaluated(last):
            found = {name: (getattr(last, name), getattr(last, f"{name}_half")) for name in MATCHES}
            rates = {
                name: {"strategy": MATCHES[name][0], "bot": MATCHES[name][1], "mbb_per_hand": mean,
                       "interval": [mean - half, mean + half]}
                for name, (mean, half) in found.items()
            }  # fmt: skip
        losses = {"loss": last.loss, "policy_loss": last.policy_loss}
        return {"steps": trainer.steps, "games": last.games, **losses, "win_rates": rates}

    def lines(self, report: dict[str, Any]) -> list[str]:
        made = f"{report['steps']:,} steps, {report['games']:,} hands in {report['seconds']:.0f} s of training"
        lines = [f"{report['game']}: {report['epoch']} epochs, {made}"]
        for rate in (report["win_rates"] or {}).values():
            low, high = rate["interval"]
            wins = f"{rate['mbb_per_hand']:+,.0f} mbb/hand (sampled; 95 % interval {low:+,.0f} to {high:+,.0f})"
            lines.append(f"{rate['strategy']} strategy against {rate['bot']}: {wins}")
        judge = f"{program()} evaluate {shlex.quote(report['run'])} --metric lbr"
        return [*lines, f"a lower bound on exploitability: {judge} --lbr all-rounds"]

    def draw(self, history: Sequence[LimitProgress], game: str, paper: float | None, path: Path) -> None:
        del paper
        from tacit.plots import house_pyplot, save_figure

        figure, axis = house_pyplot().subplots(figsize=(5.2, 3.8))
        seconds = [epoch.seconds for epoch in history]
        for bot, head in zip(BOTS, _HEADS, strict=True):
            means, halves = ([getattr(epoch, name) for epoch in history] for name in (bot, f"{bot}_half"))
            label = head if bot in ("always_call", "random", "pot_odds") else f"pot-odds, {head}"
            axis.errorbar(seconds, means, halves, label=label, marker=".", markersize=4, capsize=2, linewidth=1)
        axis.axhline(0.0, color="black", linewidth=0.5)
        axis.set_title(f"{game}: won from bots", fontsize=10)
        axis.set_xlabel("seconds of training")
        axis.set_ylabel("mbb/hand (sampled, 95 % intervals)")
        axis.grid(True, alpha=0.3)
        axis.legend(fontsize=8, frameon=False)
        save_figure(figure, path)
