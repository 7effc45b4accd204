"""Memories of experience, from which an agent learns its best response and its average strategy.

- A *circular buffer* keeps the latest items: the memory for reinforcement learning, and the sliding window that the paper shows
  to fail for supervised learning.
- A *reservoir* (Vitter 1985) keeps a uniform sample of all items ever offered.
- An *exponentially averaged reservoir* (Osborne et al. 2014) keeps new items with at least a given probability.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.compiled import compiled, inner
from tacit.random_numbers import below, uniform

GAME_OVER = -1
"""The next infostate of a transition that ended the game."""
FEW = 20_000
"""At least this many of the latest items are learnt from, however small the share."""


class Transitions(NamedTuple):
    """Both players' transitions, each from its owner's point of view: it ends at the owner's next decision.

    Attributes:
      entry: `[2, C]` the infostate and the action taken there, as an entry of the tree.
      reward: `[2, C]` the owner's reward before its next decision.
      following: `[2, C]` the owner's next infostate, or `GAME_OVER`.
      offered: `[2]` the number of items added so far.
    """

    entry: NDArray[np.int32]
    reward: NDArray[np.float32]
    following: NDArray[np.int32]
    offered: NDArray[np.int64]


class Behaviour(NamedTuple):
    """Both players' best-response behaviour.

    Attributes:
      entry: `[2, C]` the infostate and the action taken there, as an entry of the tree.
      offered: `[2]` the number of items added so far.
    """

    entry: NDArray[np.int32]
    offered: NDArray[np.int64]


def make_transitions(capacity: int) -> Transitions:
    """Returns an empty memory for reinforcement learning."""
    entry, following = (np.zeros((2, capacity), np.int32) for _ in range(2))
    return Transitions(entry, np.zeros((2, capacity), np.float32), following, np.zeros(2, np.int64))


def make_behaviour(capacity: int) -> Behaviour:
    """Returns an empty memory for supervised learning."""
    return Behaviour(np.zeros((2, capacity), np.int32), np.zeros(2, np.int64))


@compiled()
def latest(offered, capacity, share):  # type: ignore[no-untyped-def]
    """Returns how many of a circular buffer's latest items make up a share of all items so far, as far as it keeps them.

    An average over all games so far changes ever more slowly, so ever older items still describe it.
    """
    return min(offered, capacity, max(int(share * offered), FEW))


@inner()
def add_transition(memory, player, entry, reward, following):  # type: ignore[no-untyped-def]
    """Adds a transition over the oldest one."""
    slot = memory.offered[player] % memory.entry.shape[1]
    memory.entry[player, slot], memory.reward[player, slot], memory.following[player, slot] = entry, reward, following
    memory.offered[player] += 1


@compiled()
def add_behaviour(memory, player, entry, window, least_probability, streams, stream):  # type: ignore[no-untyped-def]
    """Adds a player's action: in place of the oldest item with a sliding `window`, else to a reservoir.

    A reservoir keeps a new item with `least_probability` or more: 0 makes it a uniform sample, more forgets old items.
    """
    offered, capacity = memory.offered[player], memory.entry.shape[1]
    memory.offered[player] += 1
    if window or offered < capacity:
        memory.entry[player, offered % capacity] = entry
    elif uniform(streams, stream) < max(capacity / (offered + 1), least_probability):
        memory.entry[player, below(streams, stream, capacity)] = entry
