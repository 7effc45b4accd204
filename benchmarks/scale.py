"""How generation scales with workers, what the engine costs, and how many answers a learner can take in.

    python benchmarks/scale.py                                   everything, a quarter of an hour
    python benchmarks/scale.py generation --workers 1,2 --engines here,local,ray --seconds 30
    python benchmarks/scale.py training --seconds 30
    python benchmarks/scale.py overhead --seconds 60
    python benchmarks/scale.py frames --bytes 65536,1048576 --rate 0
    python benchmarks/scale.py generation --engines local --workers 1,2 --device cuda --preset gpu      workers that share a GPU

Prints a table for each part, and all of it as JSON with --json FILE. Every line is measured in a process of its own.

    generation   examples per second without learning, by engine and workers
    training     the same with learning, and the share of time that the learner waits
    overhead     training in one process against training by workers on the same cores (--cores): one process computes with that
                 many threads, an engine has that many workers, and learning takes its share of the same cores
    frames       answers of a given size from workers that only send them (--rate a second each, 0 is as fast as possible)
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.scale.plan import EnginePlan

GAME, SETTINGS = "liars_dice(dice=1,faces=4)", {"evaluate_every": "0", "epochs": "100000"}
SAME = "part", "seconds", "game", "preset", "device", "settings", "rate"
"""What is the same in all lines of a table."""


@dataclass(frozen=True)
class Stub:
    """A job that sends answers of a given size at a given rate, as a worker with a GPU would.

    Attributes:
      size: Bytes of an answer.
      rate: Answers a second; 0 is as many as possible.
    """

    size: int
    rate: float

    def open(self, number: int, life: int) -> Stub:
        return self

    def hear(self, shared: Any) -> None:
        """Ignores what it hears."""

    def answer(self, order: Any) -> Any:
        import torch

        if self.rate:
            time.sleep(1 / self.rate)
        return {"values": torch.ones(self.size // 4)}, {}


def measure(case: dict[str, Any]) -> dict[str, Any]:
    """Returns the figures of one table line, measured in this process."""
    if case["cores"]:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: case["cores"]])
    import torch

    from tacit.scale.engines import reached
    from tacit.scale.orders import Orders

    torch.set_num_threads(max(1, case["cores"]) if case["engine"] == "here" else 1)
    with ExitStack() as held:
        make_crew = None
        if case["engine"] != "here":
            make_crew = held.enter_context(reached(plan_of(case)))
        if case["part"] == "frames":
            assert make_crew is not None
            orders = held.enter_context(Orders(make_crew(Stub(case["bytes"], case["rate"])), itertools.repeat({}), 60.0))
            return frames(orders, case)
        return self_play(case, make_crew, held)


def plan_of(case: dict[str, Any]) -> EnginePlan:
    """Returns the engine of a table line."""
    from tacit.scale.plan import EnginePlan

    return EnginePlan(case["engine"], case["workers"], case["device"])


def frames(orders: Any, case: dict[str, Any]) -> dict[str, Any]:
    """Returns the rate at which a learner that does nothing else takes in answers, and the share of a core that it uses."""
    while len(orders.ready) < case["workers"]:
        orders.next()
    count, processor = 0, time.process_time()
    waited, began = orders.waited, time.perf_counter()
    while (seconds := time.perf_counter() - began) < case["seconds"]:
        orders.next()
        count += 1
    return {
        "frames_per_second": count / seconds,
        "megabytes_per_second": count * case["bytes"] / seconds / 1e6,
        "learner_wait_share": (orders.waited - waited) / seconds,
        "learner_processor_share": (time.process_time() - processor) / seconds,
    }


def self_play(case: dict[str, Any], make_crew: Any, held: ExitStack) -> dict[str, Any]:
    """Returns the examples made per second, which are also learnt from unless the part is `generation`."""
    from tacit.games import load_game
    from tacit.rebel.config import PRESETS
    from tacit.rebel.train import RebelTrainer
    from tacit.scale.engines import open_engine

    config = PRESETS[case["preset"]].with_settings({**SETTINGS, **case["settings"]})
    trainer = RebelTrainer(load_game(case["game"]), config, case["device"])
    engine = None
    if make_crew is not None:
        engine = held.enter_context(open_engine(trainer, "rebel", plan_of(case), make_crew))
    lots = lots_of(trainer, learns=case["part"] != "generation")
    while engine is not None and engine.report().live < case["workers"]:
        next(lots)
    for _ in range(case["workers"]):  # until kernels are compiled and all workers are busy
        next(lots)
    made, began, waited = 0, time.perf_counter(), engine.orders.waited if engine else 0.0
    while (seconds := time.perf_counter() - began) < case["seconds"]:
        made += next(lots)
    report = {"examples_per_second": made / seconds}
    if engine is not None:
        report["learner_wait_share"] = (engine.orders.waited - waited) / seconds
        report["weights_age"] = engine.report().weights_age
    return report


def lots_of(trainer: Any, learns: bool) -> Iterator[int]:
    """Yields the number of examples in one lot after another, with or without learning."""
    if not learns:
        while True:
            yield len(trainer.example_source.next()["values.beliefs"])
    trainer.config = trainer.config.with_settings({"epoch_examples": "1"})  # one lot an epoch
    while True:
        before = trainer.examples
        trainer.run_epoch()
        yield trainer.examples - before


def cases(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yields all lines of all tables."""
    common = {
        "seconds": given.seconds, "game": given.game, "preset": given.preset, "device": given.device, "cores": 0,
        "settings": dict(pair.split("=") for pair in given.set),
    }  # fmt: skip
    for part in ("generation", "training"):
        for engine in given.engines if part in given.parts else ():
            for workers in given.workers if engine != "here" else (1,):
                yield {**common, "part": part, "engine": engine, "workers": workers}
    for cores, engine in itertools.product(given.cores, given.engines if "overhead" in given.parts else ()):
        yield {**common, "part": "overhead", "engine": engine, "workers": cores if engine != "here" else 1, "cores": cores}
    for engine in given.engines if "frames" in given.parts else ():
        for size, workers in itertools.product(given.bytes, given.workers if engine != "here" else ()):
            yield {**common, "part": "frames", "engine": engine, "workers": workers, "bytes": size, "rate": given.rate}


def compared(lines: list[dict[str, Any]]) -> None:
    """Adds each line's speed relative to the first line of its part: that of its engine with one worker, or of one process."""
    for line in lines:
        alone = next(
            (
                other
                for other in lines
                if other["part"] == line["part"] != "frames"
                and other["cores"] == line["cores"]
                and (other["engine"] == "here" if line["part"] == "overhead" else other["engine"] == line["engine"])
            ),
            None,
        )
        if alone is not None and "examples_per_second" in alone and "examples_per_second" in line:
            line["times_one"] = line["examples_per_second"] / alone["examples_per_second"]


def show(lines: list[dict[str, Any]]) -> None:
    """Prints a table for each part."""
    for part, some in itertools.groupby(lines, key=lambda line: line["part"]):
        group = list(some)
        shown = {
            name: None for line in group for name in line
            if name not in SAME and (name != "cores" or line["cores"])
        }  # fmt: skip
        print(f"\n{part}\n" + "  ".join(f"{name:>24}" for name in shown))
        for line in group:
            print("  ".join(f"{_short(line.get(name, '')):>24}" for name in shown))


def _short(value: Any) -> str:
    return (
        f"{value:,.3g}"
        if isinstance(value, float) and value < 1_000
        else f"{value:,.0f}"
        if isinstance(value, float)
        else str(value)
    )


def main() -> None:
    """Measures line by line, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    everything = ["generation", "training", "overhead", "frames"]
    parser.add_argument("parts", nargs="*", default=everything, help=", ".join(everything))
    parser.add_argument("--engines", type=lambda text: text.split(","), default=["here", "local", "ray"])
    parser.add_argument("--workers", type=lambda text: list(map(int, text.split(","))), default=[1, 2])
    parser.add_argument("--cores", type=lambda text: list(map(int, text.split(","))), default=[1, 2], help="of part overhead")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--game", default=GAME)
    parser.add_argument("--preset", default="cpu")
    parser.add_argument("--device", default="cpu", help="where workers search, and where one process searches and learns")
    parser.add_argument("--set", action="append", default=[], help="a setting of the run: key=value")
    parser.add_argument("--bytes", type=lambda text: list(map(int, text.split(","))), default=[65_536, 1_048_576])
    parser.add_argument("--rate", type=float, default=0.0)
    parser.add_argument("--json", type=Path, help="write everything to this file")
    parser.add_argument("--case", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.case:
        print(json.dumps(measure(given.case)))
        return
    if unknown := set(given.parts) - set(everything):
        parser.error(f"unknown part {min(unknown)!r}: choose from {', '.join(everything)}")
    lines = []
    for case in cases(given):
        command = [sys.executable, __file__, "--case", json.dumps(case)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300 + 2 * given.seconds)
        if done.returncode:
            sys.exit(f"{case}: {(done.stderr.strip() or 'no word').splitlines()[-1]}")
        lines.append({**case, **json.loads(done.stdout.splitlines()[-1])})
        print(f"  {case['part']}, {case['engine']}, {case['workers']} workers: done", file=sys.stderr)
    compared(lines)
    show(lines)
    if given.json:
        given.json.write_text(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()
