"""What limits training by many workers: a queueing model beside measurements, and its forecast for a cluster.

    python benchmarks/scale.py frames --rate 0 --workers 2 --bytes 4096,65536,1048576,8388608 --json full.json
    python benchmarks/scale.py frames --rate 20 --workers 1,2,4,8,16,32,64 --bytes 262144 --json paced.json
    python benchmarks/scale_forecast.py full.json paced.json

The first measurement gives the learner's cost of an answer by its size. The second has workers that only wait, at the pace of a
GPU, and is compared with the model. The forecast is for the runs in `RUNS`, whose figures come from docs/LOG.md.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.bench.queueing import throughput
from tacit.scale.orders import AHEAD

GPUS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024)
LINK = 25e9 / 8
"""Bytes a second into the learner's machine: a 25-gigabit network."""


@dataclass(frozen=True)
class Run:
    """A run on GPUs of one kind.

    Attributes:
      name: What it trains.
      examples: Examples in an answer.
      seconds: Seconds in which a GPU generates an answer.
      example_bytes: Bytes of one example in transit.
      learnt: Examples that the learner's GPU processes in a second.
      ratio: How often each example is learnt from.
      weights: Bytes of the networks.
      replay: Examples that the replay buffer holds.
    """

    name: str
    examples: int
    seconds: float
    example_bytes: float
    learnt: float
    ratio: float
    weights: float
    replay: float


RUNS = (
    Run("hold'em, preset gpu (H200)", 6_000, 5.5, 9_100, 173_000, 8, 20e6, 12e6),
    Run("hold'em, each example learnt from once", 6_000, 5.5, 9_100, 173_000, 1, 20e6, 12e6),
)


def learner_costs(lines: list[dict[str, Any]]) -> tuple[float, float]:
    """Returns the learner's processor seconds for each answer, and for each byte of it."""
    sizes = np.array([line["bytes"] for line in lines], float)
    costs = np.array([line["learner_processor_share"] / line["frames_per_second"] for line in lines])
    each_byte = max(0.0, float(np.polyfit(sizes, costs, 1, w=1 / costs)[0]))
    return float(np.median(np.maximum(costs - each_byte * sizes, 0.0))), each_byte


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("full", type=Path)
    parser.add_argument("paced", type=Path)
    given = parser.parse_args()
    answer, each_byte = learner_costs(json.loads(given.full.read_text()))
    print(f"an answer costs the learner {1e6 * answer:.0f} us, and {1e9 * each_byte:.2f} ns a byte\n")
    print("paced workers       measured/s   model/s")
    for line in json.loads(given.paced.read_text()):
        stations = {"learner": answer + each_byte * line["bytes"]}
        said = throughput(line["workers"], 1 / line["rate"], stations, AHEAD)
        print(f"{line['engine']:>6} {line['workers']:>12} {line['frames_per_second']:>12,.1f} {said.frames:>9,.1f}")
    for run in RUNS:
        size = run.examples * run.example_bytes
        learning = run.examples * run.ratio / run.learnt
        stations = {"link": size / LINK, "processor": answer + each_byte * size, "learner": learning}
        print(f"\n{run.name}: answers of {size / 1e6:.0f} MB, replay of {run.replay * run.example_bytes / 1e9:.0f} GB")
        print("  GPUs   examples/s   MB/s in   weights MB/s out   learner waits   GPUs idle   bottleneck")
        for gpus in GPUS:
            found = throughput(gpus, run.seconds, stations, AHEAD)
            weights_out = found.frames * run.weights  # at most: nodes with the same weights fetch them once
            print(
                f"{gpus:>6,} {found.frames * run.examples:>12,.0f} {found.frames * size / 1e6:>9,.0f}"
                f" {weights_out / 1e6:>18,.0f} {found.waiting:>15.0%} {found.idle:>11.0%}   {found.bottleneck}"
            )


if __name__ == "__main__":
    main()
