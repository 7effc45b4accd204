"""NFSP and DQN as systems that train."""

from __future__ import annotations

from tacit.nfsp.config import DQN_PRESETS, PRESETS, DqnConfig, NfspConfig
from tacit.nfsp.train import NfspProgress, NfspTrainer
from tacit.training.system import System

NFSP = System("nfsp", NfspConfig, PRESETS, NfspProgress, NfspTrainer)
DQN = System("dqn", DqnConfig, DQN_PRESETS, NfspProgress, NfspTrainer)
SYSTEMS = {system.name: system for system in (NFSP, DQN)}
