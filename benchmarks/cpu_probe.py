"""Searches per second on the CPU at 1,024 half-iterations, depth 2, 2x256: `python benchmarks/cpu_probe.py GAME[;GAMES] ...`.

Measured twice: in our self-play, where new games share a few opening searches, and with every game searching its own opening,
as other programs do. The network is also timed alone, and beside torch's own forward pass.
"""

import sys
import time

import numpy as np
import torch

from tacit.games import load_game
from tacit.nets.encoders import ClassEncoder
from tacit.nets.numba_mlp import NumbaValueNet
from tacit.nets.value_net import ValueNet
from tacit.rebel.selfplay import SelfPlay
from tacit.search.config import SearchConfig
from tacit.search.search import BatchSearch
from tacit.tree.compiler import compile_game
from tacit.tree.search_space import search_space

TIMED = 64
"""Iterations that are timed; a search of 512 takes eight times as long."""


def best(work, rounds=3):
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def probe(name: str, games: int) -> None:
    space = search_space(compile_game(load_game(name)), 2)
    H = space.tables.num_private_states
    net = ValueNet(ClassEncoder(space.num_classes), H)
    short, timed = (BatchSearch(space, NumbaValueNet(net), SearchConfig("linear-cfr", n, 2)) for n in (4, TIMED))
    play = SelfPlay(short, games, 0.25, np.random.default_rng(0))
    started = 0
    for step in range(20):  # until games are at all stages
        play.advance()
        started += play.started if step >= 10 else 0
    openings = int(games * started / (started + 10 * games))
    leaves = np.diff(space.tables.leaf_start)
    flops_a_leaf = 2 * (2 * H * 256 + 256 * 256 + 256 * 2 * H)
    for what, own in (("in self-play", -(-games // 32)), (f"with {openings / games:.0%} openings", openings)):
        classes = np.concatenate([np.repeat(space.root_class[:1], own), play.game_class[own:]])
        reaches = torch.cat([play._root_reaches[:1].repeat(own, 1, 1), play.reaches[own:]])
        seconds = best(lambda c=classes, r=reaches: timed.run(c, r, np.ones(games, int))) * 512 / TIMED
        flops = leaves[classes].sum() * 1024 * flops_a_leaf
        print(
            f"{name} {what}: {games / seconds:.0f} searches/s, {leaves[classes].mean():.1f} leaves each, "
            f"{flops / seconds / 1e9:.0f} GFLOP/s",
            flush=True,
        )
    rows = 8_192
    classes, beliefs = torch.randint(0, space.num_classes, (rows,)), torch.rand(2 * H, rows)
    ours, theirs = best(lambda: timed.evaluator.evaluate(classes, beliefs), 9), best(lambda: net.evaluate(classes, beliefs), 9)
    square, weight = torch.rand(rows, 256), torch.rand(256, 256)
    product = best(lambda: torch.mm(square, weight), 9)
    print(
        f"   the network alone: {rows * flops_a_leaf / ours / 1e9:.0f} GFLOP/s; torch's forward pass "
        f"{rows * flops_a_leaf / theirs / 1e9:.0f}; its bare matrix product {rows * 2 * 256 * 256 / product / 1e9:.0f}",
        flush=True,
    )


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        name, _, games = argument.partition(";")
        probe(name, int(games or 512))
