"""GPU check and timing: Triton passes against numba, the fused network against torch, and subgames per second."""

import sys
import time

import numpy as np
import torch

from tacit.games import load_game
from tacit.nets.triton_mlp import FusedValueNet
from tacit.nets.value_net import ValueNet
from tacit.rebel.selfplay import SelfPlay
from tacit.search.leaves import ZeroLeaves
from tacit.search.search import BatchSearch, SearchConfig
from tacit.search.tables import search_space
from tacit.tree.compiler import compile_game


def check(name: str) -> None:
    space = search_space(compile_game(load_game(name)), 2)
    H, C = space.tables.num_private_states, len(space.classes)
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    net = ValueNet(C, H)
    with torch.no_grad():
        net.out.weight.mul_(100)
    classes = rng.integers(0, C, 300)
    reaches = torch.zeros(300, 2, H)
    for p in (0, 1):
        real = torch.arange(H) < torch.from_numpy(space.tables.players[p].num_roots[classes])[:, None]
        reaches[:, p] = torch.rand(300, H) * real
    for solver in ("linear-cfr", "flop"):
        config = SearchConfig(solver, 6, 2)
        sample = rng.integers(1, 7, 300)
        cpu = BatchSearch(space, net, config).run(classes, reaches, sample)
        gnet = ValueNet(C, H)
        gnet.load_state_dict(net.state_dict())
        gpu = BatchSearch(space, gnet.cuda(), config, "cuda").run(classes, reaches.cuda(), sample)
        for field in ("values", "sampled_strategy", "belief_strategy", "average_strategy"):
            a, b = getattr(cpu, field), getattr(gpu, field).cpu()
            print(name, solver, field, "max diff", float((a - b).abs().max()), "mean", float((a - b).abs().mean()))
    fused = FusedValueNet(gnet)
    x = torch.rand(2 * H, 1000, device="cuda")
    k = torch.randint(0, C, (1000,), device="cuda")
    a, b = gnet.evaluate(k, x), fused.evaluate(k, x)
    print(name, "fused net relative error", float((a - b).norm() / a.norm()))


def speed(name: str, games: int, iterations: int) -> None:
    space = search_space(compile_game(load_game(name)), 2)
    H, C = space.tables.num_private_states, len(space.classes)
    net = ValueNet(C, H).cuda()
    fused = FusedValueNet(net)
    play = SelfPlay(
        BatchSearch(space, fused, SearchConfig("linear-cfr", iterations, 2), "cuda"), games, 0.25, np.random.default_rng(0)
    )
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
    start = time.perf_counter()
    search = play.search
    zero = BatchSearch(space, ZeroLeaves(), search.config, "cuda")
    zero.run(play.game_class, play.reaches, np.ones(games, int))
    torch.cuda.synchronize()
    print(f"   without the network: {time.perf_counter() - start:.3f} s a batch; with {seconds / rounds:.3f}", flush=True)


if __name__ == "__main__":
    if "check" in sys.argv[1:]:
        for game in ("liars_dice(dice=1,faces=4)", "leduc_poker", "goofspiel(cards=4)"):
            check(game)
    for argument in sys.argv[1:]:
        if ";" in argument:
            game, games, iterations = argument.split(";")
            speed(game, int(games), int(iterations))
