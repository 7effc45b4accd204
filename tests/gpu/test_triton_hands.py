"""Hold'em on a GPU against the CPU's passes; skipped without CUDA."""

import numpy as np
import pytest
import torch

from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.kernels.numba_hands import HandPasses
from tacit.solvers.schedules import find_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.tree.compiler import compile_for_solving
from tacit.tree.hand_forest import join_hand_trees
from tacit.tree.hand_tree import HandTree

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")]

RIVER = "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=8000,bets=0.5|1|allin,raises=1)"
PAIRED_RIVER = "no_limit_holdem(board=9s7h9d9c2c,pot=500,stack=8000,bets=1|allin,raises=1)"
TURN = "no_limit_holdem(board=3s7hTdKs,pot=2000,stack=4000,bets=1|allin,raises=allin)"
MONOTONE_TURN = "no_limit_holdem(board=2s5s9sKs,pot=2000,stack=4000,bets=1|allin,raises=allin)"
FLOP = "no_limit_holdem(board=3s7hTd,pot=2000,stack=1500,bets=allin,raises=allin)"


def tree_of(*games: str) -> HandTree:
    return join_hand_trees([compile_for_solving(load_game(game)) for game in games])


@pytest.mark.parametrize("games", [(RIVER,), (TURN,), (FLOP,), (RIVER, PAIRED_RIVER, TURN, MONOTONE_TURN)])
@pytest.mark.parametrize("solver", ["dcfr", "pcfr+"])
def test_values_responses_and_regrets_are_those_of_the_cpu(games: tuple[str, ...], solver: str) -> None:
    tree = tree_of(*games)
    exact, gpu = HandPasses(tree, np.float64), make_passes(tree, "torch", "cuda")
    strategy = tree.normalise(np.random.default_rng(0).random(tree.num_entries))
    for player in (0, 1):
        here, there = (passes.reach(1 - player, passes.entries(strategy)) for passes in (exact, gpu))
        np.testing.assert_allclose(there.cpu().numpy(), here, rtol=1e-5, atol=1e-7)
        for ours, theirs in (
            (exact.values(player, strategy, here), gpu.values(player, gpu.entries(strategy), there)),
            (exact.best_response(player, here)[0], gpu.best_response(player, there)[0]),
        ):
            np.testing.assert_allclose(theirs.cpu().numpy(), ours, rtol=0, atol=2e-6 * np.abs(ours).max())
    learners = [TabularDriver(passes, find_schedule(solver)) for passes in (exact, gpu)]
    for learner in learners:
        learner.step()
        learner.step()
    for ours, theirs in ((learner.state()[name] for learner in learners) for name in ("regret", "average")):
        moved = np.abs(ours - theirs) > 1e-4 * max(np.abs(ours).max(), 1e-9)
        assert moved.mean() < 1e-3  # where two actions are worth the same, rounding decides


@pytest.mark.parametrize(("solver", "share"), [("dcfr", 0.002), ("flop", 0.02)])
def test_a_turn_is_solved_on_the_gpu(solver: str, share: float) -> None:
    tree = tree_of(TURN)
    learner = TabularDriver(make_passes(tree, "torch", "cuda"), find_schedule(solver))
    for _ in range(300):
        learner.step()
    quality = evaluate(HandPasses(tree, np.float64), learner.average_strategy().astype(np.float64))
    assert quality.exploitability < share * 2_000  # of the pot, by the CPU's exact best response
