"""Growing trees beside fixed depth, exact exploitability: `python benchmarks/growing.py [GAME] [LEAVES] [SEEDS]`.

Agents re-solve at each of their decisions and play the average strategies. With LEAVES `nothing` a leaf is worth 0. With
`network` a small network values leaves, after it has learnt the solved values of random public belief states for a minute or
two. With a run folder, a network file or `pretrained:NAME` of ReBeL or Student of Games, that network values leaves, and trees
grow as its agent's do (`--expansions`), with uniform priors and, if it has a policy network, with learnt ones. A query is one
evaluation of one leaf; the table gives queries per search.
"""

import itertools
import sys
import time

import numpy as np
import torch
from torch import Tensor

from tacit.artifacts import open as open_artifact
from tacit.artifacts.networks import NetworkArtifact
from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.kernels.base import LeafEvaluator
from tacit.leaves.evaluators import ZeroLeaves
from tacit.nets.encoders import ClassEncoder
from tacit.nets.value_net import ValueNet
from tacit.search.config import SearchConfig
from tacit.search.growing.judge import growing_strategy
from tacit.search.growing.search import GrowingConfig, GrowingSearch
from tacit.search.resolving import resolving_strategy
from tacit.search.search import BatchSearch
from tacit.search.solved_leaves import SolvedLeaves
from tacit.tree.compiler import compile_game
from tacit.tree.public_tree import PublicTree
from tacit.tree.search_space import search_space
from tacit.tree.source import TreeSource

EXAMPLES, STEPS, BATCH = 30_000, 8_000, 512


class Counted:
    """An evaluator that counts the leaves it evaluates."""

    counterfactual = False

    def __init__(self, evaluator: LeafEvaluator) -> None:
        self._evaluator, self.queries = evaluator, 0

    def evaluate(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        self.queries += len(public_class)
        return self._evaluator.evaluate(public_class, beliefs)


def learnt(tree: PublicTree, seed: int = 0) -> ValueNet:
    """Returns a network that learnt the solved values of random public belief states of all classes."""
    space, generator = search_space(tree, 1), np.random.default_rng(seed)
    torch.manual_seed(seed)
    states, oracle = space.tables.num_private_states, SolvedLeaves(space, iterations=100)
    classes = torch.from_numpy(generator.integers(0, space.num_classes, EXAMPLES))
    beliefs = generator.dirichlet(np.full(states, 0.5), (EXAMPLES, 2))
    for player, table in enumerate(space.tables.players):
        beliefs[:, player] *= np.arange(states) < table.num_roots[classes.numpy()][:, None]
    beliefs = (beliefs / beliefs.sum(2, keepdims=True)).reshape(EXAMPLES, -1).astype(np.float32)
    parts = range(0, EXAMPLES, 2_000)
    inputs = torch.from_numpy(beliefs)
    targets = torch.cat([oracle.evaluate(classes[i : i + 2_000], inputs[i : i + 2_000].T.contiguous()).T for i in parts])
    real, scale = torch.isfinite(targets), float(targets.nan_to_num().abs().max())
    net = ValueNet(ClassEncoder(space.num_classes, 128), states, scale=scale)
    optimiser = torch.optim.Adam(net.parameters(), 1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
    train = EXAMPLES * 9 // 10
    for _ in range(STEPS):
        chosen = torch.from_numpy(generator.integers(0, train, BATCH))
        error = (net(classes[chosen], inputs[chosen]) - targets[chosen].nan_to_num()) * real[chosen]
        optimiser.zero_grad()
        error.square().mean().backward()
        optimiser.step()
        schedule.step()
    with torch.inference_mode():
        error = (net(classes[train:], inputs[train:]) - targets[train:])[real[train:]].abs().mean()
    print(f"network: mean error {float(error):.4f} on new states, returns up to {scale:.3g}", flush=True)
    return net.eval()


def judge_run(name: str, seeds: int) -> None:
    """Prints how exploitable a run's networks are with fixed depth and with growing trees, with few and many iterations."""
    artifact = open_artifact(name)
    assert isinstance(artifact, NetworkArtifact)
    trained, space, passes = artifact._trained, artifact._space, make_passes(artifact._space.tree)
    solver = artifact.judged_search()[0]
    for iterations in (50, 100, 200, 400):
        fixed, searches, start = trained.search(space, solver, iterations), [0], time.perf_counter()
        fixed.evaluator = counted = Counted(fixed.evaluator)
        figure = evaluate(passes, resolving_strategy(fixed, searches.append, artifact.at_decisions)).exploitability
        show(f"depth {space.depth}, {iterations}", counted.queries / searches[-1], [figure], time.perf_counter() - start)
    for iterations, expansions in itertools.product((50, 200), (1, 3, 10, 30, 100)):
        for priors in ("uniform", "learnt"):
            found, queries, start = [], 0.0, time.perf_counter()
            for seed in range(seeds):
                search, searches = artifact.growing_search(trained, solver, iterations, expansions), [0]
                if priors == "learnt" and search.policy is None:
                    break
                search.policy = search.policy if priors == "learnt" else None
                found.append(evaluate(passes, growing_strategy(search, seed, searches.append)).exploitability)
                queries += search.num_queries / searches[-1] / seeds
            if found:
                seconds = (time.perf_counter() - start) / seeds
                show(f"{expansions} expansions, {iterations}, {priors} priors", queries, found, seconds)


def show(search: str, queries: float, found: list[float], seconds: float) -> None:
    each = " ".join(f"{figure:.4f}" for figure in found) if len(found) > 1 else ""
    print(f"{search:36} {queries:8,.0f} {np.mean(found):15.4f} {seconds:8.1f}  {each}", flush=True)


def main(name: str = "liars_dice(dice=1,faces=4)", leaves: str = "nothing", seeds: str = "2") -> None:
    torch.set_num_threads(1)
    if leaves not in ("nothing", "network"):
        print(f"{name}, leaves worth: {leaves}")
        print(f"{'search, iterations':36} {'queries':>8} {'exploitability':>15} {'seconds':>8}")
        judge_run(leaves, int(seeds))
        return
    tree = compile_game(load_game(name))
    passes, source = make_passes(tree), TreeSource(tree, 1)
    states = search_space(tree, 1).tables.num_private_states
    evaluator = ZeroLeaves() if leaves == "nothing" else learnt(tree)
    print(f"{name}, leaves worth: {leaves}")
    print(f"{'search':36} {'queries':>8} {'exploitability':>15} {'seconds':>8}")
    for depth, iterations in ((1, 100), (1, 400), (2, 100), (2, 400), (3, 100), (3, 400)):
        counted, searches, start = Counted(evaluator), [0], time.perf_counter()
        fixed = BatchSearch(search_space(tree, depth), counted, SearchConfig("cfr+", iterations, depth))
        strategy = resolving_strategy(fixed, searches.append, at_decisions=True)
        figure, seconds = evaluate(passes, strategy).exploitability, time.perf_counter() - start
        show(f"depth {depth}, {iterations} iterations", counted.queries / searches[-1], [figure], seconds)
    for expansions, per_update in (
        *((1, 0.01), (3, 0.01), (10, 0.01), (10, 0.1), (10, 1.0)),
        *((30, 0.1), (30, 0.3), (100, 0.1), (100, 1.0), (300, 1.0)),
    ):
        for alternating in (False, True):
            found, queries, start = [], 0.0, time.perf_counter()
            for seed in range(int(seeds)):
                counted, searches = Counted(evaluator), [0]
                config = GrowingConfig(expansions, per_update, alternating=alternating)
                strategy = growing_strategy(GrowingSearch(source, counted, config, num_states=states), seed, searches.append)
                found.append(evaluate(passes, strategy).exploitability)
                queries += counted.queries / searches[-1] / int(seeds)
            how, seconds = ("alternating" if alternating else "simultaneous"), time.perf_counter() - start
            show(f"SoG({expansions}, {per_update:g}) {how}", queries, found, seconds / int(seeds))


if __name__ == "__main__":
    main(*sys.argv[1:])
