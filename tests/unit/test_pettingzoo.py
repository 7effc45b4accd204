"""PettingZoo: its own tests, exact values, what observations reveal and what they hide, illegal moves."""

import pickle
import re
import sys
import warnings
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import norm

import tacit
from tacit.evaluation import evaluate
from tacit.games.betting import CALL
from tacit.games.holdem import HoldemState, LimitHoldem
from tacit.games.limit_batch import LimitRules
from tacit.kernels import make_passes
from tacit.nfsp.limit.encoding import NUM_BITS, Encoder
from tacit.pettingzoo import env
from tacit.tally import Tally
from tacit.tree.observations import resolve_chance

pytest.importorskip("pettingzoo")
from pettingzoo.test import api_test, seed_test

from tacit.pettingzoo import environment

SMALL = ["kuhn_poker", "leduc_poker", "liars_dice(dice=1,faces=4)", "goofspiel(cards=3)", "goofspiel", "modified_rps"]
NAMED = ["openspiel:leduc_poker", "openspiel:goofspiel(num_cards=3,imp_info=True)"]
SAMPLED = [*SMALL, "openspiel:leduc_poker"]
BOARDS = ["tic_tac_toe", "connect_four", "openspiel:connect_four"]
HOLDEM = ["limit_holdem", "no_limit_holdem", "turn_endgame_holdem"]


def steps(game: Any, seed: int, episodes: int, generator: np.random.Generator) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields the seat and the observation of each acting player in random play."""
    game.reset(seed=seed)
    for _ in range(episodes):
        for agent in game.agent_iter():
            observation, _, termination, truncation, _ = game.last()
            if termination or truncation:
                game.step(None)
                continue
            yield int(agent[-1]), observation
            game.step(int(generator.choice(np.flatnonzero(observation["action_mask"]))))
        game.reset()


@pytest.mark.parametrize("name", [*SMALL, *NAMED, *BOARDS, *HOLDEM])
def test_it_passes_the_tests_of_pettingzoo(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they expect vectors without masks, except from a list of their own games
        api_test(env(name), num_cycles=200)
        seed_test(lambda: env(name), num_cycles=200)


def uniform_value(name: str) -> float:
    tree = tacit.compile_game(tacit.load_game(name))
    return evaluate(make_passes(tree), tree.uniform_strategy()).value


@pytest.mark.parametrize("name", SAMPLED)
def test_random_play_is_worth_its_exact_value(name: str) -> None:
    game, generator, tally = env(name), np.random.default_rng(1), Tally()
    game.reset(seed=2)
    for _ in range(2_000):
        won = {"player_0": 0.0, "player_1": 0.0}
        for agent in game.agent_iter():
            observation, reward, termination, _, _ = game.last()
            won[agent] += reward
            mask = observation["action_mask"]
            game.step(None if termination else int(generator.choice(np.flatnonzero(mask))))
        assert sum(won.values()) == 0.0
        tally.add(won["player_0"])
        game.reset()
    assert tally.deviation is not None
    errors = float(norm.ppf(1 - 0.05 / len(SAMPLED) / 2))  # the intervals hold jointly with 95 %, not each (Bonferroni)
    assert abs(tally.mean - uniform_value(name)) < errors * tally.deviation / tally.count**0.5


@pytest.mark.parametrize("name", ["kuhn_poker", "liars_dice(dice=1,faces=2)", "goofspiel(cards=3)", "modified_rps"])
def test_all_episodes_together_are_worth_the_exact_value(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plays every deal and every line once, each weighted by its probability: nothing is left to chance."""
    game = env(name)
    script: list[int] = []
    options: list[tuple[int, float]] = []  # for every choice so far: how many options, and the taken one's probability

    def choose(weights: list[float]) -> int:
        chosen = script[len(options)] if len(options) < len(script) else 0
        options.append((len(weights), weights[chosen]))
        return chosen

    def scripted(rules: Any, state: Any, draws: Any) -> Any:
        arrivals = list(resolve_chance(rules, state))
        return arrivals[choose([arrival.chance for arrival in arrivals])]

    monkeypatch.setattr(environment, "draw_chance", scripted)
    value = whole = 0.0
    while True:
        options.clear()
        game.reset()
        while not game.terminations["player_0"]:
            moves = np.flatnonzero(game.last()[0]["action_mask"]).tolist()
            game.step(moves[choose([1 / len(moves)] * len(moves))])
        chance = float(np.prod([weight for _, weight in options]))
        value, whole = value + chance * game.rewards["player_0"], whole + chance
        script = (script + [0] * len(options))[: len(options)]
        while script and script[-1] + 1 == options[len(script) - 1][0]:
            script.pop()
        if not script:
            break
        script[-1] += 1
    assert whole == pytest.approx(1.0, abs=1e-12)
    assert value == pytest.approx(uniform_value(name), abs=1e-12)


@pytest.mark.parametrize("name", [*SMALL, *NAMED])
def test_observations_tell_what_a_player_knows_and_nothing_else(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Observations are equal just where knowledge is; knowledge is what the rules sent to a seat."""
    arrivals: list[Any] = []
    draw = environment.draw_chance

    def recorded(*arguments: Any) -> Any:
        arrivals.append(draw(*arguments))
        return arrivals[-1]

    monkeypatch.setattr(environment, "draw_chance", recorded)
    game, known, seen, hidden = env(name), dict[Any, bytes](), dict[bytes, Any](), dict[Any, set[Any]]()
    rules = game.unwrapped.game
    game.reset(seed=3)
    generator = np.random.default_rng(4)
    for _ in range(400):
        arrivals.clear()
        game.reset()
        actions: list[tuple[int, int]] = []
        while arrivals[-1].actor >= 0:
            arrival, seat = arrivals[-1], arrivals[-1].actor
            if name in NAMED:
                knowledge: Any = (seat, rules.infostate(arrival.state, seat))
            else:
                own = tuple(action for mover, action in actions if mover == seat)
                knowledge = (seat, own, tuple((one.public, one.private[seat]) for one in arrivals))
                if name == "leduc_poker":  # NFSP sees ranks; suits are worthless in Leduc
                    knowledge = re.sub("([JQK])[sh]", r"\1", str(knowledge))
            observation = game.observe(f"player_{seat}")["observation"].tobytes()
            assert known.setdefault(knowledge, observation) == observation
            assert seen.setdefault(observation, knowledge) == knowledge
            hidden.setdefault(knowledge, set()).add(str(arrival.state))
            move = int(generator.choice(np.flatnonzero(game.observe(f"player_{seat}")["action_mask"])))
            actions.append((seat, move))
            game.step(move)
    assert name == "modified_rps" or any(len(states) > 1 for states in hidden.values())


class Dealt:
    """A random generator that deals given cards of hold'em in order."""

    def __init__(self, cards: list[int]) -> None:
        self._cards, self._gone = cards, list[int]()

    def random(self) -> float:
        card = self._cards[len(self._gone)]
        left = [one for one in range(52) if one not in self._gone]
        self._gone.append(card)
        return (left.index(card) + 0.5) / len(left)


@pytest.mark.parametrize("name", ["limit_holdem", "no_limit_holdem"])
def test_a_hand_is_seen_without_the_hand_of_the_other(name: str) -> None:
    """In both seats on all streets, the opponent's cards do not change an observation; own and public cards do."""
    game = env(name)
    raw = game.unwrapped

    def observations(cards: list[int]) -> list[tuple[str, bytes]]:
        raw._generator = Dealt(cards)
        game.reset()
        found = []
        for agent in game.agent_iter():
            observation, _, termination, _, _ = game.last()
            if not termination:
                found.append((agent, observation["observation"].tobytes()))
            game.step(None if termination else CALL)
        return found

    board = [20, 21, 30, 41, 51]
    first = observations([0, 1, 2, 3, *board])
    assert len(first) == 8
    other_second, other_first = observations([0, 1, 8, 9, *board]), observations([8, 9, 2, 3, *board])
    for agent, same, different in (("player_0", other_second, other_first), ("player_1", other_first, other_second)):
        mine = [seen for seat, seen in first if seat == agent]
        assert mine == [seen for seat, seen in same if seat == agent]
        assert not set(mine) & {seen for seat, seen in different if seat == agent}
    river = observations([0, 1, 2, 3, *board[:4], 50])
    assert [a == b for a, b in zip(first, river, strict=True)] == [True] * 6 + [False] * 2


def test_limit_holdem_is_seen_as_nfsp_sees_it() -> None:
    game, generator = env("limit_holdem"), np.random.default_rng(5)
    rules, encoder = LimitRules.of(LimitHoldem()), Encoder()
    compared = 0
    for seed in range(20):
        game.reset(seed=seed)
        actions: list[int] = []
        while not game.terminations[game.agent_selection]:
            state: HoldemState = game.unwrapped._arrival.state
            cards = [*state.hands, *state.board, *(card for card in range(52) if card not in (*state.hands, *state.board))][:9]
            hands = rules.begin(torch.tensor([cards]))
            for action in actions:
                hands = rules.step(hands, torch.tensor([action])).hands
            observation = game.observe(game.agent_selection)
            known = encoder.encode(hands, torch.tensor([state.betting.actor]))[0]
            np.testing.assert_array_equal(observation["observation"][:NUM_BITS], known.numpy())
            np.testing.assert_array_equal(observation["action_mask"], rules.legal(hands)[0].numpy())
            actions.append(int(generator.choice(np.flatnonzero(observation["action_mask"]))))
            game.step(actions[-1])
            compared += 1
    assert compared > 60


def test_no_limit_moves_are_the_menu_and_sizes_are_seen() -> None:
    game = env("no_limit_holdem(menu=standard)", render_mode="ansi")
    rules = game.unwrapped.game
    assert game.action_space("player_0").n == 2 + rules.rules.most_raises
    lines, chosen = dict[bytes, tuple[int, ...]](), np.random.default_rng(6)
    for _ in range(300):
        game.unwrapped._generator = Dealt([0, 1, 2, 3, 20, 21, 30, 41, 51])
        game.reset()
        line: tuple[int, ...] = ()
        while not game.terminations[game.agent_selection]:
            observation, legal = game.observe(game.agent_selection), game.unwrapped._legal
            assert list(legal.values()) == sorted(rules.legal_actions(game.unwrapped._arrival.state))
            assert observation["observation"].min() >= 0.0
            assert observation["observation"].max() <= 1.0
            assert lines.setdefault(observation["observation"].tobytes(), line) == line
            move = int(chosen.choice([one for one in legal if legal[one] != 0]))
            line = (*line, legal[move])
            game.step(move)
    assert max(map(len, lines.values())) > 8
    game.reset(seed=0)
    assert game.unwrapped.action_names() == {0: "fold", 1: "call", 2: "raise to 250"}
    game.step(2)
    assert game.render() == "raise to 250"


@pytest.mark.parametrize(("name", "worst"), [("kuhn_poker", -2.0), ("leduc_poker", -13.0), ("limit_holdem", -240.0)])
def test_an_illegal_move_loses_as_much_as_can_be_lost(name: str, worst: float, caplog: pytest.LogCaptureFixture) -> None:
    game = env(name)
    game.reset(seed=0)
    offender = game.agent_selection
    illegal = int(np.flatnonzero(game.last()[0]["action_mask"] == 0)[0]) if name != "limit_holdem" else None
    if illegal is None:  # everything is legal at the start; after a call there is nothing to fold to
        game.step(CALL)
        offender, illegal = game.agent_selection, 0
    game.step(illegal)
    assert "Illegal move made" in caplog.text
    assert game.terminations == {"player_0": True, "player_1": True}
    assert game.rewards == {offender: worst, **{agent: 0 for agent in game.agents if agent != offender}}
    for _ in game.agent_iter():
        game.step(None)
    assert game.agents == []
    cheap = env(name, illegal_reward=-0.5)
    assert cheap.env.env._illegal_value == -0.5


def test_wrong_uses_fail_as_pettingzoo_expects() -> None:
    game = env("kuhn_poker")
    with pytest.raises(AttributeError, match="before reset"):
        _ = game.agent_selection
    game.reset(seed=0)
    with pytest.raises(AssertionError, match="not in action space"):
        game.step(17)
    with pytest.raises(tacit.TacitError, match="0 is not a legal action here"):
        game.unwrapped.step(0)
    with pytest.raises(tacit.TacitError, match="no render mode 'human'"):
        env("kuhn_poker", render_mode="human")
    with pytest.raises(tacit.TacitError, match="gives no information_state_tensor"):
        env("openspiel:coordinated_mp")


def test_without_pettingzoo_a_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    monkeypatch.delitem(sys.modules, "tacit.pettingzoo.environment")
    with pytest.raises(tacit.TacitError, match=r"pip install 'tacit\[pettingzoo\]'"):
        env("kuhn_poker")


def test_a_waiting_player_sees_its_last_decision_and_no_legal_move() -> None:
    game, generator = env("leduc_poker"), np.random.default_rng(7)
    last: dict[int, Any] = {}
    for seat, observation in steps(game, 8, 20, generator):
        other = game.observe(f"player_{1 - seat}")
        assert not other["action_mask"].any()
        if len(game.unwrapped._seen) > 1:
            np.testing.assert_array_equal(other["observation"], last[1 - seat])
        assert observation["observation"][-2:].tolist() == [float(seat == 0), float(seat == 1)]
        last[seat] = observation["observation"]


def test_seeds_and_copies_repeat_a_game() -> None:
    def played(game: Any, seed: int) -> list[bytes]:
        return [one["observation"].tobytes() for _, one in steps(game, seed, 10, np.random.default_rng(0))]

    game = env("leduc_poker")
    assert played(game, 1) == played(game, 1)
    assert played(game, 1) != played(game, 2)
    assert played(pickle.loads(pickle.dumps(game)), 1) == played(game, 1)
    game.reset(seed=1)
    hands = []
    for _ in range(30):
        hands.append(game.last()[0]["observation"].tobytes())
        game.reset()
    assert any(one != other for one, other in pairwise(hands))  # without a seed the random stream goes on
