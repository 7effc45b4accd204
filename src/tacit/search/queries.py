"""Queries: what searches ask a value network.

An iteration of a search asks for the values of all leaves, at the beliefs of the present strategies. With a gadget the
opponent's range at the root changes from iteration to iteration as well, and is part of the question.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from tacit.search.search import BatchSearch, SearchResult
from tacit.search.walk import leaf_states


class Queries(NamedTuple):
    """Public belief states.

    Attributes:
      public_class: `[Q]` their classes.
      reaches: `[Q, 2, H]` both players' beliefs, each summing to 1.
    """

    public_class: Tensor
    reaches: Tensor


def joined(parts: list[Queries]) -> Queries:
    """Returns several lots of queries as one."""
    return Queries(torch.cat([part.public_class for part in parts]), torch.cat([part.reaches for part in parts]))


def asked_queries(search: BatchSearch, result: SearchResult, per_search: float, generator: np.random.Generator) -> Queries:
    """Returns some of the queries of each search's sampled iteration, at leaves chosen uniformly.

    Where players take turns within an iteration the network is asked twice; these are the queries of the first time.

    Args:
      search: what searched.
      result: what it found.
      per_search: queries of a search that has leaves, on average; no leaf is taken twice.
      generator: chooses them.
    """
    batch, device = result.batch, result.values.device
    starts = search.space.tables.leaf_start
    by_place = np.repeat(np.diff(starts)[batch.group_class], batch.group_size)
    num_leaves = by_place[batch.place]  # [B]
    wanted = np.floor(per_search + generator.random(len(num_leaves)))
    keys = generator.random((len(num_leaves), max(1, int(num_leaves.max()))))
    keys[np.arange(keys.shape[1]) >= num_leaves[:, None]] = 2.0
    rank = keys.argsort(axis=1).argsort(axis=1)
    game, leaf = np.nonzero((rank < wanted[:, None]) & (keys < 2.0))
    leaves, games = torch.from_numpy(leaf).to(device), torch.from_numpy(game).to(device)
    return Queries(*leaf_states(search, batch, result.believed_strategy, result.sampled_reaches, leaves, games))
