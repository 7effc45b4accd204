"""The examples that networks learn from: searches make them, of values at their roots and of policies inside their trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from tacit.search.search import BatchSearch, SearchResult
from tacit.search.walk import reaches_below

STEPS = 255
"""Probabilities are stored as multiples of 1 / 255, in one byte each."""


@dataclass
class ValueExamples:
    """Public belief states and the values that search found for them.

    Attributes:
      public_class: `[B]` their classes.
      beliefs: `[B, 2 * H]` both players' normalised reaches.
      values: `[B, 2 * H]` both players' infostate values, NaN where a private state is impossible.
    """

    public_class: Tensor
    beliefs: Tensor
    values: Tensor


@dataclass
class PolicyExamples:
    """Public belief states and the policies that search found for them.

    Attributes:
      public_class: `[B]` their classes.
      beliefs: `[B, 2 * H]` both players' normalised reaches.
      policy: `[B, H, A]` probabilities of the acting player's actions, quantised.
    """

    public_class: Tensor
    beliefs: Tensor
    policy: Tensor


E = TypeVar("E", ValueExamples, PolicyExamples)


def joined_examples(parts: Sequence[E]) -> E:
    """Returns several sets of examples, all of one kind, as one."""
    columns = zip(*(vars(part).values() for part in parts), strict=True)
    return type(parts[0])(*(torch.cat(column) for column in columns))


def quantise(probabilities: Tensor) -> Tensor:
    """Returns probabilities as bytes."""
    return (probabilities * STEPS).round().to(torch.uint8)


def unquantise(quantised: Tensor) -> Tensor:
    """Returns bytes as probabilities, each off by at most half a step."""
    return quantised.float() / STEPS


def policy_examples(
    search: BatchSearch, result: SearchResult, reaches: Tensor, generator: np.random.Generator
) -> PolicyExamples:
    """Returns one example from each search, in no particular order: the average policy at a random decision of its tree.

    ReBeL keeps all decisions of a tree. Neighbours say nearly the same, and with one per tree, policies take no more room and
    training than values.

    Args:
      search: the search that ran.
      result: its result.
      reaches: `[B, 2, H]` at the roots.
      generator: chooses the decisions.
    """
    batch, device, decisions = result.batch, reaches.device, search.decisions
    policy = result.average_strategy
    below = reaches_below(search, batch, policy, reaches)
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
