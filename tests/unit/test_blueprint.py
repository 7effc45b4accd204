"""The blueprint: canonical boards, buckets, the betting tree, deals, and MCCFR against known or exactly solved values."""

from collections import Counter
from itertools import combinations

import numba
import numpy as np
import pytest

import tacit
from tacit.agents.blueprint import BlueprintPolicy
from tacit.arena.endgames import endgame_quality
from tacit.blueprint.betting_tree import FOLD_END, NO_ACTION, SHOWDOWN_END, build_betting_tree
from tacit.blueprint.boards import NO_ROW, board_rows
from tacit.blueprint.buckets import ALL, CardAbstraction, bucket_tables, find_abstraction
from tacit.blueprint.clusters import find_centres, nearest_centres
from tacit.blueprint.config import BlueprintConfig
from tacit.blueprint.deals import BATCH, Alias, deal, deal_tables, make_deals
from tacit.blueprint.features import BINS, feature_tables, river_bins, street_features
from tacit.blueprint.mccfr import play
from tacit.blueprint.menus import cut_rules
from tacit.blueprint.train import BlueprintTrainer
from tacit.blueprint.trained import BlueprintStrategy, quantise
from tacit.cards.deck import parse_cards
from tacit.cards.equity import random_hand_equities
from tacit.cards.hands import HANDS, NUM_HANDS, possible_hands
from tacit.cards.strength import hand_strengths
from tacit.cards.suits import IDENTITY, RENAMED_CARDS, RENAMED_HANDS, symmetries
from tacit.errors import TacitError
from tacit.games import load_game
from tacit.games.holdem import Holdem
from tacit.games.holdem_size import DECISION, count_betting
from tacit.random_numbers import make_streams

EVERY_SUIT = symmetries((), (np.ones(NUM_HANDS), np.ones(NUM_HANDS)))
_THREE = "JcTc|QcTd|KcTh"
KUHN = (
    "no_limit_holdem(board=2c2d2h7s9s,pot=2,stack=2,small_blind=1,big_blind=1,bets=allin,raises=allin,"
    f"range0={_THREE},range1={_THREE})"
)
"""Three hands that never tie and exclude each other, an ante of one chip and a bet of one: Kuhn poker."""
RIVER_GAME = (
    "no_limit_holdem(board=3s7hTdKs2d,pot=200,stack=400,bets=1|allin,raises=allin,"
    "range0=AA|KK|QJs|T9s|87s|55,range1=AK|KQ|TT|99|65s|44)"
)


def holdem(name: str) -> Holdem:
    game = load_game(name)
    assert isinstance(game, Holdem)
    return game


def trained(name: str, iterations: int, epochs: int = 20, **settings: object) -> BlueprintTrainer:
    everything = {"flop": ALL, "turn": ALL, "river": ALL, "bets": "1|allin", "raises": "allin", **settings}
    config = BlueprintConfig(epoch_iterations=iterations // epochs, epochs=epochs, threads=1, **everything)  # type: ignore[arg-type]
    trainer = BlueprintTrainer(holdem(name), config)
    for _ in range(epochs):
        trainer.run_epoch()
    return trainer


def policy_of(trainer: BlueprintTrainer) -> BlueprintPolicy:
    game, strategy = trainer.game, quantise(trainer.strategy())
    assert isinstance(game, Holdem)
    return BlueprintPolicy(BlueprintStrategy(game, trainer.tree, trainer.abstraction, strategy, trainer.iterations))


@pytest.mark.parametrize(("num_cards", "count"), [(3, 1_755), (4, 16_432), pytest.param(5, 134_459, marks=pytest.mark.slow)])
def test_boards_that_differ_in_suits_share_a_row(num_cards: int, count: int) -> None:
    """The numbers of distinct flops, turns and rivers are well known."""
    rows = board_rows(num_cards, (), EVERY_SUIT)
    assert len(rows.boards) == count
    assert set(np.unique(rows.row)) == set(range(count))
    generator = np.random.default_rng(0)
    every = list(combinations(range(52), num_cards))
    for number in generator.integers(len(every), size=50):
        cards = list(every[number])
        place = sum(_choose(card, i + 1) for i, card in enumerate(cards))
        renamed = sorted(RENAMED_CARDS[rows.rename[place], cards].tolist())
        assert renamed == sorted(rows.boards[rows.row[place]].tolist())


def _choose(card: int, count: int) -> int:
    return int(np.prod([card - i for i in range(count)]) // np.prod(range(1, count + 1)))


def test_boards_of_an_endgame_hold_its_cards() -> None:
    known = parse_cards("3s7hTdKs")
    rows = board_rows(5, known, (IDENTITY,))
    assert len(rows.boards) == 48
    assert all(set(known) < set(board) for board in rows.boards.tolist())
    assert (rows.row != NO_ROW).sum() == 48


def test_river_features_are_how_often_hands_beat_groups_of_hands() -> None:
    board = parse_cards("3s7hTdKs2d")
    features, group, strength = street_features(board), feature_tables().group, hand_strengths(board)
    assert np.ptp(np.bincount(group)) < 30  # eight groups of about the same number of hands
    for hand in (10, 500, 900, 1_300):
        if strength[hand] < 0:
            continue
        met = possible_hands((*board, *HANDS[hand].tolist()))
        for number in range(8):
            others = strength[met & (group == number)]
            wins = (others < strength[hand]).sum() + 0.5 * (others == strength[hand]).sum()
            assert features[hand, number] == pytest.approx(wins / len(others), abs=1e-6)


def test_intervals_of_strength_are_those_of_equities() -> None:
    board = parse_cards("AhKh9c5d2s")
    bins, equity, possible = river_bins(board), random_hand_equities(board), possible_hands(board)
    np.testing.assert_array_equal(bins[possible], np.minimum(np.floor(equity[possible] * BINS + 1e-9), BINS - 1))
    assert (bins[~possible] == BINS).all()


def test_turn_features_are_the_distribution_over_rivers() -> None:
    board = parse_cards("3s7hTdKs")
    features = street_features(board)
    for hand in (30, 700, 1_250):
        rivers = [card for card in range(52) if card not in (*board, *HANDS[hand])]
        bins = np.array([river_bins((*board, card))[hand] for card in rivers])
        expected = [(bins <= interval).mean() for interval in range(BINS - 1)]
        np.testing.assert_allclose(features[hand], expected, atol=1e-6)


@pytest.mark.parametrize("board", ["3s7hTdKs2d", "3s7hTdKs"])
def test_features_do_not_depend_on_names_of_suits(board: str) -> None:
    cards = parse_cards(board)
    for number in (5, 17):
        renamed = tuple(int(card) for card in RENAMED_CARDS[number, list(cards)])
        possible = possible_hands(cards)
        ours, theirs = street_features(cards), street_features(renamed)[RENAMED_HANDS[number]]
        np.testing.assert_array_equal(ours[possible], theirs[possible])


def test_nearest_centres_are_nearest() -> None:
    generator = np.random.default_rng(1)
    points = generator.random((500, 8)).astype(np.float32)
    centres = find_centres(points, 37, generator)
    assert centres.shape == (37, 8)
    distance = np.square(points[:, None].astype(np.float64) - centres).sum(axis=2)
    np.testing.assert_array_equal(nearest_centres(points, centres), distance.argmin(axis=1))
    spread = np.square(points - points.mean(axis=0)).sum()
    assert distance.min(axis=1).sum() < 0.6 * spread
    few = np.repeat(points[:5], 10, axis=0)
    assert sorted(map(tuple, find_centres(few, 10, generator))) == sorted(map(tuple, points[:5]))


@pytest.mark.parametrize("buckets", [(30, 30, 30), (ALL, 20, 10), (20, 20, ALL)])
def test_tables_of_buckets_are_what_single_boards_say(buckets: tuple[int | str, int | str, int | str]) -> None:
    """On this turn clubs and hearts are interchangeable, so rivers of hearts share their rows with rivers of clubs."""
    game = holdem("no_limit_holdem(board=3s7sTdKd,pot=200)")
    abstraction = find_abstraction(game, buckets, 0)
    tables = bucket_tables(abstraction, 2)
    for board in ("3s7sTdKd", "3s7sTdKd2c", "3s7sTdKd2h", "3s7sTdKdAs"):
        cards = parse_cards(board)
        street, possible = len(cards) - 3, possible_hands(cards)
        place = sum(_choose(card, i + 1) for i, card in enumerate(sorted(cards)))
        names = tables.renamed_hands[tables.rename[street][place]]
        found = tables.bucket[street][tables.row[street][place]][names]
        np.testing.assert_array_equal(abstraction.row(cards)[possible], found[possible])
        assert found[possible].max() < abstraction.num_buckets[street + 1]
        if buckets[street] == ALL:
            assert len(set(found[possible])) == possible.sum()


def test_hands_alike_but_for_suits_fall_into_one_bucket() -> None:
    game = holdem("limit_holdem")
    points = street_features(parse_cards("3s7hTdKs"))[:200:20]
    abstraction = CardAbstraction(game, (None, np.sort(points, axis=0), None))
    first, second = parse_cards("3s7hTdKs"), parse_cards("3h7sTdKh")
    swapped = next(n for n in range(24) if tuple(RENAMED_CARDS[n, list(first)]) == second)
    possible = possible_hands(first)
    ours, theirs = abstraction.row(first), abstraction.row(second)[RENAMED_HANDS[swapped]]
    np.testing.assert_array_equal(ours[possible], theirs[possible])


def test_the_betting_tree_has_all_sequences_once() -> None:
    game = holdem("no_limit_holdem(stack=2000)")
    rules = cut_rules(game.rules, "0.75|allin/0.5|1|allin/1/1", "1|allin", 2)
    tree = build_betting_tree(rules, (169, 7, 5, 3))
    counts = count_betting(rules)
    assert counts is not None
    assert tree.num_decisions == sum(number for (_, kind), number in counts.items() if kind == DECISION)
    assert len(tree.states) == sum(counts.values())
    seen, both = np.zeros(tree.num_entries, np.int64), list(zip(tree.states, tree.actions, strict=True))
    for node, actions in enumerate(tree.actions):
        if actions:
            part = tree.of_node(seen, node)
            assert part.shape == (tree.num_buckets[tree.states[node].street], len(actions))
            part += 1
            first = tree.after(node, actions[0])
            assert [tree.after(node, action) for action in actions] == list(range(first, first + len(actions)))
    np.testing.assert_array_equal(seen, tree.is_action)  # no entry belongs to two nodes, buckets or actions
    assert tree.is_action.sum() == sum(len(actions) * tree.num_buckets[betting.street] for betting, actions in both)
    data = tree.nodes.node
    folds, shows = data["kind"] == FOLD_END, data["kind"] == SHOWDOWN_END
    assert folds.sum() + shows.sum() + tree.num_decisions == len(data)
    opening = tree.after(0, 0)  # the button folds its small blind
    assert data[opening]["payoff"] == pytest.approx(0.5)
    assert data["payoff"][shows].max() == pytest.approx(20.0)


def test_menus_are_cut_from_the_games_own() -> None:
    rules = holdem("no_limit_holdem").rules
    cut = cut_rules(rules, "0.7|allin", "3", 1)
    start = cut.start()
    assert cut.actions(start) == (0, 1, 250, 20_000)  # the game's nearest size is three quarters of the pot
    after = cut.apply(start, 250)
    assert cut.actions(after) == (0, 1, 20_000)  # after one raise only all-in is left
    assert cut_rules(holdem("limit_holdem").rules, "1", "1", 1) == holdem("limit_holdem").rules
    with pytest.raises(TacitError, match="is not a menu"):
        cut_rules(rules, "1/1", "1", 1)


def test_alias_draws_by_weights() -> None:
    weights = np.array([0.0, 0.1, 1.0, 3.0, 0.5])
    alias = Alias.of(weights)
    drawn = alias.stays.copy()
    np.add.at(drawn, alias.alias, 1.0 - alias.stays)
    np.testing.assert_allclose(drawn / len(weights), weights / weights.sum(), atol=1e-12)


@numba.njit
def many_deals(tables, first_street, streams, boards, winners, buckets, hands):  # type: ignore[no-untyped-def]
    """Deals in batches, the last one smaller than the others."""
    deals = make_deals()
    for begin in range(0, len(winners), BATCH):
        some = min(BATCH, len(winners) - begin)
        deal(tables, first_street, streams, 0, deals, some)
        boards[begin : begin + some], winners[begin : begin + some] = deals.board[:some], deals.winner[:some]
        buckets[begin : begin + some], hands[begin : begin + some] = deals.bucket[:some], deals.hand[:some]


def test_deals_follow_the_ranges_and_tell_the_winner() -> None:
    """On a river with one bucket for each hand, buckets are hands."""
    game = holdem("no_limit_holdem(board=3s7hTdKs2d,pot=200,range0=AA:0.5|KQs|76s,range1=AK|66)")
    abstraction = find_abstraction(game, (ALL, ALL, ALL), 0)
    tables = deal_tables(game, bucket_tables(abstraction, 1))
    count = 200_000
    winners, buckets, boards = np.zeros(count), np.zeros((count, 2, 4), np.int64), np.zeros((count, 5), np.int64)
    many_deals(tables, 3, make_streams(0, 1), boards, winners, buckets, np.zeros((count, 2), np.int64))
    river = buckets[:, :, 3]
    assert {tuple(sorted(board)) for board in boards[:100].tolist()} == {tuple(sorted(game.known_board))}
    found, strength = Counter(map(tuple, river.tolist())), hand_strengths(game.known_board)
    inverse = abstraction.row(game.known_board)
    hand_of = {int(bucket): hand for hand, bucket in enumerate(inverse)}
    expected = {}
    for first in np.flatnonzero(game.ranges[0]):
        for second in np.flatnonzero(game.ranges[1]):
            if not set(HANDS[first]) & set(HANDS[second]):
                expected[first, second] = game.ranges[0][first] * game.ranges[1][second]
    total = sum(expected.values())
    assert {(hand_of[a], hand_of[b]) for a, b in found} == expected.keys()
    for (a, b), number in found.items():
        share = expected[hand_of[a], hand_of[b]] / total
        assert number / count == pytest.approx(share, abs=5 * (share / count) ** 0.5)
    for (a, b), winner in zip(river[:500].tolist(), winners[:500].tolist(), strict=True):
        assert winner == np.sign(int(strength[hand_of[a]]) - int(strength[hand_of[b]]))


def test_boards_of_deals_are_new_cards() -> None:
    """On every street: all cards of a deal differ, every card occurs, and buckets and winners match the cards."""
    game = holdem("no_limit_holdem(board=3s7sTd,pot=200,stack=400)")
    abstraction = find_abstraction(game, (10, 10, 10), 0)
    tables, count = deal_tables(game, bucket_tables(abstraction, 1)), 300
    winners, buckets, boards = np.zeros(count), np.zeros((count, 2, 4), np.int64), np.zeros((count, 5), np.int64)
    hands = np.zeros((count, 2), np.int64)
    many_deals(tables, 1, make_streams(0, 1), boards, winners, buckets, hands)
    cards = np.concatenate([boards, HANDS[hands].reshape(count, 4)], axis=1)
    assert all(len(set(row)) == 9 for row in cards.tolist())
    assert set(cards.ravel().tolist()) == set(range(52))
    for board, both, winner, own in zip(boards.tolist(), hands, winners, buckets, strict=True):
        strength = hand_strengths(tuple(board))
        assert winner == np.sign(int(strength[both[0]]) - int(strength[both[1]]))
        for street in (2, 3):
            np.testing.assert_array_equal(own[:, street], abstraction.row(tuple(board[: street + 2]))[both])


def test_mccfr_finds_the_value_of_kuhn_poker() -> None:
    """It is -1/18 for the first player (Kuhn 1950)."""
    trainer = trained(KUHN, 400_000, bets="allin")
    quality = endgame_quality(holdem(KUHN), [policy_of(trainer)])
    assert quality.value == pytest.approx(-1 / 18, abs=0.005)
    assert quality.exploitability < 0.005


def test_mccfr_without_abstraction_solves_a_river() -> None:
    """Against the exact solver: the same value, and exploitability below 0.3 % of the pot."""
    exact = tacit.solve(RIVER_GAME, solver="dcfr", iterations=300)
    short, long = (endgame_quality(holdem(RIVER_GAME), [policy_of(trained(RIVER_GAME, n))]) for n in (20_000, 1_000_000))
    assert long.value == pytest.approx(exact.value, abs=0.5)
    assert long.exploitability < 0.6
    assert short.exploitability > 2.0


def test_buckets_lose_little_on_a_river_and_more_on_a_turn() -> None:
    """Too few buckets, which forget the turn, cost something that more iterations do not recover."""
    river = endgame_quality(holdem(RIVER_GAME), [policy_of(trained(RIVER_GAME, 500_000, river=10))])
    assert river.exploitability < 1.0
    turn = RIVER_GAME.replace("3s7hTdKs2d", "3s7hTdKs")
    coarse, fine = (
        endgame_quality(holdem(turn), [policy_of(trained(turn, 300_000, turn=count, river=count))]).exploitability
        for count in (3, 50)
    )
    assert fine < 0.6 * coarse


@numba.njit
def played(sums, count, streams, averages, drawn):  # type: ignore[no-untyped-def]
    bounds = np.zeros(12, np.float32)
    for _ in range(40_000):
        drawn[play(sums, 0, count, bounds, streams, 0)] += 1
    for action in range(count):
        averages[action] = sums[8 * (action // 4) + 4 + action % 4]


@pytest.mark.parametrize("count", [2, 4, 5, 9])
@pytest.mark.parametrize("some_positive", [True, False])
def test_decisions_with_many_actions_are_drawn_and_averaged_like_others(count: int, some_positive: bool) -> None:
    """Regret matching over one, two and three blocks of four entries; entries without an action are never played."""
    regret = np.array([0.0, 3.0, -2.0, 1.0, 4.0, -1.0, 0.5, 2.0, 1.5], np.float32)[:count] * some_positive
    blocks = np.zeros((3, 2, 4), np.float32)
    blocks[:, 0] = NO_ACTION
    for action in range(count):
        blocks[action // 4, 0, action % 4] = regret[action]
    averages, drawn = np.zeros(count), np.zeros(12, np.int64)
    played(blocks.ravel(), count, make_streams(0, 1), averages, drawn)
    positive = np.maximum(regret, 0.0) if some_positive else np.ones(count)
    expected = positive / positive.sum()
    np.testing.assert_allclose(averages / 40_000, expected, rtol=1e-3)
    assert drawn[count:].sum() == 0
    np.testing.assert_allclose(drawn[:count] / 40_000, expected, atol=0.012)
    assert (drawn[:count][expected == 0.0] == 0).all()


def test_epochs_weigh_linearly() -> None:
    """Every iteration reaches the first decision, so its averages add up to the weights of all iterations."""
    trainer = trained(KUHN, 3_000, epochs=3, bets="allin")
    begun = trainer.tree.of_node(trainer.average, 0).sum()
    assert begun == pytest.approx(1_000 * (1 + 2 + 3) / 3, rel=1e-5)


def test_one_thread_repeats_itself_and_two_find_the_same_game() -> None:
    first, second = trained(KUHN, 20_000, bets="allin"), trained(KUHN, 20_000, bets="allin")
    np.testing.assert_array_equal(first.regret, second.regret)
    config = BlueprintConfig(flop=ALL, turn=ALL, river=ALL, bets="allin", epoch_iterations=50_000, threads=2)
    shared = BlueprintTrainer(holdem(KUHN), config)
    for _ in range(5):
        shared.run_epoch()
    assert endgame_quality(holdem(KUHN), [policy_of(shared)]).value == pytest.approx(-1 / 18, abs=0.02)


def test_the_same_betting_as_openspiel() -> None:
    """For fixed cards, the games of `tacit bench blueprint` have as many decisions in OpenSpiel as here."""
    pyspiel = pytest.importorskip("pyspiel")
    from tacit.bench.blueprint import CASES, OPENSPIEL, SETTINGS

    for case, name in CASES.items():
        rules = cut_rules(holdem(name).rules, *SETTINGS.values())  # type: ignore[arg-type]
        tree = build_betting_tree(rules, (1, 1, 1, 1))
        stack, decisions = [pyspiel.load_game(OPENSPIEL[case]).new_initial_state()], 0
        while stack:
            state = stack.pop()
            if state.is_chance_node():
                stack.append(state.child(state.chance_outcomes()[0][0]))
            elif not state.is_terminal():
                decisions += 1
                stack.extend(state.child(action) for action in state.legal_actions())
        assert decisions == tree.num_decisions, case
