"""Searches per second on a GPU: `python benchmarks/gpu_probe.py "GAME;GAMES;ITERATIONS[;HIDDEN]" ...`.

Measured twice: in our self-play, where new games share a few opening searches, and with every game searching its own opening,
as other programs do. In the second case the share of openings is that of the games that start.
"""

import sys
import time

import numpy as np
import torch

from tacit.games import load_game
from tacit.nets.encoders import ClassEncoder
from tacit.nets.triton_mlp import FusedValueNet
from tacit.nets.value_net import ValueNet
from tacit.rebel.selfplay import SelfPlay
from tacit.search.config import SearchConfig
from tacit.search.search import BatchSearch
from tacit.tree.compiler import compile_game
from tacit.tree.search_space import search_space


def speed(name: str, games: int, iterations: int, hidden: int = 256) -> None:
    space = search_space(compile_game(load_game(name)), 2)
    H = space.tables.num_private_states
    fused = FusedValueNet(ValueNet(ClassEncoder(space.num_classes, hidden), H).cuda())
    short, full = (BatchSearch(space, fused, SearchConfig("linear-cfr", n, 2), "cuda") for n in (16, iterations))
    play = SelfPlay(short, games, 0.25, np.random.default_rng(0))
    started = 0
    for step in range(20):  # until games are at all stages
        play.advance()
        started += play.started if step >= 10 else 0
    share = started / (started + 10 * games)
    play.search = full
    leaves = np.diff(space.tables.leaf_start)

    def report(what: str, classes: np.ndarray, seconds: float) -> None:
        flops = leaves[classes].sum() * 2 * iterations * 2 * hidden * (2 * H + hidden + 2 * H)
        print(
            f"{name} {what}: {len(classes) / seconds:,.0f} searches/s, {leaves[classes].mean():.1f} leaves each, "
            f"{flops / seconds / 1e12:.1f} TFLOP/s ({games} games, {iterations} iterations)",
            flush=True,
        )

    play.advance()
    start = time.perf_counter()
    examples, _ = play.advance()
    torch.cuda.synchronize()
    report("in self-play", examples.public_class.cpu().numpy(), time.perf_counter() - start)
    openings = int(share * games)
    classes = np.concatenate([np.repeat(space.root_class[:1], openings), play.game_class[openings:]])
    reaches = torch.cat([play._root_reaches[:1].repeat(openings, 1, 1), play.reaches[openings:]])
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        full.run(classes, reaches, np.ones(games, int))
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    report(f"with {share:.0%} openings", classes, min(seconds))
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        full.run(classes, reaches, np.ones(games, int))
        torch.cuda.synchronize()
    by_kernel = {e.key: e.self_device_time_total / 1e6 for e in profile.key_averages() if e.self_device_time_total > 1e4}
    print("   seconds by kernel:", {key[:24]: round(value, 3) for key, value in by_kernel.items()}, flush=True)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        game, *numbers = argument.split(";")
        speed(game, *map(int, numbers))
