"""Encodings of infostates: compared with slow reference versions, and different for different infostates."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tacit.games import CHANCE, TERMINAL, Game, load_game
from tacit.games.one_card_poker import OneCardPoker
from tacit.games.small_poker import CALL, FOLD, RAISE, PokerState
from tacit.nets.infostate_encoding import encode_infostates
from tacit.tree.compiler import compile_game
from tacit.tree.public_tree import PublicTree, split_observations
from tests.random_games import RandomGame

State = tuple[int, ...]


def dense(tree: PublicTree) -> np.ndarray[Any, Any]:
    """Returns the encodings as a matrix `[S, F]`."""
    encodings, num_features = encode_infostates(tree)
    matrix = np.zeros((tree.num_infostates, num_features), np.float32)
    matrix[np.repeat(np.arange(tree.num_infostates), np.diff(encodings.start)), encodings.feature] = encodings.value
    return matrix


def assert_all_differ(tree: PublicTree) -> None:
    encodings, _ = encode_infostates(tree)
    vectors = np.split(encodings.feature, encodings.start[1:-1])
    assert len({(player, vector.tobytes()) for player, vector in zip(tree.infostate_player, vectors, strict=True)}) == len(
        vectors
    )


class SmallGame(Game[State]):
    """Rules shared by the games below: a state is the moves so far, and the last move decides the payoff."""

    def initial_state(self) -> State:
        return ()

    def apply(self, state: State, action: int) -> State:
        return (*state, action)

    def returns(self, state: State) -> tuple[float, float]:
        return float(state[-1]), -float(state[-1])

    def legal_actions(self, state: State) -> list[int]:
        return [0, 1]

    def chance_outcomes(self, state: State) -> list[tuple[int, float]]:
        return [(0, 0.5), (1, 0.5)]


@dataclass(frozen=True)
class TwoLetters(SmallGame):
    """Chance draws two letters, one after another, before player 0 moves."""

    public: bool = True
    name = "two_letters"

    def actor(self, state: State) -> int:
        return (CHANCE, CHANCE, 0, TERMINAL)[len(state)]

    def public_observation(self, state: State) -> str:
        return "ab"[state[-1]] if self.public and 0 < len(state) < 3 else ""

    def private_observation(self, state: State, player: int) -> str:
        return "ab"[state[-1]] if not self.public and player == 0 and 0 < len(state) < 3 else ""


@dataclass(frozen=True)
class SilentStart(SmallGame):
    """Chance chooses who moves first; everybody notices whose turn it is, but there are no observations."""

    name = "silent_start"

    def actor(self, state: State) -> int:
        return TERMINAL if len(state) == 3 else CHANCE if not state else (state[0] + len(state) - 1) % 2


@dataclass(frozen=True)
class ForcedMoves(SmallGame):
    """Player 0 makes two forced moves, then one with a choice."""

    name = "forced_moves"

    def actor(self, state: State) -> int:
        return 0 if len(state) < 3 else TERMINAL

    def legal_actions(self, state: State) -> list[int]:
        return [0, 1] if len(state) == 2 else [5]


@pytest.mark.parametrize(
    ("game", "infostates"), [(TwoLetters(True), 4), (TwoLetters(False), 4), (SilentStart(), 4), (ForcedMoves(), 3)]
)
def test_what_players_know_without_being_told_is_encoded(game: Game[State], infostates: int) -> None:
    tree = compile_game(game)
    assert tree.num_infostates == infostates
    assert_all_differ(tree)


def test_the_order_of_observations_that_arrive_together_is_encoded() -> None:
    first_a, second_a, second_b, first_b = np.eye(4)
    expected = [first_a + second_a, first_a + second_b, first_b + second_a, first_b + second_b]
    for public in (True, False):
        np.testing.assert_array_equal(dense(compile_game(TwoLetters(public))), expected)


@pytest.mark.parametrize("seed", range(30))
def test_infostates_of_random_games_have_different_vectors(seed: int) -> None:
    assert_all_differ(compile_game(RandomGame(seed, length=3, numbering="typed", roots=1 + seed % 2)))


@pytest.mark.parametrize(
    "name",
    ["liars_dice(dice=2,faces=2)", "goofspiel(cards=4)", "modified_rps", pytest.param("tic_tac_toe", marks=pytest.mark.slow)],
)
def test_infostates_of_other_games_have_different_vectors(name: str) -> None:
    assert_all_differ(compile_game(load_game(name)))


@pytest.mark.parametrize(
    "name", ["liars_dice(dice=1,faces=4)", "liars_dice(dice=2,faces=2)", "goofspiel(cards=4)", "coin_guess"]
)
def test_features_are_numbered_as_infostates_have_them_first(name: str) -> None:
    """Features are numbered by first occurrence, which saved networks rely on; here only own actions go unobserved."""
    tree = compile_game(load_game(name))
    numbers: dict[tuple[str, int, str], int] = {}
    pasts = []
    for infostate in range(tree.num_infostates):
        player, row = int(tree.infostate_player[infostate]), int(tree.infostate_row[infostate])
        rows, path = tree.rows[player], tree.row_path(player, row)
        public = [tree.require_nodes().token[node] for node in tree.node_path(tree.node_of_row(player, row))]
        own = [str(tree.entry_action[rows.entry[r]]) if tree.secret_action[player][r] else "" for r in path]
        past = []
        for kind, tokens in (("public", public), ("private", [rows.token[r] for r in path]), ("own", own)):
            for depth, token in enumerate(tokens):
                assert len(split_observations(token)) <= 1
                past += [numbers.setdefault((kind, depth, token), len(numbers))] if token else []
        pasts.append(past)
    expected = np.zeros((tree.num_infostates, len(numbers)))
    for infostate, past in enumerate(pasts):
        expected[infostate, past] = 1.0
    np.testing.assert_array_equal(dense(tree), expected)
    encodings, _ = encode_infostates(tree)
    assert [part.tolist() for part in np.split(encodings.feature, encodings.start[1:-1])] == [sorted(past) for past in pasts]


@pytest.mark.parametrize(("name", "infostates"), [("modified_rps", 2), ("coin_guess", 1)])
def test_where_a_player_has_one_infostate_there_is_nothing_to_encode(name: str, infostates: int) -> None:
    """What the other player did or saw must not appear in the encoding."""
    assert dense(compile_game(load_game(name))).shape == (infostates, 0)


def poker_vector(game: OneCardPoker, state: PokerState, player: int, places: int) -> np.ndarray[Any, Any]:
    """Returns the encoding of a history's cards and moves; `places` is how many raise counts are possible before a move."""
    cards = np.zeros((game.num_streets, len(game.ranks)))
    betting = np.zeros((2, game.num_streets, places, 2))
    for street, card in enumerate((state.cards[player], *state.cards[2:])):
        cards[street, card // len(game.suits)] = 1.0
    for street, actions in enumerate(state.streets):
        for move, action in enumerate(actions):
            assert action != FOLD
            betting[move % 2, street, actions[:move].count(RAISE), action - CALL] = 1.0
    return np.concatenate((cards.ravel(), betting.ravel()))


@pytest.mark.parametrize(("name", "places"), [("kuhn_poker", 2), ("leduc_poker", 3), ("pot_limit_leduc", 3)])
def test_poker_is_encoded_as_in_the_paper(name: str, places: int) -> None:
    game = load_game(name)
    assert isinstance(game, OneCardPoker)
    tree, expected = compile_game(game), {}
    stack: list[tuple[PokerState, tuple[str, ...]]] = [(game.initial_state(), ())]
    while stack:
        state, seen = stack.pop()
        seen = (*seen, game.public_observation(state))
        actor = game.actor(state)
        if actor >= 0:
            label = actor, " ".join(filter(None, seen)), game.card_name(state.cards[actor])
            expected[label] = poker_vector(game, state, actor, places)
        moves = [] if actor == TERMINAL else [o for o, _ in game.chance_outcomes(state)] if actor == CHANCE else None
        stack += [(game.apply(state, move), seen) for move in (game.legal_actions(state) if moves is None else moves)]
    assert len(expected) == tree.num_infostates
    np.testing.assert_array_equal(dense(tree), [expected[tree.infostate_label(i)] for i in range(tree.num_infostates)])
    assert encode_infostates(tree)[1] == {"kuhn_poker": 11}.get(name, 30)


def test_openspiel_games_are_encoded_by_their_tensors() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    tree, expected = compile_game(load_game("openspiel:leduc_poker")), {}
    stack = [pyspiel.load_game("leduc_poker").new_initial_state()]
    while stack:
        state = stack.pop()
        stack += [state.child(action) for action in state.legal_actions()]
        if state.is_player_node():
            actor = state.current_player()
            expected[actor, state.information_state_string(actor)] = state.information_state_tensor(actor)
    labels = [tree.infostate_label(infostate) for infostate in range(tree.num_infostates)]
    np.testing.assert_array_equal(dense(tree), [expected[player, private] for player, _, private in labels])
    assert len(expected) == 936
    assert_all_differ(tree)


def test_chips_of_openspiel_are_shares_of_the_most_there_are() -> None:
    pytest.importorskip("pyspiel")
    bets = "betting=nolimit,bettingAbstraction=fcpa,blind=50 100,firstPlayer=2 1,stack=400 400"
    cards = "numPlayers=2,numRounds=2,numSuits=1,numRanks=4,numHoleCards=1,numBoardCards=0 1"
    tree = compile_game(load_game(f"openspiel:universal_poker({bets},{cards})"))
    matrix = dense(tree)
    assert matrix.max() == 1.0
    assert ((matrix > 0.0) & (matrix < 1.0)).any()  # the blinds, relative to the most that can be put in
    assert_all_differ(tree)
