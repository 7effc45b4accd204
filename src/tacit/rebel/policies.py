"""Examples for a policy network: what searches found should be played at the public belief states inside them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tacit.rebel.examples import PolicyExamples, quantise
from tacit.search.search import BatchSearch, SearchResult
from tacit.search.walk import reaches_below


def policy_examples(
    search: BatchSearch, result: SearchResult, reaches: Tensor, generator: np.random.Generator
) -> PolicyExamples:
    """Returns one example from each search, in no order: the average policy at a random decision of its tree.

    ReBeL keeps all decisions of a tree; neighbours tell nearly the same, and with one of them policies take no more
    room and training than values.

    Args:
      search: what searched.
      result: what it found.
      reaches: `[B, 2, H]` at the roots.
      generator: chooses the decisions.
    """
    batch, device, decisions = result.batch, reaches.device, search.decisions
    policy = result.average_strategy
    below = reaches_below(search.space, search.kernels, batch, policy, reaches)
    parts: list[tuple[Tensor, Tensor, Tensor]] = []
    for group in batch:
        games = torch.from_numpy(np.flatnonzero(batch.real[group.games])).to(device)
        table = decisions.by_class[group.public_class]
        chosen = torch.from_numpy(generator.integers(0, len(table.level), len(games))).to(device)
        played = batch.view(policy, batch.entry_offset, group)[table.entries[chosen], games[:, None, None]]
        beliefs = table.beliefs(batch.rows(below, group), chosen, games)
        parts.append((table.public_class[chosen], beliefs, quantise(played * table.legal[chosen])))
    classes, beliefs, quantised = (torch.cat(column) for column in zip(*parts, strict=True))
    return PolicyExamples(classes, beliefs, quantised)
