"""Queries of Student of Games solved per second on one core or a GPU: `python benchmarks/queries.py [GAME] [QUERIES] [DEVICE]`.

A query is a public belief state. It is solved to the end of the betting round with a network of 4x128 units at the leaves, by
regret matching+ with simultaneous updates, as in the public reproduction. Queries are drawn once from all public states, and
once only from those with leaves.
"""

import sys
import time

import numpy as np
import torch

from tacit.games import load_game
from tacit.nets.encoders import ClassEncoder
from tacit.nets.forward import forward_pass
from tacit.nets.value_net import ValueNet
from tacit.search.config import SearchConfig
from tacit.search.search import BatchSearch
from tacit.tree.compiler import compile_game
from tacit.tree.search_space import search_space


def main(name: str = "pot_limit_leduc", queries: str = "1024", device: str = "cpu") -> None:
    torch.set_num_threads(1)
    count, generator = int(queries), np.random.default_rng(0)
    space = search_space(compile_game(load_game(name)), "round")
    states, leaves = space.tables.num_private_states, np.diff(space.tables.leaf_start)
    net = forward_pass(ValueNet(ClassEncoder(space.num_classes, 128), states, layers=4).to(device))
    reaches = torch.from_numpy(generator.dirichlet(np.ones(states), (count, 2)).astype(np.float32)).to(device)
    for what, chosen in (("all", np.arange(space.num_classes)), ("with leaves", np.flatnonzero(leaves))):
        classes = generator.choice(chosen, count)
        for iterations in (50, 200):
            search = BatchSearch(space, net, SearchConfig("cfr+", iterations, "round", alternating=False), device)
            seconds = []
            for _ in range(3):
                start = time.perf_counter()
                result = search.run(classes, reaches, np.ones(count, np.int64))
                assert not result.values[0].isnan().all()  # waits for the device
                seconds.append(time.perf_counter() - start)
            print(f"{name}, {what}, {iterations} iterations: {count / min(seconds):,.0f} queries/s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
