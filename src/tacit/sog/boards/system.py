"""Student of Games on boards as a system that can be trained."""

from __future__ import annotations

from tacit.sog.boards.config import PRESETS, BoardConfig
from tacit.sog.boards.train import BoardProgress, BoardTrainer
from tacit.training.system import System

SOG_BOARDS = System(BoardConfig, BoardTrainer, PRESETS, BoardProgress)
