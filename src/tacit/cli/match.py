"""`tacit match`: two agents head to head."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.common import (
    EngineOption,
    JsonOption,
    RayAddressOption,
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
    first: Annotated[
        str, typer.Argument(metavar="A", help="A bot, a saved solve, a run, a network, pretrained:NAME or FILE.py:CLASS.")
    ],
    second: Annotated[str, typer.Argument(metavar="B", help="The other agent, likewise.")],
    game: Annotated[str | None, typer.Option(help="The game, as in `tacit games`. [default: that of A or B]")] = None,
    hands: Annotated[
        int, typer.Option(min=1, max=MOST_HANDS, help="Games to play; --duplicate rounds up to an even number.")
    ] = 1_000,
    duplicate: Annotated[bool, typer.Option("--duplicate/--no-duplicate", help="Play every deal in both seats.")] = True,
    aivat: Annotated[bool, typer.Option("--aivat", help="Reduce luck by AIVAT; one agent's strategy must be known.")] = False,
    save: Annotated[Path | None, typer.Option(help="Write each hand to this file as it is played, as JSON lines.")] = None,
    solver: SearchSolverOption = None,
    iterations: SearchIterationsOption = None,
    safety: SearchSafetyOption = None,
    device: SearchDeviceOption = None,
    time_per_decision: SearchTimeOption = None,
    workers: WorkersOption = 1,
    engine: EngineOption = None,
    ray_address: RayAddressOption = None,
    expansions: SearchExpansionsOption = None,
    as_json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """Play two agents against each other and say who wins, with a 95 % interval. Ctrl-C ends the match and keeps its result.

    Bots: random; in poker always-call and always-fold; in hold'em pot-odds.

    Examples:

      tacit match pot-odds always-call --game no_limit_holdem --hands 2000

      tacit solve leduc_poker --save leduc.tacit

      tacit match leduc.tacit random --game leduc_poker --hands 10000 --json

      tacit match leduc.tacit always-call --game leduc_poker --hands 2000 --aivat

      tacit match "examples/own_agent.py:Bluffer(share=0.2)" random --game kuhn_poker

      tacit match pretrained:liars_dice_1x4f random --game "liars_dice(dice=1,faces=4)" --iterations 64 --hands 200
    """
    from tacit.arena.journal import Journal
    from tacit.scale.matches import match as play_match

    start(seed)
    journal: Journal | None = None

    def keep(deal: Deal) -> None:
        nonlocal journal
        if save is not None:
            journal = journal or Journal(save, anew=True)
            for entry in _entries(deal):
                journal.write(entry)

    with progress_monitor() as monitor:
        result = play_match(
            first, second, game, hands=hands, duplicate=duplicate, aivat=aivat, solver=solver, iterations=iterations,
            safety=safety, device=device, time_per_decision=time_per_decision, expansions=expansions, workers=workers,
            engine=engine, ray_address=ray_address, seed=seed, on_deal=keep, keep_when_interrupted=True, monitor=monitor,
        )  # fmt: skip
    report = result.as_dict()
    print_json(report) if as_json else print_report({**report, "agents": f"A = {first}, B = {second}"})
    if result.interrupted:
        raise StoppedError("by Ctrl-C" + (f"; the hands played are kept in {save}" if save else ""))


def _entries(deal: Deal) -> Iterator[dict[str, Any]]:
    """Yields the line that is written for each hand of a deal."""
    for seat, payoff, estimate in zip(deal.seats, deal.payoffs, deal.estimates, strict=True):
        entry = {"deal": deal.number, "seat": seat, "payoff": payoff}
        yield entry if estimate == payoff else {**entry, "estimate": estimate}
