"""Continuations by name: `continuations(by=search,count=8)` (see `leaves/continuations.py` and `leaves/continuation_sets.py`).

`by=search` is the self-generative approach of Brown, Sandholm & Amos: search with the current continuations plays the whole
game, and a best response to its play becomes the next one. Where we differ: each step adds one for both players, the response
answers all searches of a game, not only the one at its start, and a little of the blueprint is mixed in, so that the response
also holds at public states that search avoids.
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
"""Continuations of each player, unless the user or the game's kinds of actions set another number."""
_BLUEPRINT_SHARE = 0.01
"""The weight of the blueprint that is mixed into search's play before a best response is computed."""
_SEARCH = ("dcfr", 64)
"""The solver and iterations of the searches that best responses answer."""


@dataclass(frozen=True)
class ContinuationConfig:
    """Which continuations there are, and who chooses.

    Attributes:
      by: Where they come from: `bias`, `responses` or `search`.
      count: How many each player has. None takes 8, or with `bias` the blueprint and one for each kind of action.
      blueprint: A file of `tacit solve --save`, or any other agent that plays from a table. None solves a blueprint.
      iterations: Iterations of DCFR used to solve a blueprint; 0 takes uniform play.
      factor: With `bias`, how many times likelier the actions of the favoured kind become.
      chooser: `both` players, or the one who chooses while the other follows the blueprint.
    """

    by: str = BIAS
    count: int | None = None
    blueprint: str | None = None
    iterations: int = 20
    factor: float = 10.0
    chooser: str = BOTH

    def __post_init__(self) -> None:
        if self.by not in WAYS:
            raise TacitError(f"unknown kind of continuations {self.by!r}: choose one of {', '.join(WAYS)}")
        if self.count is not None and self.count < 1:
            raise TacitError(f"each player needs at least 1 continuation, not {self.count}")
        if self.iterations < 0:
            raise TacitError(f"a blueprint cannot be solved in {self.iterations} iterations: 0 takes uniform play")
        if not 0.0 < self.factor < math.inf:
            raise TacitError(f"the factor of biased continuations must be a positive number, not {self.factor:g}")
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
      space: the game; it must be compiled, except for uniform play and its biased versions.
      config: which continuations to make.
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
    """Returns `[E]` the average strategy of DCFR; uniform play after 0 iterations."""
    driver = TabularDriver(make_passes(tree), plain_schedule("dcfr"))
    driver.run(iterations)
    return driver.average_strategy()


def answers_to_search(
    space: SearchSpace, blueprint: Floats, count: int, progress: Callable[[int], None] = lambda _: None
) -> list[Floats]:
    """Returns `count` strategies `[E]`: the blueprint, then best responses to search with all earlier ones."""
    strategies, tree, (solver, iterations) = [blueprint], space.tree, _SEARCH
    while len(strategies) < count:
        leaves = ContinuationLeaves(space, play_of(space, strategies))
        search = BatchSearch(space, leaves, SearchConfig(solver, iterations, space.depth))
        played = playthrough_strategy(search, 1, np.random.default_rng(0), progress, safe=False)  # draws nothing
        plans = realisation_plan(tree, played) + _BLUEPRINT_SHARE * realisation_plan(tree, blueprint)
        strategies.append(answer_to(tree, plans))
    return strategies
