"""Runs the targets, each in its own process, and reports inputs per second and failures."""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.fuzz.engine import Current, save, work
from tests.fuzz.target import attempt
from tests.fuzz.targets import TARGETS

OUT = Path("out/fuzz")
SHARED = ("tacit.training.run", "tacit.artifacts", "tacit.web.explore.desk", "tacit.web.play.desk", "tacit.nfsp.tabular.learn")
"""Modules that import slowly. Processes are forked from one that has imported them and has no threads yet."""
_FORK = multiprocessing.get_context("fork")
START_SECONDS = 120
"""Most seconds a target may take to prepare: some train a run, some compile kernels."""


def main() -> int:
    """Returns 1 if something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000, help="in all")
    parser.add_argument("--seconds", type=float, default=600.0, help="in all")
    parser.add_argument("--target", action="append", choices=sorted(TARGETS), help="one of them; may be given again")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=OUT, help="folder for inputs that fail")
    parser.add_argument("--replay", type=Path, help="run an input that failed, and show what it does")
    given = parser.parse_args()
    if given.replay is not None:
        return replay(given.replay)
    given.out.mkdir(parents=True, exist_ok=True)
    for module in SHARED:
        importlib.import_module(module)
    names = given.target or list(TARGETS)
    totals: dict[str, dict[str, float]] = {name: {"inputs": 0, "seconds": 0.0, "refused": 0, "slowest": 0.0} for name in names}
    failures: dict[str, dict[str, Any]] = {}
    deadline, round_number = time.monotonic() + given.seconds, 0
    while time.monotonic() < deadline and sum(total["inputs"] for total in totals.values()) < given.inputs:
        waiting = list(names)
        for name in names:
            left = given.inputs - int(sum(total["inputs"] for total in totals.values()))
            share = max(1.0, (deadline - time.monotonic()) / len(waiting) / (2 if round_number == 0 else 1))
            most = max(1, left // len(waiting)) if round_number == 0 else left
            if left <= 0 or time.monotonic() >= deadline:
                break
            waiting.remove(name)
            for line in run(name, given.seed + round_number, most, share, given.out):
                if "failure" in line:
                    if f"{name} {line['failure']}" not in failures:
                        sys.stderr.write(f"{name}: {line['failure']}: {line['message']}\n")
                        sys.stderr.write(f"  python -m tests.fuzz --replay {line['file']}\n")
                    failures.setdefault(f"{name} {line['failure']}", line)
                else:
                    for key in ("inputs", "seconds", "refused"):
                        totals[name][key] += line[key]
                    totals[name]["slowest"] = max(totals[name]["slowest"], line["slowest"])
        round_number += 1
    show(totals, failures)
    return 1 if failures else 0


def run(name: str, seed: int, inputs: int, seconds: float, out: Path) -> list[dict[str, Any]]:
    """Returns the lines that one target's process reports; a crash or a hang is a failure as well."""
    lines: list[dict[str, Any]] = []
    began = time.monotonic()
    with tempfile.NamedTemporaryFile() as said:
        process = _FORK.Process(target=work, args=(name, seed, inputs, seconds, out, said.name))
        process.start()
        process.join(seconds + START_SECONDS)
        code: object = process.exitcode
        if code is None:
            process.kill()
            process.join()
            code = "a hang"
        lines += [json.loads(line) for line in said.read().splitlines()]
    if code != 0:
        current = out / f"{name}.current"
        file = save(out, name, Current.read(current)) if current.exists() else "?"
        lines.append({"target": name, "failure": f"ended with {code}", "message": "", "file": str(file)})
        lines.append({"target": name, "inputs": 0, "seconds": time.monotonic() - began, "refused": 0, "slowest": 0.0})
    (out / f"{name}.current").unlink(missing_ok=True)
    return lines


def replay(file: Path) -> int:
    """Reruns a failing input on its target and shows what happens."""
    name = file.name.rpartition("-")[0]
    data = file.read_bytes()
    with tempfile.TemporaryDirectory(prefix="tacit-fuzz-") as folder:
        attempt(TARGETS[name].prepare(Path(folder)).run, data, 10 * TARGETS[name].seconds)
    print(f"{name} takes it: {data[:200]!r}")
    return 0


def show(totals: dict[str, dict[str, float]], failures: dict[str, dict[str, Any]]) -> None:
    """Prints the table of results."""
    print(f"{'target':<18}{'inputs':>10}{'per second':>12}{'refused':>9}{'slowest':>10}{'failures':>10}")
    for name, total in totals.items():
        count, failed = int(total["inputs"]), sum(key.startswith(f"{name} ") for key in failures)
        rate, share = count / max(total["seconds"], 1e-9), total["refused"] / max(count, 1)
        print(f"{name:<18}{count:>10,}{rate:>12,.0f}{share:>9.0%}{total['slowest']:>9.2f}s{failed:>10}")
    print(f"{'all':<18}{int(sum(total['inputs'] for total in totals.values())):>10,}{'':>31}{len(failures):>10}")


if __name__ == "__main__":
    sys.exit(main())
