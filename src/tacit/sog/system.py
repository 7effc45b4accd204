"""Student of Games and DeepStack as systems that can be trained."""

from __future__ import annotations

from tacit.sog.config import DEEPSTACK_PRESETS, PRESETS, DeepstackConfig, SogConfig
from tacit.sog.train import SogProgress, SogTrainer
from tacit.training.system import System

SOG = System(SogConfig, SogTrainer, PRESETS, SogProgress)
DEEPSTACK = System(DeepstackConfig, SogTrainer, DEEPSTACK_PRESETS, SogProgress)
