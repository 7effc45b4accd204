"""Queries: what searches ask a value network.

An iteration of a search asks for the values of all leaves, at the beliefs of the current strategies. With a gadget, the
opponent's range at the root also changes from iteration to iteration, and is part of the query.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from tacit.search.search import BatchSearch, SearchResult
from tacit.search.walk import leaf_states, reaches_below


class Queries(NamedTuple):
    """Public belief states.

    Attributes:
      public_class: `[Q]` their classes.
      reaches: `[Q, 2, H]` both players' beliefs, each summing to 1.
    """

    public_class: Tensor
    reaches: Tensor


def joined(parts: list[Queries]) -> Queries:
    """Returns several sets of queries as one."""
    return Queries(torch.cat([part.public_class for part in parts]), torch.cat([part.reaches for part in parts]))


def asked_queries(
    search: BatchSearch, result: SearchResult, per_search: float | np.ndarray, generator: np.random.Generator
) -> Queries:
    """Returns some of the queries of each search's sampled iteration, at leaves chosen uniformly.

    If players alternate within an iteration, the network is asked twice; these are the queries of the first time.

    Args:
      search: the search that ran.
      result: its result.
      per_search: mean number of queries per search that has leaves, or `[B]` for each search; no leaf is taken twice.
      generator: chooses them.
    """
    batch, device = result.batch, result.values.device
    by_place = np.repeat(np.diff(search.space.tables.leaf_start)[batch.group_class], batch.group_size)
    game, leaf = _some_of(by_place[batch.place], per_search, generator)
    leaves, games = torch.from_numpy(leaf).to(device), torch.from_numpy(game).to(device)
    return Queries(*leaf_states(search, batch, result.believed_strategy, result.sampled_reaches, leaves, games))


def inner_queries(search: BatchSearch, result: SearchResult, per_search: float, generator: np.random.Generator) -> Queries:
    """Returns public belief states of each search's sampled iteration, at decisions inside its tree, chosen uniformly.

    A search of fixed depth does not ask for their values; a growing tree asks for them until it opens them.

    Args:
      search: the search that ran.
      result: its result.
      per_search: mean number of states per search; the root is excluded, and no decision is taken twice.
      generator: chooses them.
    """
    batch, parts = result.batch, []
    below = reaches_below(search, batch, result.believed_strategy, result.sampled_reaches)
    for group in batch:
        table, games = search.decisions.by_class[group.public_class], np.flatnonzero(batch.real[group.games])
        which, decision = _some_of(np.full(len(games), len(table.level) - 1), per_search, generator)
        chosen = torch.from_numpy(decision + 1).to(table.level.device)
        beliefs = table.beliefs(batch.rows(below, group), chosen, torch.from_numpy(games[which]).to(chosen.device))
        parts.append(Queries(table.public_class[chosen], beliefs.view(len(beliefs), 2, beliefs.shape[1] // 2)))
    return joined(parts)


def random_situations(
    search: BatchSearch, count: int, generator: np.random.Generator, classes: np.ndarray | None = None
) -> Queries:
    """Returns public states, chosen uniformly by class, with beliefs drawn uniformly from the simplex.

    Args:
      search: the search that will start there.
      count: how many.
      generator: chooses them.
      classes: the classes to choose from; None takes all where a search can start.
    """
    tables, device = search.space.tables, search.kernels.device
    chosen = generator.choice(search.space.start_classes() if classes is None else classes, count)
    counts = np.stack([table.num_roots[chosen] for table in tables.players], axis=1)[:, :, None]
    weights = generator.exponential(size=(count, 2, tables.num_private_states))
    weights *= np.arange(tables.num_private_states) < counts
    beliefs = (weights / weights.sum(2, keepdims=True)).astype(np.float32)
    return Queries(torch.from_numpy(chosen.astype(np.int64)).to(device), torch.from_numpy(beliefs).to(device))


def _some_of(
    counts: np.ndarray, per_search: float | np.ndarray, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Returns `[n]` searches and `[n]` items drawn from their `counts` `[B]`: `per_search` on average, none twice."""
    wanted = np.floor(per_search + generator.random(len(counts)))
    keys = generator.random((len(counts), max(1, int(counts.max()))))
    keys[np.arange(keys.shape[1]) >= counts[:, None]] = 2.0
    rank = keys.argsort(axis=1).argsort(axis=1)
    game, number = np.nonzero((rank < wanted[:, None]) & (keys < 2.0))
    return game, number
