"""The paper's network for round ends, and the effect of each of `Helps`, which the paper does without."""

import dataclasses

import numpy as np
import pytest
import torch

from tacit.cards.board_tensors import BoardTable, BoardTensors, FullBoards, board_number
from tacit.cards.dealing import deal, no_cards
from tacit.cards.deck import parse_cards
from tacit.errors import TacitError
from tacit.games import load_game
from tacit.games.betting import ALL_IN, TURN, NoLimitBetting
from tacit.kernels.street_passes import StreetStates
from tacit.nets.appendix_g import AppendixGNet
from tacit.nets.round_end_leaves import RoundEndLeaves
from tacit.nets.round_end_net import NUM_PUBLIC, RoundEndNet, public_features
from tacit.nets.round_net import Helps, RoundNet
from tacit.rebel.holdem.config import PRESETS, HoldemConfig
from tacit.rebel.holdem.learner import RoundEndLearner
from tacit.rebel.holdem.selfplay import RoundEndExamples
from tacit.rebel.holdem.train import HoldemTrainer
from tacit.tree.betting_street import betting_streets
from tacit.tree.subgame import ROUND

BOARD = parse_cards("3s7hTdKs")
RENAMED = parse_cards("3c7sThKc")
RULES = NoLimitBetting(5_000, 100, 100, TURN, 2_000, (0.5, ALL_IN), (1.0,))
LEAVES = [betting for _, betting in betting_streets(RULES, 4, depth=ROUND)[0].deals][:2]
SMOKE = PRESETS["smoke"]
KINDS = [RoundEndNet, AppendixGNet]


def noisy(kind: type[RoundEndNet] | type[AppendixGNet], helps: Helps) -> RoundNet:
    torch.manual_seed(0)
    net = kind(16, 2, 8, helps)
    with torch.no_grad():
        net.out.weight.mul_(100.0)
    return net


def beliefs_on(boards: BoardTensors) -> torch.Tensor:
    weights = torch.rand(2, len(LEAVES), *boards.hand.shape, generator=torch.Generator().manual_seed(1)) ** 4
    return weights / weights.sum(3, keepdim=True)


def valued(net: RoundNet, boards: BoardTensors, beliefs: torch.Tensor) -> torch.Tensor:
    return RoundEndLeaves({4: net}, RULES.stack).evaluate(StreetStates(boards, LEAVES, 1.0, RULES.stack), beliefs)


@pytest.mark.parametrize("kind", KINDS)
def test_values_sum_to_zero_only_where_they_are_made_to(kind: type[RoundEndNet] | type[AppendixGNet]) -> None:
    boards = BoardTensors(torch.tensor([BOARD]))
    beliefs = beliefs_on(boards)
    for zero_sum in (True, False):
        sums = (valued(noisy(kind, Helps(zero_sum=zero_sum)), boards, beliefs) * beliefs).sum(3).sum(0)
        assert (float(sums.abs().max()) < 0.02) == zero_sum  # chips


@pytest.mark.parametrize("kind", KINDS)
def test_a_silent_network_says_the_odds_or_nothing(kind: type[RoundEndNet] | type[AppendixGNet]) -> None:
    boards = BoardTensors(torch.tensor([BOARD]))
    beliefs = beliefs_on(boards)
    chips = torch.tensor([float(betting.facing) for betting in LEAVES])[:, None, None]
    leads = boards.leads(beliefs.flip(0).flatten(0, 1)).view(beliefs.shape) * chips
    for odds in (True, False):
        net = kind(16, 1, 8, Helps(odds=odds))
        with torch.no_grad():
            net.out.weight.zero_()
        wanted = leads if odds else torch.zeros_like(leads)
        torch.testing.assert_close(valued(net, boards, beliefs), wanted, rtol=0, atol=1e-2)


@pytest.mark.parametrize("suits", [True, False])
def test_names_of_suits_matter_only_without_symmetry(suits: bool) -> None:
    boards = [BoardTensors(torch.tensor([board])) for board in (BOARD, RENAMED)]
    beliefs = beliefs_on(boards[0])
    cards = boards[0].cards[0]
    there = (cards // 4 * 4 + torch.tensor([_renamed(suit) for suit in range(4)])[cards % 4]).sort(1).values
    lane = torch.searchsorted(boards[1].hand[0], there[:, 1] * (there[:, 1] - 1) // 2 + there[:, 0])
    moved = torch.zeros_like(beliefs)
    moved[..., lane] = beliefs
    net = noisy(AppendixGNet, Helps(suits=suits))
    first, second = (valued(net, board, part) for board, part in zip(boards, (beliefs, moved), strict=True))
    same = float((second[..., lane] - first).abs().max()) < 1e-2
    assert same == suits


def _renamed(suit: int) -> int:
    """Returns the suit in `RENAMED` for a suit of `BOARD`; the suit that `BOARD` lacks gets the remaining one."""
    pairs = {old % 4: new % 4 for old, new in zip(BOARD, RENAMED, strict=True)}
    left = (set(range(4)) - set(pairs.values())).pop()
    return pairs.get(suit, left)


def test_without_symmetry_boards_stay_as_they_are_dealt() -> None:
    tables = {True: BoardTable(4, "cpu"), False: FullBoards(4)}
    dealt = {on: deal(no_cards(64, "cpu"), 4, np.random.default_rng(0), {4: table}) for on, table in tables.items()}
    assert torch.equal(dealt[False].boards.board, tables[False].plain_boards(dealt[False].kind).board)
    assert torch.equal(board_number(dealt[False].boards.board), dealt[False].kind)
    assert len(dealt[True].boards.board[:, 0].unique()) < len(dealt[False].boards.board[:, 0].unique())
    # The hands are the same up to suits.
    for part in dealt.values():
        assert (
            (part.boards.cards // 4)
            .sort(2)
            .values.eq(
                (BoardTensors(torch.zeros(64, 0, dtype=torch.int64)).cards // 4)
                .gather(1, part.lane[..., None].expand(-1, -1, 2))
                .sort(2)
                .values
            )
            .all()
        )


@pytest.mark.parametrize("odds", [True, False])
def test_a_network_learns_values_beyond_odds_or_whole_ones(odds: bool) -> None:
    boards = BoardTensors(torch.tensor([BOARD] * 8))
    weights = torch.rand(2, 8, 1_128, generator=torch.Generator().manual_seed(0)) ** 3
    beliefs = weights / weights.sum(2, keepdim=True)
    met = boards.meetings(beliefs.flip(0))
    known = boards.leads(beliefs.flip(0)) / met
    beyond = 0.3 * torch.sin(torch.arange(1_128) * 0.1).expand(2, 8, -1)
    parts = [part.transpose(0, 1) for part in (beliefs * 1_128, known, met, beyond)]
    public = public_features(boards, LEAVES[:1], RULES.stack)[0]
    assert public.shape == (8, NUM_PUBLIC)
    examples = RoundEndExamples(board_number(boards.board), public, *parts)
    torch.manual_seed(0)
    net = AppendixGNet(64, 2, 8, Helps(odds=odds, zero_sum=False, suits=False))
    config = dataclasses.replace(SMOKE, ratio=150.0, replay_size=8)
    learner = RoundEndLearner(net, FullBoards(4), config, "cpu")
    still = learner.error(examples)[1]
    wanted, both = beyond if odds else beyond + known, met * beliefs
    assert still == pytest.approx(float((wanted.abs() * both).sum() / both.sum()))
    learner.learn(examples, 2e-3, torch.Generator().manual_seed(0))
    assert learner.error(examples)[0] < 0.25 * still


def test_the_papers_preset_does_without_helps_and_its_network_has_its_size() -> None:
    paper = PRESETS["paper"]
    assert not any([paper.suit_symmetry, paper.odds, paper.zero_sum, paper.start_networks])
    net = AppendixGNet(paper.hidden, paper.layers, paper.embedding)
    linear = [part for part in net.modules() if isinstance(part, torch.nn.Linear)]
    assert [part.out_features for part in linear] == [1_536] * 6 + [1_326]
    assert linear[0].in_features == paper.embedding + 2 + 2 * 1_326


def test_a_small_run_of_the_papers_kind_trains_and_starts_only_from_its_like() -> None:
    game = load_game("turn_endgame_holdem")
    without = {"network": "appendix-g", "suit_symmetry": "false", "odds": "false", "zero_sum": "false"}
    config = SMOKE.with_settings(without)
    trainer = HoldemTrainer(game, config)
    progress = trainer.run_epoch()
    assert np.isfinite(progress.loss)
    assert trainer.learners["turn"].replay.added > 0
    HoldemTrainer.check_start(game, config, trainer.header())
    with pytest.raises(TacitError, match="--set network=appendix-g --set suit_symmetry=false"):
        HoldemTrainer.check_start(game, SMOKE, trainer.header())


def test_words_that_are_no_settings_are_refused() -> None:
    with pytest.raises(TacitError, match="network must be one of"):
        HoldemConfig(network="mlp")
    with pytest.raises(TacitError, match="zero_sum"):
        SMOKE.with_settings({"zero_sum": "perhaps"})
