"""Safe re-solving with the opt-out gadget, judged by exact exploitability; unsafe re-solving is shown to fail."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.cards.equity import random_hand_equities
from tacit.cards.hands import NUM_HANDS, possible_hands
from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.games.betting import ALL_IN, RIVER, TURN, NoLimitBetting
from tacit.kernels import make_passes
from tacit.kernels.clock import RegretStep
from tacit.kernels.numba_hands import HandPasses
from tacit.solvers import solve
from tacit.solvers.driver import DriverOptions
from tacit.solvers.gadget import Gadget
from tacit.solvers.schedules import find_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.tree.base import Floats, Spot
from tacit.tree.beliefs import PublicBeliefState, belief_state
from tacit.tree.compiler import compile_game
from tacit.tree.hand_builder import build_hand_tree
from tacit.tree.hand_tree import HandTree
from tacit.tree.public_tree import PublicTree
from tacit.tree.subgame import extract_subgame

LEDUC = compile_game(load_game("leduc_poker"))


def blueprint_of(tree: PublicTree, seed: int) -> Floats:
    return tree.normalise(np.random.default_rng(seed).random(tree.num_entries) ** 3)


def loss(tree: PublicTree, strategy: Floats, player: int) -> float:
    """Returns what the opponent's best response wins against a player's strategy."""
    return evaluate(make_passes(tree), strategy).best_response_values[1 - player]


def resolved(tree: PublicTree, blueprint: Floats, node: int, player: int, iterations: int, safe: bool = True) -> Floats:
    """Returns the blueprint with the player's part of the subgame at a node re-solved."""
    opponent, passes = 1 - player, make_passes(tree)
    pbs = belief_state(tree, blueprint, node)
    reaches = list(pbs.reaches)
    gadget = None
    if safe:
        passes.best_response(opponent, passes.reach(player, passes.entries(blueprint)))
        promised = passes.node_values(opponent, node)
        reaches[opponent] = np.ones(len(promised))
        pbs = PublicBeliefState(tree, node, (reaches[0], reaches[1]))
        gadget = Gadget(opponent, promised / pbs.probability)
    subgame = extract_subgame(pbs)
    driver = TabularDriver(make_passes(subgame.tree), find_schedule("cfr+"), DriverOptions(gadget=gadget))
    driver.run(iterations)
    mine = subgame.tree.entry_player == player
    spliced = blueprint.copy()
    spliced[subgame.entry_index[mine]] = driver.average_strategy()[mine]
    return spliced


def subgame_roots(tree: PublicTree, count: int, seed: int) -> list[int]:
    nodes = tree.require_nodes()
    inside = np.flatnonzero((nodes.actor >= 0) & (nodes.parent >= 0))
    return np.random.default_rng(seed).choice(inside, count, replace=False).tolist()


def changes(blueprint: Floats, seed: int, safe: bool) -> list[float]:
    """Returns how re-solving single subgames in Leduc changes a player's loss, for subgames drawn anywhere in the tree."""
    found = []
    for node in subgame_roots(LEDUC, 10, seed):
        for player in (0, 1):
            after = loss(LEDUC, resolved(LEDUC, blueprint, node, player, 300, safe), player)
            found.append(after - loss(LEDUC, blueprint, player))
    return found


@pytest.mark.parametrize("seed", [0, 2])
def test_re_solving_never_makes_a_random_blueprint_worse_and_unsafe_re_solving_does(seed: int) -> None:
    blueprint = blueprint_of(LEDUC, seed)
    safe, unsafe = (changes(blueprint, seed, safe) for safe in (True, False))
    assert max(safe) < 1e-3
    assert min(safe) < -0.1  # and it helps where it matters
    assert max(unsafe) > 0.04


def test_re_solving_a_solution_keeps_it_one() -> None:
    blueprint = solve("leduc_poker", solver="cfr+", iterations=1_000).strategy.probabilities
    assert max(changes(blueprint, 3, safe=True)) < 5e-3


def test_the_range_that_enters_is_the_one_after_the_update() -> None:
    gadget = Gadget(0, np.array([1.0, 1.0, 1.0]))
    step = RegretStep(floor=0.0)
    np.testing.assert_allclose(gadget.answer(np.array([2.0, 0.5, 1.0]), step), [0.5, 0.0, 0.5])  # no regret: uniform
    again = gadget.answer(np.array([2.0, 3.0, 0.0]), step)
    np.testing.assert_allclose(again[:2], [1.0, 0.8])
    assert again[2] == 0.0


BOARD = (7, 22, 33, 47)
ENDGAME = NoLimitBetting(1_200, 50, 100, TURN, 600, (ALL_IN,))


def turn_blueprint(seed: int, kind: str) -> tuple[HandTree, Floats]:
    """Returns a turn endgame and a strategy of it.

    The strategy is `random`, `solved` or `honest`. In the last, player 0 plays the solution, and player 1 checks the turn
    back with only the weaker half of its hands.
    """
    ranges = [possible_hands(BOARD) * np.random.default_rng((seed, p)).random(NUM_HANDS) for p in (0, 1)]
    tree = build_hand_tree(None, ENDGAME, BOARD, (ranges[0], ranges[1]))
    if kind == "random":
        return tree, tree.normalise(np.random.default_rng((seed, 2)).random(tree.num_entries) ** 3)
    whole = TabularDriver(HandPasses(tree, np.float64), find_schedule("dcfr"))
    whole.run(200)
    blueprint = whole.average_strategy()
    if kind == "honest":
        spot = tree.find("check")
        equity = random_hand_equities(BOARD)[tree.hands(spot)]
        strong = equity > np.median(equity)
        tree.decision(blueprint, spot.node)[:] = [~strong, strong]
    return tree, blueprint


def river_change(seed: int, card: int, kind: str, safe: bool = True) -> float:
    """Returns how re-solving one river of a turn endgame changes player 0's loss."""
    tree, blueprint = turn_blueprint(seed, kind)
    spot, strategy = tree.after(tree.find("check / check"), card), tree.strategy(blueprint)
    passes, hands = HandPasses(tree, np.float64, keep=True), tree.hands(spot)
    passes.best_response(1, passes.reach(0, passes.entries(blueprint)))
    promised = passes.node_values(1, spot.node) / tree.pair_weight[int(tree.block[spot.node])]

    def loss_of(played: Floats) -> float:
        return evaluate(HandPasses(tree, np.float64), played).best_response_values[1]

    river, everything = replace(ENDGAME, first_street=RIVER), np.isin(np.arange(NUM_HANDS), hands) * 1.0
    theirs = everything if safe else strategy.range_at(spot, 1)
    small = build_hand_tree(None, river, tree.board(spot), (strategy.range_at(spot, 0), theirs))
    ours, those = np.argsort(small.blocks.hands(0)), np.argsort(hands)
    values = np.zeros(len(hands))
    values[ours] = promised[those] * small.pair_weight[0]
    gadget = Gadget(1, values) if safe else None
    driver = TabularDriver(HandPasses(small, np.float64), find_schedule("cfr+"), DriverOptions(gadget=gadget))
    driver.run(400)
    spliced, average = blueprint.copy(), driver.average_strategy()
    for node in np.flatnonzero(small.actor == 0).tolist():
        there = spot
        for _, action in small.path(Spot(node)):
            there = tree.after(there, action)
        tree.decision(spliced, there.node)[:, those] = small.decision(average, node)[:, ours]
    return loss_of(spliced) - loss_of(blueprint)


def test_rivers_of_a_turn_endgame_are_re_solved_safely() -> None:
    """With hands of hold'em, random blueprints improve and a solution stays one."""
    for seed, card in ((0, 13), (1, 3)):
        assert river_change(seed, card, "random") < -0.3  # chips, of a pot of 600
        assert river_change(seed, card, "solved") < 0.01


def test_unsafe_re_solving_of_a_river_believes_an_opponent_who_then_lies() -> None:
    """Unsafe re-solving believes that only weak hands check; a best response then checks strong ones as well."""
    assert river_change(0, 13, "honest") < 0.01
    assert river_change(0, 13, "honest", safe=False) > 0.1
