"""Regret policy gradients as a trainable system."""

from __future__ import annotations

from tacit.policy_gradient.config import PRESETS, PolicyGradientConfig
from tacit.policy_gradient.progress import PolicyGradientProgress
from tacit.policy_gradient.train import PolicyGradientTrainer
from tacit.training.system import System

RPG = System(PolicyGradientConfig, PolicyGradientTrainer, PRESETS, PolicyGradientProgress)
