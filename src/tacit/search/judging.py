"""The quality of search as training reports it: by playthroughs, or by a best responder if the game is too large for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacit.search.best_response import LEAST_GAMES, best_response_bound, max_bound_searches
from tacit.search.playthroughs import max_searches, playthrough_quality
from tacit.search.search import BatchSearch


class SearchQuality(NamedTuple):
    """A bound on the exploitability of sampled search.

    Attributes:
      exploitability: The bound.
      kind: `upper bound` where the game was compiled, else `lower bound`.
      playthroughs: The playthroughs whose average policy was judged; for a lower bound, the games in each seat.
      margin: Half the width of the 95 % interval of a lower bound, which is sampled; None for an upper bound.
    """

    exploitability: float
    kind: str
    playthroughs: int
    margin: float | None = None


def judge_search(
    search: BatchSearch, playthroughs: int, seed: int = 0, on_search: Callable[[int], None] = lambda _: None
) -> SearchQuality:
    """Returns a bound on the exploitability of a search.

    Args:
      search: the search.
      playthroughs: the policies that are averaged; more give a tighter bound. A best responder plays at least `LEAST_GAMES`.
      seed: the seed of everything random.
      on_search: called with the number of searches done.
    """
    generator = np.random.default_rng(seed)
    if search.space.compiled:
        quality = playthrough_quality(search, playthroughs, generator, on_search)
        return SearchQuality(quality.exploitability, "upper bound", playthroughs)
    games = max(LEAST_GAMES, playthroughs)
    lower = best_response_bound(search, games, generator, on_search)
    return SearchQuality(lower.exploitability, lower.kind, games, lower.interval[1] - lower.exploitability)


def max_judge_searches(search: BatchSearch, playthroughs: int) -> int:
    """Returns the most searches that `judge_search` can take."""
    if search.space.compiled:
        return max_searches(search.space) * playthroughs
    return max_bound_searches(search.space, max(LEAST_GAMES, playthroughs))
