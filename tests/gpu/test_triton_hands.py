"""Hold'em on a GPU against the CPU's passes; skipped without CUDA."""

import numpy as np
import pytest
import torch
from torch import Tensor

from tacit.cards.deck import parse_cards
from tacit.cards.hands import possible_hands
from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.games.betting import ALL_IN, Betting, NoLimitBetting
from tacit.games.betting import TURN as TURN_STREET
from tacit.kernels import AnyTreePasses, make_passes
from tacit.kernels.hand_leaves import HandStates
from tacit.kernels.numba_hands import HandPasses
from tacit.nets.hand_net import HandNetLeaves, HandValueNet
from tacit.solvers.driver import DriverOptions
from tacit.solvers.locks import Lock, lock_tree
from tacit.solvers.schedules import find_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.tree.compiler import compile_for_solving
from tacit.tree.hand_builder import build_hand_tree
from tacit.tree.hand_forest import join_hand_trees
from tacit.tree.hand_tree import LEAF, RUNS_OUT, HandTree

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
        rows = [passes.rows_to_numpy(1 - player, reach) for passes, reach in ((exact, here), (gpu, there))]
        np.testing.assert_allclose(rows[1], rows[0], rtol=1e-5, atol=1e-7)
        for ours, theirs in (
            (exact.values(player, exact.entries(strategy), here), gpu.values(player, gpu.entries(strategy), there)),
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


@pytest.mark.parametrize("solver", ["dcfr", "pcfr+", "flop"])
def test_locks_on_the_gpu_are_those_of_the_cpu(solver: str) -> None:
    locks = [Lock("", "bet to 3000: TT+; check: rest"), Lock("check", {"AA,KK": {"check": 0.25, "bet to 3000": 0.75}})]
    _, tree = lock_tree(tree_of(TURN), locks)
    exact, gpu = HandPasses(tree, np.float64), make_passes(tree, "torch", "cuda")
    strategy = tree.normalise(np.random.default_rng(0).random(tree.num_entries))
    for player in (0, 1):
        ours, theirs = (
            passes.best_response(player, passes.reach(1 - player, passes.entries(strategy))) for passes in (exact, gpu)
        )
        np.testing.assert_allclose(theirs[0].cpu().numpy(), ours[0], rtol=0, atol=2e-6 * np.abs(ours[0]).max())
        mine = tree.held.entry[tree.entry_player[tree.held.entry] == player]
        np.testing.assert_allclose(gpu.to_numpy(theirs[1])[mine], tree.uniform_strategy()[mine], atol=1e-6)
    learner = TabularDriver(gpu, find_schedule(solver))
    for _ in range(300):
        learner.step()
    np.testing.assert_allclose(learner.current_strategy()[tree.held.entry], tree.held.share, atol=1e-6)
    quality = evaluate(exact, tree.normalise(learner.average_strategy().astype(np.float64)))
    assert quality.exploitability < (0.02 if solver == "flop" else 0.002) * 2_000


@pytest.mark.parametrize(("solver", "share"), [("dcfr", 0.002), ("flop", 0.02)])
def test_a_turn_is_solved_on_the_gpu(solver: str, share: float) -> None:
    tree = tree_of(TURN)
    learner = TabularDriver(make_passes(tree, "torch", "cuda"), find_schedule(solver))
    for _ in range(300):
        learner.step()
    quality = evaluate(HandPasses(tree, np.float64), learner.average_strategy().astype(np.float64))
    assert quality.exploitability < share * 2_000  # of the pot, by the CPU's exact best response


class SmoothLeaves:
    """Infostate values that are a smooth function of both beliefs, the same on every device."""

    counterfactual = False

    def __init__(self, bettings: list[Betting], like: Tensor) -> None:
        self._chips = torch.tensor([float(betting.facing) for betting in bettings]).to(like)

    def evaluate(self, states: HandStates, beliefs: Tensor) -> Tensor:
        wave = torch.arange(beliefs.shape[0], device=beliefs.device, dtype=beliefs.dtype).sin()[:, None]
        return torch.tanh(wave * beliefs.square().sum(0) * 100 + wave.flip(0) * (1 + (beliefs * wave).sum(0))) * self._chips


@pytest.mark.parametrize("solver", ["dcfr", "flop"])
def test_a_forest_with_leaves_is_searched_as_on_the_cpu(solver: str) -> None:
    """Leaves, all-in hands before the last card, and a captured graph: all against the CPU's passes in float64."""
    rules = NoLimitBetting(6_000, 50, 100, TURN_STREET, 2_000, (1.0, ALL_IN))
    boards = [parse_cards(cards) for cards in ("3s7hTdKs", "2s5s9sKs", "AcAdAhAs")]
    ranges = [(possible_hands(board) * 1.0, possible_hands(board) * 1.0) for board in boards]
    forest = join_hand_trees(
        [build_hand_tree(None, rules, board, pair, depth="round") for board, pair in zip(boards, ranges, strict=True)]
    )
    assert {int(kind) for kind in np.unique(forest.kind)} >= {LEAF, RUNS_OUT}

    def driver_of(passes: AnyTreePasses) -> TabularDriver:
        leaves = SmoothLeaves(forest.leaf_betting, passes.new_beliefs())
        return TabularDriver(passes, find_schedule(solver), DriverOptions(leaves))

    drivers = [driver_of(passes) for passes in (HandPasses(forest, np.float64), make_passes(forest, "torch", "cuda"))]
    for driver in drivers:
        driver.run(12)
        assert driver.iteration == 12
    exact, gpu = (driver.average_strategy() for driver in drivers)
    assert np.abs(exact - gpu).mean() < 2e-3
    stepped = driver_of(make_passes(forest, "torch", "cuda"))
    for _ in range(12):
        stepped.step()
    np.testing.assert_allclose(stepped.average_strategy(), gpu, atol=1e-6)  # a replayed graph does what its steps do


def test_a_network_values_leaves_inside_a_captured_graph() -> None:
    board = parse_cards("3s7hTdKs")
    rules = NoLimitBetting(6_000, 50, 100, TURN_STREET, 2_000, (1.0, ALL_IN))
    tree = build_hand_tree(None, rules, board, (possible_hands(board) * 1.0,) * 2, depth="round")
    torch.manual_seed(0)
    net = HandValueNet(64, 2)
    with torch.no_grad():
        net.out.weight.mul_(100.0)
    found = []
    for passes, device in ((HandPasses(tree), "cpu"), (make_passes(tree, "torch", "cuda"), "cuda")):
        driver = TabularDriver(
            passes, find_schedule("cfr+"), DriverOptions(HandNetLeaves(net.to(device), rules, torch.float32))
        )
        driver.run(30)
        found.append(driver.average_strategy())
    assert np.abs(found[0] - found[1]).mean() < 2e-3
    assert np.abs(found[0] - tree.uniform_strategy()).mean() > 0.05
