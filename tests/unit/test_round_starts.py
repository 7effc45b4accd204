"""Networks for round starts: means over the next cards, and targets that are unbiased whatever these networks say."""

import dataclasses

import numpy as np
import pytest
import torch

from tacit.cards.board_tensors import BoardTensors
from tacit.cards.dealing import DealtBoards, with_cards, with_next_cards
from tacit.cards.deck import NUM_CARDS, parse_cards
from tacit.cards.hands import NUM_HANDS
from tacit.cards.suits import RENAMED_HANDS
from tacit.games.betting import ALL_IN, TURN, NoLimitBetting
from tacit.kernels.street_passes import StreetStates
from tacit.leaves.solved_hands import SolvedHandLeaves
from tacit.nets.round_end_leaves import RoundEndLeaves
from tacit.nets.round_end_net import RoundEndNet
from tacit.rebel.holdem import network_error
from tacit.rebel.holdem.config import PRESETS
from tacit.rebel.holdem.selfplay import HoldemSelfPlay, Played, RoundEndExamples, _mean_over_flops
from tacit.rebel.holdem.starts import RoundStarts
from tacit.tree.betting_street import betting_streets
from tacit.tree.subgame import ROUND

RULES = NoLimitBetting(5_000, 100, 100, TURN, 2_000, (0.5, ALL_IN), (1.0,))
BETTINGS = [betting for _, betting in betting_streets(RULES, 4, depth=ROUND)[0].deals][:2]
TURN_BOARD = BoardTensors(torch.tensor([parse_cards("3s7hTdKs")]))


def noisy_net() -> RoundEndNet:
    torch.manual_seed(0)
    net = RoundEndNet(16, 2, 8)
    with torch.no_grad():
        net.out.weight.mul_(100.0)
    return net


def some_beliefs(leaves: int) -> torch.Tensor:
    weights = torch.rand(2, leaves, *TURN_BOARD.hand.shape, generator=torch.Generator().manual_seed(1)) ** 4
    return weights / weights.sum(3, keepdim=True)


@pytest.fixture(scope="module")
def starts() -> RoundStarts:
    return RoundStarts({5: noisy_net()}, {})


def test_every_card_that_can_come_comes_once() -> None:
    parent, dealt = with_next_cards(TURN_BOARD, torch.tensor([0]))
    assert parent.tolist() == [0] * (NUM_CARDS - 4)
    assert sorted(dealt.boards.board[:, 4].tolist()) == sorted(set(range(NUM_CARDS)) - set(TURN_BOARD.board[0].tolist()))
    assert torch.equal(TURN_BOARD.hand[0][dealt.lane], dealt.boards.hand)


def test_expected_values_are_means_over_the_cards(starts: RoundStarts) -> None:
    beliefs, leaves = some_beliefs(len(BETTINGS)), RoundEndLeaves({5: noisy_net()})
    total = torch.zeros_like(beliefs)
    for card in set(range(NUM_CARDS)) - set(TURN_BOARD.board[0].tolist()):
        river = BoardTensors(torch.cat([TURN_BOARD.board, torch.tensor([[card]])], 1))
        lane = torch.searchsorted(TURN_BOARD.hand[0], river.hand[0])
        reaches = beliefs[..., lane]
        mass = reaches.sum(3, keepdim=True)
        for leaf, betting in enumerate(BETTINGS):
            state = StreetStates(river, [betting], betting.facing, RULES.stack)
            here = slice(leaf, leaf + 1)
            values = leaves.evaluate(state, reaches[:, here] / mass[:, here]) * mass[:, here].flip(0)
            total[:, here, :, lane] += values
    expected = starts.expected(TURN_BOARD, BETTINGS, RULES.stack, beliefs)
    torch.testing.assert_close(expected, total / (NUM_CARDS - 4 - 4), rtol=0, atol=1e-5)


def test_targets_have_the_right_mean_whatever_the_networks_say(starts: RoundStarts, monkeypatch: pytest.MonkeyPatch) -> None:
    """If rivers are worth twice the odds, a turn's end is worth its odds on top of its odds."""
    config = dataclasses.replace(PRESETS["smoke"], games=1)
    play = HoldemSelfPlay(RULES, config, RoundEndLeaves({4: noisy_net()}), starts, {}, np.random.default_rng(0))
    here = DealtBoards(TURN_BOARD, torch.tensor([0]), torch.zeros(1, 1, dtype=torch.int64))
    beliefs = some_beliefs(1)
    expected = starts.expected(TURN_BOARD, BETTINGS[:1], RULES.stack, beliefs)[:, 0]
    monkeypatch.setattr(
        HoldemSelfPlay,
        "_search",
        lambda _s, _r, _b, dealt, reaches, _e: 2 * dealt.boards.leads(reaches.transpose(0, 1).flip(0)),
    )
    played = Played()
    for card in sorted(set(range(NUM_CARDS)) - set(TURN_BOARD.board[0].tolist())):
        river = with_cards(TURN_BOARD, torch.tensor([0]), torch.tensor([[card]]))
        monkeypatch.setattr(HoldemSelfPlay, "_deal", lambda _s, _boards, _street, river=river: river)
        play._play_on(RULES, BETTINGS[0], here, beliefs[:, 0], expected, played)
    found = torch.cat([part.beyond for part in played.ends[4]]).float().nanmean(0)
    odds = played.ends[4][0].odds[0].float()
    torch.testing.assert_close(found, odds, rtol=0, atol=4e-3)
    first = played.ends[4][0].beyond[0].float()
    assert float((first - odds).nan_to_num(0.0).abs().mean()) > 0.05  # a single card gives another value
    start = played.starts[5][0]
    torch.testing.assert_close(start.beyond, start.odds, rtol=0, atol=2e-3)


def test_half_of_the_surprise_is_half_way_to_what_the_network_expects(
    starts: RoundStarts, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = DealtBoards(TURN_BOARD, torch.tensor([0]), torch.zeros(1, 1, dtype=torch.int64))
    beliefs = some_beliefs(1)
    expected = starts.expected(TURN_BOARD, BETTINGS[:1], RULES.stack, beliefs)[:, 0]
    monkeypatch.setattr(
        HoldemSelfPlay,
        "_search",
        lambda _s, _r, _b, dealt, reaches, _e: 2 * dealt.boards.leads(reaches.transpose(0, 1).flip(0)),
    )
    beyond = {}
    for surprise in (0.0, 0.5, 1.0):
        config = dataclasses.replace(PRESETS["smoke"], games=1, surprise=surprise)
        play = HoldemSelfPlay(RULES, config, RoundEndLeaves({4: noisy_net()}), starts, {}, np.random.default_rng(0))
        played = Played()
        play._play_on(RULES, BETTINGS[0], here, beliefs[:, 0], expected, played)
        (part,) = played.ends[4]
        beyond[surprise] = part.beyond[0].float()
    other = beliefs[:, 0].flip(0)
    mean = (expected - TURN_BOARD.leads(other)) / TURN_BOARD.meetings(other)
    known = ~beyond[0.0].isnan()
    torch.testing.assert_close(beyond[0.0][known], mean[:, 0][known], rtol=0, atol=4e-3)
    torch.testing.assert_close(beyond[0.5], (beyond[0.0] + beyond[1.0]) / 2, rtol=0, atol=4e-3, equal_nan=True)
    assert float((beyond[1.0] - beyond[0.0])[known].abs().mean()) > 0.05


class Truthful:
    """Leaves that return the solved values, plus a little for hands that are met."""

    def __init__(self, more: float) -> None:
        self.more = more

    def evaluate(self, states: StreetStates, beliefs: torch.Tensor) -> torch.Tensor:
        truth = RECORDED[-1]
        return truth + self.more * states.boards.meetings(beliefs.flip(0).flatten(0, 1)).view(truth.shape)


RECORDED: list[torch.Tensor] = []


def test_errors_are_counted_in_what_either_has_put_in(monkeypatch: pytest.MonkeyPatch) -> None:
    class Recording(SolvedHandLeaves):
        def evaluate(self, *args: object) -> torch.Tensor:
            RECORDED.append(super().evaluate(*args))  # type: ignore[arg-type]
            return RECORDED[-1]

    monkeypatch.setattr(network_error, "SolvedHandLeaves", Recording)
    monkeypatch.setattr(network_error, "BOARDS_AT_ONCE", 1)
    monkeypatch.setattr(network_error, "SEARCH", 8)
    for more in (0.0, 0.25):
        found = network_error.round_end_error(Truthful(more), RULES, 1, 6, 0, "cpu")  # type: ignore[arg-type]
        assert found.absolute == pytest.approx(more, abs=1e-4)
        assert found.odds > 0.05
        assert found.states == 2


def test_examples_before_the_flop_are_means_that_do_not_overflow() -> None:
    """Sums of 512 peaked beliefs overflow half precision; the effect of suits on single hands is averaged out."""
    parts = torch.full((512, 2, NUM_HANDS), 300.0).half()
    beyond = torch.randn(512, 2, NUM_HANDS, generator=torch.Generator().manual_seed(0)).half()
    beyond[:256] += 5.0
    beyond[3, 0, 7] = torch.nan
    given = RoundEndExamples(torch.zeros(2, dtype=torch.int64), torch.zeros(512, 20), parts, parts, parts, beyond)
    found = _mean_over_flops(given, 2)
    assert torch.equal(found.beliefs, parts[:2])
    assert float((found.beyond[0] - 5.0).abs().max()) < 0.2
    assert float(found.beyond[1].abs().max()) < 0.2
    for renamed in RENAMED_HANDS:
        torch.testing.assert_close(found.beyond[..., renamed], found.beyond, rtol=0, atol=4e-3)
