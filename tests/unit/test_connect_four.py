"""Connect four: the same game as OpenSpiel's, drawn as a board, with its small boards solved."""

import numpy as np
import pyspiel
import pytest

from tacit.errors import TacitError
from tacit.games import load_game
from tacit.games.base import TERMINAL
from tacit.games.check import check_game
from tacit.games.connect_four import ConnectFour, Discs
from tests.command import tacit


@pytest.mark.parametrize("seed", range(30))
def test_random_games_are_those_of_openspiel(seed: int) -> None:
    game, generator = ConnectFour(), np.random.default_rng(seed)
    state, theirs = game.initial_state(), pyspiel.load_game("connect_four").new_initial_state()
    while game.actor(state) != TERMINAL:
        assert game.actor(state) == theirs.current_player()
        assert list(game.legal_actions(state)) == theirs.legal_actions()
        rows = [line.replace(" ", "") for line in game.drawing(state).splitlines()[:-1]]
        assert rows == str(theirs).split()
        action = int(generator.choice(game.legal_actions(state)))
        state = game.apply(state, action)
        theirs.apply_action(action)
    assert theirs.is_terminal()
    assert list(game.returns(state)) == theirs.returns()


def value(game: ConnectFour, state: Discs, low: float, high: float, known: dict[tuple[int, int], float]) -> float:
    """Returns what the player to move gets, by alpha-beta search; `known` holds the values of positions without a cutoff."""
    actor = game.actor(state)
    if actor == TERMINAL:
        return -abs(game.returns(state)[0])  # only the last mover can have won
    key = game.public_key(state)
    if key in known:
        return known[key]
    best, cut = -1.0, False
    for action in game.legal_actions(state):
        best = max(best, -value(game, game.apply(state, action), -high, -max(low, best), known))
        if best >= high:
            cut = True
            break
    if not cut and best > low:
        known[key] = best
    return best


@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (3, 5), pytest.param(4, 5, marks=pytest.mark.slow)])
def test_nobody_wins_on_small_boards(rows: int, columns: int) -> None:
    """They are draws, as in Tromp's table of solved boards."""
    game = ConnectFour(rows, columns)
    assert value(game, game.initial_state(), -1.0, 1.0, {}) == 0.0


def test_it_keeps_the_rules_of_games() -> None:
    report = check_game(ConnectFour(3, 4), max_histories=3_000)
    assert report.ok, report.violations
    for wrong in ("rows=1", "columns=17"):
        with pytest.raises(TacitError, match="from 2 to 16"):
            load_game(f"connect_four({wrong})")


def test_it_is_drawn_as_it_is_played() -> None:
    result = tacit("play", "connect_four", "--agent", "random", "--seat", "0", "--seed", "1", typed="d\nq\n")
    assert result.returncode == 0
    assert "    . . . o . . .\n    . . . x . . .\n    a b c d e f g\n" in result.stdout
    assert "so far" not in result.stdout
