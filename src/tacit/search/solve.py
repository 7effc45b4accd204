"""Solving a game by depth-limited search: what `tacit solve --depth D --leaf ...` does.

The whole game is played by search as an agent would play it, again and again, and the policies are averaged: the result is
a strategy for the whole game, judged exactly like any other.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import AnyGame
from tacit.kernels import make_passes
from tacit.kernels.base import LeafEvaluator
from tacit.leaves.evaluators import OracleLeaves, RandomLeaves, ZeroLeaves
from tacit.search.config import SearchConfig
from tacit.search.playthroughs import playthrough_strategy
from tacit.search.search import BatchSearch
from tacit.search.solved_leaves import SolvedLeaves
from tacit.solvers.result import Point, SolveResult
from tacit.tree.compiler import compile_game
from tacit.tree.search_space import SearchSpace, search_space

PLAYTHROUGHS = 64
LEAVES: dict[str, Callable[[SearchSpace, int], LeafEvaluator]] = {
    "oracle": lambda space, _: OracleLeaves(space),
    "solved": lambda space, _: SolvedLeaves(space),
    "zero": lambda _space, _: ZeroLeaves(),
    "random": RandomLeaves,
}
"""What leaves can be worth without training, for a game and a seed: exactly, by linear programs; by search to the end of the
game, which is faster; nothing; and what an untrained network says."""


def solve_by_search(
    game: AnyGame,
    config: SearchConfig,
    *,
    leaf: str,
    load_network: Callable[[str, SearchSpace], LeafEvaluator],
    device: str = "cpu",
    seed: int = 0,
    progress: Callable[[int], None] = lambda _: None,
    clock: Callable[[], float] = time.perf_counter,
) -> SolveResult:
    """Returns the average policy of search in `game`.

    Args:
      game: any game with public states.
      config: how to search.
      leaf: what leaves are worth: one of `LEAVES`, or the name of a trained network.
      load_network: finds a network by name for a game.
      device: `cpu` or `cuda`.
      seed: of the sampled iterations, and of a random network.
      progress: called with the number of searches done.
      clock: the time in seconds.
    """
    solver, iterations, depth = config.solver, config.iterations, config.depth
    if solver == "lp":
        raise TacitError("lp solves a game as a whole: choose another --solver for a depth-limited search")
    start = clock()
    tree = compile_game(game)
    space = search_space(tree, depth)
    evaluator = LEAVES[leaf](space, seed) if leaf in LEAVES else load_network(leaf, space)
    search = BatchSearch(space, evaluator, config, device)
    strategy = playthrough_strategy(search, PLAYTHROUGHS, np.random.default_rng(seed), progress)
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
