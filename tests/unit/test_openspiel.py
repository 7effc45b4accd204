"""OpenSpiel games as trees, and OpenSpiel's judgement of our strategies."""

import numpy as np
import pytest

from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.games.check import check_game
from tacit.kernels import make_passes
from tacit.solvers import solve
from tacit.solvers.openspiel import openspiel_policy
from tacit.tree.compiler import compile_game
from tests.oracles import random_strategy

pyspiel = pytest.importorskip("pyspiel")

SMALL_BATTLESHIP = "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=2)"
JUDGED = [
    "kuhn_poker",
    "leduc_poker",
    "liars_dice(dice=1,faces=4)",
    "goofspiel(cards=4)",
    "openspiel:kuhn_poker",
    "openspiel:leduc_poker",
    "openspiel:liars_dice(numdice=1,dice_sides=4)",
    "openspiel:goofspiel(num_cards=3,imp_info=True,points_order=descending)",
    f"openspiel:{SMALL_BATTLESHIP}",
    "openspiel:dark_hex(board_size=2)",
    "openspiel:matrix_rps",
]


@pytest.mark.parametrize("name", JUDGED)
def test_openspiel_finds_the_same_exploitability(name: str) -> None:
    tree = compile_game(load_game(name))
    game = load_game(name)
    twin = pyspiel.load_game(game.openspiel_twin())
    if twin.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        twin = pyspiel.convert_to_turn_based(twin)
    passes = make_passes(tree)
    for strategy in (random_strategy(tree, 0), solve(game, solver="cfr", iterations=30).strategy.probabilities):
        ours = evaluate(passes, strategy)
        theirs = pyspiel.nash_conv(twin, openspiel_policy(tree.strategy(strategy)))
        assert ours.nash_conv == pytest.approx(theirs, abs=1e-9)


def test_closure_gives_the_public_states_of_poker() -> None:
    for name, decisions in (("kuhn_poker", 4), ("leduc_poker", 186)):
        tree = compile_game(load_game(f"openspiel:{name}"))
        assert int((tree.require_nodes().actor >= 0).sum()) == decisions
        ours = compile_game(load_game(name))
        assert (tree.num_nodes, tree.num_infostates, tree.num_entries) == (
            ours.num_nodes,
            ours.num_infostates,
            ours.num_entries,
        )


@pytest.mark.parametrize("name", ["dark_hex(board_size=2)", "dark_hex(num_cols=2,num_rows=2,obstype=reveal-numturns)"])
def test_phantom_games_are_solved_but_have_no_public_belief_states(name: str) -> None:
    result = solve(f"openspiel:{name}", solver="cfr+", iterations=500)
    assert result.exploitability < 1e-2
    exact = solve(f"openspiel:{name}", solver="lp")
    assert exact.exploitability < 1e-9
    assert result.value == pytest.approx(exact.value, abs=2 * result.exploitability + 1e-9)
    if result.strategy.tree.nodes is None:
        with pytest.raises(TacitError, match="the player to act is not public"):
            result.strategy.tree.require_nodes()


def test_dark_hex_hides_who_acts() -> None:
    assert compile_game(load_game("openspiel:dark_hex(board_size=2)")).nodes is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing_like_this", "has no game 'nothing_like_this'"),
        ("kuhn_pokr", "did you mean kuhn_poker"),
        ("kuhn_poker(jokers=2)", "cannot load"),
        ("kuhn_poker(players=3)", "has 3 player(s)"),
        ("tiny_hanabi", "not zero-sum"),
        ("first_sealed_auction", "not zero-sum"),
        ("pig", "information_state_string"),
        ("chess", "does not fit"),
        ("oshi_zumo", "does not fit"),
        ("go", "does not fit"),
    ],
)
def test_games_that_cannot_be_solved_are_refused_in_a_line(name: str, message: str) -> None:
    with pytest.raises(TacitError) as caught:
        compile_game(load_game(f"openspiel:{name}"))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_imperfect_recall_is_refused_and_explained() -> None:
    game = load_game("openspiel:liars_dice_ir(dice_sides=3)")
    with pytest.raises(TacitError, match="imperfect recall"):
        compile_game(game)
    assert [violation.rule for violation in check_game(game).violations] == ["perfect recall"]


def test_actions_are_named_for_the_player_who_takes_them() -> None:
    tree = compile_game(load_game("openspiel:mnk(m=2,n=2,k=2)"))
    decisions = tree.strategy(tree.uniform_strategy())
    first, second = (decisions.decision(int(np.flatnonzero(tree.infostate_player == player)[0])) for player in (0, 1))
    assert all(name.startswith("x(") for name in first.probabilities)
    assert all(name.startswith("o(") for name in second.probabilities)


def test_our_goofspiel_is_openspiels() -> None:
    ours = solve("goofspiel(cards=4)", solver="lp")
    spiel = compile_game(load_game("openspiel:goofspiel(num_cards=4,imp_info=True,points_order=descending)"))
    assert spiel.num_infostates == ours.strategy.tree.num_infostates
    np.testing.assert_allclose(sorted(np.diff(spiel.entry_start)), sorted(np.diff(ours.strategy.tree.entry_start)))
