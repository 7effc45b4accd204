"""AIVAT on hold'em's vectors over hands: unbiased by enumeration on a turn, far less noisy, and right in the full game."""

import math
from itertools import islice

import numpy as np
import pytest

from tacit.agents.base import Agent
from tacit.agents.hand_planner import HandPlanner
from tacit.agents.hand_policy import HAND_POLICIES, HandAgent, HandPolicy, SolvedPolicy
from tacit.agents.hand_search import HandSearch
from tacit.agents.search import SearchAgent
from tacit.arena.aivat import AivatEstimator, Values, estimate
from tacit.arena.aivat_cases import hand_line, make_estimator
from tacit.arena.hand_values import check_down, self_play, tabulate_game
from tacit.arena.match import play_deals
from tacit.artifacts import load_agent
from tacit.cards import hand_index, parse_cards
from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.games.base import CHANCE, TERMINAL
from tacit.games.holdem import Holdem, HoldemState
from tacit.games.public_hand import PublicHand
from tacit.kernels.numba_hands import HandPasses
from tacit.solvers import solve
from tacit.tally import Tally
from tacit.tree.compiler import compile_for_solving
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.hand_tree import HandTree
from tacit.tree.public_tree import Floats
from tests.unit.test_aivat import Stranger
from tests.unit.test_arena import rng

SMALL = "no_limit_holdem(board=3s7hTdKs,pot=2000,stack=3000,bets=1,range0=QhQd|AhKh|6s5s:0.5,range1=JhJd|KhQh)"
TURN = "no_limit_holdem(board=3s7hTdKs,pot=2000,stack=6000,bets=1|allin,raises=allin)"


def endgame(name: str) -> tuple[Holdem, HandTree]:
    game = load_game(name)
    tree = compile_for_solving(game)
    assert isinstance(game, Holdem)
    assert isinstance(tree, HandTree)
    return game, tree


def some_strategy(tree: HandTree, seed: int) -> Floats:
    return tree.normalise(np.random.default_rng(seed).random(tree.num_entries) ** 3)


def value_of(tree: HandTree, first: Floats, second: Floats) -> float:
    """Returns player 0's exact value if the first strategy plays seat 0 and the second seat 1."""
    return evaluate(HandPasses(tree, np.float64), np.where(tree.entry_player == 0, first, second)).value


class Ends:
    """All ends of a game under two players' policies: the public end, both hands, the probability and the payoff."""

    def __init__(self, game: Holdem, policies: tuple[HandPolicy, HandPolicy]) -> None:
        self._game, self._policies = game, policies
        self.found: list[tuple[PublicHand, tuple[int, int], float, float]] = []
        self._walk(game.initial_state(), PublicHand.start(game).dealt(game.known_board), 1.0)

    def _walk(self, state: HoldemState, public: PublicHand, likely: float) -> None:
        actor = self._game.actor(state)
        if actor == CHANCE:
            for card, chance in self._game.chance_outcomes(state):
                after = self._game.apply(state, card)
                self._walk(after, public.dealt((card,)) if len(state.hands) == 4 else public, likely * chance)
            return
        hands = hand_index(*state.hands[:2]), hand_index(*state.hands[2:])
        if actor == TERMINAL:
            self.found.append((public, hands, likely, self._game.returns(state)[0]))
            return
        shares = self._policies[actor].probabilities(public)[:, hands[actor]]
        for action, share in zip(public.actions, shares, strict=True):
            self._walk(self._game.apply(state, action), public.after(action), likely * share)


@pytest.mark.parametrize(
    "known", [(True, True), *(pytest.param(known, marks=pytest.mark.slow) for known in ((True, False), (False, True)))]
)
def test_exactly_unbiased_over_all_histories_of_a_turn_endgame(known: tuple[bool, bool]) -> None:
    """Over every river and every action, the mean estimate equals the value to 1e-9 for any value function."""
    game, tree = endgame(SMALL)
    first, second = some_strategy(tree, 1), some_strategy(tree, 2)
    exact = value_of(tree, first, second)
    policies = SolvedPolicy(HandStrategy(tree, first)), SolvedPolicy(HandStrategy(tree, second))
    ends = Ends(game, policies).found
    assert len(ends) > 1_000
    assert math.fsum(likely for _, _, likely, _ in ends) == pytest.approx(1.0, abs=1e-12)
    assert math.fsum(likely * payoff for _, _, likely, payoff in ends) == pytest.approx(exact, abs=1e-9)
    told = [policy if says else None for policy, says in zip(policies, known, strict=True)]
    seat = known.index(True)
    functions: list[Values] = [check_down, self_play(tree, (first, second)[seat], seat)]
    for values in functions:
        estimates: dict[tuple[object, ...], float] = {}
        total = []
        for public, hands, likely, _ in ends:
            key = (public.path, *(hand for hand, says in zip(hands, known, strict=True) if not says))  # all it may use
            if key not in estimates:
                estimates[key] = estimate(hand_line(public, hands), told, values)
            total.append(likely * estimates[key])
        assert math.fsum(total) == pytest.approx(exact, abs=1e-9)


def test_players_who_are_both_known_with_their_own_values_leave_nothing_to_luck() -> None:
    game, tree = endgame(SMALL)
    strategy = some_strategy(tree, 1)
    policy = SolvedPolicy(HandStrategy(tree, strategy))
    values, exact = self_play(tree, strategy, 0), value_of(tree, strategy, strategy)
    for public, hands, _, _ in Ends(game, (policy, policy)).found[::97]:
        assert estimate(hand_line(public, hands), (policy, policy), values) == pytest.approx(exact, abs=1e-9)


def played(game: Holdem, agents: list[Agent], estimator: AivatEstimator, number: int) -> tuple[Tally, Tally]:
    raw, less = Tally(), Tally()
    for deal in islice(play_deals(game, agents, rng(5), duplicate=False, estimator=estimator), number):
        raw.add(deal.payoffs[0])
        less.add(deal.result)
    return raw, less


def assert_means(exact: float, *tallies: Tally) -> None:
    for tally in tallies:
        assert tally.deviation is not None
        assert tally.mean == pytest.approx(exact, abs=4 * tally.deviation / math.sqrt(tally.count))


@pytest.mark.parametrize(("both", "factor"), [(True, 15.0), pytest.param(False, 3.0, marks=pytest.mark.slow)])
def test_the_deviation_falls_on_a_turn_with_all_hands(both: bool, factor: float) -> None:
    """By a factor of 19 if both players are known and of 4 if one is, with every hand dealt only once."""
    game, tree = endgame(TURN)
    solved, rough = solve(game, iterations=60).strategy, solve(game, iterations=4).strategy
    assert isinstance(solved, HandStrategy)
    assert isinstance(rough, HandStrategy)
    exact = 0.5 * value_of(tree, solved.probabilities, rough.probabilities)
    exact -= 0.5 * value_of(tree, rough.probabilities, solved.probabilities)
    agents: list[Agent] = [
        HandAgent(game, SolvedPolicy(solved), rng(1), "A"),
        HandAgent(game, SolvedPolicy(rough), rng(2), "B"),
    ]
    estimator = make_estimator(game, agents if both else [agents[0], Stranger(agents[1])])
    assert estimator.values[0] is not check_down
    raw, less = played(game, agents, estimator, 400)
    assert_means(exact, raw, less)
    assert raw.deviation is not None
    assert less.deviation is not None
    assert less.deviation < raw.deviation / factor


@pytest.mark.slow
@pytest.mark.parametrize("both", [True, False])
def test_the_full_game_from_before_the_flop(both: bool) -> None:
    """Its tree is too large, so checking down gives the values. Raw and estimated means agree, and the deviation falls."""
    game = load_game("no_limit_holdem")
    assert isinstance(game, Holdem)
    agents = [load_agent(name, game, rng(seed)) for seed, name in enumerate(("random", "always-call"))]
    estimator = make_estimator(game, agents if both else [agents[0], Stranger(agents[1])])
    assert estimator.values[0] is check_down
    raw, less = played(game, agents, estimator, 60)
    assert raw.deviation is not None
    assert less.deviation is not None
    assert less.deviation < raw.deviation / (3.0 if both else 1.2)
    assert less.mean == pytest.approx(raw.mean, abs=4 * raw.deviation / math.sqrt(raw.count))


def test_it_takes_what_a_search_says_of_all_hands() -> None:
    """A searching agent's strategy is known as it plays: the probabilities it drew its move from, for the hand it holds."""
    game, _ = endgame(TURN)
    agent = SearchAgent(HandPlanner(HandSearch(game, iterations=5)), rng(0), "holdem-search")
    agents: list[Agent] = [agent, load_agent("always-call", game, rng(1))]
    estimator = make_estimator(game, agents)
    assert estimator.values[0] is not check_down  # self-play of always-call, because a search is too slow to tabulate
    raw, less = played(game, agents, estimator, 60)
    assert agent.policy.searches == 1
    assert raw.deviation is not None
    assert less.deviation is not None
    assert less.deviation < raw.deviation / 3
    assert less.mean == pytest.approx(raw.mean, abs=4 * raw.deviation / math.sqrt(raw.count))


def test_one_player_has_to_be_known_and_to_play_as_it_says() -> None:
    game, tree = endgame(SMALL)
    strangers = [Stranger(load_agent("random", game, rng(0))) for _ in range(2)]
    with pytest.raises(TacitError, match="strategy is known: that of it or it"):
        make_estimator(game, strangers)
    end = PublicHand.start(game).dealt(game.known_board).after(3_000).after(0)
    held = hand_index(*parse_cards("QhQd")), hand_index(*parse_cards("JhJd"))
    with pytest.raises(TacitError, match="player 0 made a move that its policy never makes"):
        estimate(hand_line(end, held), (HAND_POLICIES["always-call"], None), check_down)
    off_menu = PublicHand.start(game).dealt(game.known_board).after(2_000).after(0)
    with pytest.raises(TacitError, match="player 0 made a move that its policy never makes"):
        estimate(hand_line(off_menu, held), (HAND_POLICIES["random"], None), check_down)
    assert estimate(hand_line(off_menu, held), (None, HAND_POLICIES["random"]), check_down) > 0  # an unknown player may make it
    asked, played = tabulate_game(HAND_POLICIES["random"], game)
    assert asked.num_entries == tree.num_entries
    np.testing.assert_allclose(played, tree.uniform_strategy())
