"""Exact exploitability of agents in hold'em endgames, against best responses that ask the agents hand by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.agents.base import Agent, Sight
from tacit.agents.hand_policy import HAND_POLICIES, SolvedPolicy
from tacit.agents.hand_search import HandSearch
from tacit.arena.endgames import endgame_quality
from tacit.artifacts.base import Monitor
from tacit.cards.hands import HANDS
from tacit.cli.main import main
from tacit.games.base import CHANCE, TERMINAL
from tacit.games.betting import RIVER as RIVER_STREET
from tacit.games.holdem import Holdem
from tacit.games.public_hand import PublicHand
from tests.unit.test_arena import assert_refused

TURN = "no_limit_holdem(board=3s7hTdKs,pot=400,stack=600,bets=1,range0=QsQh|8c6c:0.5|Ad5d,range1=KdJd|9h9c|Ac4c)"
RIVER = "no_limit_holdem(board=3s7hTdKs2c,pot=500,stack=1500,bets=0.5|1|allin,range0=QQ|86s|A5s,range1=KJs|99|A4s)"

Moves = tuple[int, ...]


class Told:
    """Stands in for an agent's generator and records the probabilities a move is drawn with."""

    def __init__(self) -> None:
        self.shares: Sequence[float] | None = None

    def choice(self, actions: Sequence[int], p: Sequence[float] | None = None) -> int:
        self.shares = np.full(len(actions), 1.0 / len(actions)) if p is None else p
        return actions[0]


class Referee:
    """Plays an endgame from its rules alone, and asks the agents for their moves, one hand at a time.

    `moves` holds the public ones: actions and board cards. Every agent is equally likely, and plays both seats.
    """

    def __init__(self, game: Holdem, make_agents: Sequence[Callable[[Any], Agent]]) -> None:
        self.game = game
        self.agents = [(told := Told(), make(told)) for make in make_agents]
        self.shares = cache(self._shares)

    def state(self, hands: tuple[int, int], moves: Moves) -> Any:
        state = self.game.initial_state()
        for move in (*hands, *moves):
            state = self.game.apply(state, move)
        return state

    def _shares(self, number: int, player: int, hand: int, moves: Moves) -> dict[int, float]:
        """Returns how often an agent takes each action, given what its seat sees on the way there."""
        (told, agent), game = self.agents[number], self.game
        taken = {*HANDS[hand], *game.known_board, *moves}
        other = next(number for number, cards in enumerate(HANDS) if not {*cards} & taken)  # hidden from the seat
        dealt = (hand, other) if player == 0 else (other, hand)
        agent.start(player)
        state, public, private, action = game.initial_state(), [], [], None
        for move in (*dealt, *moves, None):
            public += [game.public_observation(state)] if game.public_observation(state) else []
            private += [game.private_observation(state, player)] if game.private_observation(state, player) else []
            actor = game.actor(state)
            if actor != CHANCE:
                legal = game.legal_actions(state) if actor == player else ()
                names = tuple(game.action_name_at(state, one) for one in legal)
                agent.observe(Sight(actor, action, tuple(public), tuple(private), tuple(legal), names))
                public, private, action = [], [], move if actor == player else None
            if move is not None:
                state = game.apply(state, move)
        told.shares = None
        chosen = agent.act()
        if told.shares is None:
            return {one: float(one == chosen) for one in legal}
        return dict(zip(legal, told.shares, strict=True))

    def value(self, player: int, own: int, faced: dict[tuple[int, int], float], moves: Moves, responds: bool) -> float:
        """Returns what a player's hand wins against the agents' hands, weighted by `faced`."""
        game, faced = self.game, {key: weight for key, weight in faced.items() if weight > 0.0}
        if not faced:
            return 0.0
        states = {key: self.state((own, key[1]) if player == 0 else (key[1], own), moves) for key in faced}
        some = next(iter(states.values()))
        actor = game.actor(some)
        if actor == TERMINAL:
            return sum(weight * game.returns(states[key])[player] for key, weight in faced.items())
        if actor == CHANCE:
            total = 0.0
            for card in range(52):
                after = {key: w * dict(game.chance_outcomes(states[key])).get(card, 0.0) for key, w in faced.items()}
                total += self.value(player, own, after, (*moves, card), responds)
            return total
        actions = game.legal_actions(some)
        if actor != player:
            total = 0.0
            for action in actions:
                after = {key: w * self.shares(key[0], actor, key[1], moves)[action] for key, w in faced.items()}
                total += self.value(player, own, after, (*moves, action), responds)
            return total
        values = [self.value(player, own, faced, (*moves, action), responds) for action in actions]
        if responds:
            return max(values)
        own_shares = self.shares(0, player, own, moves)
        return sum(own_shares[action] * value for action, value in zip(actions, values, strict=True))

    def expected(self, player: int, responds: bool) -> float:
        """Returns what a player wins from the agents, either with a best response or by playing as the only agent."""
        won = pairs = 0.0
        mine, theirs = self.game.ranges[player], self.game.ranges[1 - player]
        for own in np.flatnonzero(mine).tolist():
            met = [other for other in np.flatnonzero(theirs).tolist() if not {*HANDS[own]} & {*HANDS[other]}]
            pairs += mine[own] * sum(theirs[met])
            faced = {(n, other): theirs[other] / len(self.agents) for n in range(len(self.agents)) for other in met}
            won += mine[own] * self.value(player, own, faced, (), responds)
        return won / pairs


def endgame(name: str) -> Holdem:
    game = tacit.load_game(name)
    assert isinstance(game, Holdem)
    return game


def agent_maker(name: str, game: Holdem, **options: Any) -> Callable[[Any], Agent]:
    return lambda told: tacit.load_agent(name, game, told, tacit.SearchOptions(**options))


@pytest.mark.parametrize("name", ["random", "always-call", "pot-odds"])
def test_bots_lose_what_a_best_response_to_their_moves_wins(name: str) -> None:
    game = endgame(RIVER)
    referee, found = Referee(game, [agent_maker(name, game)]), tacit.open(name, game).evaluate()
    assert (found.metric, found.kind, found.playthroughs) == ("exploitability", "exact", None)
    responses = [referee.expected(player, responds=True) for player in (0, 1)]
    assert found.details["best_response_values"] == pytest.approx(responses, rel=1e-9)
    assert found.figure == pytest.approx(sum(responses) / 2, rel=1e-9)
    assert found.details["value"] == pytest.approx(referee.expected(0, responds=False), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("safety", "whole_turns"),
    [("unsafe", True), ("unsafe", False), pytest.param("re-solving", False, marks=pytest.mark.slow)],
)
def test_search_loses_what_a_best_response_to_its_moves_wins(
    safety: str, whole_turns: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a turn: searched to the end of the hand, or cut off and searched again on every river, as flops are."""
    game, options = endgame(TURN), {"iterations": 12, "safety": safety}
    if not whole_turns:
        monkeypatch.setattr("tacit.agents.hand_search.TURN", RIVER_STREET)
        monkeypatch.setattr("tacit.arena.endgames.MAX_ENTRIES", 100_000)
    found = tacit.open("holdem-search", game).evaluate(**options)
    referee = Referee(game, [agent_maker("holdem-search", game, **options)])
    assert (found.kind, found.details["safety"]) == ("exact", safety)
    assert (found.details["searches"] == 1) is whole_turns
    responses = [referee.expected(player, responds=True) for player in (0, 1)]
    assert found.details["best_response_values"] == pytest.approx(responses, rel=1e-7)
    assert found.details["value"] == pytest.approx(referee.expected(0, responds=False), rel=1e-7)
    assert found.figure > 1.0  # twelve iterations leave something to win


def test_several_policies_are_judged_as_their_average_in_realisation_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """The responder does not know which of the two policies it faces, but learns about it from street to street."""
    monkeypatch.setattr("tacit.arena.endgames.MAX_ENTRIES", 100_000)
    game, names = endgame(TURN), ("random", "pot-odds")
    referee = Referee(game, [agent_maker(name, game) for name in names])
    quality = endgame_quality(game, [HAND_POLICIES[name] for name in names])
    responses = [referee.expected(player, responds=True) for player in (0, 1)]
    assert quality.best_response_values == pytest.approx(responses, rel=1e-9)


def test_figures_of_a_solve_are_exact_to_nine_digits(tmp_path: Path) -> None:
    """Solves run in float32, but their figures do not."""
    game, file = endgame(RIVER), str(tmp_path / "river.tacit")
    result = tacit.solve(game, iterations=10)
    result.save(file)
    assert result.strategy.probabilities.dtype == np.float32
    referee = Referee(game, [lambda told: tacit.open(file).agent(told)])
    responses = [referee.expected(player, responds=True) for player in (0, 1)]
    value = referee.expected(0, responds=False)
    assert (result.value, *result.quality.best_response_values) == pytest.approx((value, *responses), rel=1e-9)
    assert result.curve[-1].exploitability == result.exploitability
    found = tacit.open(file).evaluate()
    assert (found.figure, found.details["value"]) == pytest.approx((sum(responses) / 2, value), rel=1e-9)


@pytest.mark.parametrize(("board", "cards"), [("3s7hTdKs", 48), pytest.param("3s3hTd", 49, marks=pytest.mark.slow)])
def test_parts_are_worth_what_they_are_in_one_tree(board: str, cards: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A solve is evaluated on its whole tree, with boards up to suits; the parts cover every board."""
    if len(board) > 6:  # otherwise turns fit in one part
        monkeypatch.setattr("tacit.arena.endgames.MAX_ENTRIES", 100_000)
    name = f"no_limit_holdem(board={board},pot=500,stack=500,bets=allin,range0=QsQh|8c6c|Ad5d,range1=KdJd|9h9c|Ac4c)"
    result, told = tacit.solve(name, iterations=4), []
    quality = endgame_quality(endgame(name), [SolvedPolicy(result.strategy)], lambda *so_far: told.append(so_far))  # type: ignore[arg-type]
    assert quality.exploitability == pytest.approx(result.exploitability, rel=1e-9)
    assert quality.value == pytest.approx(result.value, rel=1e-9)
    assert told[0] == (0, 1 + cards)  # only after two checks is there more betting
    assert told[-1][0] == told[-1][1]


def test_draws_of_a_sampling_search_are_averaged_into_an_upper_bound() -> None:
    game = endgame(RIVER)
    options = {"safety": "sampled", "iterations": 20, "seed": 3}
    few, many = (tacit.open("holdem-search", game).evaluate(playthroughs=count, **options) for count in (1, 24))
    assert (few.kind, few.playthroughs, many.playthroughs) == ("upper bound", 1, 24)
    policies = [HandSearch(game, iterations=20, safety="sampled", generator=np.random.default_rng([3, n])) for n in range(24)]
    assert many.figure == pytest.approx(endgame_quality(game, policies).exploitability, rel=1e-12)
    assert many.figure < 0.5 * few.figure  # a single iteration is far worse than the average


def test_a_playthrough_draws_once_at_every_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn that is cut off, and searched again on the 48 rivers after two checks."""
    monkeypatch.setattr("tacit.agents.hand_search.TURN", RIVER_STREET)
    game = endgame(TURN)
    search, start = HandSearch(game, iterations=6, safety="sampled"), PublicHand.start(game).dealt(game.known_board)
    drawn = search.probabilities(start)
    endgame_quality(game, [search])
    assert search.searches == 1 + 48
    np.testing.assert_array_equal(search.probabilities(start), drawn)
    assert sum(map(len, search._solutions.values())) == 2  # the turn and the last river: the cache does not grow


def test_the_command_says_how_much_there_is_to_do(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.arena.endgames.MAX_ENTRIES", 100_000)
    with pytest.raises(SystemExit) as done:
        main(["evaluate", "holdem-search", "--game", TURN, "--iterations", "5", "--json"])
    out, err = capsys.readouterr()
    assert done.value.code in (0, None)
    report = json.loads(out)
    assert (report["kind"], report["safety"], report["searches"]) == ("exact", "unsafe", 1)
    assert report["exploitability_percent_of_pot"] == pytest.approx(report["exploitability"] / 4)
    assert "the endgame has 49 parts" in err  # the turn, and 48 rivers after two checks
    whole = ["evaluate", "holdem-search", "--game", "no_limit_holdem", "--metric", "exploitability"]
    assert_refused(whole, "needs a board to start from", capsys)
    assert_refused(["evaluate", "holdem-search", "--game", TURN, "--playthroughs", "9"], "--playthroughs has no effect", capsys)
    assert_refused(
        ["evaluate", "pot-odds", "--game", TURN, "--iterations", "9"], "--iterations cannot be used with pot-odds", capsys
    )
    assert tacit.open("holdem-search", "no_limit_holdem", Monitor()).metrics == ("lbr", "aivat", "exploitability")
