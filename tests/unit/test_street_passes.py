"""A batch of hold'em games with the same betting, against the passes over one tree of hands."""

import numpy as np
import pytest
import torch
from torch import Tensor

from tacit.cards.board_tensors import BoardTensors, canonical_boards
from tacit.cards.deck import parse_cards
from tacit.cards.hands import NUM_HANDS, meetings, possible_hands
from tacit.cards.run_outs import leads
from tacit.evaluation.exact import infostate_values
from tacit.games.betting import ALL_IN, BOARD_CARDS, RIVER, TURN, NoLimitBetting
from tacit.kernels.hand_leaves import HandStates
from tacit.kernels.numba_hands import HandPasses
from tacit.kernels.street_passes import StreetPasses, StreetStates
from tacit.solvers.driver import Driver, DriverOptions
from tacit.solvers.schedules import find_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.tree.betting_street import betting_streets
from tacit.tree.hand_builder import build_hand_tree, meeting_weight
from tacit.tree.hand_tree import START
from tacit.tree.subgame import ROUND

BOARDS = {TURN: ("3s7hTdKs", "2c2d9hAc"), RIVER: ("3s7hTdKs2c", "9s7h9d9c2c")}
UNIT = 500.0


class MixedLeaves:
    """Infostate values that depend smoothly on both beliefs and on the pot, in either layout."""

    def __init__(self, counterfactual: bool = False) -> None:
        self.counterfactual = counterfactual

    def evaluate(self, states: HandStates | StreetStates, beliefs: Tensor) -> Tensor:
        if isinstance(states, StreetStates):
            hands = states.boards.hand[None, None].expand(beliefs.shape)
            chips = torch.tensor([betting.facing / states.unit for betting in states.betting])[None, :, None, None]
            spread = torch.zeros(*beliefs.shape[:3], NUM_HANDS, dtype=beliefs.dtype).scatter_(3, hands, beliefs)
            return self._values(spread, chips).gather(3, hands)
        halves = beliefs.T.reshape(-1, 2, NUM_HANDS).transpose(0, 1)
        chips = torch.tensor([float(betting.facing) for betting in states.betting])[None, :, None]
        return self._values(halves, chips).transpose(0, 1).reshape(-1, 2 * NUM_HANDS).T

    @staticmethod
    def _values(beliefs: Tensor, chips: Tensor) -> Tensor:
        wave = torch.sin(torch.arange(NUM_HANDS) * 0.7)
        other = (beliefs.flip(0) * wave).sum(-1, keepdim=True)
        return chips * (0.5 * wave + 3.0 * other)


def batch(street: int, leaves: MixedLeaves | None, solver: str, decomposition: str) -> tuple[list[TabularDriver], Driver]:
    """Returns drivers of the same games one by one, and as a batch."""
    rules = NoLimitBetting(2_500, 100, 100, street, 1_000, (0.5, ALL_IN), (1.0,))
    boards = [parse_cards(board) for board in BOARDS[street]]
    tensors = BoardTensors(torch.tensor(boards))
    generator = np.random.default_rng(1)
    ranges = [[possible_hands(board) * generator.random(NUM_HANDS) ** 4 for _ in (0, 1)] for board in boards]
    depth = ROUND if street < RIVER else None
    options = DriverOptions(leaves, decomposition=decomposition, values_roots=True)
    alone = []
    for board, (first, second) in zip(boards, ranges, strict=True):
        tree = build_hand_tree(None, rules, board, (first, second), depth=depth, held=possible_hands(board))
        alone.append(TabularDriver(HandPasses(tree, np.float64), find_schedule(solver), options))
    reaches = torch.stack([torch.from_numpy(np.stack(pair)) for pair in ranges]).float()
    reaches = reaches.gather(2, tensors.hand[:, None].expand(-1, 2, -1))
    passes = StreetPasses(betting_streets(rules, BOARD_CARDS[street], depth=depth)[0], tensors, reaches, UNIT, rules.stack)
    return alone, Driver(passes, find_schedule(solver), options)


@pytest.mark.parametrize("solver", ["dcfr", "pcfr+", "linear-fp"])
@pytest.mark.parametrize(
    ("street", "leaves", "decomposition"),
    [
        (RIVER, None, "cfr-d"),
        (TURN, MixedLeaves(), "cfr-d"),
        (TURN, MixedLeaves(), "modified-cfr-ave"),
        (TURN, MixedLeaves(counterfactual=True), "modified-cfr-ave"),
    ],
)
def test_a_batch_plays_as_each_of_its_games_alone(
    solver: str, street: int, leaves: MixedLeaves | None, decomposition: str
) -> None:
    alone, together = batch(street, leaves, solver, decomposition)
    for driver in (*alone, together):
        driver.run(3)
    average, boards = together.passes.normalise(together.average), together.passes.boards
    for game, driver in enumerate(alone):
        tree = driver.passes.tree
        hands = tree.hands(START)
        lane = np.searchsorted(boards.hand[game].numpy(), hands)
        weight = meeting_weight(*tree.root_reach, hands) / UNIT
        for player in (0, 1):
            ours, theirs = (part.root_sum[player] for part in (together, driver))
            np.testing.assert_allclose(
                ours[game].numpy()[lane], theirs * weight, rtol=0, atol=2e-5 * float(ours[game].abs().max())
            )
        played = driver.average_strategy()
        for node in tree.decisions:
            first = int(tree.first_entry[node])
            found = average[first : first + tree.num_actions[node], game].numpy()[:, lane]
            moved = np.abs(found - tree.decision(played, node)) > 1e-3
            assert moved.mean() < 0.01  # where two actions are worth the same, rounding decides


@pytest.mark.parametrize(("street", "leaves"), [(RIVER, None), (TURN, MixedLeaves(counterfactual=True))])
def test_averages_are_worth_what_the_tree_says_they_are(street: int, leaves: MixedLeaves | None) -> None:
    alone, together = batch(street, leaves, "dcfr", "modified-cfr-ave")
    for driver in (*alone, together):
        driver.run(5)
    values, boards = together.average_values(), together.passes.boards
    for game, driver in enumerate(alone):
        tree, plan = driver.passes.tree, driver.average_strategy()
        hands = tree.hands(START)
        lane = np.searchsorted(boards.hand[game].numpy(), hands)
        for player in (0, 1):
            expected = infostate_values(driver.passes, plan, player, 0, leaves)
            met = meetings(np.bincount(hands, tree.root_reach[1 - player], NUM_HANDS))[hands]
            found = values[player][game].numpy()[lane] * UNIT
            np.testing.assert_allclose(found, expected * met, rtol=0, atol=1e-4 * float(np.abs(found).max()))


def test_values_of_averages_settle_sooner_than_means_over_iterations() -> None:
    _, early = batch(RIVER, None, "dcfr", "cfr-d")
    _, late = batch(RIVER, None, "dcfr", "cfr-d")
    early.run(48)
    late.run(600)
    truth = torch.stack(late.average_values())
    weight = sum(early.schedule.step(t).average_weight for t in range(1, 49))
    ours, means = torch.stack(early.average_values()), torch.stack(early.root_sum) / weight
    assert float((ours - truth).abs().mean()) < 0.9 * float((means - truth).abs().mean())


def test_hands_meet_and_lead_as_counted_one_board_at_a_time() -> None:
    boards = [parse_cards(board) for board in BOARDS[TURN]]
    tensors, weights = BoardTensors(torch.tensor(boards)), torch.rand(3, 2, 1_128, generator=torch.Generator().manual_seed(0))
    for game, board in enumerate(boards):
        hand = tensors.hand[game].numpy()
        assert (hand == np.flatnonzero(possible_hands(board))).all()
        spread = np.zeros(NUM_HANDS)
        spread[hand] = weights[2, game].numpy()
        np.testing.assert_allclose(tensors.meetings(weights)[2, game], meetings(spread)[hand], rtol=1e-5)
        np.testing.assert_allclose(tensors.leads(weights)[2, game], leads(board, spread)[hand], rtol=0, atol=1e-3)


def test_features_do_not_know_the_names_of_suits() -> None:
    first, second = BoardTensors(torch.tensor([parse_cards("3s7hTsKd")])), BoardTensors(torch.tensor([parse_cards("3c7dTcKs")]))
    names = {"s": "c", "h": "d", "d": "s", "c": "h"}
    ours, theirs = first.features[0], second.features[0]
    for text in ("AsKs", "ThTc", "9s8s", "9c8c", "4d2h"):
        hand = parse_cards(text)
        renamed = parse_cards("".join(names.get(letter, letter) for letter in text))
        torch.testing.assert_close(ours[_lane(first, hand)], theirs[_lane(second, renamed)])
    assert (ours[_lane(first, parse_cards("AsQs"))] != ours[_lane(first, parse_cards("AcQc"))]).any()  # one draws to a flush


def _lane(boards: BoardTensors, hand: tuple[int, ...]) -> int:
    high, low = max(hand), min(hand)
    return int(torch.searchsorted(boards.hand[0], high * (high - 1) // 2 + low))


@pytest.mark.parametrize(("cards", "kinds", "boards"), [(3, 1_755, 22_100), (4, 16_432, 270_725)])
def test_canonical_boards_stand_for_all(cards: int, kinds: int, boards: int) -> None:
    found, count = canonical_boards(cards)
    assert found.shape == (kinds, cards)
    assert count.sum() == boards
