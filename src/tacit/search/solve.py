"""Solving a game by depth-limited search: what `tacit solve --depth D --leaf ...` does.

Search plays the whole game as an agent would. The result is a strategy for the whole game, judged exactly like any other.
Sampled search plays the game many times, and the policies are averaged.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import AnyGame
from tacit.kernels import make_passes
from tacit.kernels.base import DecidingEvaluator, LeafEvaluator
from tacit.leaves.evaluators import OracleLeaves, RandomLeaves, ZeroLeaves
from tacit.search.config import SearchConfig
from tacit.search.playthroughs import playthrough_strategy
from tacit.search.resolving import resolving_strategy
from tacit.search.search import BatchSearch
from tacit.search.solved_leaves import SolvedLeaves
from tacit.solvers.result import Point, SolveResult
from tacit.solvers.safety import RE_SOLVING, SAFETY, SAMPLED
from tacit.tree.compiler import compile_game
from tacit.tree.public_tree import Floats
from tacit.tree.search_space import SearchSpace, search_space

PLAYTHROUGHS = 64
LEAVES: dict[str, Callable[[SearchSpace, int], LeafEvaluator]] = {
    "oracle": lambda space, _: OracleLeaves(space),
    "solved": lambda space, _: SolvedLeaves(space),
    "zero": lambda _space, _: ZeroLeaves(),
    "random": RandomLeaves,
}
"""Leaf evaluators that need no training, made from a game and a seed. They return exact values by linear programs, values by
search to the end of the game (faster), zeros, and the output of an untrained network."""


def usual_safety(evaluator: LeafEvaluator) -> str:
    """Returns the default way to search again below leaves that an evaluator values.

    Sampled search is safe if a leaf is worth what a search there finds. That does not hold if players choose among given
    strategies at leaves: the next search then has to keep what this one promised.
    """
    return RE_SOLVING if isinstance(evaluator, DecidingEvaluator) else SAMPLED


def played_strategy(
    search: BatchSearch,
    safety: str,
    seed: int = 0,
    progress: Callable[[int], None] = lambda _: None,
    playthroughs: int = PLAYTHROUGHS,
) -> Floats:
    """Returns `[E]` the strategy that search plays in the whole game.

    Args:
      search: the search.
      safety: one of `SAFETY`.
      seed: the seed of sampled iterations.
      progress: called with the number of searches done.
      playthroughs: how many policies of sampled search are averaged.

    Raises:
      TacitError: `safety` is unknown.
    """
    if safety not in SAFETY:
        raise TacitError(f"unknown safety {safety!r}: choose one of {', '.join(SAFETY)}")
    if safety == RE_SOLVING:
        return resolving_strategy(search, progress)
    safe = safety == SAMPLED
    return playthrough_strategy(search, playthroughs if safe else 1, np.random.default_rng(seed), progress, safe)


def solve_by_search(
    game: AnyGame,
    config: SearchConfig,
    *,
    leaf: str,
    load_network: Callable[[str, SearchSpace], LeafEvaluator],
    safety: str | None = None,
    device: str = "cpu",
    seed: int = 0,
    progress: Callable[[int], None] = lambda _: None,
    clock: Callable[[], float] = time.perf_counter,
) -> SolveResult:
    """Returns the average policy of search in `game`.

    Args:
      game: any game with public states.
      config: how to search.
      leaf: how leaves are valued: one of `LEAVES`, or the name of a trained network.
      load_network: finds a network by name for a game.
      safety: how to search again below leaves, one of `SAFETY`; None takes `usual_safety`.
      device: `cpu` or `cuda`.
      seed: the seed of the sampled iterations, and of a random network.
      progress: called with the number of searches done.
      clock: returns the time in seconds.
    """
    solver, iterations, depth = config.solver, config.iterations, config.depth
    if solver == "lp":
        raise TacitError("lp solves a game as a whole: choose another --solver for a depth-limited search")
    start = clock()
    tree = compile_game(game)
    space = search_space(tree, depth)
    evaluator = LEAVES[leaf](space, seed) if leaf in LEAVES else load_network(leaf, space)
    search = BatchSearch(space, evaluator, config, device)
    strategy = played_strategy(search, safety or usual_safety(evaluator), seed, progress)
    quality = evaluate(make_passes(tree), strategy)
    seconds = clock() - start
    curve = [Point(iterations, seconds, quality.exploitability)]
    return SolveResult(
        strategy=tree.strategy(strategy),
        solver=solver,
        simultaneous=not config.alternating,
        iterations=iterations,
        quality=quality,
        seconds=seconds,
        curve=curve,
        state={},
        backend="search",
        device=device,
    )
