"""The three strategies of a run of NFSP, selected by name: `runs/leduc:greedy-average`."""

from __future__ import annotations

from pathlib import Path

AVERAGE, BEST_RESPONSE, GREEDY_AVERAGE = "average", "best-response", "greedy-average"
STRATEGIES = (AVERAGE, BEST_RESPONSE, GREEDY_AVERAGE)
"""The average policy, the actions with the highest values, and the most probable actions of the average policy."""


def split_strategy(name: str) -> tuple[Path, str]:
    """Returns the run folder or network file in a name, and its strategy: `AVERAGE` unless the name ends with another."""
    path, colon, strategy = name.rpartition(":")
    if colon and strategy in STRATEGIES:
        return Path(path), strategy
    return Path(name), AVERAGE
