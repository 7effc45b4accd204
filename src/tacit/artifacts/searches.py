"""`tacit.solve_by_search`: a game played by depth-limited search, with any leaf evaluator."""

from __future__ import annotations

from collections.abc import Callable

from tacit.artifacts import open
from tacit.artifacts.base import Monitor
from tacit.artifacts.continuations import CONTINUATIONS
from tacit.errors import TacitError
from tacit.games import AnyGame, load_game
from tacit.kernels.base import LeafEvaluator
from tacit.leaves.checked import CheckedLeaves
from tacit.search.config import CFR_D, SearchConfig
from tacit.search.solve import LEAVES
from tacit.search.solve import solve_by_search as average_policy
from tacit.solvers import SolveResult
from tacit.solvers.safety import SAFETY
from tacit.tree.search_space import SearchSpace
from tacit.tree.subgame import Depth


def solve_by_search(
    game: AnyGame | str,
    *,
    depth: Depth,
    leaf: str | Callable[[SearchSpace], LeafEvaluator] = "oracle",
    solver: str = "dcfr",
    iterations: int = 64,
    decomposition: str = CFR_D,
    recycle: int = 1,
    safety: str | None = None,
    simultaneous: bool = False,
    device: str = "cpu",
    seed: int = 0,
    monitor: Monitor | None = None,
) -> SolveResult:
    """Returns the average policy of depth-limited search in a whole game, judged exactly.

    Args:
      game: the game, or its name.
      depth: actions to look ahead, or `round` for the rest of the betting round.
      leaf: how leaves are valued: `oracle`, `solved`, `zero`, `random`, `continuations`, a trained network, `FILE.py:CLASS`, or
        a function that makes an evaluator for a search space, such as its class.
      solver: the search algorithm.
      iterations: search iterations at every public state; each updates both players.
      decomposition: the beliefs at which leaves are valued: `cfr-d`, `cfr-ave` or `modified-cfr-ave`.
      recycle: iterations that reuse the same leaf values.
      safety: how to search again below an earlier search: `sampled`, `re-solving` or `unsafe`; None takes `sampled`, or
        `re-solving` if players decide at leaves (`continuations`).
      simultaneous: whether both players are updated at once instead of alternately.
      device: `cpu` or `cuda`.
      seed: seed of the sampled iterations.
      monitor: receives the progress.

    Raises:
      TacitError: the game has no public states or does not fit into memory, or there is no such solver or leaf.
    """
    rules, monitor = load_game(game) if isinstance(game, str) else game, monitor or Monitor()
    config = SearchConfig(solver, iterations, depth, decomposition, not simultaneous, recycle)
    if isinstance(leaf, str) and leaf not in LEAVES:
        try:
            open(leaf, rules)  # refused before the game is compiled
        except TacitError as error:
            if leaf.startswith(CONTINUATIONS):
                raise
            known = ", ".join([*LEAVES, CONTINUATIONS])
            raise TacitError(f"no leaf {leaf!r}: choose one of {known}, or a network ({error})") from None
    if safety is not None and safety not in SAFETY:
        raise TacitError(f"unknown safety {safety!r}: choose one of {', '.join(SAFETY)}")

    def made(name: str, space: SearchSpace) -> LeafEvaluator:
        return open(name, rules).leaf(space, device) if isinstance(leaf, str) else CheckedLeaves(leaf(space), name)

    task = f"{solver} on {rules}"
    monitor.step(task, 0, note="compiling the game")
    return average_policy(
        rules,
        config,
        leaf=leaf if isinstance(leaf, str) else getattr(leaf, "__name__", type(leaf).__name__),
        load_network=made,
        safety=safety,
        device=device,
        seed=seed,
        progress=lambda done: monitor.step(task, done, unit="searches"),
    )
