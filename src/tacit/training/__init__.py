"""What every system that trains shares: settings, the folder of a run, the loop that can be killed, TensorBoard events.

The names below are public: what a system of one's own needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tacit.training.folder import RunFolder
from tacit.training.ranges import Choice, Count, CountOrZero, Number, Positive, Seed, Share
from tacit.training.settings import Settings
from tacit.training.system import Metrics, SearchMetrics, System, Trainer

if TYPE_CHECKING:
    from tacit.nets.value_net import OwnValueNet
    from tacit.training.search_trainer import SearchSettings, SearchTrainer

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
    "OwnValueNet": "tacit.nets.value_net",
    "SearchSettings": "tacit.training.search_trainer",
    "SearchTrainer": "tacit.training.search_trainer",
}


def __getattr__(name: str) -> Any:
    """Imports what needs search when it is asked for: not every system searches."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tacit.training' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
