"""What every system that trains shares: settings, the folder of a run, the loop that can be killed, TensorBoard events.

The names below are public: what a system of one's own needs.
"""

from tacit.training.folder import RunFolder
from tacit.training.ranges import Choice, Count, CountOrZero, Number, Positive, Seed, Share
from tacit.training.settings import Settings
from tacit.training.system import Metrics, System, Trainer

__all__ = [
    "Choice",
    "Count",
    "CountOrZero",
    "Metrics",
    "Number",
    "Positive",
    "RunFolder",
    "Seed",
    "Settings",
    "Share",
    "System",
    "Trainer",
]
