"""The blueprint as a trainable system."""

from __future__ import annotations

from tacit.blueprint.config import PRESETS, BlueprintConfig
from tacit.blueprint.train import BlueprintProgress, BlueprintTrainer
from tacit.training.system import System

BLUEPRINT = System(BlueprintConfig, BlueprintTrainer, PRESETS, BlueprintProgress)
