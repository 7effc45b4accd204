"""`solve`: takes a game, returns an equilibrium; stops at an iteration count, a time or a target exploitability."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from tacit.errors import TacitError
from tacit.evaluation import evaluate, evaluate_exactly, evaluate_weights
from tacit.games import AnyGame, load_game
from tacit.kernels import AnyTreePasses, check_backend, make_passes
from tacit.solvers.driver import DriverOptions
from tacit.solvers.locks import Lock, lock_tree
from tacit.solvers.lp import solve_lp
from tacit.solvers.result import Point, SolveResult
from tacit.solvers.sampling import SAMPLERS, SamplingDriver
from tacit.solvers.schedules import SCHEDULES, AnySchedule, RegretSchedule, find_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.tree.base import Tree
from tacit.tree.compiler import compile_for_solving
from tacit.tree.estimate import Progress

CHECK_GROWTH = 1.2
"""Factor between the iteration counts of successive evaluations of exploitability."""

FULL_BITS = 32
Watch = Callable[[Point, Callable[[], SolveResult]], None]


def solve(
    game: AnyGame | str,
    *,
    solver: str | None = None,
    locks: Iterable[Lock] | None = None,
    iterations: int | None = None,
    target: float | None = None,
    time_limit: float | None = None,
    simultaneous: bool = False,
    backend: str = "numba",
    device: str = "cpu",
    bits: int | None = None,
    seed: int | None = None,
    resume: SolveResult | None = None,
    on_compile: Progress = lambda _: None,
    on_tree: Callable[[Any], object] = lambda _: None,
    on_check: Watch = lambda _point, _result: None,
    should_stop: Callable[[], bool] = lambda: False,
    keep_when_interrupted: bool = False,
    clock: Callable[[], float] = time.perf_counter,
) -> SolveResult:
    """Returns an (approximate) equilibrium of `game`.

    Args:
      game: a game or its name.
      solver: one of `SCHEDULES` or `SAMPLERS`, `lp` for an exact solution, or fictitious play with parameters, like
        `xfp(step=0.1,noise=0.05)`; by default that of `resume`, else `dcfr`.
      locks: strategies to fix at public states; the rest of the game is solved around them. Best responses, and so the
        reported exploitability, may deviate everywhere except there. By default those of `resume`.
      iterations: the total number of iterations, including those of `resume`; each updates both players. 1,000 if there is no
        other limit.
      target: stop once the exploitability is at most this.
      time_limit: stop after so many seconds of this call.
      simultaneous: update both players at once instead of in turn.
      backend: `numba` or `torch`.
      device: the device that torch computes on.
      bits: 16 solves hold'em in half the memory, with regrets and averages rounded; for `cfr`, `cfr+`, `linear-cfr`, `dcfr`.
      seed: the seed of noisy responses and sampled games; nothing else is random. By default that of `resume`, else 0.
      resume: a saved solve of the same game to continue, with its solver, locks and seed, as if it had never stopped.
      on_compile: called with the number of histories walked while the tree is compiled.
      on_tree: called with the tree before the first iteration; an exception from it ends the solve.
      on_check: called at every evaluation with the new point and a function that returns the result so far.
      should_stop: called every few iterations; True ends the solve and returns the result so far.
      keep_when_interrupted: Ctrl-C ends the solve after the current iteration and returns the result so far; a second Ctrl-C
        does not wait.
      clock: returns the time in seconds.

    Raises:
      TacitError: An option does not exist, or the options do not fit together.
    """
    game = load_game(game) if isinstance(game, str) else game
    task = _Task.of(resume, solver, simultaneous, seed, locks)
    _check_limits(task.solver, iterations, target, time_limit)
    sampled = task.solver in SAMPLERS
    schedule = None if task.solver == "lp" or sampled else find_schedule(task.solver, (*SCHEDULES, *SAMPLERS, "lp"))
    _check_bits(bits, task, schedule)
    check_backend(backend, device)
    if sampled and (task.locks or task.simultaneous or backend != "numba"):
        raise TacitError(f"{task.solver} samples games in compiled code: it takes no locks, --simultaneous or other backend")
    iterations = 1_000 if iterations is target is time_limit is None else iterations
    _check_resumable(resume, str(game), task, iterations)
    tree = resume.strategy.tree if resume is not None else compile_for_solving(game, progress=on_compile)
    tree, locked = lock_tree(tree, task.locks)
    on_tree(tree)
    passes = make_passes(locked, backend, device, bits)
    driver: TabularDriver | SamplingDriver
    if sampled:
        driver = SamplingDriver(passes, task.solver, task.seed)
    elif schedule is None:
        return _solve_exactly(tree, passes, task, time_limit, clock)
    else:
        schedule = replace(schedule, alternating=not simultaneous and schedule.alternating)
        driver = TabularDriver(passes, schedule, DriverOptions(seed=task.seed))
    if resume is not None:
        driver.restore(resume.state, resume.iterations)
    curve, spent = ([], 0.0) if resume is None else (list(resume.curve), resume.seconds)
    start = clock()

    def result() -> SolveResult:
        seconds = spent + clock() - start
        return replace(_result_of(driver, tree, task, seconds, curve), interrupted=interrupted.is_set())

    with _held_interrupt(keep_when_interrupted) as interrupted:
        check_at = driver.iteration + 1
        while not interrupted.is_set() and (iterations is None or driver.iteration < iterations):
            wanted = min(check_at, iterations or check_at) - driver.iteration
            driver.run(min(wanted, driver.stride))
            done = driver.iteration == iterations or (time_limit is not None and clock() - start >= time_limit)
            if should_stop():
                interrupted.set()
            if driver.iteration < check_at and not done:
                continue
            exploitability, done = _judge(driver, target, done)
            curve.append(Point(driver.iteration, spent + clock() - start, exploitability))
            on_check(curve[-1], result)
            if done:
                break
            check_at = max(driver.iteration + 1, int(driver.iteration * CHECK_GROWTH))
        return result()


class _Task(NamedTuple):
    """The options that must stay the same when a solve is continued."""

    solver: str
    simultaneous: bool
    seed: int
    locks: tuple[Lock, ...]

    @classmethod
    def of(
        cls, saved: SolveResult | None, solver: str | None, simultaneous: bool, seed: int | None, locks: Iterable[Lock] | None
    ) -> _Task:
        """Returns the requested options, with those of a saved solve as defaults."""
        return cls(
            solver=solver or (saved.solver if saved is not None else "dcfr"),
            simultaneous=simultaneous,
            seed=seed if seed is not None else saved.seed if saved is not None else 0,
            locks=tuple(locks) if locks is not None else saved.locks if saved is not None else (),
        )


def _judge(driver: TabularDriver | SamplingDriver, target: float | None, done: bool) -> tuple[float, bool]:
    """Returns the exploitability of the average strategy, and whether the solve ends; if so, it is computed in float64."""
    passes = driver.passes
    if not done:
        if isinstance(driver, TabularDriver) and driver.lean:
            exploitability = evaluate_weights(passes.exact(), driver.average).exploitability
        else:
            exploitability = evaluate(passes, driver.average_strategy()).exploitability
        if target is None or exploitability > target:
            return exploitability, False
    exploitability = evaluate_exactly(passes, driver.average_strategy()).exploitability
    return exploitability, done or (target is not None and exploitability <= target)


def _result_of(
    driver: TabularDriver | SamplingDriver, tree: Tree, task: _Task, seconds: float, curve: list[Point]
) -> SolveResult:
    """Returns a driver's result so far, as a strategy of the tree without locks."""
    passes, strategy = driver.passes, driver.average_strategy()
    return SolveResult(
        strategy=tree.strategy(strategy),
        solver=task.solver,
        simultaneous=task.simultaneous,
        iterations=driver.iteration,
        quality=evaluate_exactly(passes, strategy),
        seconds=seconds,
        curve=list(curve),
        state=driver.state(),
        backend=passes.backend,
        device=passes.device,
        locks=task.locks,
        seed=task.seed,
    )


def _check_limits(solver: str, iterations: int | None, target: float | None, time_limit: float | None) -> None:
    for name, limit in (("iterations", iterations), ("target", target), ("time limit", time_limit)):
        if limit is not None and not 0 < limit < math.inf:
            raise TacitError(f"the {name} must be positive and finite, not {limit}")
        if limit is not None and solver == "lp" and name != "time limit":
            raise TacitError(f"lp solves a game in one go, exactly: it takes no {name}")


def _check_bits(bits: int | None, task: _Task, schedule: AnySchedule | None) -> None:
    if bits is None or bits >= FULL_BITS:
        return
    if not isinstance(schedule, RegretSchedule) or schedule.step(1).prediction:
        raise TacitError(f"{task.solver} keeps more than regrets and averages: 16 bits are for cfr, cfr+, linear-cfr and dcfr")
    if task.locks:
        raise TacitError("locks need regrets of 32 bits: leave out the 16 bits")


def _check_resumable(saved: SolveResult | None, game: str, task: _Task, iterations: int | None) -> None:
    if saved is None:
        return
    if (saved.game, saved.solver) != (game, task.solver):
        raise TacitError(f"the saved solve is {saved.solver} on {saved.game}: continue it with the same game and solver")
    if saved.simultaneous != task.simultaneous:
        how, flag = ("at once", "with") if saved.simultaneous else ("in turn", "without")
        raise TacitError(f"the saved solve updates the players {how}: continue it {flag} simultaneous updates")
    if task.solver == "lp":
        raise TacitError("the saved solve is exact: there is nothing to continue")
    if saved.seed != task.seed:
        raise TacitError(f"the saved solve has the seed {saved.seed}, not {task.seed}: leave out the seed, or solve anew")
    if saved.locks != task.locks:
        told = "; ".join(map(str, saved.locks)) or "none"
        raise TacitError(f"the saved solve has other locks ({told}): leave them out to continue with those, or solve anew")
    if iterations is not None and iterations <= saved.iterations:
        raise TacitError(f"the saved solve has {saved.iterations:,} iterations already: ask for more than that in all")


@contextmanager
def _held_interrupt(hold: bool) -> Iterator[threading.Event]:
    """Yields a flag that the first Ctrl-C in the `with` block sets, so that no iteration is left half done."""
    asked = threading.Event()
    if not hold or threading.current_thread() is not threading.main_thread():  # only the main thread gets signals
        yield asked
        return

    def note(_number: int, _frame: object) -> None:
        asked.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


def _solve_exactly(
    tree: Tree, passes: AnyTreePasses, task: _Task, time_limit: float | None, clock: Callable[[], float]
) -> SolveResult:
    start = clock()
    strategy, _ = solve_lp(passes.tree, time_limit)
    quality = evaluate(passes, strategy)
    seconds = clock() - start
    curve = [Point(0, seconds, quality.exploitability)]
    return SolveResult(
        tree.strategy(strategy), "lp", False, 0, quality, seconds, curve, {}, "scipy", "cpu", locks=task.locks, seed=task.seed
    )
