"""Milliseconds an iteration and megabytes of hold'em endgames, one thread: `python benchmarks/holdem.py`."""

import time

import numpy as np

from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.solvers.learner import make_learner
from tacit.solvers.schedules import find_schedule
from tacit.tree.compiler import compile_for_solving

RIVER = "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=10000,bets=0.5|1|allin,raises=1)"
TURN = "no_limit_holdem(board=3s7hTdKs,pot=2000,stack=10000,bets=1|allin,raises=1|allin)"
ENDGAMES = {
    "river, full ranges, 0.5/1/all-in, raise 1": (RIVER, 400),
    "turn, full ranges, 1/all-in, 4.5 pots behind": (TURN, 40),
    "turn endgame hold'em of ReBeL": ("turn_endgame_holdem", 12),
}

for name, (game, rounds) in ENDGAMES.items():
    tree = compile_for_solving(load_game(game))
    passes = make_passes(tree)
    learner = make_learner(passes, find_schedule("dcfr"))
    learner.step()
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        learner.step()
        seconds.append(time.perf_counter() - start)
    arrays = {id(a): a for a in (*learner._strategies, learner._average, learner._regret, *learner._reaches)}
    megabytes = sum(array.nbytes for array in arrays.values()) / 1e6
    print(
        f"{name}: {1e3 * min(seconds):.3f} ms an iteration (median {1e3 * np.median(seconds):.3f}), "
        f"{len(tree):,} nodes, {tree.num_entries:,} numbers a strategy, {megabytes:.0f} MB",
        flush=True,
    )
