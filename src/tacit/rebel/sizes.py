"""The sizes of a ReBeL run that suit its game: what settings of 0 stand for.

| setting | small games | if an epoch would take more than `EPOCH_WORK` |
|---|---|---|
| `epoch_examples` | 4,096 | halved until it does not, at least 32 |
| `games` | 512 | no more than the examples of an epoch |
| `epochs` | 100 | more of them: a run makes 409,600 examples in any game |
| `playthroughs` | 64 | halved while an evaluation would take more than `EVALUATION_WORK`, at least 4 |

Liar's Dice to six faces, Kuhn and both Leduc games are small in this sense.
"""

from __future__ import annotations

from dataclasses import replace

from tacit.learning.fit import fit_count, fit_epochs, search_work
from tacit.rebel.config import RebelConfig
from tacit.search.playthroughs import max_searches
from tacit.search.search import BatchSearch
from tacit.search.workload import mean_sizes

GAMES, EPOCH_EXAMPLES, RUN_EXAMPLES, PLAYTHROUGHS = 512, 4_096, 409_600, 64
EVALUATION_WORK = 2.5e11
"""The most work of an evaluation during the run, if it searched every public state of every playthrough."""
LEAST_PLAYTHROUGHS = 4


def fit_sizes(config: RebelConfig, search: BatchSearch) -> RebelConfig:
    """Returns the configuration with the zeros that mean "fit to the game" replaced by numbers."""
    if not config.left_open():
        return config
    work = search_work(config, search, *mean_sizes(search))
    examples, epochs = fit_epochs(config.epoch_examples, config.epochs, EPOCH_EXAMPLES, RUN_EXAMPLES, work)
    playthroughs = config.playthroughs or PLAYTHROUGHS
    if not config.playthroughs and search.space.compiled:
        each = work * max_searches(search.space)
        playthroughs = fit_count(PLAYTHROUGHS, each, EVALUATION_WORK, LEAST_PLAYTHROUGHS)
    return replace(
        config,
        games=config.games or min(GAMES, examples),
        epoch_examples=examples,
        epochs=epochs,
        playthroughs=playthroughs,
    )
