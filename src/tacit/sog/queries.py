"""The query buffer, its solver, and the sources of queries: self-play, or random situations."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from tacit.learning.examples import PolicyExamples, ValueExamples, policy_examples
from tacit.search.queries import Queries, asked_queries, joined, random_situations
from tacit.search.search import BatchSearch


class Harvest(NamedTuple):
    """What searches yield to learn from.

    Attributes:
      queries: The queries to solve.
      policies: Examples for the policy network, in several sets; empty if there is no such network.
    """

    queries: Queries
    policies: list[PolicyExamples]


class QuerySource(Protocol):
    """A source of queries."""

    def advance(self) -> Harvest:
        """Returns the next queries, and examples for a policy network."""

    def state(self) -> dict[str, Tensor]:
        """Returns everything that `restore` needs."""

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continues from a saved state."""


class RandomSituations:
    """Random situations (DeepStack): beliefs drawn uniformly from the simplex, wherever some search has a leaf.

    Args:
      search: the search whose leaves they are.
      count: situations at a time.
      generator: chooses them.
    """

    def __init__(self, search: BatchSearch, count: int, generator: np.random.Generator) -> None:
        self._search, self._count, self._generator = search, count, generator
        self._classes = np.unique(search.space.tables.leaf_class)

    def advance(self) -> Harvest:
        return Harvest(random_situations(self._search, self._count, self._generator, self._classes), [])

    def state(self) -> dict[str, Tensor]:
        return {}

    def restore(self, state: dict[str, Tensor]) -> None:
        del state


class QueryBuffer:
    """Queries waiting for the solver: first come, first served."""

    def __init__(self, num_private_states: int, device: str) -> None:
        none = torch.zeros(0, dtype=torch.int64, device=device)
        self._waiting = Queries(none, torch.zeros(0, 2, num_private_states, device=device))

    def __len__(self) -> int:
        return len(self._waiting.public_class)

    def add(self, queries: Queries) -> None:
        """Adds queries at the end."""
        self._waiting = joined([self._waiting, queries])

    def take(self, count: int) -> Queries:
        """Returns up to `count` of the queries that have waited longest, and removes them."""
        first, self._waiting = (Queries(*(part[at] for part in self._waiting)) for at in (slice(count), slice(count, None)))
        return first

    def state(self) -> dict[str, Tensor]:
        """Returns everything that `restore` needs."""
        return self._waiting._asdict()

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continues from a saved state."""
        self._waiting = Queries(*(state[name].to(part) for name, part in self._waiting._asdict().items()))


def solve_queries(
    search: BatchSearch, queries: Queries, recursive: float, generator: np.random.Generator, policies: bool = False
) -> tuple[ValueExamples, Harvest]:
    """Returns examples for the value network, new queries, and examples for a policy network.

    Both ranges are given, so nothing constrains the search (no gadget); its root values are what the network should return.

    Args:
      search: how queries are solved.
      queries: what to solve; those whose beliefs exclude each other have no values and are left out.
      recursive: new queries from each search, on average.
      generator: chooses them.
      policies: whether there is a policy network, which learns the policy at a decision of each search.
    """
    classes = queries.public_class.cpu().numpy()
    sample = generator.integers(1, search.config.iterations + 1, len(classes))
    result = search.run(classes, queries.reaches, sample)
    known = ~result.values.isnan().flatten(1).all(1)
    examples = ValueExamples(queries.public_class[known], queries.reaches[known].flatten(1), result.values[known].flatten(1))
    more = asked_queries(search, result, recursive, generator)
    return examples, Harvest(more, [policy_examples(search, result, queries.reaches, generator)] if policies else [])
