"""The hold'em search agent: it plays solutions, answers bets it does not know, remembers, and shows its thinking."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import tacit
from tacit.agents.bots import RandomBot
from tacit.agents.hand_planner import HandPlanner
from tacit.agents.hand_search import HandSearch
from tacit.agents.search import SearchAgent
from tacit.agents.table import Table, play_game
from tacit.cards import NUM_HANDS, hand_index, hand_name, parse_cards
from tacit.cards.equity import random_hand_equities
from tacit.cards.hands import meetings, possible_hands
from tacit.cards.ranges import parse_range
from tacit.errors import TacitError
from tacit.games.base import TERMINAL
from tacit.games.betting import CALL
from tacit.games.holdem import Holdem
from tacit.games.public_hand import CARD, PublicHand
from tacit.kernels.hand_leaves import HandStates
from tacit.kernels.numba_hands import HandPasses
from tacit.leaves.check_down import CheckDownLeaves
from tacit.solvers.schedules import find_schedule, iteration_weights
from tacit.tree.hand_builder import build_hand_tree
from tacit.tree.hand_tree import START

RIVER = "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=10000,bets=0.5|1|allin,raises=1)"
RANGES = "range0=KK|QQ|A5s|87s|JTs,range1=AKs|TT|99|65s|QJs"


def agent_for(name: str, iterations: int = 60, seed: int = 0) -> SearchAgent:
    game = tacit.load_game(name)
    assert isinstance(game, Holdem)
    generator = np.random.default_rng(seed)
    return SearchAgent(HandPlanner(HandSearch(game, iterations=iterations)), generator, "holdem-search")


def test_it_plays_the_solution_of_the_river() -> None:
    """Over many deals, each first action must occur as often as the solution says, summed over the hands dealt."""
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
    assert agent.policy.searches == 1  # the same situation came up 400 times
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
def test_it_knows_where_hands_of_every_kind_stand(name: str) -> None:
    """At every decision until the hand ends, from observations alone; a random player leads everywhere."""
    game, agents = tacit.load_game(name), [agent_for(name, 4, seed) for seed in (0, 1)]
    generator = np.random.default_rng(2)
    bot = RandomBot(generator)
    for seats in 4 * [agents, [agents[0], bot], [bot, agents[0]]]:
        table, decisions = Table(game, generator), 0
        for seat, player in enumerate(seats):
            player.start(seat)
        while table.actor != TERMINAL:
            for seat, (player, sight) in enumerate(zip(seats, table.sights, strict=True)):
                assert sight is not None
                player.observe(sight)
                if isinstance(player, SearchAgent):
                    state = table._state
                    walk = player.planner._walk
                    assert (walk.public.board, walk.public.betting) == (state.board, state.betting)
                    assert walk.hand == hand_index(*state.hands[2 * seat : 2 * seat + 2])
            table.play(seats[table.actor].act())  # raises if the move is illegal
            decisions += 1
        assert decisions > 0
        assert abs(table.returns[0]) in (0.0, *table._state.betting.spent)  # what the loser had put in


def test_a_bet_it_does_not_know_is_added_to_its_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree's menu is cut down to the pot and all-in; the table still offers half the pot."""
    monkeypatch.setattr("tacit.agents.budget.MAX_ENTRIES", {None: 20_000})
    name = f"{RIVER[:-1]},{RANGES})"
    game, agent = tacit.load_game(name), agent_for(name)
    table = Table(game, np.random.default_rng(3))
    agent.start(1)
    table.play(2_000)  # half the pot of 2,000, on top of the 1,000 each has put in
    assert table.actor == 1
    for sight in [table.sights[1]]:
        assert sight is not None
        agent.observe(sight._replace(public=("3s7hTdKs2c", "bet to 2000"), private=("QsJs",)))
    assert agent.act() in table.sights[1].legal_actions  # type: ignore[union-attr]
    assert agent.policy.searches == 1  # it did not search without the bet first
    assert 2_000 in agent.policy.situation(agent.planner._walk.public).solution.tree.actions(0)
    assert agent.policy.searches == 1  # nothing was searched again


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


def heard(game: Holdem, *words: str) -> PublicHand:
    public = PublicHand.start(game)
    for word in words:
        public = public.hear(word)
    return public


SHALLOW = "no_limit_holdem(stack=1000,bets=1|allin,raises=allin)"


def test_before_the_turn_it_solves_to_the_end_of_the_round_and_carries_ranges_on() -> None:
    agent = agent_for(SHALLOW, 40)
    game, search = agent.policy.game, agent.policy
    before = search.situation(heard(game))
    assert before.solution.tree.blocks.width(0) == NUM_HANDS
    shares = search.probabilities(heard(game))
    np.testing.assert_allclose(shares.sum(axis=0), 1.0, atol=1e-6)
    folds, aces = shares[0], hand_index(*parse_cards("AsAh"))
    assert folds[aces] < 0.01
    assert folds[hand_index(*parse_cards("3c2d"))] > 0.9
    raised, called = heard(game, "raise to 300"), heard(game, "raise to 300", "call", "KdTh7s")
    assert search.searches == 1
    calls = search.probabilities(raised)[raised.actions.index(CALL)]
    flop = search.situation(called)
    assert search.searches == 2
    assert flop.board == parse_cards("KdTh7s")
    possible = possible_hands(flop.board)
    np.testing.assert_allclose(flop.ranges[0], calls * possible, atol=1e-6)  # the caller's range, by Bayes' rule
    np.testing.assert_allclose(flop.ranges[1], shares[game.rules.actions(game.rules.start()).index(300)] * possible, atol=1e-6)
    turn = search.situation(heard(game, "raise to 300", "call", "KdTh7s", "check", "check", "2c"))
    assert search.searches == 3
    assert len(turn.solution.tree.blocks.board) == 1 + 48  # the tree reaches the end of the hand


def test_bets_it_considers_are_bets_of_the_table() -> None:
    """A game with its own sizes, and more of them than the search uses."""
    game = tacit.load_game("no_limit_holdem(bets=0.4|0.6|0.9|1.3|3,raises=0.4|0.7|1.1)")
    assert isinstance(game, Holdem)
    search, public = HandSearch(game, iterations=2), heard(game)
    assert len(search.situation(public).solution.tree.actions(0)) < len(public.actions)
    np.testing.assert_allclose(search.probabilities(public).sum(axis=0), 1.0, atol=1e-6)


def test_its_view_has_the_values_of_the_rest_of_the_hand() -> None:
    """On a river in a tree that starts on the turn: beliefs, strategy and values equal those of the river alone."""
    agent = agent_for("turn_endgame_holdem(stack=3000)", 30)
    agent.planner._walk.public = heard(agent.policy.game, "3s7hTdKs", "check", "bet to 2000", "call", "2c", "check")
    view, now = agent.view(), agent.policy.situation(agent.planner._walk.public)
    assert view is not None
    assert agent.policy.searches == 1
    tree, node = now.solution.tree, now.spot.node
    river = build_hand_tree(None, agent.policy.game.rules, now.board, now.ranges_here(), now.betting)
    first = int(tree.entry_offset[tree.first_entry[node]])
    strategy = now.solution.probabilities[first : first + river.num_entries]
    passes = HandPasses(river, np.float64)
    assert view.actor == 1
    assert view.actions == river.action_names(0) == ["check", "bet to 3000"]
    order = np.argsort(river.blocks.hands(0))
    assert view.private_states[0] == [hand_name(hand) for hand in river.blocks.hands(0)[order]]
    np.testing.assert_allclose(view.strategy, river.decision(strategy, 0).T[order])
    for player in (0, 1):
        layout = passes.entries(strategy)
        cfv = passes.values(player, layout, passes.reach(1 - player, layout))
        weighted = (cfv * river.root_reach[player])[order]
        np.testing.assert_allclose(view.beliefs[player] * view.values[player], weighted, atol=2e-2)
        assert view.beliefs[player].sum() == pytest.approx(1.0)
        assert view.in_short is not None
        assert parse_range(view.in_short[player]).max() == 1.0
    values = [float(view.beliefs[player] @ view.values[player]) for player in (0, 1)]
    assert values[0] == pytest.approx(-values[1], abs=0.1)
    assert abs(values[0]) > 1.0


def test_a_leaf_promises_the_mean_of_what_it_promises_after_each_card() -> None:
    agent = agent_for(SHALLOW, 10)
    search, evaluator = agent.planner.search, CheckDownLeaves()
    leaf = search._act(search.situation(heard(search.game, "raise to 300", "call", "KdTh7s", "check")), (0, CALL), 0)
    for player in (0, 1):
        beliefs = leaf.ranges_here()[1 - player]
        total = np.zeros(NUM_HANDS)
        for card in set(range(52)) - set(leaf.board):
            after = leaf.deal((CARD, card))
            total += search.promised(after, player) * meetings(beliefs * possible_hands(after.board))
        states = HandStates([leaf.board], [leaf.betting])
        both = torch.from_numpy(np.concatenate([beliefs, beliefs])[:, None])
        expected = evaluator.evaluate(states, both).numpy()[:NUM_HANDS, 0]  # 45 = 52 - 3 - 4 cards can come
        np.testing.assert_allclose(total / 45, expected, atol=1e-6 * beliefs.sum() * 300)


@pytest.mark.parametrize(("safety", "least", "most"), [("re-solving", 0.0, 10.0), ("unsafe", 300.0, 10_000.0)])
def test_re_solving_leaves_the_opponent_what_it_was_promised_whatever_is_believed(
    safety: str, least: float, most: float
) -> None:
    """Player 0 re-solves a river and now believes the opponent holds nothing good: chips the opponent gains, pot 2,000."""
    game = tacit.load_game(RIVER)
    assert isinstance(game, Holdem)
    search = HandSearch(game, iterations=400, safety=safety)
    before = search.situation(heard(game))
    tree = before.solution.tree
    kept = search.promised(before.leave(), 1)
    weak = before.ranges[1] * (random_hand_equities(before.board) < 0.3)
    again = search._search(replace(before.leave(), ranges=(before.ranges[0], weak)), 0, ())
    passes = HandPasses(again.tree, np.float64, keep=True)
    reach = passes.reach(0, passes.entries(again.probabilities))
    won = passes.best_response(1, reach)[0] / passes.node_likelihood(1, 0, reach).clip(1e-12)
    gained = won - kept[again.tree.hands(START)]
    assert tree.num_entries == again.tree.num_entries
    assert least <= gained.clip(0.0).mean() < most


class Quantile:
    """Stands in for a generator that always draws the same number."""

    def __init__(self, number: float) -> None:
        self.number = number

    def random(self, count: int) -> np.ndarray:
        return np.full(count, self.number)


@pytest.mark.parametrize("solver", ["linear-cfr", "linear-fp"])
def test_the_iterations_that_are_sampled_make_up_the_average(solver: str) -> None:
    """At the root, which every hand reaches, the strategies of all iterations average to the average strategy."""
    game, count = tacit.load_game(RIVER), 12
    assert isinstance(game, Holdem)
    average = HandSearch(game, iterations=count, solver=solver).probabilities(heard(game))
    weights = iteration_weights(find_schedule(solver), count)
    shares = weights / weights.sum()
    middles = np.cumsum(shares) - shares / 2
    drawn = []
    for middle in middles:
        search = HandSearch(game, iterations=count, solver=solver, safety="sampled", generator=Quantile(middle))  # type: ignore[arg-type]
        drawn.append(search.probabilities(heard(game)))
    if solver == "linear-fp":  # it plays the average up to the sampled iteration
        np.testing.assert_allclose(drawn[-1], average, atol=1e-6)
    else:
        possible = possible_hands(game.known_board) > 0
        np.testing.assert_allclose(np.tensordot(shares, drawn, 1)[:, possible], average[:, possible], atol=1e-5)


def test_who_samples_draws_once_a_hand_and_tells_nobody() -> None:
    game = tacit.load_game(RIVER)
    assert isinstance(game, Holdem)
    planner = HandPlanner(HandSearch(game, iterations=50, safety="sampled", generator=np.random.default_rng(1)))
    assert planner.policy is None
    seen = []
    for _ in range(3):
        planner.start(1)
        first, second = (planner.search.probabilities(heard(game)) for _ in (0, 1))
        np.testing.assert_array_equal(first, second)
        seen.append(first)
    assert not np.allclose(seen[0], seen[1])
    assert not np.allclose(seen[1], seen[2])
