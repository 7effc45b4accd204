"""Parts of a tree for threads: subtrees of about equal size below a common top."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tacit.tree.lanes import LaneLayout

MEETING = 250
"""Cost of synchronising with each further thread, in nodes that a pass could visit meanwhile (measured)."""
GAIN = 0.8
"""A tree is divided only if this takes at most this share of the time of a single thread."""


@dataclass(frozen=True)
class Parts:
    """The nodes of a tree in lanes, divided among threads.

    Attributes:
      top: the number of first nodes that belong to no part: one thread visits them while the others wait.
      ranges: `[threads, levels, 2]` the first node of each part on each level below the top, and the one after its last.
    """

    top: int
    ranges: NDArray[np.int64]

    @property
    def largest(self) -> int:
        """The number of nodes of the largest part."""
        return int(np.diff(self.ranges, axis=2).sum(axis=1).max())

    @property
    def cost(self) -> int:
        """The time of a pass, in nodes."""
        return self.top + self.largest + MEETING * (len(self.ranges) - 1)


def divide(layout: LaneLayout, threads: int) -> Parts:
    """Returns the fastest division; a single part without a top if more parts would gain little."""
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
    """Returns the first child of each node, or where it would be; children of adjacent nodes are adjacent."""
    return layout.child_start[layout.edge_start[node]].astype(np.int64)


def _levels(layout: LaneLayout) -> list[int]:
    """Returns the first node of each level, and the number of nodes."""
    starts = [0, int(layout.child_start[0])]
    while starts[-1] > starts[-2]:
        starts.append(int(_children(layout, np.array(starts[-1]))))
    return starts[:-1]


def _sizes(layout: LaneLayout, levels: list[int]) -> NDArray[np.int64]:
    """Returns `[N]` the size of each node's subtree."""
    sizes = np.ones(levels[-1], np.int64)
    for first, last in zip(levels[-2::-1], levels[:0:-1], strict=True):
        total = np.concatenate([[0], np.cumsum(sizes)])
        bounds = _children(layout, np.arange(first, last + 1))
        sizes[first:last] += total[bounds[1:]] - total[bounds[:-1]]
    return sizes


def _below(layout: LaneLayout, levels: list[int], sizes: NDArray[np.int64], level: int, threads: int) -> Parts:
    """Returns a division of the subtrees below a level into runs of adjacent ones."""
    first, last = levels[level], levels[level + 1]
    before = np.cumsum(sizes[first:last]) - sizes[first:last] / 2
    bounds = first + np.searchsorted(before, before[-1] * np.arange(threads + 1) / threads)
    bounds[-1] = last
    ranges = []
    while (bounds[1:] > bounds[:-1]).any():
        ranges.append(np.stack([bounds[:-1], bounds[1:]], axis=1))
        bounds = _children(layout, bounds)
    return Parts(first, np.stack(ranges, axis=1))
