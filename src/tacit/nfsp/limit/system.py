"""NFSP on limit hold'em as a system that trains."""

from __future__ import annotations

from tacit.nfsp.limit.config import PRESETS, LimitConfig
from tacit.nfsp.limit.train import NAME, LimitProgress, LimitTrainer
from tacit.training.system import System

NFSP_LIMIT = System(NAME, LimitConfig, PRESETS, LimitProgress, LimitTrainer)
