"""Where hold'em training spends its time: `python benchmarks/holdem_training.py [BATCHES] [key=value ...]` on a GPU.

Trains preset `gpu` from the blinds, starting from the networks in `checkpoints/`. Prints the seconds that each part of a batch
of self-play takes, without those of its nested parts, then the longest kernels of learning.
"""

import sys
import time
from collections import defaultdict
from functools import wraps

import torch

from tacit.games import load_game
from tacit.nets.checkpoint import load_tensors
from tacit.rebel.holdem.config import PRESETS
from tacit.rebel.holdem.learner import RoundEndLearner
from tacit.rebel.holdem.selfplay import HoldemSelfPlay
from tacit.rebel.holdem.starts import RoundStarts
from tacit.rebel.holdem.train import HoldemTrainer
from tacit.solvers.driver import Driver

PARTS = (
    (HoldemSelfPlay, "advance"), (HoldemSelfPlay, "_search"), (HoldemSelfPlay, "_deal"),
    (Driver, "start"), (Driver, "run"), (Driver, "average_values"), (RoundStarts, "expected"), (RoundStarts, "values"),
    (RoundEndLearner, "learn"), (RoundEndLearner, "error"),
)  # fmt: skip

seconds: dict[str, float] = defaultdict(float)
calls: dict[str, int] = defaultdict(int)
inside: list[float] = []


def timed(owner, name):
    """Replaces a method by one that adds up its own seconds; the device is idle before and after."""
    method, label = getattr(owner, name), f"{owner.__name__}.{name}"

    @wraps(method)
    def measured(self, *arguments, **options):
        torch.cuda.synchronize()
        start = time.perf_counter()
        inside.append(0.0)
        result = method(self, *arguments, **options)
        torch.cuda.synchronize()
        took = time.perf_counter() - start
        seconds[label] += took - inside.pop()
        calls[label] += 1
        if inside:
            inside[-1] += took
        return result

    setattr(owner, name, measured)


if __name__ == "__main__":
    batches, settings = int(sys.argv[1]) if len(sys.argv) > 1 else 4, dict(pair.split("=") for pair in sys.argv[2:])
    config = PRESETS["gpu"].with_settings({"branches": "2", "epoch_examples": "1", **settings})
    trainer = HoldemTrainer(load_game("no_limit_holdem"), config, "cuda")
    trainer.start_from(load_tensors("checkpoints/no_limit_holdem.safetensors")[0])
    trainer.run_epoch()  # compiles
    torch.cuda.synchronize()
    searches, start = trainer.selfplay.searches, time.perf_counter()
    for _ in range(batches):
        trainer.run_epoch()
    torch.cuda.synchronize()
    took = time.perf_counter() - start
    print(f"{(trainer.selfplay.searches - searches) / took:,.0f} searches/s, {took / batches:.2f} s a batch, no timers inside")
    for owner, name in PARTS:
        timed(owner, name)
    start, searches = time.perf_counter(), trainer.selfplay.searches
    for _ in range(batches):
        trainer.run_epoch()
    took = time.perf_counter() - start
    print(f"{(trainer.selfplay.searches - searches) / took:,.0f} searches/s with timers")
    for label, spent in sorted(seconds.items(), key=lambda item: -item[1]):
        print(
            f"{100 * spent / took:6.1f} %  {1e3 * spent / calls[label]:9.1f} ms x {calls[label] / batches:.0f} a batch  {label}"
        )
    learner = trainer.learners["turn"]
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        start = time.perf_counter()
        for batch in learner.replay.batches(10, config.batch_size, trainer._torch, "cuda"):
            loss = learner._batch_loss(batch)
            loss.backward()
        torch.cuda.synchronize()
        print(f"{100 * (time.perf_counter() - start):.2f} ms a step on the turn")
    for event in sorted(profile.key_averages(), key=lambda e: -e.self_device_time_total)[:25]:
        print(f"  {event.self_device_time_total / 10:8.1f} us x {event.count / 10:.0f}  {event.key[:100]}")
