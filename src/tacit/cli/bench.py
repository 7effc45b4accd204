"""`tacit bench`: speed against the installed peers, and how cost grows with size."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.cli.common import (
    JsonOption,
    SeedOption,
    logger,
    plain_table,
    print_json,
    print_lines,
    printer,
    progress_monitor,
    start,
)
from tacit.errors import TacitError

NAMES = ("tabular", "nfsp", "deep-cfr", "blueprint", "growth")


def bench(
    name: Annotated[str, typer.Argument(help="What to measure: tabular, nfsp, deep-cfr, blueprint or growth.")],
    games: Annotated[str | None, typer.Option(help="Games for tabular, separated by semicolons. [default: six]")] = None,
    seconds: Annotated[
        float, typer.Option(help="Length of a measuring window; the best of three counts, for growth the shortest call.")
    ] = 1.0,
    peers: Annotated[bool, typer.Option("--peers/--no-peers", help="Measure the installed peers too.")] = True,
    quick: Annotated[bool, typer.Option("--quick", help="For growth, only the two smallest sizes.")] = False,
    out: Annotated[str | None, typer.Option(help="Folder for growth's picture. [default: out]")] = None,
    as_json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """Measure speed as ratios to peers doing the same work in the same run, or how time and memory grow with size.

    Examples:

      tacit bench tabular

      tacit bench tabular --games "leduc_poker;liars_dice(dice=1,faces=6)" --json

      tacit bench nfsp --seconds 5

      tacit bench deep-cfr --seconds 5

      tacit bench blueprint --seconds 5

      tacit bench growth --out pictures
    """
    if name not in NAMES:
        raise TacitError(f"unknown benchmark {name!r}: choose one of {', '.join(NAMES)}")
    if not 0 < seconds < math.inf:
        raise TacitError(f"the seconds of a window must be positive and finite, not {seconds}")
    if name != "tabular" and games is not None:
        raise TacitError(f"--games is for tabular, not for {name}, which chooses its own")
    if name != "growth" and (quick or out is not None):
        raise TacitError(f"--quick and --out are for growth, not for {name}")
    start(seed)
    if name == "growth":
        _growth(seconds, quick, Path("out" if out is None else out), as_json)
        return
    if name == "nfsp":
        _nfsp(seconds, peers, as_json, seed)
        return
    if name == "deep-cfr":
        _deep_cfr(seconds, peers, as_json, seed)
        return
    if name == "blueprint":
        _blueprint(seconds, peers, as_json, seed)
        return
    from tacit.bench import tabular

    chosen = tabular.GAMES if games is None else tuple(part.strip() for part in games.split(";"))
    missing = tabular.missing_peers() if peers else []
    if missing:
        logger().print(f"not installed, left out: {', '.join(missing)} (pip install 'tacit[bench]')")
    present = tuple(peer for peer in tabular.PEERS if peers and peer not in missing)
    rows = []
    with progress_monitor() as monitor:
        for number, game in enumerate(chosen):
            monitor.step("measuring", number, len(chosen), "games", game)
            rows.append(tabular.measure(game, seconds, present))
    report = {"bench": name, "results": [{**asdict(row), "ratios": row.ratios()} for row in rows]}
    print_json(report) if as_json else _print(rows)


def _nfsp(seconds: float, peers: bool, as_json: bool, seed: int) -> None:
    """Measures NFSP agents while they learn."""
    from tacit.bench import nfsp

    work = f"NFSP on {nfsp.GAME} with the paper's settings, learning while playing, one thread"
    _learning("nfsp", nfsp, "steps", work, seconds, peers, as_json, seed)


def _deep_cfr(seconds: float, peers: bool, as_json: bool, seed: int) -> None:
    """Measures Deep CFR while it samples and learns."""
    from tacit.bench import deep_cfr

    work = f"Deep CFR on {deep_cfr.GAME}, sampling and learning, one thread"
    _learning("deep-cfr", deep_cfr, "samples", work, seconds, peers, as_json, seed)


def _learning(name: str, bench: Any, unit: str, work: str, seconds: float, peers: bool, as_json: bool, seed: int) -> None:
    """Measures a learning system beside OpenSpiel's, in units of its work and updates per second."""
    missing = bench.missing_peer() if peers else None
    if missing:
        logger().print(f"OpenSpiel's program is left out: {missing} (pip install 'tacit[bench]')")
    with progress_monitor() as monitor:
        monitor.step("measuring", 0, 2 if peers and not missing else 1, "measurements", "tacit")
        ours, peer = bench.measure_ours(seconds, seed), None
        if peers and not missing:
            monitor.step("measuring", 1, 2, "measurements", "OpenSpiel")
            peer = bench.measure_openspiel(seconds, seed)
    rate = f"{unit}_per_second"
    ratio = None if peer is None else getattr(ours, rate) / getattr(peer, rate)
    if as_json:
        results = {"tacit": asdict(ours), "openspiel": None if peer is None else asdict(peer)}
        print_json({"bench": name, "game": bench.GAME, **results, "ratio": ratio})
        return
    for who, speed in (("tacit", ours), ("OpenSpiel (PyTorch)", peer)):
        if speed is not None:
            printer().print(f"{who:<20}{getattr(speed, rate):>12,.0f} {unit}/s {speed.updates_per_second:>10,.0f} updates/s")
    if ratio is not None:
        printer().print(f"ratio: {_times(ratio)}")
    printer().print(work)


def _blueprint(seconds: float, peers: bool, as_json: bool, seed: int) -> None:
    """Measures MCCFR on hold'em."""
    from tacit.bench import blueprint

    missing = blueprint.missing_peer() if peers else None
    if missing:
        logger().print(f"OpenSpiel is left out: {missing} (pip install 'tacit[bench]')")
    rows = []
    with progress_monitor() as monitor:
        for number, case in enumerate(blueprint.CASES):
            monitor.step("measuring", number, len(blueprint.CASES), "games", f"{case}: buckets of all boards first")
            rows.append(blueprint.measure(case, seconds, seed, peers and not missing))
    if as_json:
        print_json({"bench": "blueprint", "results": [{**asdict(row), "ratios": row.ratios()} for row in rows]})
        return
    threads = f"{rows[0].threads} threads"
    table = plain_table("hold'em", "decisions", "a second of", "one thread", threads, "OpenSpiel", "ratio", f"ratio, {threads}")
    for row in rows:
        ratios = row.ratios()
        for name, kind in (("the processor", "processor"), ("the clock", "clock")):
            ours = (f"{getattr(rate, kind):,.0f}" for rate in (row.one_thread, row.all_threads))
            peer = "-" if row.openspiel is None else f"{getattr(row.openspiel, kind):,.0f}"
            every = _times(ratios["all_threads"]) if kind == "clock" else ""
            table.add_row(row.case, f"{row.decisions:,}", name, *ours, peer, _times(ratios[kind]), every)
    printer().print(table)
    print_lines(
        "iterations of external-sampling MCCFR, each with both players updated, the same betting; ratio: one thread each",
    )


def _growth(seconds: float, quick: bool, folder: Path, as_json: bool) -> None:
    """Measures how cost grows, and draws it."""
    from tacit.bench import growth
    from tacit.bench.growth_plot import growth_panels
    from tacit.files import check_writable

    picture = folder / "growth.png"
    check_writable(picture)
    total, done = growth.count_cases(quick), 0
    with progress_monitor() as monitor:

        def watch(case: str) -> None:
            nonlocal done
            monitor.step("measuring", done, total, "sizes", case)
            done += 1

        growths = growth.measure(seconds, quick, watch)
    growth_panels(growths, picture)
    if as_json:
        print_json({"bench": "growth", "results": [measured.report() for measured in growths], "picture": str(picture)})
        return
    table = plain_table("what grows", "sizes", "time", "slope", "growth", "memory", "slope", "growth")
    for measured in growths:
        sizes, times, memory = measured.seconds.sizes, measured.seconds, measured.num_bytes
        table.add_row(
            measured.name, f"{sizes[0]:,} to {sizes[-1]:,}",
            f"{_time(times.costs[0])} to {_time(times.costs[-1])}", times.slopes, times.words,
            f"{_bytes(memory.costs[0])} to {_bytes(memory.costs[-1])}", memory.slopes, memory.words,
        )  # fmt: skip
    printer().print(table)
    print_lines(
        *(f"{measured.name}: {measured.work}, by {measured.counted}" for measured in growths),
        "slope: the power of the size that the cost follows, the expected one in brackets",
        "time: the shortest of many calls, on one thread unless threads grow; memory: all arrays held between calls",
        f"picture: {picture}",
    )


def _bytes(number: float) -> str:
    return f"{number / 1e3:,.0f} kB" if number < 1e6 else f"{number / 1e6:,.1f} MB"


def _print(rows: list[Any]) -> None:
    ours = ("cfr", "cfr+", "exploitability")
    peers = ("OpenSpiel", "LiteEFG", "OpenSpiel")
    headings = [heading for pair in zip(ours, peers, strict=True) for heading in (*pair, "ratio")]
    table = plain_table("game", *headings, "of copy speed")
    for row in rows:
        ratios = row.ratios()
        table.add_row(
            row.game,
            _time(row.iteration), _time(row.openspiel_iteration), _times(ratios["openspiel"]),
            _time(row.plus_iteration), _time(row.liteefg_iteration), _times(ratios["liteefg"]),
            _time(row.exploitability), _time(row.openspiel_exploitability), _times(ratios["openspiel_exploitability"]),
            f"{ratios['of_copy_speed']:.0%}",
        )  # fmt: skip
    console = printer()
    console.print(table)
    console.print("time of a full iteration (both players updated), best of three windows, one thread; ratio: peer / tacit")


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds * 1e6:,.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:,.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:,.0f}x" if ratio >= 10 else f"{ratio:.1f}x"
