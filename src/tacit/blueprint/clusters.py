"""k-means clustering, and the search for a point's nearest centre (Lloyd 1982, k-means++ of Arthur 2007).

Centres are sorted by their means. The distance to a centre whose mean differs by d from the point's is at least d times the
square root of the number of features, so a search that starts at the nearest mean can stop early and is still exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.compiled import compiled, inner
from tacit.threads import run_together

WIDTH = 16
"""The number of centres whose distances are computed together, in vector units."""
ROUNDS = 25
"""The number of rounds of Lloyd's algorithm; later ones change little."""

Points = NDArray[np.float32]


def find_centres(points: Points, count: int, generator: np.random.Generator, threads: int = 1) -> Points:
    """Returns `[K, F]` centres sorted by their means; fewer than `count` if there are fewer distinct points.

    Args:
      points: `[P, F]`.
      count: the number of centres wanted.
      generator: draws the first centres.
      threads: the number of threads that look for nearest centres; the result does not depend on it.
    """
    different = np.unique(points, axis=0)
    if len(different) <= count:
        return in_order(different)
    centres = _first_centres(points, count, generator)
    for _ in range(ROUNDS):
        sums, nearest_centre = np.zeros(centres.shape), nearest_centres(points, centres, threads)
        _add_members(points, nearest_centre, sums)
        members = np.bincount(nearest_centre, minlength=len(centres))
        empty = members == 0
        sums[empty] = points[generator.integers(len(points), size=int(empty.sum()))]
        centres = in_order((sums / np.maximum(members, 1)[:, None]).astype(np.float32))
    return centres


def in_order(centres: Points) -> Points:
    """Returns the centres sorted by their means."""
    return np.ascontiguousarray(centres[np.argsort(_means(centres), kind="stable")], np.float32)


def nearest_centres(points: Points, centres: Points, threads: int = 1) -> NDArray[np.int64]:
    """Returns `[P]` the nearest centre of each point; of equally near ones, the first in order."""
    found = np.empty(len(points), np.int64)
    run_together(threads, _find_all, np.ascontiguousarray(points, np.float32), centres, found)
    return found


def _means(centres: Points) -> NDArray[np.float32]:
    """Returns `[K]` the means of centres, summed in the same order as in `in_blocks`."""
    means = np.zeros(len(centres), np.float32)
    for feature in range(centres.shape[1]):
        means += centres[:, feature]
    return np.asarray(means / np.float32(centres.shape[1]), np.float32)


def _first_centres(points: Points, count: int, generator: np.random.Generator) -> Points:
    """Returns points that are far apart: each is drawn with probability proportional to its squared distance to the others."""
    centres = [points[generator.integers(len(points))]]
    distance = np.full(len(points), np.inf)
    for _ in range(count - 1):
        distance = np.minimum(distance, np.square(points - centres[-1]).sum(axis=1))
        total = np.cumsum(distance)
        centres.append(points[min(int(np.searchsorted(total, generator.random() * total[-1])), len(points) - 1)])
    return in_order(np.array(centres))


@inner()
def in_blocks(centres):  # type: ignore[no-untyped-def]
    """Returns centres in the layout that `nearest` takes.

    Args:
      centres: `[K, F]` float32, sorted by their means.

    Returns:
      `[K / 16, F, 16]` the centres, the last of them repeated to fill a block, and `[K]` their means.
    """
    count, features = centres.shape
    blocks = np.empty((-(-count // WIDTH), features, WIDTH), np.float32)
    means = np.zeros(count, np.float32)
    for centre in range(len(blocks) * WIDTH):
        for feature in range(features):
            blocks[centre // WIDTH, feature, centre % WIDTH] = centres[min(centre, count - 1), feature]
    for centre in range(count):
        for feature in range(features):
            means[centre] += centres[centre, feature]
        means[centre] /= np.float32(features)
    return blocks, means


@inner()
def nearest(point, blocks, means, room):  # type: ignore[no-untyped-def]
    """Returns the nearest centre; of equally near ones, the first in order.

    Args:
      point: `[F]` float32.
      blocks: `[K / 16, F, 16]`, from `in_blocks`.
      means: `[K]`, from `in_blocks`.
      room: `[16]` float32, scratch space.
    """
    features, count = blocks.shape[1], len(means)
    mean = np.float32(0.0)
    for feature in range(features):
        mean += point[feature]
    mean /= np.float32(features)
    high = min(int(np.searchsorted(means, mean)), count - 1) // WIDTH
    low = high - 1
    best, best_centre = np.float32(np.inf), 0
    while low >= 0 or high < len(blocks):
        below = features * max(mean - means[(low + 1) * WIDTH - 1], np.float32(0.0)) ** 2 if low >= 0 else np.inf
        above = features * max(means[high * WIDTH] - mean, np.float32(0.0)) ** 2 if high < len(blocks) else np.inf
        if min(below, above) > best + 1e-5:  # a little slack: sums of float32 are not exact
            break
        block = low if below <= above else high
        room[:] = 0.0
        for feature in range(features):
            for lane in range(WIDTH):
                difference = point[feature] - blocks[block, feature, lane]
                room[lane] += difference * difference
        for lane in range(WIDTH):
            centre = block * WIDTH + lane
            if room[lane] < best or (room[lane] == best and centre < best_centre):
                best, best_centre = room[lane], centre
        if block == low:
            low -= 1
        else:
            high += 1
    return min(best_centre, count - 1)


@compiled(nogil=True)
def _find_all(member, members, place, points, centres, found):  # type: ignore[no-untyped-def]
    blocks, means = in_blocks(centres)
    room = np.empty(WIDTH, np.float32)
    for number in range(member * len(points) // members, (member + 1) * len(points) // members):
        found[number] = nearest(points[number], blocks, means, room)


@compiled()
def _add_members(points, nearest_centre, sums):  # type: ignore[no-untyped-def]
    """Adds each point to the sum `[K, F]` of its nearest centre."""
    for number in range(len(points)):
        sums[nearest_centre[number]] += points[number]
