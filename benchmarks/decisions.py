"""How long a decision of the searching agent takes: `python benchmarks/decisions.py [AGENT] [--device cuda] [options]`.

Hands of `no_limit_holdem` go to the river by a raise, a call and then checks. Each street's first decision is timed, without
loading and after one hand that compiles. With `--time-per-decision` the output says how many iterations were done in time.
"""

import argparse
import time

import numpy as np
import torch

from tacit import artifacts
from tacit.agents.hand_search import HandSearch
from tacit.agents.options import SearchOptions
from tacit.artifacts.plans import known_policy
from tacit.games import load_game
from tacit.games.betting import BOARD_CARDS, CALL
from tacit.games.holdem import Holdem
from tacit.games.public_hand import PublicHand
from tacit.solvers.driver import Driver

STREETS = ("before the flop", "flop", "turn", "river")
parser = argparse.ArgumentParser()
parser.add_argument("agent", nargs="?", default="pretrained:no_limit_holdem")
parser.add_argument("--device")
parser.add_argument("--iterations", type=int)
parser.add_argument("--time-per-decision", type=float)
parser.add_argument("--hands", type=int, default=3, help="of which the best time counts")
given = parser.parse_args()
options = SearchOptions(iterations=given.iterations, device=given.device, time_per_decision=given.time_per_decision)
game = load_game("no_limit_holdem")
assert isinstance(game, Holdem)
counted = {"iterations": 0}
run = Driver.run


def count(driver: Driver, iterations: int) -> None:
    """Runs iterations and counts them."""
    counted["iterations"] += iterations
    run(driver, iterations)


Driver.run = count  # type: ignore[method-assign]
seconds: dict[str, list[tuple[float, float, int, int]]] = {street: [] for street in STREETS}
search = known_policy(artifacts.open(given.agent, game), options)
assert isinstance(search, HandSearch)
for hand in range(given.hands + 1):
    for kept in search._solutions.values():
        kept.clear()
    deck = [int(card) for card in np.random.default_rng(hand).permutation(52)[:5]]
    public = PublicHand.start(game)
    for number, street in enumerate(STREETS):
        if number:
            public = public.dealt(tuple(deck[BOARD_CARDS[number - 1] : BOARD_CARDS[number]]))
        counted["iterations"], began, used = 0, time.perf_counter(), time.process_time()
        solution = search.situation(public).solution
        took = time.perf_counter() - began, time.process_time() - used
        if hand:
            seconds[street].append((*took, counted["iterations"], len(solution.tree)))
        public = public.after(public.actions[2]).after(CALL) if not number else public.after(CALL).after(CALL)
threads = torch.get_num_threads()
print(f"{given.agent} on {given.device or 'cpu'}, {threads} threads; best of {given.hands}")
for street, times in seconds.items():
    wall, cpu, iterations, nodes = min(times)
    most = max(part[0] for part in times)
    print(
        f"{street:>16}: {1e3 * wall:7.0f} ms a decision (processor {1e3 * cpu:.0f}, longest {1e3 * most:.0f}), "
        f"{iterations} iterations over {nodes} nodes"
    )
