"""Hold'em's betting rounds searched in batches on a GPU: `python benchmarks/street_search.py [GAMES] [HIDDEN] [LAYERS]`.

Full ranges on random boards, stacks of 20,000 and 2,000 in the pot, 250 iterations that update both players. A river is
searched to the end of the hand, turns and flops to the end of the round with a network at the leaves.
"""

import sys
import time

import numpy as np
import torch

from tacit.cards.dealing import deal, no_cards
from tacit.games.betting import ALL_IN, BOARD_CARDS, FLOP, RIVER, TURN, NoLimitBetting
from tacit.kernels.street_passes import StreetPasses
from tacit.nets.round_end_leaves import RoundEndLeaves
from tacit.nets.round_end_net import RoundEndNet
from tacit.solvers.driver import Driver, DriverOptions
from tacit.solvers.schedules import find_schedule
from tacit.tree.betting_street import betting_streets
from tacit.tree.hand_tree import LEAF
from tacit.tree.subgame import ROUND

ITERATIONS = 250
PEAK = 790.0
"""TFLOP/s of bfloat16 products on the chip."""
GAMES, HIDDEN, LAYERS = (int(sys.argv[i + 1]) if len(sys.argv) > i + 1 else default for i, default in enumerate((512, 512, 3)))
EMBEDDING = 96

nets = {cards: RoundEndNet(HIDDEN, LAYERS, EMBEDDING).cuda() for cards in BOARD_CARDS[FLOP:RIVER]}
for street in (RIVER, TURN, FLOP):
    rules = NoLimitBetting(20_000, 100, 100, street, 2_000, (0.5, 1.0, ALL_IN), (0.75, ALL_IN))
    tree = betting_streets(rules, BOARD_CARDS[street], depth=None if street == RIVER else ROUND)[0]
    torch.cuda.synchronize()
    start = time.perf_counter()
    boards = deal(no_cards(GAMES, "cuda"), BOARD_CARDS[street], np.random.default_rng(0)).boards
    hands = boards.hand.shape[1]
    reaches = torch.full((GAMES, 2, hands), 1.0 / hands, device="cuda")
    passes = StreetPasses(tree, boards, reaches, 1_000.0, rules.stack)
    options = DriverOptions(RoundEndLeaves(nets), "modified-cfr-ave", values_roots=True)
    driver = Driver(passes, find_schedule("dcfr"), DriverOptions(values_roots=True) if street == RIVER else options)
    driver.run(2)
    torch.cuda.synchronize()
    ready, seconds = time.perf_counter() - start, []
    for _ in range(3):
        start = time.perf_counter()
        driver.run(ITERATIONS)
        torch.cuda.synchronize()
        seconds.append((time.perf_counter() - start) / ITERATIONS)
    best, leaves = min(seconds), GAMES * tree.kind.count(LEAF)
    flops = (
        2
        * leaves
        * 2
        * (2 * 2 * hands * EMBEDDING + 2 * EMBEDDING * HIDDEN + (LAYERS - 1) * HIDDEN**2 + 2 * EMBEDDING * HIDDEN)
    )
    print(
        f"{GAMES} games on street {street}: {len(tree.kind)} nodes, {tree.kind.count(LEAF)} leaves, ready in {ready:.2f} s; "
        f"{1e3 * best:.3f} ms an iteration, {GAMES / best / ITERATIONS:,.0f} searches/s, "
        f"{2 * leaves / best:,.0f} leaves/s, {flops / best / 1e12:.1f} of {PEAK:.0f} TFLOP/s in the network",
        flush=True,
    )
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        driver.run(10)
        torch.cuda.synchronize()
    kernels = sorted(((e.self_device_time_total / 10, e.key[:70]) for e in profile.key_averages()), reverse=True)[:14]
    for microseconds, name in kernels:
        print(f"  {microseconds:8.1f} us an iteration  {name}")
    del driver, passes, boards, options
