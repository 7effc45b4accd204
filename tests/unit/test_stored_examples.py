"""Compact examples of round ends: how well they are restored, and how they are drawn."""

import dataclasses

import pytest
import torch

from tacit.cards.board_tensors import BoardTable, BoardTensors, canonical_boards
from tacit.learning import replay
from tacit.learning.replay import ReplayBuffer
from tacit.nets.round_end_net import NUM_PUBLIC, RoundEndNet
from tacit.rebel.holdem.config import PRESETS
from tacit.rebel.holdem.learner import RoundEndLearner
from tacit.rebel.holdem.selfplay import RoundEndExamples
from tacit.rebel.holdem.stored import StoredExamples, restored, stored

HANDS = 1_128
KINDS = torch.tensor([0, 900, 5_000])
BOARDS = BoardTensors(torch.from_numpy(canonical_boards(4)[0])[KINDS])
NOISE = 0.2
"""In units of what either player has put in; the next card makes targets of self-play deviate more from their means."""


def examples() -> RoundEndExamples:
    """Returns a wide range, a narrow one and one with few hands, against others on three boards, with true odds."""
    generator = torch.Generator().manual_seed(0)
    weights = torch.rand(2, 3, HANDS, generator=generator) ** torch.tensor([1.0, 6.0, 40.0])[None, :, None]
    weights[0, 2, 7:] = 0.0
    beliefs = weights / weights.sum(2, keepdim=True)
    met = BOARDS.meetings(beliefs.flip(0)).clamp(min=1e-9)
    odds = BOARDS.leads(beliefs.flip(0)) / met
    beyond = torch.randn(2, 3, HANDS, generator=generator) * torch.tensor([0.1, 0.5, 3.0])[None, :, None]
    beyond[:, :, 100:147] = torch.nan
    public = torch.rand(3, NUM_PUBLIC, generator=generator)
    return RoundEndExamples(KINDS, public, *(part.transpose(0, 1) for part in (beliefs * HANDS, odds, met, beyond)))


@pytest.mark.parametrize("keeps_odds", [True, False])
def test_examples_come_back_but_for_rounding_below_their_noise(keeps_odds: bool) -> None:
    given = examples()
    kept, table = stored(given, keeps_odds), BoardTable(4, "cpu")
    table.meet(KINDS)
    found = restored(kept, table)
    assert torch.equal(found.kind, given.kind)
    assert torch.equal(found.beyond.isnan(), given.beyond.isnan())
    torch.testing.assert_close(found.public, given.public, rtol=1e-3, atol=1e-3)
    apart = (found.beliefs - given.beliefs).abs().sum(2) / 2 / HANDS
    assert float(apart.max()) < 0.004  # the share of a range that moves to other hands
    assert not found.beliefs[given.beliefs == 0].any()
    assert float(((found.odds - given.odds) * given.met).abs().max()) < 0.004
    torch.testing.assert_close(found.met, given.met, rtol=0, atol=0.004)
    values, wanted = found.beyond.nan_to_num(0.0), given.beyond.nan_to_num(0.0)
    assert float(((values - wanted).abs().mean(2) / wanted.abs().amax(2)).max()) < 0.004
    assert float((values - wanted).mean(2).abs().max()) < 0.01 * NOISE  # rounding errs in both directions
    torch.manual_seed(0)
    net = RoundEndNet(16, 2, 8)
    torch.nn.init.normal_(net.out.weight)
    learner = RoundEndLearner(net, table, PRESETS["smoke"], "cpu")
    ours, theirs = (learner._compare(part)[0].detach() * part.met.transpose(0, 1)[:, None] for part in (found, given))
    assert float(theirs.abs().mean()) > 0.1
    assert float((ours - theirs).abs().max()) < 0.1 * NOISE


def test_an_example_takes_a_quarter_of_its_bytes_without_odds_and_half_with_them() -> None:
    given = examples()
    before = sum(getattr(given, name).half().nbytes for name in ("beliefs", "odds", "met", "beyond"))
    for keeps_odds, share in ((True, 0.5), (False, 0.25)):
        kept = stored(given, keeps_odds)
        after = sum(getattr(kept, field.name).nbytes for field in dataclasses.fields(StoredExamples))
        assert share * before < after < (share + 0.01) * before


@dataclasses.dataclass
class Numbers:
    number: torch.Tensor
    twice: torch.Tensor


def test_batches_are_drawn_uniformly_many_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "AT_ONCE", 100)
    buffer: ReplayBuffer[Numbers] = ReplayBuffer(Numbers, 40)
    for first in (0, 25):  # the second lot replaces the oldest ten
        numbers = torch.arange(first, first + 25)
        buffer.add(Numbers(numbers, 2.0 * numbers[:, None]))
    drawn = list(buffer.batches(250, 16, torch.Generator().manual_seed(0), "cpu"))
    assert [len(batch.number) for batch in drawn] == [16] * 250
    number, twice = (torch.cat([getattr(batch, name) for batch in drawn]) for name in ("number", "twice"))
    assert torch.equal(2.0 * number, twice[:, 0])
    counts = torch.bincount(number, minlength=50)
    assert not counts[:10].any()
    expected = 250 * 16 / 40
    assert float(((counts[10:] - expected) ** 2 / expected).sum()) < 80.0  # chi-square with 39 degrees of freedom: 1 in 10,000
    again = list(buffer.batches(250, 16, torch.Generator().manual_seed(0), "cpu"))
    assert torch.equal(torch.cat([batch.number for batch in again]), number)
