"""The agent that solves hold'em from the turn on: it plays the solution, answers bets it does not know, and remembers."""

import numpy as np
import pytest

import tacit
from tacit.agents.bots import RandomBot
from tacit.agents.holdem import HoldemAgent
from tacit.agents.table import Table, play_game
from tacit.cards import hand_index, parse_cards
from tacit.errors import TacitError
from tacit.games.holdem import Holdem
from tacit.tree.hand_tree import START

RIVER = "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=10000,bets=0.5|1|allin,raises=1)"
RANGES = "range0=KK|QQ|A5s|87s|JTs,range1=AKs|TT|99|65s|QJs"


def agent_for(name: str, iterations: int = 60, seed: int = 0) -> HoldemAgent:
    game = tacit.load_game(name)
    assert isinstance(game, Holdem)
    generator = np.random.default_rng(seed)
    return HoldemAgent(game, generator, RandomBot(generator), iterations=iterations)


def test_it_plays_the_solution_of_the_river() -> None:
    """Over many deals the first action must come as often as the solution says, hand by hand taken together."""
    name = f"{RIVER[:-1]},{RANGES})"
    game, agent = tacit.load_game(name), agent_for(name, 200)
    result = tacit.solve(name, solver="dcfr", iterations=200)
    shares = result.strategy.played(START)  # type: ignore[attr-defined]
    generator, counts, expected = np.random.default_rng(1), np.zeros(4), np.zeros(4)
    for _ in range(400):
        table = Table(game, generator)
        agent.start(0)
        sight = table.sights[0]
        assert sight is not None
        agent.observe(sight)
        counts[list(sight.legal_actions).index(agent.act())] += 1
        expected += shares[:, hand_index(*parse_cards(sight.private[0]))]
    assert agent.searches == 1  # the same situation 400 times
    np.testing.assert_allclose(counts / 400, expected / 400, atol=0.09)


@pytest.mark.parametrize(
    "name",
    [
        RIVER,
        "limit_holdem(board=3s7hTdKs2c,pot=40)",
        "turn_endgame_holdem(stack=3000)",
        "no_limit_holdem(stack=1000,bets=1|allin,raises=allin)",
    ],
)
def test_it_finishes_hands_of_every_kind(name: str) -> None:
    game, agents = tacit.load_game(name), [agent_for(name, 4, seed) for seed in (0, 1)]
    generator = np.random.default_rng(2)
    for _ in range(4):
        payoffs = play_game(game, agents, generator)
        assert sum(payoffs) == 0.0
    for seat in (0, 1):  # a player who does anything leads everywhere
        seats = [agents[0], RandomBot(generator)] if seat == 0 else [RandomBot(generator), agents[0]]
        assert sum(sum(play_game(game, seats, generator)) for _ in range(4)) == 0.0


def test_a_bet_it_does_not_know_is_added_to_its_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """The menu is cut down until only the pot and all-in are left; the table still offers half the pot."""
    monkeypatch.setattr("tacit.agents.holdem.MAX_ENTRIES", 20_000)
    name = f"{RIVER[:-1]},{RANGES})"
    game, agent = tacit.load_game(name), agent_for(name)
    table = Table(game, np.random.default_rng(3))
    agent.start(1)
    table.play(2_000)  # half the pot of 2,000 on top of the 1,000 that each has put in
    assert table.actor == 1
    for sight in [table.sights[1]]:
        assert sight is not None
        agent.observe(sight._replace(public=("3s7hTdKs2c", "bet to 2000"), private=("QsJs",)))
    assert agent.act() in table.sights[1].legal_actions  # type: ignore[union-attr]
    assert agent.searches == 2
    assert agent._search is not None
    assert 2_000 in agent._search.strategy.tree.actions(0)


def test_it_beats_a_random_player_at_turn_endgames() -> None:
    name = "turn_endgame_holdem(stack=3000)"
    game, agent = tacit.load_game(name), agent_for(name, 30)
    generator, won = np.random.default_rng(4), []
    for hand in range(1_500):
        seat = hand % 2
        rival = RandomBot(generator)
        payoffs = play_game(game, [agent, rival] if seat == 0 else [rival, agent], generator)
        won.append(payoffs[seat])
    error = np.std(won) / np.sqrt(len(won))
    assert np.mean(won) > 3 * error


def test_other_games_are_refused() -> None:
    with pytest.raises(TacitError, match="holdem-search"):
        tacit.load_agent("holdem-search", tacit.load_game("kuhn_poker"), np.random.default_rng(0))
