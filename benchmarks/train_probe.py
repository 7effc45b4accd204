"""Trains configurations for a fixed time each; prints learning curves, then evaluates the last three networks, and keeps them.

python benchmarks/train_probe.py "game;seconds;preset;key=value,...;playthroughs;solver:iterations:playthroughs+..." ...
"""

import copy
import os
import sys
import time
from pathlib import Path

import numpy as np
import torch

from tacit.games import load_game
from tacit.nets.forward import forward_pass
from tacit.rebel.config import preset
from tacit.rebel.system import REBEL
from tacit.rebel.train import RebelTrainer
from tacit.search.playthroughs import playthrough_quality
from tacit.search.search import BatchSearch
from tacit.training.folder import RunFolder

device = "cuda" if torch.cuda.is_available() else "cpu"
for number, job in enumerate(sys.argv[1:]):
    name, seconds, base, settings, playthroughs, grid = job.split(";")
    config = preset(base).with_settings(dict(part.split("=") for part in f"epochs=100000,{settings}".rstrip(",").split(",")))
    trainer = RebelTrainer(load_game(name), config, device)
    limit = trainer.finish_by = float(seconds)
    reports = [0.15, 0.3, 0.5, 0.7, 0.9, 0.94, 0.97, 1.0]
    networks = []
    while trainer.seconds < limit:
        progress = trainer.run_epoch()
        if trainer.seconds >= reports[0] * limit:
            networks.append(copy.deepcopy(trainer.values.net))
            reports.pop(0)
            found = trainer.evaluate(int(playthroughs), seed=trainer.epoch) if int(playthroughs) else float("nan")
            print(
                f"{name} {settings} {trainer.seconds:.0f}s epoch {trainer.epoch} {progress.examples_per_second:,.0f}/s "
                f"loss {progress.loss:.5f} exploitability({playthroughs}) {found:.4f}",
                flush=True,
            )
    RunFolder(Path(os.environ.get("OUT", "out")) / f"job{number}", REBEL).save_network(trainer, keep=False)
    for test in filter(None, grid.split("+")):
        solver, iterations, count = test.split(":")
        other = config.with_settings({"solver": solver, "iterations": iterations})
        start, found = time.perf_counter(), []
        for net in networks[-int(os.environ.get("LAST", "3")) :]:
            search = BatchSearch(trainer.space, forward_pass(net), other.search(), device)
            found.append(playthrough_quality(search, int(count), np.random.default_rng(1)).exploitability)
        each = " ".join(f"{x:.4f}" for x in found)
        print(
            f"   {name} {solver} {iterations} x {count} playthroughs: {np.mean(found):.4f} ({each}) "
            f"[{time.perf_counter() - start:.1f}s]",
            flush=True,
        )
