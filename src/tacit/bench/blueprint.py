"""`tacit bench blueprint`: iterations of external-sampling MCCFR on hold'em, beside OpenSpiel's in C++.

In both programs, an iteration deals cards and updates both players. The betting tree is the same, decision for decision: limit
hold'em, and no-limit hold'em with stacks of 200 big blinds where a player may fold, call, bet the pot or go all-in (OpenSpiel's
`fcpa`). What differs: OpenSpiel has no card abstraction, so it keeps a table entry for every hand on every board; ours looks
up the bucket of a hand. OpenSpiel samples chance separately for each player; ours shares a deal between both traversals.

Programs take turns, and the best window of each counts. Processor time compares one thread with one thread, and a busy machine
matters less. Clock time also shows what all cores do, which OpenSpiel does not use.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from tacit.blueprint.config import BlueprintConfig
from tacit.blueprint.train import BlueprintTrainer
from tacit.games import load_game

CASES = {
    "limit": "limit_holdem",
    "no-limit": "no_limit_holdem(bets=1|allin,raises=1|allin)",
}
"""Our names of the games, by case."""
_UNIVERSAL = (
    "universal_poker(betting={betting},numPlayers=2,numRounds=4,blind={blinds},firstPlayer=2 1 1 1,numSuits=4,numRanks=13,"
    "numHoleCards=2,numBoardCards=0 3 1 1,{more})"
)
OPENSPIEL = {
    "limit": _UNIVERSAL.format(betting="limit", blinds="10 5", more="raiseSize=10 10 20 20,maxRaises=3 4 4 4"),
    "no-limit": _UNIVERSAL.format(betting="nolimit", blinds="100 50", more="stack=20000 20000,bettingAbstraction=fcpa"),
}
"""OpenSpiel's names of the same games, by case."""
SETTINGS = {"bets": "1|allin", "raises": "1|allin", "max_raises": 99}
CALL_ITERATIONS = 100_000
ROUNDS = 3


@dataclass(frozen=True)
class Rate:
    """Iterations per second.

    Attributes:
      clock: Iterations per second of clock time.
      processor: Iterations per second of processor time, summed over all threads.
    """

    clock: float
    processor: float


@dataclass(frozen=True)
class MccfrSpeed:
    """The speed of MCCFR in a case.

    Attributes:
      case: `limit` or `no-limit`.
      decisions: The number of decision nodes of the betting tree.
      threads: The number of threads of `all_threads`.
      one_thread: Our rate on one thread.
      all_threads: Our rate on all threads.
      openspiel: OpenSpiel's rate on its one thread; None if it was not measured.
    """

    case: str
    decisions: int
    threads: int
    one_thread: Rate
    all_threads: Rate
    openspiel: Rate | None

    def ratios(self) -> dict[str, float | None]:
        """Returns how many times as fast ours is: one thread each by processor and clock time, and on all threads."""
        peer = self.openspiel
        return {
            "processor": None if peer is None else self.one_thread.processor / peer.processor,
            "clock": None if peer is None else self.one_thread.clock / peer.clock,
            "all_threads": None if peer is None else self.all_threads.clock / peer.clock,
        }


def measure(case: str, window: float, seed: int, peer: bool) -> MccfrSpeed:
    """Returns the speeds of a case.

    Args:
      case: a key of `CASES`.
      window: seconds of each measurement; every program gets three.
      seed: seed for everything random.
      peer: whether OpenSpiel is measured.
    """
    config = BlueprintConfig(seed=seed, epoch_iterations=CALL_ITERATIONS, **SETTINGS)  # type: ignore[arg-type]
    trainer = BlueprintTrainer(load_game(CASES[case]), config)

    def run(threads: int) -> int:
        trainer.threads = threads
        trainer.run_epoch()
        return CALL_ITERATIONS

    threads, rates = trainer.threads, dict[str, Rate]()
    programs: dict[str, Callable[[], int]] = {"one": lambda: run(1), "all": lambda: run(threads)}
    if peer:
        programs["openspiel"] = _openspiel(case)
    for work in programs.values():
        work()  # compiles, and warms the caches
    for _ in range(ROUNDS):
        for name, work in programs.items():
            rate, best = _window(work, window), rates.get(name, Rate(0.0, 0.0))
            rates[name] = Rate(max(rate.clock, best.clock), max(rate.processor, best.processor))
    return MccfrSpeed(case, trainer.tree.num_decisions, threads, rates["one"], rates["all"], rates.get("openspiel"))


def _window(work: Callable[[], int], window: float) -> Rate:
    """Returns the rate of `work`, whose calls return the iterations they ran, over a window of about `window` seconds."""
    clock, processor, done = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - clock < window:
        done += work()
    return Rate(done / (time.perf_counter() - clock), done / (time.process_time() - processor))


def missing_peer() -> str | None:
    """Returns why OpenSpiel cannot be imported, None if it can."""
    try:
        import pyspiel  # noqa: F401
    except ImportError as error:
        return str(error)
    return None


def _openspiel(case: str) -> Callable[[], int]:
    """Returns a function that runs one iteration of OpenSpiel's solver and returns 1."""
    import pyspiel

    solver = pyspiel.ExternalSamplingMCCFRSolver(pyspiel.load_game(OPENSPIEL[case]))

    def run() -> int:
        solver.run_iteration()
        return 1

    return run
