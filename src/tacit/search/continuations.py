"""Continuations by name: `continuations(by=search,count=8)` (see `leaves/continuations.py` and `leaves/continuation_sets.py`).

`by=search` is the self-generative approach of Brown, Sandholm & Amos: search with the present continuations plays the whole
game, and a best response to what it plays is the next one. Where we differ: both players get one each time, the response
answers all searches of a game and not the one at its start alone, and a little of the blueprint is mixed in, so that it is a
response at public states that search avoids, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tacit.errors import TacitError
from tacit.kernels import make_passes
from tacit.leaves.continuation_sets import answer_to, biased_play, play_of, realisation_plan, responses, uniform_play
from tacit.leaves.continuations import ContinuationLeaves, Play
from tacit.search.config import SearchConfig
from tacit.search.playthroughs import playthrough_strategy
from tacit.search.search import BatchSearch
from tacit.solvers.schedules import plain_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.tree.public_tree import Floats, PublicTree
from tacit.tree.search_space import SearchSpace

BIAS, RESPONSES, SEARCH = "bias", "responses", "search"
WAYS = (BIAS, RESPONSES, SEARCH)
BOTH = "both"
CHOOSERS = (BOTH, "0", "1")
COUNT = 8
"""Continuations of each player, unless the user or the game's kinds of actions say otherwise."""
_BLUEPRINT_SHARE = 0.01
"""How much of the blueprint is mixed into what a response to search answers."""
_SEARCH = ("dcfr", 64)
"""The solver and the iterations of searches that are answered."""


@dataclass(frozen=True)
class ContinuationConfig:
    """Which continuations there are, and who chooses.

    Attributes:
      by: Where they come from: `bias`, `responses` or `search`.
      count: How many each player has. None takes 8, with `bias` one for each kind of action beside the blueprint.
      blueprint: A file of `tacit solve --save`, or anything else that plays by a table. None solves a blueprint.
      iterations: Iterations of DCFR by which a blueprint is solved; 0 takes uniform play.
      factor: How many times as likely the actions of a favoured kind are, with `bias`.
      chooser: `both` players, or the one who chooses while the other goes on by the blueprint.
    """

    by: str = BIAS
    count: int | None = None
    blueprint: str | None = None
    iterations: int = 20
    factor: float = 10.0
    chooser: str = BOTH

    def __post_init__(self) -> None:
        if self.by not in WAYS:
            raise TacitError(f"unknown way to continuations {self.by!r}: choose one of {', '.join(WAYS)}")
        if self.count is not None and self.count < 1:
            raise TacitError(f"players have at least 1 continuation, not {self.count}")
        if self.iterations < 0:
            raise TacitError(f"a blueprint cannot be solved by {self.iterations} iterations: 0 takes uniform play")
        if not 0.0 < self.factor < math.inf:
            raise TacitError(f"the factor of biased continuations is a positive number, not {self.factor:g}")
        if self.chooser not in CHOOSERS:
            raise TacitError(f"unknown chooser {self.chooser!r}: choose one of {', '.join(CHOOSERS)}")


def continuation_play(
    space: SearchSpace,
    config: ContinuationConfig,
    blueprint: Floats | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Play:
    """Returns the continuations of both players.

    Args:
      space: the game; only uniform play and its biased versions do without a compiled one.
      config: which.
      blueprint: `[E]` the strategy that `config.blueprint` names.
      progress: called with the number of searches done, with `by=search`.
    """
    if config.by == BIAS and blueprint is None and config.iterations == 0:
        play = uniform_play(space)
    else:
        strategies = [_solved(space.tree, config.iterations) if blueprint is None else blueprint]
        if config.by == RESPONSES:
            strategies = responses(space.tree, strategies[0], config.count or COUNT)
        elif config.by == SEARCH:
            strategies = answers_to_search(space, strategies[0], config.count or COUNT, progress)
        play = play_of(space, strategies)
    if config.by == BIAS:
        play = biased_play(space, play, config.factor)
    counts = [config.count or max(play.counts) if config.chooser in (BOTH, str(player)) else 1 for player in (0, 1)]
    return play.first((counts[0], counts[1]))


def _solved(tree: PublicTree, iterations: int) -> Floats:
    """Returns `[E]` what some iterations of DCFR find; uniform play after none."""
    driver = TabularDriver(make_passes(tree), plain_schedule("dcfr"))
    driver.run(iterations)
    return driver.average_strategy()


def answers_to_search(
    space: SearchSpace, blueprint: Floats, count: int, progress: Callable[[int], None] = lambda _: None
) -> list[Floats]:
    """Returns `count` strategies `[E]`: a blueprint, and best responses to search with all that come before."""
    found, tree, (solver, iterations) = [blueprint], space.tree, _SEARCH
    while len(found) < count:
        leaves = ContinuationLeaves(space, play_of(space, found))
        search = BatchSearch(space, leaves, SearchConfig(solver, iterations, space.depth))
        played = playthrough_strategy(search, 1, np.random.default_rng(0), progress, safe=False)  # draws nothing
        plans = realisation_plan(tree, played) + _BLUEPRINT_SHARE * realisation_plan(tree, blueprint)
        found.append(answer_to(tree, plans))
    return found
