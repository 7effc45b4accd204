"""ReBeL as a system that can be trained."""

from __future__ import annotations

from tacit.rebel.config import PRESETS, RebelConfig
from tacit.rebel.train import RebelProgress, RebelTrainer
from tacit.training.system import System

REBEL = System(RebelConfig, RebelTrainer, PRESETS, RebelProgress)
