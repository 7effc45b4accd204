"""`tacit evaluate`: how good an agent is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.cli.common import (
    EngineOption,
    JsonOption,
    RayAddressOption,
    SearchExpansionsOption,
    SearchSafetyOption,
    SearchTimeOption,
    SeedOption,
    WorkersOption,
    number_option,
    print_json,
    print_report,
    progress_monitor,
    start,
)


def evaluate(
    run: Annotated[
        str,
        typer.Argument(help="A run folder, a network file or pretrained:NAME; a saved solve; FILE.py:CLASS; in hold'em a bot."),
    ],
    metric: Annotated[
        str | None,
        typer.Option(
            help="What to measure: exploitability, network-error, best-response; in hold'em lbr, aivat; "
            "for NFSP in limit hold'em win-rates. [default: exploitability; for NFSP in limit hold'em win-rates]"
        ),
    ] = None,
    playthroughs: Annotated[
        int | None, number_option("Policies averaged: more give a tighter bound. [default: 64; in hold'em 16]")
    ] = None,
    solver: Annotated[
        str | None, typer.Option(help="Search algorithm. [default: dcfr; for sog and deepstack their own]")
    ] = None,
    iterations: Annotated[
        int | None,
        number_option("Search iterations; each updates both players. [default: 128; sog, deepstack: own; bots: 100]"),
    ] = None,
    safety: SearchSafetyOption = None,
    expansions: SearchExpansionsOption = None,
    last: Annotated[int | None, typer.Option(min=1, help="Average over this many of a run's last evaluated networks.")] = None,
    samples: Annotated[int | None, number_option("Public belief states that network-error compares. [default: 200]", 2)] = None,
    game: Annotated[
        str | None, typer.Option(help="The game, for bots and FILE.py:CLASS; what was trained or solved knows its own.")
    ] = None,
    hands: Annotated[
        int | None,
        number_option(
            "Hands for lbr or for each win rate, each deal in both seats. [default: lbr 1,000, else 20,000]", least=4
        ),
    ] = None,
    lbr: Annotated[
        str | None,
        typer.Option(help="Actions of lbr: deepstack-56bets, ... (see the docs) or like c/c/fcpa/fcpa. [default: rebel]"),
    ] = None,
    aivat: Annotated[bool, typer.Option("--aivat", help="Reduce the luck in lbr's results by AIVAT.")] = False,
    results: Annotated[Path | None, typer.Option(help="For aivat: the results of tacit slumbot or acpc dealer.")] = None,
    player: Annotated[str | None, typer.Option(help="For aivat: the agent's name in the results. [default: its own]")] = None,
    device: Annotated[str, typer.Option(help="Where to compute: cpu or cuda.")] = "cpu",
    time_per_decision: SearchTimeOption = None,
    workers: WorkersOption = 1,
    engine: EngineOption = None,
    ray_address: RayAddressOption = None,
    as_json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """Measure how good an agent is.

    That is its exploitability, exact or bounded, its win rates, or the error of its network.
    The runs below come from the examples of tacit train, and leduc.tacit from one of tacit solve.

    Examples:

      tacit evaluate pretrained:liars_dice_1x4f

      tacit evaluate runs/dice --playthroughs 256 --last 3 --solver linear-cfr --iterations 512 --json

      tacit evaluate runs/leduc:greedy-average

      tacit evaluate pretrained:liars_dice_1x4f --metric network-error

      tacit evaluate pot-odds --game "no_limit_holdem(board=3s7hTdKs,pot=2000,bets=1|allin,raises=allin)"

      tacit evaluate holdem-search --game "no_limit_holdem(board=3s7hTdKs,pot=500,stack=2000,bets=1|allin)" --safety re-solving

      tacit evaluate pot-odds --metric lbr --game no_limit_holdem --lbr deepstack-56bets --hands 2000 --aivat

      tacit evaluate pot-odds --metric aivat --results slumbot.jsonl

      tacit evaluate runs/limit --hands 50000

      tacit evaluate leduc.tacit
    """
    from tacit.kernels import check_backend
    from tacit.scale.evaluations import evaluate as measure

    if device != "cpu":
        check_backend("torch", device)
    start(seed)
    options: dict[str, Any] = {
        "playthroughs": playthroughs, "solver": solver, "iterations": iterations, "safety": safety, "last": last,
        "expansions": expansions, "samples": samples, "hands": hands, "lbr": lbr, "results": results, "player": player,
        "aivat": aivat or None, "device": None if device == "cpu" else device, "seed": seed,  # cpu works for every agent
        "time_per_decision": time_per_decision,
    }  # fmt: skip
    with progress_monitor() as monitor:
        given = {name: value for name, value in options.items() if value is not None}
        report = measure(
            run, metric, game, workers=workers, engine=engine, ray_address=ray_address, monitor=monitor, **given
        ).as_dict()
    print_json(report) if as_json else print_report(report)
