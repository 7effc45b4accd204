"""Batches of boards on a GPU: the margins of hands over all run-outs, and sums over the hands that a hand can meet or beat.

Margins are counted once and kept as small integers if they fit, since every product with them reads all of them.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

TILE = 64
"""The number of hands of either side that one program compares."""
LEADS, INNER = 64, 64
"""The number of hands whose leads one program computes, and of hands it sums over at a time."""
COLUMNS = 128
"""The most planes that one program multiplies with: more do not fit into shared memory."""
NODES, CARDS = 16, 64
"""The number of rows one program sums by card, and room for the 52 cards and the total."""
MEETS = 512
"""The number of hands whose meetings one program computes."""
MOST = 127
"""The largest signed byte."""


@triton.jit  # type: ignore[untyped-decorator]
def _count_kernel(strengths, cards, margins, run_outs, hands, stride, TILE: tl.constexpr):  # type: ignore[no-untyped-def]
    """Fills a tile of the margins of one board."""
    game = tl.program_id(2).to(tl.int64)
    first, second = tl.program_id(0) * TILE + tl.arange(0, TILE), tl.program_id(1) * TILE + tl.arange(0, TILE)
    in_first, in_second = first < hands, second < hands
    total = tl.zeros([TILE, TILE], tl.int32)
    row = strengths + game * run_outs * hands
    for _ in range(run_outs):
        ours = tl.load(row + first, mask=in_first, other=-1).to(tl.int32)[:, None]
        theirs = tl.load(row + second, mask=in_second, other=-1).to(tl.int32)[None, :]
        both = (ours >= 0) & (theirs >= 0)
        total += tl.where(both, (ours > theirs).to(tl.int32) - (ours < theirs).to(tl.int32), 0)
        row += hands
    held = cards + game * hands * 2
    a = tl.load(held + 2 * first, mask=in_first, other=-1)[:, None]
    b = tl.load(held + 2 * first + 1, mask=in_first, other=-1)[:, None]
    c = tl.load(held + 2 * second, mask=in_second, other=-1)[None, :]
    d = tl.load(held + 2 * second + 1, mask=in_second, other=-1)[None, :]
    found = tl.where((a != c) & (a != d) & (b != c) & (b != d), total, 0)
    place = margins + game * hands * stride + first[:, None] * stride + second[None, :]
    tl.store(place, found.to(margins.dtype.element_ty), mask=in_first[:, None] & (second < stride)[None, :])


@triton.jit  # type: ignore[untyped-decorator]
def _column_kernel(source, rows, columns, most, hands, stride, plane, N: tl.constexpr, HANDS: tl.constexpr):  # type: ignore[no-untyped-def]
    """Copies a row of one game as a column of a product: in float16, with the largest weight scaled to 1 and 0 as padding."""
    column, game = tl.program_id(0), tl.program_id(1).to(tl.int64)
    hand = tl.arange(0, HANDS)
    row = source + tl.load(rows + column) * plane + game * hands
    weight = tl.load(row + hand, mask=hand < hands, other=0.0)
    largest = tl.maximum(tl.max(weight, 0), 1e-30)
    tl.store(most + game * N + column, largest)
    tl.store(columns + (game * N + column) * stride + hand, (weight / largest).to(tl.float16), mask=hand < stride)


@triton.jit  # type: ignore[untyped-decorator]
def _lead_kernel(  # type: ignore[no-untyped-def]
    margins, columns, most, out, places, amount, scale, count, hands, stride, plane,
    N: tl.constexpr, LEADS: tl.constexpr, INNER: tl.constexpr,
):  # fmt: skip
    """Fills the leads of some hands of one game, for all columns."""
    game = tl.program_id(1).to(tl.int64)
    hand, column = tl.program_id(0) * LEADS + tl.arange(0, LEADS), tl.arange(0, N)
    inside, real = hand < hands, column < count
    line = margins + game * hands * stride + tl.where(inside, hand, 0) * stride
    weights = columns + (game * N + column) * stride
    total = tl.zeros([LEADS, N], tl.float32)
    for start in range(0, stride, INNER):
        inner = start + tl.arange(0, INNER)
        margin = tl.load(line[:, None] + inner[None, :]).to(tl.float16)
        weight = tl.load(weights[:, None] + inner[None, :])
        total = tl.dot(margin, tl.trans(weight), total)
    place = out + tl.load(places + column, mask=real, other=0) * plane + game * hands
    stake = tl.load(amount + column, mask=real, other=0.0) * tl.load(most + game * N + column, mask=real, other=0.0) * scale
    tl.store(place[None, :] + hand[:, None], total * stake[None, :], mask=inside[:, None] & real[None, :])


@triton.jit  # type: ignore[untyped-decorator]
def _card_kernel(  # type: ignore[no-untyped-def]
    cards, source, rows, by_card, count, hands, plane, NODES: tl.constexpr, CARDS: tl.constexpr, INNER: tl.constexpr
):
    """Fills `[NODES, CARDS]` for some rows of one game: the weight of the hands that hold each card, and last the total."""
    game = tl.program_id(1).to(tl.int64)
    node, card = tl.program_id(0) * NODES + tl.arange(0, NODES), tl.arange(0, CARDS)
    real = node < count
    row = source + tl.load(rows + node, mask=real, other=0) * plane + game * hands
    held = cards + game * hands * 2
    total = tl.zeros([NODES, CARDS], tl.float32)
    for start in range(0, hands, INNER):
        hand = start + tl.arange(0, INNER)
        inside = hand < hands
        weight = tl.load(row[:, None] + hand[None, :], mask=real[:, None] & inside[None, :], other=0.0)
        first = tl.load(held + 2 * hand, mask=inside, other=-1)[:, None]
        second = tl.load(held + 2 * hand + 1, mask=inside, other=-1)[:, None]
        holds = ((first == card[None, :]) | (second == card[None, :]) | (card == CARDS - 1)[None, :]).to(tl.bfloat16)
        # Three bfloat16 numbers of 8 bits hold a float32's 24 exactly, and so do the zeros and ones of `holds`. Sums start at 0
        # for every tile: adding to a large sum inside the products would round a little each time.
        high = weight.to(tl.bfloat16)
        rest = weight - high.to(tl.float32)
        middle = rest.to(tl.bfloat16)
        low = (rest - middle.to(tl.float32)).to(tl.bfloat16)
        total += tl.dot(high, holds, tl.dot(middle, holds, tl.dot(low, holds)))
    place = by_card + (node[:, None] * tl.num_programs(1) + game) * CARDS + card[None, :]
    tl.store(place, total, mask=real[:, None])


@triton.jit  # type: ignore[untyped-decorator]
def _meet_kernel(  # type: ignore[no-untyped-def]
    cards, source, rows, out, places, amount, by_card, hands, plane, CARDS: tl.constexpr, HANDS: tl.constexpr
):
    """Fills the weights that some hands can meet, for one row of one game."""
    node, game = tl.program_id(1).to(tl.int64), tl.program_id(2).to(tl.int64)
    hand = tl.program_id(0) * HANDS + tl.arange(0, HANDS)
    inside = hand < hands
    sums = by_card + (node * tl.num_programs(2) + game) * CARDS
    held = cards + (game * hands + hand) * 2
    first, second = tl.load(held, mask=inside, other=0), tl.load(held + 1, mask=inside, other=0)
    at = game * hands + hand
    met = tl.load(sums + CARDS - 1) - tl.load(sums + first) - tl.load(sums + second)
    met += tl.load(source + tl.load(rows + node) * plane + at, mask=inside, other=0.0)  # the hand was subtracted twice
    tl.store(out + tl.load(places + node) * plane + at, met * tl.load(amount + node), mask=inside)


def count_margins(strengths: Tensor, cards: Tensor) -> Tensor:
    """Returns `[G, H, stride]`, wins minus losses over all full boards, rows padded with zeros; 0 if two hands share a card.

    They are bytes if they fit, on the turn and the river; otherwise float16, which is also exact for those of the flop.

    Args:
      strengths: `[G, R, H]` int16, the strengths on every full board; -1 if it blocks the hand.
      cards: `[G, H, 2]` int32, the cards of each hand.
    """
    games, boards, hands = strengths.shape
    tiles, dtype = triton.cdiv(hands, TILE), torch.int8 if boards < MOST else torch.float16
    margins = torch.zeros(games, hands, tiles * TILE, dtype=dtype, device=strengths.device)
    _count_kernel[tiles, tiles, games](strengths.contiguous(), cards, margins, boards, hands, margins.shape[2], TILE=TILE)
    return margins


def fill_leads(
    margins: Tensor, source: Tensor, rows: Tensor, out: Tensor, places: Tensor, amount: Tensor, scale: float
) -> None:
    """Sets planes `places` of `out` to margins times planes `rows` of `source`, times `amount` and `scale`."""
    for first in range(0, len(rows), COLUMNS):
        some = slice(first, first + COLUMNS)
        _fill_some_leads(margins, source, rows[some], out, places[some], amount[some], scale)


def _fill_some_leads(
    margins: Tensor, source: Tensor, rows: Tensor, out: Tensor, places: Tensor, amount: Tensor, scale: float
) -> None:
    """Does the work of `fill_leads` for at most `COLUMNS` planes."""
    (games, hands, stride), count = margins.shape, len(rows)
    width, plane = max(16, triton.next_power_of_2(count)), games * hands
    columns = torch.empty(games, width, stride, dtype=torch.float16, device=margins.device)  # those from `count` on stay unused
    most = torch.empty(games, width, device=margins.device)
    _column_kernel[count, games](
        source, rows, columns, most, hands, stride, plane, N=width, HANDS=triton.next_power_of_2(stride), num_warps=4
    )
    _lead_kernel[triton.cdiv(hands, LEADS), games](
        margins, columns, most, out, places, amount, scale, count, hands, stride, plane,
        N=width, LEADS=LEADS, INNER=INNER, num_warps=4, num_stages=4,
    )  # fmt: skip


def fill_meetings(cards: Tensor, source: Tensor, rows: Tensor, out: Tensor, places: Tensor, amount: Tensor) -> None:
    """Sets planes `places` of `out` to the weight that each hand can meet in planes `rows` of `source`, times `amount`."""
    (games, hands), count = cards.shape[:2], len(rows)
    by_card = torch.empty(count, games, CARDS, device=cards.device)
    _card_kernel[triton.cdiv(count, NODES), games](
        cards, source, rows, by_card, count, hands, games * hands, NODES=NODES, CARDS=CARDS, INNER=128, num_warps=4
    )
    _meet_kernel[triton.cdiv(hands, MEETS), count, games](
        cards, source, rows, out, places, amount, by_card, hands, games * hands, CARDS=CARDS, HANDS=MEETS, num_warps=4
    )
