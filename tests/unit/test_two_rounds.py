"""Searches of hold'em that look a betting round further: from the flop to the end of the turn."""

import dataclasses

import numpy as np
import pytest
import torch

from tacit.agents.hand_search import HandSearch, RoundEnds
from tacit.cards.board_tensors import BoardTensors
from tacit.cards.deck import parse_cards
from tacit.cards.hands import NUM_HANDS, possible_hands
from tacit.cards.ranges import parse_range
from tacit.errors import TacitError
from tacit.games import load_game
from tacit.games.betting import ALL_IN, CALL, FLOP, TURN, NoLimitBetting
from tacit.games.holdem import Holdem
from tacit.games.public_hand import PublicHand
from tacit.kernels.base import LeafValues
from tacit.kernels.hand_leaves import HandStates
from tacit.kernels.numba_hands import HandPasses
from tacit.kernels.street_passes import StreetStates
from tacit.leaves.check_down import CheckDownLeaves
from tacit.nets.round_end_leaves import RoundEndLeaves
from tacit.nets.round_end_net import RoundEndNet
from tacit.solvers.valuation import CFR_D
from tacit.tree.betting_street import betting_streets
from tacit.tree.hand_builder import build_hand_tree, num_hand_entries
from tacit.tree.hand_tree import DEALS, LEAF, HandTree
from tacit.tree.subgame import ROUND, TWO_ROUNDS

FLOP_BOARD, TURN_BOARD = parse_cards("3s7hTd"), parse_cards("3s7hTdKs")
FLOP_RULES = NoLimitBetting(800, 50, 100, FLOP, 400, (1.0, ALL_IN))
TURN_RULES = dataclasses.replace(FLOP_RULES, first_street=TURN)
RANGES = parse_range("JTs,77"), parse_range("AKs,TT")


def noisy_leaves() -> RoundEndLeaves:
    torch.manual_seed(0)
    nets = {3: RoundEndNet(16, 2, 8), 4: RoundEndNet(16, 2, 8)}
    for net in nets.values():
        torch.nn.init.normal_(net.out.weight, std=0.05)
    return RoundEndLeaves(nets, FLOP_RULES.stack)


def test_from_the_turn_two_rounds_are_the_rest_of_the_hand() -> None:
    whole, cut = (build_hand_tree(None, TURN_RULES, TURN_BOARD, RANGES, depth=depth) for depth in (None, TWO_ROUNDS))
    for field in ("kind", "actor", "parent", "amount", "entry_action", "entry_offset"):
        np.testing.assert_array_equal(getattr(whole, field), getattr(cut, field))
    assert cut.leaf_betting == []


def test_a_tree_of_two_rounds_is_cut_where_the_river_would_come() -> None:
    full, cut = (build_hand_tree(None, FLOP_RULES, FLOP_BOARD, RANGES, depth=depth) for depth in (None, TWO_ROUNDS))
    size = len(cut)
    assert cut.num_entries == num_hand_entries(FLOP_RULES, FLOP_BOARD, RANGES, depth=TWO_ROUNDS)
    leaves = np.flatnonzero(cut.kind == LEAF)
    assert {len(cut.blocks.board[block]) for block in cut.block[leaves]} == {4}
    assert len(cut.leaf_betting) == len(leaves)
    np.testing.assert_array_equal(cut.amount[leaves] > 0, True)
    assert (full.kind[leaves] == DEALS).all()
    np.testing.assert_array_equal(cut.entry_action, full.entry_action[: len(cut.entry_action)])
    np.testing.assert_array_equal(cut.parent, full.parent[:size])


def test_before_the_flop_two_rounds_are_too_many() -> None:
    with pytest.raises(TacitError, match="before the flop"):
        betting_streets(NoLimitBetting(800, 50, 100), 0, depth=TWO_ROUNDS)
    with pytest.raises(TacitError, match="two rounds"):
        betting_streets(FLOP_RULES, 3, depth="three rounds")


def test_any_play_for_two_rounds_then_checks_is_worth_what_the_full_tree_says() -> None:
    full, cut = (build_hand_tree(None, FLOP_RULES, FLOP_BOARD, RANGES, depth=depth) for depth in (None, TWO_ROUNDS))
    start = cut.normalise(np.random.default_rng(0).random(cut.num_entries))
    checks = np.repeat(full.entry_action == CALL, np.diff(full.entry_offset)).astype(float)
    checks[: cut.num_entries] = start
    whole, limited = HandPasses(full, np.float64), HandPasses(cut, np.float64)
    start, checks = limited.entries(start), whole.entries(checks)
    reaches = [limited.reach(player, start) for player in (0, 1)]
    for player in (0, 1):
        expected = whole.values(player, checks, whole.reach(1 - player, checks))
        found = limited.values(player, start, reaches[1 - player], check_down(limited, reaches))
        assert np.abs(expected).max() > 0.01
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def check_down(passes: HandPasses, reaches: list[np.ndarray]) -> LeafValues:
    """Returns the leaf values that equities give, scaled to the reaches there."""
    beliefs = passes.new_beliefs()
    for player in (0, 1):
        passes.leaf_beliefs(player, reaches[player], beliefs)
    values = CheckDownLeaves().evaluate(passes.leaf_states, beliefs)
    scaled = values.view(2, NUM_HANDS, -1).clone()
    for player in (0, 1):
        scaled[player] *= passes.leaf_weight(player, reaches[1 - player])
    return LeafValues(scaled.view(values.shape), counterfactual=True)


def test_networks_value_leaves_on_many_boards_as_they_value_each() -> None:
    boards = [parse_cards("3s7hTdKs"), parse_cards("2c2d9hAc"), parse_cards("9s7h9d9c")]
    bettings = [betting for _, betting in betting_streets(TURN_RULES, 4, depth=ROUND)[0].deals]
    states = HandStates([board for betting in bettings for board in boards], [b for b in bettings for _ in boards])
    possible = torch.from_numpy(np.stack([possible_hands(board) for board in states.board], 1))
    weights = torch.rand(2, NUM_HANDS, len(states.board), generator=torch.Generator().manual_seed(1)) ** 4 * possible
    beliefs = weights / weights.sum(1, keepdim=True)
    leaves = noisy_leaves()
    found = leaves.evaluate(states, beliefs.view(2 * NUM_HANDS, -1)).view(beliefs.shape)
    for number, (board, betting) in enumerate(zip(states.board, states.betting, strict=True)):
        here = BoardTensors(torch.tensor([board]))
        hand = here.hand[0]
        wanted = leaves.evaluate(StreetStates(here, [betting], 1.0, FLOP_RULES.stack), beliefs[:, hand, number][:, None, None])
        torch.testing.assert_close(found[:, hand, number], wanted[:, 0, 0], rtol=0, atol=1e-3)
        assert float(found[:, ~possible[:, number], number].abs().max()) == 0


def searched(looks_further: bool) -> tuple[HandSearch, PublicHand]:
    game = load_game("no_limit_holdem(board=3s7hTd,pot=400,stack=800,bets=1|allin,range0=JTs|77,range1=AKs|TT)")
    assert isinstance(game, Holdem)
    ends = RoundEnds(noisy_leaves(), CFR_D, (3, 4), looks_further=looks_further)
    return HandSearch(game, iterations=8, ends=ends), PublicHand.start(game).dealt(FLOP_BOARD)


def tree_of(search: HandSearch, public: PublicHand) -> HandTree:
    return search.situation(public).solution.tree


def test_a_search_looks_further_where_it_may_and_starts_anew_after_the_card() -> None:
    (further, flop), (short, _) = searched(True), searched(False)
    assert {len(tree_of(search, flop).blocks.board) > 1 for search in (further, short)} == {True, False}
    assert {len(board) for board in tree_of(further, flop).blocks.board} == {3, 4}
    turn = flop.after(CALL).after(CALL).dealt(parse_cards("Ks"))
    before = further.situation(flop).solution
    now = further.situation(turn)
    assert further.searches == 2
    assert now.solution.tree.blocks.board[0] == TURN_BOARD
    assert now.solution.tree.leaf_betting == []  # to the end of the hand
    # Beliefs on the turn are those of the flop's solution, without hands that hold the card.
    spot = before.tree.after(before.tree.after(further.situation(flop).spot, CALL), CALL)
    for player in (0, 1):
        wanted = before.range_at(spot, player) * possible_hands(TURN_BOARD)
        np.testing.assert_allclose(now.left.ranges_here()[player] * possible_hands(TURN_BOARD), wanted)
