"""`tacit match`: two agents head to head."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.common import (
    JsonOption,
    SearchDeviceOption,
    SearchExpansionsOption,
    SearchIterationsOption,
    SearchSafetyOption,
    SearchSolverOption,
    SearchTimeOption,
    SeedOption,
    WorkersOption,
    print_json,
    print_report,
    progress_monitor,
    start,
)
from tacit.errors import StoppedError

if TYPE_CHECKING:
    from tacit.arena.match import Deal

MOST_HANDS = 10**12


def match(
    first: Annotated[str, typer.Argument(metavar="A", help="A bot, a saved solve, a run, a network or pretrained:NAME.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Likewise.")],
    game: Annotated[str, typer.Option(help="The game, as in `tacit games`.")],
    hands: Annotated[int, typer.Option(min=1, max=MOST_HANDS, help="Games to play; with duplicates made even.")] = 1_000,
    duplicate: Annotated[bool, typer.Option("--duplicate/--no-duplicate", help="Play every deal in both seats.")] = True,
    aivat: Annotated[bool, typer.Option("--aivat", help="Take luck out by AIVAT; a strategy has to be known.")] = False,
    save: Annotated[Path | None, typer.Option(help="Write each hand to this file as it is played, as JSON lines.")] = None,
    solver: SearchSolverOption = None,
    iterations: SearchIterationsOption = None,
    safety: SearchSafetyOption = None,
    device: SearchDeviceOption = None,
    time_per_decision: SearchTimeOption = None,
    workers: WorkersOption = 1,
    expansions: SearchExpansionsOption = None,
    as_json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """Play two agents against each other and say who wins, with a 95 % interval. Ctrl-C ends the match and keeps its result.

    Bots: random; in poker always-call and always-fold; in hold'em pot-odds.

    Examples:

      tacit match pot-odds always-call --game no_limit_holdem --hands 2000

      tacit match leduc.tacit random --game leduc_poker --hands 10000 --json

      tacit match leduc.tacit always-call --game leduc_poker --hands 2000 --aivat

      tacit match pretrained:liars_dice_1x4f random --game "liars_dice(dice=1,faces=4)" --iterations 64 --hands 200
    """
    from tacit import artifacts
    from tacit.agents.options import SearchOptions
    from tacit.arena.journal import Journal
    from tacit.arena.match import figures
    from tacit.arena.workers import play_plan
    from tacit.artifacts.base import refuse_unused
    from tacit.artifacts.plans import MatchPlan
    from tacit.games import load_game
    from tacit.tally import Tally

    start(seed)
    rules, options = load_game(game), SearchOptions(solver, iterations, safety, device, time_per_decision, expansions)
    each = 2 if duplicate else 1
    num_deals = -(-hands // each)
    tally, raw, began, interrupted = Tally(), Tally(), time.perf_counter(), False
    with progress_monitor() as monitor:
        refuse_unused(options, *(artifacts.open(name, rules, monitor) for name in (first, second)))
        plan = MatchPlan(game, (first, second), options, duplicate, aivat, seed)
        deals = plan.deals(range(num_deals), monitor) if workers == 1 else play_plan(plan, num_deals, workers)
        show = partial(monitor.step, f"{first} against {second}", total=num_deals * each, unit="hands")
        show(0, note="loading")
        journal = None
        try:
            for deal in deals:
                tally.add(deal.result)
                raw.add(sum(deal.payoffs) / each)
                if save is not None:
                    journal = journal or Journal(save, anew=True)
                    for entry in _entries(deal):
                        journal.write(entry)
                rate = f"{each * tally.count / (time.perf_counter() - began):,.0f}/s"
                show(each * tally.count, note=f"{rate}  mean {tally.mean:+.4g}")
        except KeyboardInterrupt:  # the deal in progress is lost, all others are kept
            interrupted = True
    report: dict[str, Any] = {
        "game": str(rules), "agents": [first, second], "hands": each * tally.count, **figures(rules, tally),
        "unit": "mbb" if "mbb" in rules.in_units(1.0) else "payoff", "kind": "sampled", "verdict": tally.verdict(each),
        "duplicate": duplicate, "aivat": aivat, "seed": seed, "seconds": time.perf_counter() - began,
        "interrupted": interrupted, **({"without_aivat": figures(rules, raw)} if aivat else {}),
    }  # fmt: skip
    print_json(report) if as_json else print_report({**report, "agents": f"A = {first}, B = {second}"})
    if interrupted:
        raise StoppedError("by Ctrl-C" + (f"; what was played is kept in {save}" if save else ""))


def _entries(deal: Deal) -> Iterator[dict[str, Any]]:
    """Yields what is written of each hand of a deal."""
    for seat, payoff, estimate in zip(deal.seats, deal.payoffs, deal.estimates, strict=True):
        entry = {"deal": deal.number, "seat": seat, "payoff": payoff}
        yield entry if estimate == payoff else {**entry, "estimate": estimate}
