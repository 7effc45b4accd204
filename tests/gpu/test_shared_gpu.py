"""Workers that share a GPU with each other and with the learner; skipped without CUDA."""

import math
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tacit.games import load_game
from tacit.rebel.config import PRESETS
from tacit.rebel.holdem.config import PRESETS as HOLDEM_PRESETS
from tacit.rebel.holdem.train import HoldemTrainer
from tacit.rebel.train import RebelTrainer
from tacit.scale.engines import open_engine, reached
from tacit.scale.plan import EnginePlan
from tacit.training.system import Trainer

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")]


def dice() -> RebelTrainer:
    config = PRESETS["smoke"].with_settings({"evaluate_every": "0"})
    return RebelTrainer(load_game("liars_dice(dice=1,faces=3)"), config, "cuda")


def endgame() -> HoldemTrainer:
    settings = {"games": "32", "iterations": "24", "river_iterations": "24", "epoch_examples": "256", "evaluate_every": "0"}
    return HoldemTrainer(load_game("turn_endgame_holdem"), HOLDEM_PRESETS["smoke"].with_settings(settings), "cuda")


@pytest.mark.parametrize("make_trainer", [dice, endgame])
def test_two_workers_share_a_gpu(make_trainer: Callable[[], Trainer[Any, Any]]) -> None:
    trainer, plan = make_trainer(), EnginePlan("local", 2, "cuda")
    before = {name: part.clone() for name, part in trainer.weights().items()}
    with reached(plan) as make_crew, open_engine(trainer, "rebel", plan, make_crew) as engine:
        while engine.report().live < 2:
            progress = trainer.run_epoch(time.perf_counter)
        for _ in range(2):
            progress = trainer.run_epoch(time.perf_counter)
        report = engine.report()
    assert (report.live, report.deaths, report.thrown_away) == (2, 0, 0)
    assert progress.examples > 0
    assert math.isfinite(progress.loss)
    assert any(not torch.equal(before[name], part) for name, part in trainer.weights().items())
