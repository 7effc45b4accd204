"""The parts that all training systems share: settings, run folders, a loop that can be killed, TensorBoard events.

The names below are public: they are what you need to write your own system.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tacit.training.ranges import Choice, Count, CountOrZero, Number, Positive, Seed, Share
from tacit.training.settings import Settings

if TYPE_CHECKING:
    from tacit.nets.value_net import OwnValueNet
    from tacit.training.folder import RunFolder
    from tacit.training.search_trainer import SearchSettings, SearchTrainer
    from tacit.training.system import Metrics, SearchMetrics, System, Trainer

__all__ = [
    "Choice",
    "Count",
    "CountOrZero",
    "Metrics",
    "Number",
    "OwnValueNet",
    "Positive",
    "RunFolder",
    "SearchMetrics",
    "SearchSettings",
    "SearchTrainer",
    "Seed",
    "Settings",
    "Share",
    "System",
    "Trainer",
]

_HOMES = {
    "Metrics": "tacit.training.system",
    "OwnValueNet": "tacit.nets.value_net",
    "RunFolder": "tacit.training.folder",
    "SearchMetrics": "tacit.training.system",
    "SearchSettings": "tacit.training.search_trainer",
    "SearchTrainer": "tacit.training.search_trainer",
    "System": "tacit.training.system",
    "Trainer": "tacit.training.system",
}


def __getattr__(name: str) -> Any:
    """Imports names that need torch on first use: the command line reads names and settings before it loads torch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tacit.training' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
