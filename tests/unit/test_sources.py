"""Sources of subgames: those from the rules match those from the compiled tree; games whose keys lie."""

import re
import time
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from tacit.errors import TacitError
from tacit.games import Game, load_game
from tacit.games.check import check_game
from tacit.games.liars_dice import LiarsDice
from tacit.games.one_card_poker import LeducPoker
from tacit.tree.beliefs import PublicBeliefState
from tacit.tree.classes import public_classes
from tacit.tree.compiler import compile_game
from tacit.tree.estimate import resident_memory
from tacit.tree.public_tree import LEAF, PublicTree
from tacit.tree.source import NO_CLASS, RuleSource, SubgameSource, TreeSource
from tacit.tree.subgame import Depth, extract_subgame
from tests.growth import LateTicTacToe, assert_same_arrays

GAMES = {
    **{name: load_game(name) for name in ("kuhn_poker", "leduc_poker", "goofspiel(cards=3)", "modified_rps")},
    **{name: load_game(name) for name in ("liars_dice(dice=1,faces=4)", "liars_dice(dice=2,faces=3)")},
    "late_tic_tac_toe": LateTicTacToe(),
}


@cache
def compiled(name: str) -> PublicTree:
    return compile_game(GAMES[name], direct=name.startswith("liars_dice"))  # poker's direct builder orders cards in its own way


def matched_classes(rules: SubgameSource, tree: TreeSource) -> list[tuple[int, int]]:
    """Returns all pairs of classes, one of each source, that stand for the same public state somewhere."""
    pairs = list(zip(rules.roots.classes.tolist(), tree.roots.classes.tolist(), strict=True))
    for mine, theirs in pairs:
        below = zip(rules.subgame(mine).node_class.tolist(), tree.subgame(theirs).node_class.tolist(), strict=True)
        pairs += dict.fromkeys(pair for pair in below if pair not in pairs and pair != (NO_CLASS, NO_CLASS))
    return pairs


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("depth", [1, 2, "round"])
def test_subgames_from_the_rules_equal_those_cut_from_the_compiled_tree(name: str, depth: Depth) -> None:
    rules, tree = RuleSource(GAMES[name], depth), TreeSource(compiled(name), depth)
    np.testing.assert_allclose(rules.roots.chances, tree.roots.chances)
    pairs = matched_classes(rules, tree)
    assert {theirs for _, theirs in pairs} == set(range(len(public_classes(compiled(name)))))
    assert {mine for mine, _ in pairs} == set(range(len(rules)))
    for mine, theirs in pairs:
        node = int(tree.classes.representative[theirs])
        ones = [np.ones(int(start[node + 1] - start[node])) for start in compiled(name).require_nodes().row_start]
        expected = extract_subgame(PublicBeliefState(compiled(name), node, (ones[0], ones[1])), depth).tree
        subgame = rules.subgame(mine).tree
        # Tokens may differ in the past of a root, and in suits, which play alike in the tree.
        assert_same_arrays(expected, subgame, skip=("token",))
        assert subgame.require_nodes().joint(0).sum() == pytest.approx(1.0)
    assert_same_arrays(expected, tree.subgame(theirs).tree)


@pytest.mark.parametrize("name", ["kuhn_poker", "liars_dice(dice=1,faces=4)", "liars_dice(dice=2,faces=3)"])
@pytest.mark.parametrize("depth", [1, 2, None])
def test_exact_keys_find_the_classes_of_the_compiled_tree(name: str, depth: Depth) -> None:
    rules = RuleSource(GAMES[name], depth)
    rules.explore_all(10_000)
    assert len(rules) == len(public_classes(compiled(name)))
    assert len(matched_classes(rules, TreeSource(compiled(name), depth))) == len(rules)


def test_tic_tac_toe_has_a_class_for_every_board() -> None:
    game, boards = LateTicTacToe(), set()
    states = [game.initial_state()]
    for state in states:
        if game.actor(state) >= 0:
            boards.add((frozenset(state[::2]), frozenset(state[1::2])))
            states += [game.apply(state, action) for action in game.legal_actions(state)]
    source = RuleSource(game, 1)
    source.explore_all(10_000)
    assert len(source) == len(boards) < sum(game.actor(state) >= 0 for state in states)


@pytest.mark.parametrize("name", GAMES)
def test_private_states_at_a_leaf_are_those_of_its_class(name: str) -> None:
    rules = RuleSource(GAMES[name], 2)
    rules.explore_all(10_000)
    for public_class in range(len(rules)):
        tree, node_class = rules.subgame(public_class)
        nodes = tree.require_nodes()
        for leaf in np.flatnonzero(nodes.actor == LEAF):
            below = rules.subgame(int(node_class[leaf])).tree
            for player, start in enumerate(nodes.row_start):
                labels = [tree.private_label(player, row) for row in range(start[leaf], start[leaf + 1])]
                assert labels == below.rows[player].token[: len(labels)]
                assert len(labels) == below.rows[player].level_start[1]
            joint = nodes.joint(int(leaf))
            np.testing.assert_allclose(joint / joint.sum(), below.require_nodes().joint(0), rtol=1e-12)


def test_dice_too_many_to_compile_are_explored_in_seconds() -> None:
    before, began = resident_memory(), time.process_time()
    source = RuleSource(load_game("liars_dice(dice=2,faces=6)"), 2)
    source.explore_all(1_000)
    seconds, mebibytes = time.process_time() - began, (resident_memory() - before) / 2**20
    print(f"{len(source)} classes in {seconds:.1f} s and {mebibytes:.0f} MiB")
    assert len(source) == 48  # the start, 24 bids by player 0, 23 by player 1, who cannot bid lowest
    assert seconds < 60
    assert mebibytes < 500
    root = source.subgame(int(source.roots.classes[0])).tree
    assert max(len(reach) for reach in root.root_reach) == 21
    assert root.num_nodes == 1 + 24 + (24 * 23 // 2 + 24)
    with pytest.raises(TacitError, match="does not fit"):
        compile_game(source.game, direct=False)


def test_exploring_stops_at_a_limit() -> None:
    with pytest.raises(TacitError, match="more than 20 classes"):
        RuleSource(GAMES["leduc_poker"], 1).explore_all(20)


def test_depths_are_checked() -> None:
    for depth in (0, "turn"):
        with pytest.raises(TacitError, match="the depth of a subgame is"):
            RuleSource(GAMES["kuhn_poker"], depth)


@dataclass(frozen=True)
class ForgetsTheBid(LiarsDice):
    """All decisions of a player share a key, although different bids may follow."""

    name = "forgets_the_bid"

    def public_key(self, state: tuple[int, ...]) -> int:
        return 0


@dataclass(frozen=True)
class ForgetsTheBoard(LeducPoker):
    """The board card is not in the key, although it decides which private cards are left."""

    name = "forgets_the_board"

    def public_key(self, state) -> tuple[int, ...]:  # type: ignore[no-untyped-def]
        return tuple(self.contributions(state))


@dataclass(frozen=True)
class TellsTheRoll(LiarsDice):
    """The key gives a private roll away."""

    name = "tells_the_roll"

    def public_key(self, state: tuple[int, ...]) -> int:
        return state[0]


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (ForgetsTheBid(1, 3), "public_key.. is 0 both at .* and at .* different legal actions"),
        (ForgetsTheBoard(), "which have different private states"),
        (TellsTheRoll(1, 3), "differs within one public state"),
    ],
)
def test_keys_that_lie_are_refused(game: Game, message: str) -> None:
    with pytest.raises(TacitError, match=message):
        RuleSource(game, 2).explore_all(10_000)


@dataclass(frozen=True)
class ForgetsWhoseSquare(LateTicTacToe):
    """The key says which squares are taken, not by whom: legal actions agree, the winner does not."""

    name = "forgets_whose_square"

    def public_key(self, state: tuple[int, ...]) -> frozenset[int]:  # type: ignore[override]
        return frozenset(state)


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (ForgetsTheBid(1, 3), "public_key.. does not tell this public state from the one after"),
        (ForgetsTheBoard(), "public_key.. does not tell this public state from the one after"),
        (ForgetsWhoseSquare(), "public_key.. does not tell this public state from the one after"),
        (TellsTheRoll(1, 3), "public_key.. gives 2 and 1 within one public state"),
    ],
)
def test_check_game_explains_keys_that_lie(game: Game, message: str) -> None:
    (violation,) = check_game(game).violations
    assert violation.rule == "public key"
    assert re.search(message, violation.message)
    assert violation.history


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * ("dice=2" in name)) for name in GAMES])
def test_check_game_finds_honest_keys_honest(name: str) -> None:
    assert check_game(GAMES[name]).ok


def test_games_without_public_states_to_expand_are_refused() -> None:
    pytest.importorskip("pyspiel")
    with pytest.raises(TacitError, match="names its infostates"):
        RuleSource(load_game("openspiel:kuhn_poker"), 2)
