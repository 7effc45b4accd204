"""ReBeL at hold'em as a system that can be trained."""

from __future__ import annotations

from tacit.rebel.holdem.config import PRESETS, HoldemConfig
from tacit.rebel.holdem.train import HoldemProgress, HoldemTrainer
from tacit.training.system import System

REBEL_HOLDEM = System(HoldemConfig, HoldemTrainer, PRESETS, HoldemProgress)
