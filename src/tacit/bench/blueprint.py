"""`tacit bench blueprint`: iterations of external-sampling MCCFR on hold'em, beside OpenSpiel's in C++.

An iteration deals cards and updates both players, in both programs. The betting is the same tree, decision for decision: limit
hold'em, and no-limit hold'em with stacks of 200 big blinds where one may fold, call, bet the pot or everything (OpenSpiel's
`fcpa`). What differs: OpenSpiel has no card abstraction, so it keeps a table entry for every hand on every board; ours looks
up the bucket of a hand. OpenSpiel draws chance anew for each player, ours shares a deal between both traversals.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from tacit.bench.timing import best_seconds
from tacit.blueprint.config import BlueprintConfig
from tacit.blueprint.train import BlueprintTrainer
from tacit.games import load_game

CASES = {
    "limit": "limit_holdem",
    "no-limit": "no_limit_holdem(bets=1|allin,raises=1|allin)",
}
"""Our names of the games by case."""
_UNIVERSAL = (
    "universal_poker(betting={betting},numPlayers=2,numRounds=4,blind={blinds},firstPlayer=2 1 1 1,numSuits=4,numRanks=13,"
    "numHoleCards=2,numBoardCards=0 3 1 1,{more})"
)
OPENSPIEL = {
    "limit": _UNIVERSAL.format(betting="limit", blinds="10 5", more="raiseSize=10 10 20 20,maxRaises=3 4 4 4"),
    "no-limit": _UNIVERSAL.format(betting="nolimit", blinds="100 50", more="stack=20000 20000,bettingAbstraction=fcpa"),
}
"""OpenSpiel's names of the same games."""
SETTINGS = {"bets": "1|allin", "raises": "1|allin", "max_raises": 99}
CALL_ITERATIONS = 20_000


@dataclass(frozen=True)
class Speed:
    """What MCCFR does in a second.

    Attributes:
      case: `limit` or `no-limit`.
      decisions: nodes of the betting tree where somebody acts.
      one_thread: iterations a second on one thread.
      all_threads: iterations a second on all threads, of which there are
      threads: so many.
      openspiel: iterations a second of OpenSpiel, which uses one thread; None where it was not measured.
    """

    case: str
    decisions: int
    one_thread: float
    all_threads: float
    threads: int
    openspiel: float | None

    @property
    def ratio(self) -> float | None:
        """How many times as fast ours is, on one thread each."""
        return None if self.openspiel is None else self.one_thread / self.openspiel


def measure(case: str, window: float, seed: int, peer: bool) -> Speed:
    """Returns the speeds of a case.

    Args:
      case: of `CASES`.
      window: seconds of a measurement; of ours the best of three counts.
      seed: of everything random.
      peer: whether OpenSpiel is measured.
    """
    config = BlueprintConfig(seed=seed, epoch_iterations=CALL_ITERATIONS, **SETTINGS)  # type: ignore[arg-type]
    trainer = BlueprintTrainer(load_game(CASES[case]), config)
    threads, speeds = trainer.threads, []
    for count in (1, threads):
        trainer.threads = count
        speeds.append(CALL_ITERATIONS / best_seconds(trainer.run_epoch, window))
    return Speed(case, trainer.tree.num_decisions, speeds[0], speeds[1], threads, _openspiel(case, window) if peer else None)


def missing_peer() -> str | None:
    """Returns what to install for OpenSpiel, None where it can be imported."""
    try:
        import pyspiel  # noqa: F401
    except ImportError as error:
        return str(error)
    return None


def _openspiel(case: str, window: float) -> float:
    import pyspiel

    solver = pyspiel.ExternalSamplingMCCFRSolver(pyspiel.load_game(OPENSPIEL[case]))
    solver.run_iteration()
    done, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < 3 * window:
        solver.run_iteration()
        done += 1
    return done / (time.perf_counter() - begun)
