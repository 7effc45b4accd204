"""Time per iteration and memory of hold'em endgames: `python benchmarks/holdem.py [cpu|cuda] [THREADS,...]`.

On the CPU one thread is measured first, then the given numbers of threads: by default two, four, ... up to all cores.
"""

import sys
import time
from collections.abc import Callable

import numpy as np

from tacit.cards.deck import NUM_CARDS, card_name
from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.solvers.schedules import find_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.threads import at_most, num_threads
from tacit.tree.compiler import compile_for_solving
from tacit.tree.hand_forest import join_hand_trees
from tacit.tree.hand_tree import HandTree

DEVICE = sys.argv[1] if len(sys.argv) > 1 else "cpu"
ON_RIVERS = "no_limit_holdem(board={},pot=2000,stack=10000,bets=0.5|1|allin,raises=1)"
TURN = "no_limit_holdem(board=3s7hTdKs,pot=2000,stack=10000,bets=1|allin,raises=1|allin)"
OUT = "66+|A8s+|A5s-A4s|AJo+|K9s+|KQo|QTs+|JTs|96s+|85s+|75s+|65s|54s"
IN = "QQ-22|AQs-A2s|ATo+|K5s+|KJo+|Q8s+|J8s+|T7s+|96s+|86s+|75s+|64s+|53s+"
FLOP = f"no_limit_holdem(board=Td9d6h,pot=200,stack=900,bets=0.5,raises=1,range0={OUT},range1={IN})"
NUM_RIVERS = 64
POWERS = [threads for threads in (1, 2, 4, 8, 16) if threads <= num_threads()]
THREADS = [int(part) for part in sys.argv[2].split(",")] if len(sys.argv) > 2 else POWERS


def rivers(count: int) -> list[str]:
    generator = np.random.default_rng(0)
    boards = [generator.choice(NUM_CARDS, 5, replace=False) for _ in range(count)]
    return [ON_RIVERS.format("".join(map(card_name, board))) for board in boards]


def tree(*games: str) -> HandTree:
    return join_hand_trees([compile_for_solving(load_game(game)) for game in games])


ENDGAMES: dict[str, tuple[Callable[[], HandTree], int]] = {
    "river, full ranges, 0.5/1/all-in, raise 1": (lambda: tree(ON_RIVERS.format("3s7hTdKs2c")), 40),
    f"{NUM_RIVERS} such rivers": (lambda: tree(*rivers(NUM_RIVERS)), 40),
    "turn, full ranges, 1/all-in, 4.5 pots behind": (lambda: tree(TURN), 40),
    "turn endgame hold'em of ReBeL": (lambda: tree("turn_endgame_holdem"), 12),
    "flop, ranges of 180 and 265 hands, half-pot bets, pot raises": (lambda: tree(FLOP), 6),
}


def finish() -> None:
    if DEVICE != "cpu":
        import torch

        torch.cuda.synchronize()


def seconds_an_iteration(driver: TabularDriver, rounds: int) -> list[float]:
    """Returns seconds per iteration, in windows of as many as one call runs; a GPU gets the next iteration while it works."""
    window, seconds = (max(1, driver.passes.span) if DEVICE == "cpu" else 10), []
    for _ in range(rounds):
        finish()
        start = time.perf_counter()
        driver.run(window)
        finish()
        seconds.append((time.perf_counter() - start) / window)
    return seconds


for name, (make, rounds) in ENDGAMES.items():
    endgame, alone = make(), 0.0
    for threads in THREADS if DEVICE == "cpu" else [1]:
        with at_most(threads):
            passes = make_passes(endgame, "numba" if DEVICE == "cpu" else "torch", DEVICE)
            driver = TabularDriver(passes, find_schedule("dcfr"))
            driver.run(2)
        seconds = seconds_an_iteration(driver, rounds)
        alone = alone or min(seconds)
        arrays = (driver.strategy, driver.average, driver.regret, *driver.reaches)
        megabytes = sum(array.nbytes for array in arrays if array is not None) / 1e6
        print(
            f"{name}, {threads} threads at most: {1e3 * min(seconds):.3f} ms an iteration "
            f"(median {1e3 * np.median(seconds):.3f}, {alone / min(seconds):.1f}x), {len(endgame):,} nodes, "
            f"{endgame.num_entries:,} numbers a strategy, {megabytes:.0f} MB",
            flush=True,
        )
    if DEVICE != "cpu":
        import torch

        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            seconds_an_iteration(driver, 1)
        kernels = {e.key: e.self_device_time_total / 10 for e in profile.key_averages() if e.self_device_time_total > 10}
        print("   us an iteration by kernel:", {key: round(value) for key, value in kernels.items()}, flush=True)
