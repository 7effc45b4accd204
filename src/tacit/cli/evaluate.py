"""`tacit evaluate`: how exploitable a trained agent is."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from tacit.cli.common import JsonOption, SeedOption, print_json, printer, progress_bar, start


def evaluate(
    run: Annotated[str, typer.Argument(help="A run folder, a network file, or pretrained:NAME.")],
    playthroughs: Annotated[int, typer.Option(min=1, help="Policies averaged: more give a tighter bound.")] = 64,
    solver: Annotated[str | None, typer.Option(help="Search algorithm. [default: dcfr]")] = None,
    iterations: Annotated[int, typer.Option(min=1, help="Search iterations; each updates both players.")] = 128,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    as_json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """Measure the exploitability of search with a trained network: exact for the average policy of some playthroughs.

    Examples:

      tacit evaluate pretrained:liars_dice_1x4f

      tacit evaluate runs/dice --playthroughs 256

      tacit evaluate runs/dice --solver linear-cfr --iterations 512 --json
    """
    import numpy as np

    from tacit.rebel.agent import load_search
    from tacit.search.playthroughs import playthrough_quality

    start(seed)
    search = load_search(run, solver or "dcfr", iterations, device)
    began = time.perf_counter()
    with progress_bar("searches") as progress:
        task = progress.add_task(f"evaluating {search.space.tree.game}", total=None, rate="", note="")
        quality = playthrough_quality(
            search, playthroughs, np.random.default_rng(seed), lambda done: progress.update(task, completed=done)
        )
    report = {
        "game": str(search.space.tree.game), "agent": str(run), "metric": "exploitability",
        "exploitability": quality.exploitability, "kind": "upper bound", "interval": None, "playthroughs": playthroughs,
        "solver": search.config.solver, "iterations": iterations, "value": quality.value,
        "seconds": time.perf_counter() - began,
    }  # fmt: skip
    if as_json:
        print_json(report)
        return
    console = printer()
    searched = f"{search.config.solver}, {iterations} iterations, {playthroughs} playthroughs"
    console.print(
        f"{report['game']}: exploitability at most {quality.exploitability:.4f} (upper bound; {searched})", markup=False
    )
    known = search.space.tree.game.known_value()
    beside = f" (known: {known.value:.5f})" if known else ""
    console.print(f"value for the first player {quality.value:.5f}{beside}; {report['seconds']:.1f} s")
