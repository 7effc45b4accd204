"""Batched hold'em search with a network at the leaves: `python benchmarks/holdem_search.py [TREES] [HIDDEN] [LAYERS]`.

Turn subgames to the end of the betting round, full ranges, nine actions at the first decision, random boards, all solved as one
forest on a GPU. An iteration updates both players, and each update values all leaves with the network.
"""

import sys
import time

import numpy as np
import torch

from tacit.cards.deck import NUM_CARDS
from tacit.cards.hands import NUM_HANDS, possible_hands
from tacit.games.betting import ALL_IN, TURN, NoLimitBetting
from tacit.kernels.triton_hands import TritonHandPasses
from tacit.nets.hand_net import HandNetLeaves, HandValueNet
from tacit.solvers.driver import DriverOptions
from tacit.solvers.schedules import find_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.tree.hand_builder import build_hand_tree
from tacit.tree.hand_forest import join_hand_trees
from tacit.tree.subgame import ROUND

PEAK = 790.0
"""TFLOP/s of bfloat16 products on the chip."""
ITERATIONS = 250
TREES, HIDDEN, LAYERS = (int(sys.argv[i + 1]) if len(sys.argv) > i + 1 else default for i, default in enumerate((64, 512, 3)))

rules = NoLimitBetting(20_000, 50, 100, TURN, 2_000, (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, ALL_IN), (0.75, ALL_IN))
generator = np.random.default_rng(0)
boards = [tuple(int(c) for c in generator.choice(NUM_CARDS, 4, replace=False)) for _ in range(TREES)]
start = time.perf_counter()
trees = [build_hand_tree(None, rules, b, (possible_hands(b) * 1.0, possible_hands(b) * 1.0), depth=ROUND) for b in boards]
forest = join_hand_trees(trees)
passes = TritonHandPasses(forest)
net = HandValueNet(HIDDEN, LAYERS).cuda()
evaluator = HandNetLeaves(net, rules)
driver = TabularDriver(passes, find_schedule("dcfr"), DriverOptions(evaluator))
driver.run(2)
torch.cuda.synchronize()
leaves, actions = len(passes.leaf_states.board), int(forest.num_actions[forest.roots].max())
print(
    f"{TREES} turns: {actions} actions at the root, {leaves} leaves, {len(forest):,} nodes, "
    f"{forest.num_entries:,} numbers a strategy; made ready in {time.perf_counter() - start:.1f} s",
    flush=True,
)
seconds = []
for _ in range(3):
    start = time.perf_counter()
    driver.run(ITERATIONS)
    torch.cuda.synchronize()
    seconds.append((time.perf_counter() - start) / ITERATIONS)
best = min(seconds)
flops = 2 * leaves * 2 * (2 * 2 * NUM_HANDS * HIDDEN + (LAYERS - 1) * HIDDEN**2)
print(
    f"{1e3 * best:.3f} ms an iteration, {1 / best:,.0f} iterations/s, {2 * leaves / best:,.0f} leaves/s, "
    f"{flops / best / 1e12:.1f} of {PEAK:.0f} TFLOP/s in the network, "
    f"{TREES / best / ITERATIONS:,.0f} searches/s of {ITERATIONS} iterations",
    flush=True,
)
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
    driver.run(10)
    torch.cuda.synchronize()
kernels = sorted(((e.self_device_time_total / 10, e.key[:60]) for e in profile.key_averages()), reverse=True)[:14]
for microseconds, name in kernels:
    print(f"  {microseconds:8.1f} us an iteration  {name}")
