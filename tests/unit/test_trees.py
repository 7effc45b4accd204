"""Trees: direct builders against the generic compiler, labels, subgames with card removal."""

import random
from dataclasses import dataclass, replace

import numpy as np
import pytest

from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import CHANCE, TERMINAL, Game, load_game
from tacit.kernels import make_passes
from tacit.kernels.numba_lanes import LanePasses
from tacit.kernels.numba_rows import RowPasses
from tacit.tree.beliefs import PublicBeliefState, belief_state, initial_belief_state
from tacit.tree.classes import public_classes
from tacit.tree.compiler import compile_game
from tacit.tree.lanes import lane_layout
from tacit.tree.sequences import sequence_layout
from tacit.tree.subgame import extract_subgame
from tests.oracles import canonical, expected_value, random_strategy

DIRECT = ["kuhn_poker", "leduc_poker", "pot_limit_leduc", "liars_dice(dice=1,faces=4)", "liars_dice(dice=2,faces=2)"]


@dataclass(frozen=True)
class Numbered(Game[tuple[int, ...]]):
    """Two private types for each player, then three public moves; `numbers` gives each type's legal actions."""

    numbers: tuple[tuple[int, ...], ...]

    name = "numbered"

    def initial_state(self) -> tuple[int, ...]:
        return ()

    def actor(self, state: tuple[int, ...]) -> int:
        return (CHANCE, CHANCE, 0, 1, 0, TERMINAL)[len(state)]

    def chance_outcomes(self, state: tuple[int, ...]) -> list[tuple[int, float]]:
        return [(0, 0.5), (1, 0.5)]

    def legal_actions(self, state: tuple[int, ...]) -> tuple[int, ...]:
        return self.numbers[state[self.actor(state)]]

    def apply(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (*state, action)

    def public_observation(self, state: tuple[int, ...]) -> str:
        return str(state[-1]) if len(state) > 2 else ""

    def private_observation(self, state: tuple[int, ...], player: int) -> str:
        return f"type {state[player]}" if len(state) == player + 1 else ""

    def returns(self, state: tuple[int, ...]) -> tuple[float, float]:
        payoff = random.Random(str(state)).uniform(-1.0, 1.0)
        return payoff, -payoff


@pytest.mark.parametrize("name", DIRECT)
def test_direct_builders_equal_the_generic_compiler(name: str) -> None:
    game = load_game(name)
    direct, generic = (canonical(compile_game(game, direct=direct)) for direct in (True, False))
    assert direct[0] == generic[0]
    assert direct[1].keys() == generic[1].keys()
    np.testing.assert_allclose([direct[1][key] for key in direct[1]], [generic[1][key] for key in direct[1]], atol=1e-15)


@pytest.mark.parametrize("name", DIRECT)
def test_dice_and_poker_run_in_lanes(name: str) -> None:
    for direct in (True, False):
        tree = compile_game(load_game(name), direct=direct)
        assert isinstance(make_passes(tree), LanePasses)
        strategy = random_strategy(tree, 3)
        lanes, rows = (evaluate(passes, strategy) for passes in (make_passes(tree), RowPasses(tree)))
        assert lanes.value == pytest.approx(rows.value, abs=1e-12)
        assert lanes.best_response_values == pytest.approx(rows.best_response_values, abs=1e-12)


@pytest.mark.parametrize("numbers", [((2, 1, 0), (2, 1, 0)), ((0, 5), (6, 7)), ((6, 5), (0, 7))])
def test_lanes_follow_the_order_of_legal_actions_not_of_their_numbers(numbers: tuple[tuple[int, ...], ...]) -> None:
    tree = compile_game(Numbered(numbers))
    assert lane_layout(tree) is not None
    strategy = random_strategy(tree, 0)
    quality = evaluate(make_passes(tree), strategy)
    assert quality.value == pytest.approx(expected_value(tree, strategy), abs=1e-12)
    assert quality.best_response_values == pytest.approx(evaluate(RowPasses(tree), strategy).best_response_values, abs=1e-12)


def test_lanes_need_adjacent_children() -> None:
    tree = compile_game(Numbered(((0, 1), (0, 1))))
    nodes = tree.require_nodes()
    last = slice(nodes.level_start[-2], nodes.level_start[-1])
    parent = nodes.parent.copy()
    parent[last] = parent[last][::-1]
    assert lane_layout(tree) is not None
    assert lane_layout(replace(tree, nodes=replace(nodes, parent=parent))) is None


@pytest.mark.parametrize(
    ("actions", "message"),
    [((-1, 1), "from 0 to"), ((0, 2**31), "from 0 to"), (("a", "b"), "integers"), ((), "at least one"), ((1, 1), "different")],
)
def test_actions_that_arrays_cannot_hold_are_refused(actions: tuple[int, ...], message: str) -> None:
    with pytest.raises(TacitError, match=message):
        compile_game(Numbered((actions, actions)))


def test_hidden_actions_do_not_fit_into_lanes() -> None:
    for name in ("modified_rps", "goofspiel(cards=3)"):
        assert lane_layout(compile_game(load_game(name))) is None


@dataclass(frozen=True)
class Words(Game[tuple[int, ...]]):
    """Chance says "a" and "b", or nothing and "a b"; then player 0 decides, if there is anything to decide."""

    decides: bool = True

    name = "words"

    def initial_state(self) -> tuple[int, ...]:
        return ()

    def actor(self, state: tuple[int, ...]) -> int:
        return CHANCE if len(state) < 2 else 0 if len(state) == 2 and self.decides else TERMINAL

    def chance_outcomes(self, state: tuple[int, ...]) -> list[tuple[int, float]]:
        return [(0, 0.5), (1, 0.5)] if not state else [(0, 1.0)]

    def legal_actions(self, state: tuple[int, ...]) -> tuple[int, ...]:
        return (0, 1)

    def apply(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (*state, action)

    def public_observation(self, state: tuple[int, ...]) -> str:
        return {(0,): "a", (0, 0): "b", (1, 0): "a b"}.get(state, "")

    def returns(self, state: tuple[int, ...]) -> tuple[float, float]:
        payoff = 1.0 if state[0] == state[-1] else -1.0
        return payoff, -payoff

    def action_name(self, action: int) -> str:
        return "guess"


def test_observations_with_blanks_are_told_apart() -> None:
    tree = compile_game(Words())
    assert [tree.public_label(node) for node in (0, 1)] == ["a b", "a b"]
    assert evaluate(make_passes(tree), np.array([1.0, 0.0, 0.0, 1.0])).value == 1.0
    assert expected_value(tree, np.array([1.0, 0.0, 0.0, 1.0])) == 1.0  # follows the game through the tree


def test_actions_with_the_same_name_keep_their_probabilities() -> None:
    tree = compile_game(Words())
    decision = tree.strategy(np.array([0.25, 0.75, 0.5, 0.5])).decision(0)
    assert decision.probabilities == {"guess (0)": 0.25, "guess (1)": 0.75}


def test_a_game_without_decisions_is_refused() -> None:
    with pytest.raises(TacitError, match="has no decisions"):
        compile_game(Words(decides=False))


def test_labels_say_who_knows_what() -> None:
    tree = compile_game(load_game("goofspiel(cards=3)"))
    labels = [tree.infostate_label(s) for s in range(tree.num_infostates)]
    assert labels[0] == (0, "", "")
    assert (1, "second wins", "bid 3") in labels  # one's own bid is private, the winner is public
    assert len(set(labels)) == len(labels)
    leduc = compile_game(load_game("leduc_poker"))
    assert (1, "check bet raise call Kh check bet raise", "Ks") in [leduc.infostate_label(s) for s in range(936)]


def test_chance_weights_are_those_of_the_deal() -> None:
    tree = compile_game(load_game("coin_guess"))
    nodes = tree.require_nodes()
    assert len(nodes) == 3
    np.testing.assert_allclose(nodes.joint(0), [[0.5], [0.5]])


def test_beliefs_respect_card_removal() -> None:
    tree = compile_game(load_game("kuhn_poker"))
    pbs = initial_belief_state(tree)
    np.testing.assert_allclose(pbs.beliefs[0], [1 / 3] * 3)
    # Player 0 holds the King for sure: player 1 holds Jack or Queen.
    known = PublicBeliefState(tree, 0, (np.array([0.0, 0.0, 1.0]), np.ones(3)))
    np.testing.assert_allclose(known.beliefs[1], [0.5, 0.5, 0.0])


def test_a_subgame_from_impossible_beliefs_is_refused() -> None:
    tree = compile_game(load_game("kuhn_poker"))
    jack = np.array([1.0, 0.0, 0.0])
    with pytest.raises(TacitError, match="exclude each other"):
        extract_subgame(PublicBeliefState(tree, 0, (jack, jack)))
    with pytest.raises(TacitError, match="exclude each other"):
        _ = PublicBeliefState(tree, 0, (jack, jack)).beliefs
    terminal = int(np.flatnonzero(tree.require_nodes().actor == -2)[0])
    with pytest.raises(TacitError, match="is a leaf or an end of the game"):
        extract_subgame(PublicBeliefState(tree, terminal, (np.ones(3), np.ones(3))))
    with pytest.raises(TacitError, match="at least 1"):
        extract_subgame(initial_belief_state(tree), depth=0)


def test_the_subgame_at_the_root_is_the_game() -> None:
    tree = compile_game(load_game("leduc_poker"))
    strategy = random_strategy(tree, 1)
    subgame = extract_subgame(initial_belief_state(tree))
    assert evaluate(make_passes(subgame.tree), strategy[subgame.entry_index]) == evaluate(make_passes(tree), strategy)
    np.testing.assert_array_equal(subgame.entry_index, np.arange(tree.num_entries))


def test_subgames_of_poker_stay_in_lanes() -> None:
    tree = compile_game(load_game("leduc_poker"))
    strategy = random_strategy(tree, 1)
    node = int(np.flatnonzero(tree.require_nodes().actor >= 0)[50])
    subgame = extract_subgame(belief_state(tree, strategy, node), depth=2)
    assert lane_layout(subgame.tree) is not None


@pytest.mark.parametrize("name", ["pot_limit_leduc", "liars_dice(dice=1,faces=4)", "goofspiel(cards=3)"])
def test_chunks_of_pairs_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def tables() -> list[np.ndarray]:
        tree = compile_game(load_game(name))
        classes, layout = public_classes(tree), sequence_layout(tree)
        blocks = [array for player in layout.players for array in vars(player.pairs).values()]
        return [tree.begins_round, classes.of_node, classes.representative, *blocks]

    at_once = tables()
    assert at_once[0].any() == (name == "pot_limit_leduc")
    monkeypatch.setattr("tacit.tree.public_tree.CHUNK", 7)
    for whole, in_chunks in zip(at_once, tables(), strict=True):
        np.testing.assert_array_equal(whole, in_chunks)
