"""Deep CFR and Single Deep CFR as trainable systems."""

from __future__ import annotations

from tacit.deep_cfr.config import PRESETS, SD_PRESETS, DeepCfrConfig, SdCfrConfig
from tacit.deep_cfr.progress import DeepCfrProgress
from tacit.deep_cfr.train import DeepCfrTrainer
from tacit.training.system import System

DEEP_CFR = System(DeepCfrConfig, DeepCfrTrainer, PRESETS, DeepCfrProgress)
SD_CFR = System(SdCfrConfig, DeepCfrTrainer, SD_PRESETS, DeepCfrProgress)
