"""Parts of a tree for threads: subtrees below a common top, about as large."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tacit.tree.lanes import LaneLayout

MEETING = 250
"""What each further thread adds to a meeting, in nodes that a pass could have visited meanwhile (measured)."""
GAIN = 0.8
"""Parts are made where they take at most this much of the time that one thread would need."""


@dataclass(frozen=True)
class Parts:
    """Nodes of a tree in lanes, divided.

    Attributes:
      top: the first so many nodes are nobody's: one thread visits them while the others wait.
      ranges: `[threads, levels, 2]` the nodes of each part on each level below the top, from the first to before the last.
    """

    top: int
    ranges: NDArray[np.int64]

    @property
    def largest(self) -> int:
        """Nodes of the largest part."""
        return int(np.diff(self.ranges, axis=2).sum(axis=1).max())

    @property
    def cost(self) -> int:
        """How long a pass takes, in nodes."""
        return self.top + self.largest + MEETING * (len(self.ranges) - 1)


def divide(layout: LaneLayout, threads: int) -> Parts:
    """Returns the parts that finish first; a single part, without a top, where more would gain little."""
    levels = _levels(layout)
    whole = Parts(0, np.array([list(pairwise(levels))]))
    if threads == 1:
        return whole
    sizes = _sizes(layout, levels)
    numbers = {*(2**power for power in range(1, threads.bit_length())), threads}
    choices = [_below(layout, levels, sizes, level, number) for number in numbers for level in range(1, len(levels) - 1)]
    best = min(choices, key=lambda parts: parts.cost, default=whole)
    return best if best.cost < GAIN * whole.cost else whole


def _children(layout: LaneLayout, node: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the first child of each node, or where it would be: the children of neighbours are neighbours."""
    return layout.child_start[layout.edge_start[node]].astype(np.int64)


def _levels(layout: LaneLayout) -> list[int]:
    """Returns the first node of each level, and the number of nodes."""
    starts = [0, int(layout.child_start[0])]
    while starts[-1] > starts[-2]:
        starts.append(int(_children(layout, np.array(starts[-1]))))
    return starts[:-1]


def _sizes(layout: LaneLayout, levels: list[int]) -> NDArray[np.int64]:
    """Returns `[N]` the nodes of each subtree."""
    sizes = np.ones(levels[-1], np.int64)
    for first, last in zip(levels[-2::-1], levels[:0:-1], strict=True):
        total = np.concatenate([[0], np.cumsum(sizes)])
        bounds = _children(layout, np.arange(first, last + 1))
        sizes[first:last] += total[bounds[1:]] - total[bounds[:-1]]
    return sizes


def _below(layout: LaneLayout, levels: list[int], sizes: NDArray[np.int64], level: int, threads: int) -> Parts:
    """Returns the parts below a level, by neighbouring subtrees."""
    first, last = levels[level], levels[level + 1]
    before = np.cumsum(sizes[first:last]) - sizes[first:last] / 2
    bounds = first + np.searchsorted(before, before[-1] * np.arange(threads + 1) / threads)
    bounds[-1] = last
    found = []
    while (bounds[1:] > bounds[:-1]).any():
        found.append(np.stack([bounds[:-1], bounds[1:]], axis=1))
        bounds = _children(layout, bounds)
    return Parts(first, np.stack(found, axis=1))
