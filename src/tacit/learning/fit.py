"""Sizes that suit a game: where searches are large, epochs are short, so that something is seen of a run within seconds.

Work is counted, never timed, so a game gets the same sizes on every machine. One unit is what a search does with one row, entry
or meeting of its tree in an iteration; two cores do one to two billion of them in a second.
"""

from __future__ import annotations

from tacit.learning.settings import NetworkSettings
from tacit.search.search import BatchSearch

NETWORK_SHARE = 8
"""Multiply-adds of a network that take as long as a unit of work."""
EPOCH_WORK = 1e10
"""The most work of an epoch on its searches: some seconds on two cores."""
LEAST_EXAMPLES = 32
"""Fewer examples than this are no epoch, however large searches are."""


def search_work(config: NetworkSettings, search: BatchSearch, leaves: float, rows: float) -> float:
    """Returns the work of a search over all its iterations.

    Args:
      config: the settings of searches and of the network.
      search: how subgames are searched.
      leaves: how many leaves an average search has.
      rows: how many rows, entries and meetings of rows its tree has.
    """
    inputs = outputs = 2 * search.space.tables.num_private_states
    network = config.hidden * (inputs + (config.layers - 1) * config.hidden + outputs)
    return config.iterations * (rows + leaves * network / NETWORK_SHARE)


def fit_epochs(size: int, epochs: int, most: int, total: int, work: float) -> tuple[int, int]:
    """Returns how many searches an epoch learns from, and the number of epochs of a run.

    Args:
      size: the searches of an epoch, 0 to fit them: `most`, or fewer where an epoch would take more than `EPOCH_WORK`.
      epochs: the length of the run, 0 to fit it: as many epochs as make `total` searches.
      most: the searches of an epoch in a small game.
      total: the searches of a run in any game.
      work: of an average search.
    """
    size = size or fit_count(most, work, EPOCH_WORK, LEAST_EXAMPLES)
    return size, epochs or max(1, total // size)


def fit_count(most: int, work: float, budget: float, least: int) -> int:
    """Returns a number of searches: `most`, halved until all of them are within a budget of work or there are only `least`."""
    count = most
    while count > least and count * work > budget:
        count //= 2
    return count
