"""ReBeL as a system that trains, and the folders of its runs."""

from __future__ import annotations

from pathlib import Path

from tacit.rebel.config import PRESETS, RebelConfig
from tacit.rebel.train import RebelProgress, RebelTrainer
from tacit.training import folder
from tacit.training.system import System

REBEL = System("rebel", RebelConfig, PRESETS, RebelProgress, RebelTrainer)


class RunFolder(folder.RunFolder[RebelConfig, RebelProgress]):
    """The folder of a run of ReBeL; the mean of its three kept networks is what the paper reports."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(path, REBEL)
