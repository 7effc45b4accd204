"""The sizes of a run of Student of Games or DeepStack that suit its game: the values of settings that are left open.

| setting | small games | if a cycle would take more than `EPOCH_WORK` |
|---|---|---|
| `cycle_queries` | 4,096 | halved until it does not, at least 32 |
| `games` | 512 | no more than one cycle's queries come from, so that none are thrown away |
| `epochs` | 24 | more of them: a run solves 98,304 queries in any game |
| `evaluate_every` | 4 | more cycles if an evaluation takes more searches than they have queries |

Kuhn, both Leduc games and Liar's Dice to four faces are small in this sense.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.games.base import TERMINAL
from tacit.learning.fit import fit_epochs, search_work
from tacit.search.search import BatchSearch
from tacit.search.workload import leaf_sizes
from tacit.sog.config import QueryConfig, SogConfig
from tacit.tree.search_space import SearchSpace

GAMES, CYCLE_QUERIES, RUN_QUERIES, EVALUATE_EVERY = 512, 4_096, 98_304, 4
GROUP_WORK = 3e4
"""A batch's work on each of its classes of public states, twice per iteration: leaves are weighted class by class."""


def fit_sizes(config: QueryConfig, search: BatchSearch) -> QueryConfig:
    """Returns the configuration with numbers for the settings that are left to the game."""
    left_open = config.left_open()
    if not left_open:
        return config
    num_classes = len(np.unique(search.space.tables.leaf_class))
    group_work = 2 * config.iterations * GROUP_WORK * min(1.0, num_classes / GAMES)
    work = search_work(config, search, *leaf_sizes(search)) + group_work
    queries, epochs = fit_epochs(config.cycle_queries, config.epochs, CYCLE_QUERIES, RUN_QUERIES, work)
    each = config.queries_per_search if isinstance(config, SogConfig) else 1.0
    evaluate_every = config.evaluate_every
    if "evaluate_every" in left_open:
        evaluate_every = max(EVALUATE_EVERY, -(-_num_decisions(search.space) // queries))
    return replace(
        config,
        cycle_queries=queries,
        games=config.games or max(1, min(GAMES, int(queries / max(1.0, each)))),
        epochs=epochs,
        evaluate_every=evaluate_every,
    )


def _num_decisions(space: SearchSpace) -> int:
    """Returns how many searches an evaluation takes: one at every decision of a compiled game, none in others."""
    return int((space.tree.require_nodes().actor != TERMINAL).sum()) if space.compiled else 0
