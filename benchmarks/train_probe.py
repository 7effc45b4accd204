"""Trains configurations for a fixed time each; prints learning curves and a grid of final evaluations; keeps the networks.

python benchmarks/train_probe.py "game;seconds;preset;key=value,...;playthroughs;solver:iterations:playthroughs+..." ...
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
import torch

from tacit.games import load_game
from tacit.rebel.config import preset
from tacit.rebel.folder import RunFolder
from tacit.rebel.train import Trainer, make_search
from tacit.search.playthroughs import playthrough_quality

device = "cuda" if torch.cuda.is_available() else "cpu"
for job in sys.argv[1:]:
    name, seconds, base, settings, playthroughs, grid = job.split(";")
    config = preset(base).with_settings(dict(part.split("=") for part in settings.split(",") if part))
    trainer = Trainer(load_game(name), config, device)
    limit, next_report = float(seconds), float(seconds) / 6
    trainer.run_epoch()
    trainer.seconds = 0.0
    trainer.run_epoch()
    object.__setattr__(config, "epochs", max(4, int(limit / max(trainer.seconds, 1e-3))))
    object.__setattr__(config, "drop_half_at", max(3, config.epochs // 5))
    while trainer.epoch < config.epochs and trainer.seconds < limit * 1.02:
        progress = trainer.run_epoch()
        if trainer.seconds >= next_report:
            next_report += limit / 6
            start = time.perf_counter()
            found = trainer.evaluate(int(playthroughs), seed=trainer.epoch)
            print(
                f"{name} {trainer.seconds:.0f}s epoch {trainer.epoch}/{config.epochs} {progress.examples_per_second:,.0f}/s "
                f"loss {progress.loss:.5f} exploitability({playthroughs}) {found:.4f} [{time.perf_counter() - start:.1f}s]",
                flush=True,
            )
    folder = Path(os.environ.get("OUT", "out")) / "".join(c if c.isalnum() else "_" for c in name)
    RunFolder(folder).save_network(trainer, keep=False)
    for test in filter(None, grid.split("+")):
        solver, iterations, count = test.split(":")
        other = config.with_settings({"solver": solver, "iterations": iterations})
        start = time.perf_counter()
        quality = playthrough_quality(
            make_search(trainer.space, trainer.net, other, device), int(count), np.random.default_rng(1)
        )
        print(
            f"   {name} evaluated with {solver} {iterations} x {count} playthroughs: {quality.exploitability:.4f} "
            f"[{time.perf_counter() - start:.1f}s]",
            flush=True,
        )
