"""Boards up to suits: symmetry must restore everything that a tree leaves out, for every real card and hand."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.agents.hand_policy import SolvedPolicy
from tacit.agents.hand_search import HandSearch
from tacit.cards import HANDS, NUM_HANDS, card_name, hand_index, hand_name, parse_cards, parse_range
from tacit.cards.deck import RANKS, SUITS
from tacit.cards.suits import COMPOSED, IDENTITY, INVERSE, RENAMED_CARDS, RENAMED_HANDS, symmetries
from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games.betting import CALL, FLOP, TURN, NoLimitBetting
from tacit.games.holdem import Holdem
from tacit.games.public_hand import PublicHand
from tacit.games.sizes import parse_menu
from tacit.kernels import make_passes
from tacit.kernels.numba_hands import HandPasses
from tacit.solvers import load_result
from tacit.solvers.result import SolveResult
from tacit.solvers.schedules import find_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.tree.compiler import compile_game
from tacit.tree.hand_builder import build_hand_tree, num_hand_entries
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.hand_tree import START, HandTree
from tacit.tree.public_tree import Floats
from tests.unit.test_hand_tree import SHORT_TURN, Endgame, as_public, solved

TURN_RULES = NoLimitBetting(1_000, 50, 100, TURN, 400, parse_menu("1|allin"))
FLOP_RULES = NoLimitBetting(300, 50, 100, FLOP, 400, parse_menu("allin"))
ALL = np.ones(NUM_HANDS)
GAME = "no_limit_holdem(board=2s5s9sKs,pot=400,stack=1000,bets=allin,raises=allin)"


def renamed(text: str, suits: tuple[str, ...]) -> str:
    """Returns a text of cards with suits renamed, letter by letter."""
    return text.translate(str.maketrans(SUITS, "".join(suits)))


def symmetric_range(board: tuple[int, ...], seed: int, hands: int = NUM_HANDS) -> Floats:
    """Returns random weights that the board's own renamings do not change: hands tie only by symmetry."""
    generator = np.random.default_rng(seed)
    weights = generator.random(NUM_HANDS) * (generator.permutation(NUM_HANDS) < hands)
    orbit = RENAMED_HANDS[list(symmetries(board, ()))].min(axis=0)
    return weights[orbit]


def in_full(tree: HandTree, full: HandTree, *numbers: Floats) -> list[Floats]:
    """Returns the numbers of a tree up to suits at every board of the full tree."""
    spread = [np.zeros(full.num_entries) for _ in numbers]
    strategies = [HandStrategy(tree, kept) for kept in numbers]
    for spot in full.decision_spots:
        here, path = START, full.path(spot)
        for _, what in path:
            here = tree.after(here, what)
        assert tree.path(here) == path
        assert tree.board(here) == full.blocks.board[full.block[spot.node]]
        for strategy, everywhere in zip(strategies, spread, strict=True):
            full.decision(everywhere, spot.node)[:] = strategy.played(here)[:, full.hands(spot)]
    return spread


def test_renaming_is_what_it_is_by_letters() -> None:
    for number, suits in enumerate(permutations(SUITS)):
        assert [card_name(card) for card in RENAMED_CARDS[number]] == [renamed(r + s, suits) for r in RANKS for s in SUITS]
        for hand in range(0, NUM_HANDS, 7):
            assert RENAMED_HANDS[number, hand] == hand_index(*parse_cards(renamed(hand_name(hand), suits)))
        np.testing.assert_array_equal(RENAMED_CARDS[INVERSE[number]][RENAMED_CARDS[number]], np.arange(52))
        for second in range(24):
            both = RENAMED_CARDS[number][RENAMED_CARDS[second]]
            np.testing.assert_array_equal(RENAMED_CARDS[COMPOSED[number, second]], both)


@pytest.mark.parametrize(
    ("board", "rules", "boards"),
    [
        ("3s7hTdKs", TURN_RULES, 1 + 48),  # no two suits are interchangeable
        ("2s5s9sKs", TURN_RULES, 1 + 9 + 13),  # nine spades, and thirteen ranks of another suit
        ("2s5h9sKh", TURN_RULES, 1 + 11 + 11 + 13),  # two suits absent
        ("2s2h9s9h", TURN_RULES, 1 + 11 + 13),  # two suits absent, two interchangeable
        ("2c2d2h2s", TURN_RULES, 1 + 12),
        ("2s5s9s", FLOP_RULES, 1 + 23 + 10 * (9 + 13) + 13 * (10 + 12 + 13)),
        ("2s5h9d", FLOP_RULES, 1 + 49 + 49 * 48),
        ("AsAh7s", FLOP_RULES, 1 + 11 + 12 + 13 + 11 * (10 + 12 + 13) + 12 * (11 + 11 + 13) + 13 * 48),
    ],
)
def test_one_board_of_each_orbit_is_kept(board: str, rules: NoLimitBetting, boards: int) -> None:
    start = parse_cards(board)
    tree = build_hand_tree(None, rules, start, (ALL, ALL))
    assert len(tree.blocks.board) == boards
    assert num_hand_entries(rules, start, (ALL, ALL)) == tree.num_entries
    # All cards in the order they come, under every renaming of suits that leaves the starting board unchanged.
    group = [s for s in permutations(SUITS) if {*parse_cards(renamed(board, s))} == {*start}]
    deals = {c: [(c,)] if len(start) == 4 else [(c, d) for d in range(52) if d not in (*start, c)] for c in range(52)}
    last = [deal for card in range(52) if card not in start for deal in deals[card]]
    orbits = {min(renamed("".join(map(card_name, deal)), suits) for suits in group) for deal in last}
    kept = [cards[len(start) :] for cards in tree.blocks.board if len(cards) == 5]
    assert len(kept) == len(orbits)
    assert {min(renamed("".join(map(card_name, deal)), suits) for suits in group) for deal in kept} == orbits
    real = [tree.board(spot) for spot in tree.decision_spots if len(tree.board(spot)) == 5]
    assert {cards[len(start) :] for cards in real} == (set(last) if real else set())


def test_ranges_switch_symmetry_off_exactly_where_it_is_none() -> None:
    board = parse_cards("2s5s9sKs")
    assert len(symmetries(board, (ALL, ALL))) == 6
    hearts = ALL.copy()
    hearts[hand_index(*parse_cards("AhQh"))] = np.nextafter(1.0, 2.0)  # one hand differs in the last bit
    assert [renamed("cdh", tuple(SUITS[s] for s in RENAMED_CARDS[g, :4])) for g in symmetries(board, (ALL, hearts))] == [
        "cdh", "dch",
    ]  # fmt: skip
    tree = build_hand_tree(None, TURN_RULES, board, (hearts, ALL))
    assert len(tree.blocks.board) == 1 + 9 + 13 + 13
    both = hearts.copy()
    both[hand_index(*parse_cards("AdQh"))] = 0.0
    assert symmetries(board, (both, ALL)) == (IDENTITY,)
    blocked = ALL.copy()
    blocked[hand_index(*parse_cards("KsQh"))] = 0.0  # nobody can hold it: the king is on the board
    assert len(symmetries(board, (blocked, ALL))) == 6


def played_on(tree: HandTree, full: HandTree, solver: str, iterations: int) -> list[tuple[HandPasses, Floats]]:
    """Returns passes and strategies of both trees after some iterations.

    They start from the same random numbers: from uniform play, hands would tie exactly and rounding alone would decide.
    """
    generator, state = np.random.default_rng(4), {}
    for name in ("regret", "average", "strategy"):
        numbers = generator.random(tree.num_entries) / 100
        for node in tree.decisions.tolist():
            part = tree.decision(numbers, node)
            part[:] = part[:, tree.blocks.renamed_lanes(int(tree.block[node])).min(axis=0)]
        state[name] = tree.normalise(numbers) if name == "strategy" else numbers
    found, in_all = [], dict(zip(state, in_full(tree, full, *state.values()), strict=True))
    for kept, start in ((tree, state), (full, in_all)):
        passes = HandPasses(kept, np.float64)
        learner = TabularDriver(passes, find_schedule(solver))
        learner.restore(start, 5)
        for _ in range(iterations):
            learner.step()
        found.append((passes, learner.average_strategy()))
    return found


@pytest.mark.parametrize(
    ("board", "solver"),
    [
        ("2s5s9sKs", "dcfr"),
        ("2s5s9sKs", "flop"),
        ("2s5h9sKh", "pcfr+"),
        pytest.param("2s2h9s9h", "dcfr", marks=pytest.mark.slow),
        ("2s2h9s9h", "linear-cfr"),
        ("AsAhAd7c", "cfr+"),
    ],
)
def test_turns_are_solved_as_without_symmetry(board: str, solver: str) -> None:
    start = parse_cards(board)
    ranges = symmetric_range(start, 0), symmetric_range(start, 1)
    tree = build_hand_tree(None, TURN_RULES, start, ranges)
    full = build_hand_tree(None, TURN_RULES, start, ranges, group=(IDENTITY,))
    assert len(full.blocks.board) == 49 > len(tree.blocks.board)
    (passes, strategy), (all_passes, all_strategy) = played_on(tree, full, solver, 12)
    np.testing.assert_allclose(in_full(tree, full, strategy)[0], all_strategy, atol=1e-9)
    quality, all_quality = evaluate(passes, strategy), evaluate(all_passes, all_strategy)
    assert quality.value == pytest.approx(all_quality.value, abs=1e-9)
    np.testing.assert_allclose(quality.best_response_values, all_quality.best_response_values, atol=1e-9)
    for player in (0, 1):
        ours, theirs = (
            over.values(player, entries, over.reach(1 - player, entries))
            for over, entries in ((passes, passes.entries(strategy)), (all_passes, all_passes.entries(all_strategy)))
        )
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_a_flop_is_solved_as_without_symmetry() -> None:
    """Suits are renamed twice, at the turn and at the river."""
    start = parse_cards("2s5s9s")
    ranges = symmetric_range(start, 2, 60), symmetric_range(start, 3, 60)
    tree = build_hand_tree(None, FLOP_RULES, start, ranges)
    full = build_hand_tree(None, FLOP_RULES, start, ranges, group=(IDENTITY,))
    (passes, strategy), (all_passes, all_strategy) = played_on(tree, full, "dcfr", 2)
    np.testing.assert_allclose(in_full(tree, full, strategy)[0], all_strategy, atol=1e-9)
    quality, all_quality = evaluate(passes, strategy), evaluate(all_passes, all_strategy)
    np.testing.assert_allclose(quality.best_response_values, all_quality.best_response_values, atol=1e-9)


def test_values_are_those_of_the_generic_tree_hand_against_hand() -> None:
    """A tree up to suits against one that keeps all suits: any symmetric strategy, every real card."""
    board = parse_cards("2s5s9sKs")
    ranges = parse_range("33") * (HANDS % 4 != 3).all(axis=1), parse_range("AA") * (HANDS % 4 != 3).all(axis=1)
    tree = build_hand_tree(None, SHORT_TURN, board, ranges)
    assert len(tree.blocks.board) == 23
    public = compile_game(Endgame(SHORT_TURN, board, ranges))
    random = tree.normalise(np.random.default_rng(0).random(tree.num_entries) ** 3)
    for strategy in (tree.uniform_strategy(), random, solved(tree, 30)[1]):
        ours = evaluate(HandPasses(tree, np.float64), strategy)
        theirs = evaluate(make_passes(public), as_public(tree, public, strategy))
        assert ours.value == pytest.approx(theirs.value, abs=1e-6)
        np.testing.assert_allclose(ours.best_response_values, theirs.best_response_values, atol=1e-6)


def test_exploitability_stays_exact_where_rounding_breaks_ties() -> None:
    """With two pairs on the board, whole classes of hands tie and rounding decides: the average must not show it."""
    board = parse_cards("2s2h9s9h")
    tree = build_hand_tree(None, TURN_RULES, board, (ALL, ALL))
    full = build_hand_tree(None, TURN_RULES, board, (ALL, ALL), group=(IDENTITY,))
    _, strategy = solved(tree, 60, "fp", np.float32)
    at_root = tree.decision(strategy, 0)
    for lanes in tree.blocks.renamed_lanes(0):
        np.testing.assert_array_equal(at_root[:, lanes], at_root)  # to the last bit
    ours = evaluate(HandPasses(tree, np.float64), strategy)
    theirs = evaluate(HandPasses(full, np.float64), in_full(tree, full, strategy)[0])
    np.testing.assert_allclose(ours.best_response_values, theirs.best_response_values, atol=1e-9)


def test_probabilities_are_the_shares_of_weights() -> None:
    tree = build_hand_tree(None, TURN_RULES, parse_cards("3s7hTdKs"), (ALL, ALL))
    weights = np.maximum(np.random.default_rng(0).random(tree.num_entries) - 0.5, 0.0)
    strategy = tree.normalise(weights)
    for node in tree.decisions[:: len(tree.decisions) // 50]:
        found = tree.decision(weights, node)
        total = found.sum(axis=0)
        expected = np.where(total > 0, found / np.where(total > 0, total, 1.0), 1.0 / len(found))
        np.testing.assert_allclose(tree.decision(strategy, node), expected, rtol=1e-15)


def test_every_card_is_found_and_told() -> None:
    strategy = tacit.solve(GAME, iterations=20).strategy
    assert isinstance(strategy, HandStrategy)
    tree = strategy.tree
    assert len(tree.blocks.board) == 23
    before = tree.find("check / check")
    for name in ("2c", "2d", "2h", "3s", "Ah"):
        spot = tree.find(f"check / check / {name} / check")
        assert tree.label(spot) == f"check / check / {name} / check"
        assert tree.path(spot)[2] == (-1, *parse_cards(name))
        assert tree.board(spot) == parse_cards(f"2s5s9sKs{name}")
        assert {*tree.hands(spot)} == {hand for hand in range(NUM_HANDS) if not {*HANDS[hand]} & {*tree.board(spot)}}
        assert tree.knows(before, *parse_cards(name))
    for suits in permutations("cdh"):
        to, card = (*suits, "s"), f"2{suits[0]}"
        hands = [hand_index(*parse_cards(renamed(hand_name(hand), to))) for hand in range(NUM_HANDS)]
        here, there = tree.find("check / check / 2c / check"), tree.find(f"check / check / {card} / check")
        # Suits off the board are equal except for rounding, so renamed hands play alike whatever the card.
        np.testing.assert_allclose(strategy.played(there)[:, hands], strategy.played(here), atol=1e-5)
        np.testing.assert_allclose(strategy.range_at(there, 0)[hands], strategy.range_at(here, 0), atol=1e-5)
    assert not tree.knows(before, *parse_cards("Ks"))
    with pytest.raises(TacitError, match="no 'Ks' after check / check: choose one of 2c, 2d, 2h, 3c"):
        tree.find("check / check / Ks")
    decisions = list(strategy)
    assert len(decisions) == len(strategy) == (48 * 47 // 2) * 4 + 48 * (47 * 46 // 2) * 4  # four decisions on each street
    assert (1, "check / check / Ah / bet to 1000", "AdAc") in {(d.player, d.public, d.private) for d in decisions}
    assert strategy.decision(len(strategy) - 1) == decisions[-1]


def test_players_follow_every_card() -> None:
    game = tacit.load_game(GAME)
    assert isinstance(game, Holdem)
    search = HandSearch(game, iterations=20)
    strategy = tacit.solve(GAME, iterations=20).strategy
    assert isinstance(strategy, HandStrategy)
    public = PublicHand.start(game).dealt(game.known_board).after(CALL).after(CALL)
    for card in ("7c", "7d", "7h", "7s"):
        told = SolvedPolicy(strategy).probabilities(public.dealt(parse_cards(card)))
        spot = strategy.tree.find(f"check / check / {card}")
        np.testing.assert_array_equal(told, strategy.played(spot))
        now = search.situation(public.dealt(parse_cards(card)))
        assert now.solution.tree.board(now.spot) == parse_cards(f"2s5s9sKs{card}")
        np.testing.assert_allclose(now.solution.played(now.spot), told, atol=1e-2)  # except for a trace of every hand
    assert search.searches == 1


def test_a_solve_with_all_boards_is_refused(tmp_path: Path) -> None:
    """Solves were saved like this before boards were kept up to suits."""
    result = tacit.solve(GAME, iterations=2)
    game = result.strategy.tree.game
    full = build_hand_tree(game, game.rules, game.known_board, game.ranges, group=(IDENTITY,))
    before = HandStrategy(full, full.uniform_strategy())
    SolveResult(before, "dcfr", False, 2, result.quality, 1.0, [], {}, "numba", "cpu").save(tmp_path / "old.tacit")
    with pytest.raises(TacitError, match=r"old\.tacit does not fit .* solve it again"):
        load_result(tmp_path / "old.tacit")
