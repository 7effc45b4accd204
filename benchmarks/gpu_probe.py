"""Subgames per second of self-play on a GPU: `python benchmarks/gpu_probe.py "GAME;GAMES;ITERATIONS" ...`."""

import sys
import time

import numpy as np
import torch

from tacit.games import load_game
from tacit.nets.triton_mlp import FusedValueNet
from tacit.nets.value_net import ValueNet
from tacit.rebel.selfplay import SelfPlay
from tacit.search.search import BatchSearch, SearchConfig
from tacit.search.tables import search_space
from tacit.tree.compiler import compile_game


def speed(name: str, games: int, iterations: int) -> None:
    space = search_space(compile_game(load_game(name)), 2)
    H, C = space.tables.num_private_states, len(space.classes)
    net = ValueNet(C, H).cuda()
    fused = FusedValueNet(net)
    play = SelfPlay(
        BatchSearch(space, fused, SearchConfig("linear-cfr", iterations, 2), "cuda"), games, 0.25, np.random.default_rng(0)
    )
    for _ in range(3):
        play.advance()
    leaves, start = 0, time.perf_counter()
    rounds = 2
    for _ in range(rounds):
        examples = play.advance()
        leaves += np.diff(space.tables.leaf_start)[examples.public_class.numpy()].sum()
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    flops = leaves * 2 * iterations * 2 * (2 * H * 256 + 256 * 256 + 256 * 2 * H)
    print(
        f"{name} games {games} iterations {iterations}: {rounds * games / seconds:,.0f} subgames/s, "
        f"{leaves / rounds / games:.1f} leaves each, {flops / seconds / 1e12:.1f} TFLOP/s",
        flush=True,
    )
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        play.search.run(play.game_class, play.reaches, np.ones(games, int))
        torch.cuda.synchronize()
    by_kernel = {e.key: e.self_device_time_total / 1e6 for e in profile.key_averages() if e.self_device_time_total > 1e4}
    print("   seconds a batch:", {key[:24]: round(value, 3) for key, value in by_kernel.items()}, flush=True)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        game, games, iterations = argument.split(";")
        speed(game, int(games), int(iterations))
