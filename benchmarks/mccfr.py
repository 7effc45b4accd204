"""Monte Carlo CFR beside OpenSpiel, iterations a second of processor time: `python benchmarks/mccfr.py [GAME ...]`.

In all programs an iteration updates both players. The programs take turns of one second, three each, and the best counts.
OpenSpiel's own Python and C++ solvers are called as its examples call them.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import pyspiel
from open_spiel.python.algorithms import external_sampling_mccfr, outcome_sampling_mccfr

from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.solvers.sampling import SamplingDriver
from tacit.tree.compiler import compile_game

PEERS: dict[str, tuple[Any, Any]] = {
    "external-mccfr": (pyspiel.ExternalSamplingMCCFRSolver, external_sampling_mccfr.ExternalSamplingSolver),
    "outcome-mccfr": (pyspiel.OutcomeSamplingMCCFRSolver, outcome_sampling_mccfr.OutcomeSamplingSolver),
}
WINDOW, ROUNDS = 1.0, 3


def rate(work: Callable[[], object], iterations: int) -> float:
    """Returns iterations a second of processor time, over a window."""
    began, done = time.process_time(), 0
    while time.process_time() - began < WINDOW:
        work()
        done += iterations
    return done / (time.process_time() - began)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("games", nargs="*", default=["kuhn_poker", "leduc_poker"], help="names that both libraries know")
    for name in parser.parse_args().games:
        passes = make_passes(compile_game(load_game(name)))
        for solver, (compiled, scripted) in PEERS.items():
            driver = SamplingDriver(passes, solver, 0)
            programs = {
                "tacit": (lambda driver=driver: driver.run(1_000), 1_000),
                "C++": (compiled(pyspiel.load_game(name)).run_iteration, 1),
                "Python": (scripted(pyspiel.load_game(name)).iteration, 1),
            }
            programs["tacit"][0]()  # compiles
            best = dict.fromkeys(programs, 0.0)
            for _ in range(ROUNDS):
                for program, work in programs.items():
                    best[program] = max(best[program], rate(*work))
            ours = best["tacit"]
            told = ", ".join(f"OpenSpiel's {peer} {best[peer]:,.0f} ({ours / best[peer]:.1f}x)" for peer in ("C++", "Python"))
            print(f"{name} {solver}: {ours:,.0f} iterations/s; {told}", flush=True)


if __name__ == "__main__":
    main()
