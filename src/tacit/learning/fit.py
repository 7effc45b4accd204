"""Sizes that suit a game: where searches are large, epochs are short, so that something is seen of a run within seconds.

Work is counted, never timed, so a game gets the same sizes on every machine. One unit is what a search does with one row, entry
or meeting of its tree in an iteration; two cores do one to two billion of them in a second.
"""

from __future__ import annotations

from tacit.learning.settings import NetworkSettings
from tacit.search.search import BatchSearch
from tacit.search.workload import mean_sizes

NETWORK_SHARE = 8
"""Multiply-adds of a network that take as long as a unit of work."""
EPOCH_WORK = 1e10
"""The most work of an epoch on its searches: some seconds on two cores."""
LEAST_EXAMPLES = 32
"""Fewer examples than this are no epoch, however large searches are."""


def search_work(search: BatchSearch, config: NetworkSettings) -> float:
    """Returns the work of an average search of self-play, over all its iterations."""
    leaves, rows = mean_sizes(search)
    inputs = outputs = 2 * search.space.tables.num_private_states
    network = config.hidden * (inputs + (config.layers - 1) * config.hidden + outputs)
    return config.iterations * (rows + leaves * network / NETWORK_SHARE)


def fit_count(most: int, work: float, budget: float, least: int) -> int:
    """Returns a number of searches: `most`, halved until all of them are within a budget of work or there are only `least`."""
    count = most
    while count > least and count * work > budget:
        count //= 2
    return count
