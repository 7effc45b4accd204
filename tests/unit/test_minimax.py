"""Perfect play on small boards."""

import numpy as np
import pytest

from tacit import artifacts
from tacit.agents.minimax import Minimax
from tacit.agents.table import play_game
from tacit.errors import TacitError
from tacit.games import load_game


def test_tic_tac_toe_is_a_draw_and_mistakes_cost() -> None:
    solver = Minimax(load_game("tic_tac_toe"))
    assert solver.value(()) == 0.0
    # After the centre, a corner (a3, square 0) still draws, but an edge (b3, square 1) loses.
    assert solver.action_values((4,)).tolist() == [0.0, -1.0, 0.0, -1.0, -1.0, 0.0, -1.0, 0.0]


def test_minimax_is_the_default_and_never_loses() -> None:
    game, generator = load_game("tic_tac_toe"), np.random.default_rng(0)
    agent = artifacts.open("default", game).agent(generator)
    assert agent.name == "minimax"
    random = artifacts.load_agent("random", game, generator)
    results = [play_game(game, (agent, random), generator)[0] for _ in range(50)]
    results += [play_game(game, (random, agent), generator)[1] for _ in range(50)]
    assert min(results) == 0.0
    assert np.mean(results) > 0.7


def test_its_view_says_what_every_move_is_worth() -> None:
    game = load_game("tic_tac_toe")
    agent = artifacts.load_agent("minimax", game, np.random.default_rng(0))
    views = []

    class Watched:
        name = "watched"
        start, observe, view = agent.start, agent.observe, agent.view

        def act(self) -> int:
            views.append(agent.view())
            return agent.act()

    play_game(game, (Watched(), artifacts.load_agent("minimax", game, np.random.default_rng(1))), np.random.default_rng(2))
    for view in views:
        assert view.values[view.actor][0] == view.action_values.max()
        assert (view.strategy * view.action_values).sum() == view.action_values.max()


@pytest.mark.parametrize("game", ["kuhn_poker", "connect_four", "goofspiel(cards=4)"])
def test_other_games_are_refused(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.agents.minimax.MAX_POSITIONS", 1_000)
    with pytest.raises(TacitError, match="minimax plays only small games without chance or hidden information"):
        artifacts.load_agent("minimax", game, np.random.default_rng(0))
