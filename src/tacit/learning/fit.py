"""Sizes that suit a game: if searches are large, epochs are short, so that a run shows something within seconds.

Work is counted, never timed, so a game gets the same sizes on every machine. One unit is a search's work on one row, entry or
meeting of its tree in one iteration; two cores do one to two billion units per second.
"""

from __future__ import annotations

from tacit.learning.settings import NetworkSettings
from tacit.search.search import BatchSearch

NETWORK_SHARE = 8
"""Multiply-adds of a network that take as long as one unit of work."""
EPOCH_WORK = 1e10
"""The most work that the searches of an epoch take: a few seconds on two cores."""
LEAST_EXAMPLES = 32
"""The fewest examples in an epoch, however large searches are."""


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
      size: the searches of an epoch, 0 to fit them: `most`, or fewer if an epoch would take more than `EPOCH_WORK`.
      epochs: the length of the run, 0 to fit it: as many epochs as make `total` searches.
      most: the searches of an epoch in a small game.
      total: the searches of a run in any game.
      work: the work of an average search.
    """
    size = size or fit_count(most, work, EPOCH_WORK, LEAST_EXAMPLES)
    return size, epochs or max(1, total // size)


def fit_count(most: int, work: float, budget: float, least: int) -> int:
    """Returns a number of searches: `most`, halved until their work is within `budget` or at most `least` are left."""
    count = most
    while count > least and count * work > budget:
        count //= 2
    return count
