"""Many boards at once on a device: the hands that each allows, which hands win on them, and features of hands.

All boards have the same number of cards, so they allow the same number of hands, `H`; a board's hands are in ascending order.
Everything depends only on ranks and on which suits are equal. So boards that differ only in the names of suits have the same
numbers, up to the renaming of hands.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from itertools import combinations, permutations
from math import comb

import numpy as np
import torch
from torch import Tensor

from tacit.cards.deck import NUM_CARDS
from tacit.cards.hands import HANDS, NUM_HANDS
from tacit.cards.run_outs import run_out_margins
from tacit.cards.torch_strength import tensor_tables

FULL_BOARD = 5
_AT_ONCE = 4_096
"""The number of full boards whose hand strengths are computed together."""
_ROWS_AT_ONCE = 20_000
"""The number of run-outs whose features are computed together, to bound memory. A flop has 1,176."""
_SAMPLE = 2_000
"""The number of boards sampled before the flop, of 2.6 million possible ones."""
CENTRES = 24
"""The number of bumps that encode a hand's mean percentile."""
BINS = 12
"""The number of bins in the histogram of a hand's percentiles over all run-outs."""
KINDS = 10
"""The number of further features of a hand: ranks, suits, and what it shares with the board."""
NUM_FEATURES = CENTRES + BINS + KINDS
NUM_TEXTURE = 13 + 4


class BoardTensors:
    """Some boards on a device.

    Attributes:
      board: `[G, n]` int64, the cards of each board.
      hand: `[G, H]` int64, the hands that each board allows.
      device: The device of all tensors.
    """

    def __init__(self, board: Tensor) -> None:
        self.board, self.device = board, board.device
        count = comb(NUM_CARDS - board.shape[1], 2)
        blocked = (_hands(str(self.device))[None, :, :, None] == board[:, None, None, :]).flatten(2).any(2)
        self.hand = torch.argsort(blocked.to(torch.int8), dim=1, stable=True)[:, :count]

    def __len__(self) -> int:
        return len(self.board)

    @cached_property
    def cards(self) -> Tensor:
        """`[G, H, 2]`, the cards of each hand."""
        return _hands(str(self.device))[self.hand]

    def meetings(self, weights: Tensor) -> Tensor:
        """Returns `[F, G, H]`, for each hand the weight of those that share no card with it, from `[F, G, H]` weights."""
        return self._new(self.fill_meetings, weights)

    def leads(self, weights: Tensor) -> Tensor:
        """Returns `[F, G, H]`, for each hand the weight it beats minus the weight that beats it, averaged over all run-outs."""
        return self._new(self.fill_leads, weights)

    def fill_meetings(self, source: Tensor, rows: Tensor, out: Tensor, places: Tensor, amount: Tensor) -> None:
        """Sets planes of `out` to the weights that hands can meet in planes of `source`.

        Args:
          source: `[S, G, H]`, weights.
          rows: `[F]`, the planes of `source` to read.
          out: `[O, G, H]`, the result.
          places: `[F]`, the planes of `out` to set.
          amount: `[F]`, the factor of each plane.
        """
        if self.device.type == "cuda":
            from tacit.cards import triton_boards

            triton_boards.fill_meetings(self._cards32, source, rows, out, places, amount)
            return
        from tacit.cards import numba_boards

        numba_boards.fill_meetings(*(part.numpy() for part in (self._cards32, source, rows, out, places, amount)))

    def fill_leads(self, source: Tensor, rows: Tensor, out: Tensor, places: Tensor, amount: Tensor) -> None:
        """Sets planes of `out` to the leads of hands against planes of `source` (see `leads` and `fill_meetings`)."""
        if not self.board.shape[1]:  # one matrix for all games: shares of 1.7 million boards, too fine for half precision
            out.index_copy_(0, places, source[rows] @ _preflop_margins(str(self.device)).T * amount[:, None, None])
            return
        if self.device.type == "cuda":
            from tacit.cards import triton_boards

            triton_boards.fill_leads(self.counted, source, rows, out, places, amount, 1.0 / self._run_outs)
            return
        weights = source[rows].transpose(0, 1)
        led = torch.bmm(
            weights, self.margins.transpose(1, 2)
        )  # [G, F, H]: a product with few rows is faster than with few columns
        out[places] = led.transpose(0, 1) * amount[:, None, None]

    def _new(self, fill: Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], None], weights: Tensor) -> Tensor:
        every, weights = torch.arange(len(weights), device=self.device), weights.contiguous()
        out = torch.empty_like(weights)
        fill(weights, every, out, every, torch.ones(len(weights), device=self.device))
        return out

    @cached_property
    def margins(self) -> Tensor:
        """`[G, H, H]`, how often the first hand wins minus how often it loses, over all run-outs; 0 if they share a card."""
        if not self.board.shape[1]:
            return _preflop_margins(str(self.device)).expand(len(self), -1, -1)
        if self.device.type == "cuda":
            return self.counted[:, :, : self.hand.shape[1]].float() / self._run_outs
        return torch.from_numpy(np.stack([run_out_margins(tuple(board), "float32") for board in self.board.tolist()]))

    @cached_property
    def counted(self) -> Tensor:
        """`[G, H, stride]` on a GPU, from the flop on: the margins times the number of run-outs, with padded rows."""
        from tacit.cards.triton_boards import count_margins

        return count_margins(self.strengths, self._cards32)

    @property
    def _run_outs(self) -> int:
        """The number of full boards that are possible with two hands."""
        cards = self.board.shape[1]
        return comb(NUM_CARDS - 4 - cards, FULL_BOARD - cards)

    @cached_property
    def _cards32(self) -> Tensor:
        return self.cards.int().contiguous()

    @cached_property
    def strengths(self) -> Tensor:
        """`[G, R, H]` int16, the strength of each hand on each full board that can come; -1 if the board blocks it."""
        boards = self._full_boards()
        full = boards.flatten(0, 1)
        rows = [_strengths(full[first : first + _AT_ONCE]) for first in range(0, len(full), _AT_ONCE)]
        strengths = torch.cat(rows).view(*boards.shape[:2], NUM_HANDS)
        return strengths.gather(2, self.hand[:, None].expand(-1, boards.shape[1], -1))

    @cached_property
    def features(self) -> Tensor:
        """`[G, H, NUM_FEATURES]`, the features of each hand: how it ranks among all hands, and its ranks and suits."""
        strengths = self.strengths
        valid = strengths >= 0
        order = strengths.sort(dim=2).values.contiguous()
        blocked = (~valid).sum(2, keepdim=True)
        below, not_above = (torch.searchsorted(order, strengths.contiguous(), right=right) for right in (False, True))
        percentile = (0.5 * (below + not_above) - blocked) / (strengths.shape[2] - blocked)
        count = valid.sum(1)
        mean = torch.where(valid, percentile, 0.0).sum(1) / count
        bins = torch.where(valid, (percentile * BINS).long().clamp(0, BINS - 1), BINS)
        histogram = torch.stack([(bins == number).sum(1) / count for number in range(BINS)], 2)
        centres = torch.linspace(0.0, 1.0, CENTRES, device=self.device)
        bumps = torch.exp(-0.5 * ((mean[..., None] - centres) * (CENTRES - 1)) ** 2)
        return torch.cat([bumps, histogram.sqrt(), self._kinds()], 2)

    @cached_property
    def texture(self) -> Tensor:
        """`[G, NUM_TEXTURE]`, the features of each board: the count of each rank, and the sorted counts of suits."""
        ranks, suits = (
            torch.zeros(len(self), size, device=self.device).scatter_add_(1, part, torch.ones_like(part).float())
            for size, part in ((13, self.board // 4), (4, self.board % 4))
        )
        return torch.cat([ranks, suits.sort(dim=1, descending=True).values], 1)

    def _kinds(self) -> Tensor:
        """Returns `[G, H, KINDS]`: a hand's ranks, whether it is paired, suited or connected, and its match with the board."""
        rank, suit = self.cards // 4, self.cards % 4
        board_rank, board_suit = self.board // 4, self.board % 4
        with_rank = (rank[..., None] == board_rank[:, None, None, :]).sum(3).float()
        with_suit = (suit[..., None] == board_suit[:, None, None, :]).sum(3).float()
        high, low = rank.amax(2) / 12.0, rank.amin(2) / 12.0
        suited, paired = (suit[..., 0] == suit[..., 1]).float(), (rank[..., 0] == rank[..., 1]).float()
        gap = (rank[..., 0] - rank[..., 1]).abs() / 12.0
        over = (rank > (board_rank.amax(1) if board_rank.shape[1] else rank.new_full((len(self),), -1))[:, None, None]).sum(2)
        parts = [
            high, low, suited, paired, gap, over / 2.0, with_rank.amax(2) / 2.0, with_rank.amin(2) / 2.0,
            with_suit.amax(2) / 4.0, suited * with_suit.amax(2) / 4.0,
        ]  # fmt: skip
        return torch.stack(parts, 2)

    def _full_boards(self) -> Tensor:
        """Returns `[G, R, 5]`, every full board that can come; before the flop a sample of them, always the same."""
        missing = FULL_BOARD - self.board.shape[1]
        if not missing:
            return self.board[:, None]
        if missing == FULL_BOARD:
            drawn = np.random.default_rng(0).permuted(np.tile(np.arange(NUM_CARDS), (_SAMPLE, 1)), axis=1)[:, :FULL_BOARD]
            return torch.from_numpy(drawn).to(self.device).expand(len(self), -1, -1)
        gone = torch.zeros(len(self), NUM_CARDS, dtype=torch.int8, device=self.device).scatter_(1, self.board, 1)
        left = torch.argsort(gone, dim=1, stable=True)[:, : NUM_CARDS - self.board.shape[1]]
        rests = _choices(left.shape[1], missing, str(self.device))
        more = left[:, rests]  # [G, R, missing]
        return torch.cat([self.board[:, None].expand(-1, len(rests), -1), more], 2)


class BoardTable:
    """A cache of the features of all boards with `num_cards` cards, up to names of suits, filled when a board first comes.

    Args:
      num_cards: The number of cards on each board.
      device: The device of the cache. On a GPU it keeps margins as well, up to 21 GB for the turn.
    """

    def __init__(self, num_cards: int, device: str) -> None:
        self._boards = torch.from_numpy(canonical_boards(num_cards)[0]).to(device)
        self._known = torch.zeros(len(self._boards), dtype=torch.bool, device=device)
        self._features: Tensor | None = None
        self._counted: Tensor | None = None

    def plain_boards(self, kind: Tensor) -> BoardTensors:
        """Returns the canonical boards with numbers `kind`, `[G]`."""
        return BoardTensors(self._boards[kind])

    def meet(self, kind: Tensor) -> None:
        """Adds canonical boards `[G]` to the cache, unless they are already there."""
        new, cards = torch.unique(kind[~self._known[kind]]), self._boards.shape[1]
        at_once = max(1, _ROWS_AT_ONCE // comb(NUM_CARDS - cards, FULL_BOARD - cards))
        for first in range(0, len(new), at_once):
            self._add(new[first : first + at_once])

    def boards(self, kind: Tensor) -> BoardTensors:
        """Returns the canonical boards with numbers `kind`, `[G]`, with their cached features. `meet` must come first."""
        boards = self.plain_boards(kind)
        boards.features = self.features(kind)
        if self._counted is not None:
            boards.counted = self._counted[kind]
        return boards

    def features(self, kind: Tensor) -> Tensor:
        """Returns `[G, H, NUM_FEATURES]`, the cached features of the boards' hands, in half precision."""
        assert self._features is not None
        return self._features[kind]

    def _add(self, kind: Tensor) -> None:
        boards = BoardTensors(self._boards[kind])
        features, counts = boards.features.half(), boards.device.type == "cuda" and bool(self._boards.shape[1])
        if self._features is None:
            self._features = features.new_empty(len(self._boards), *features.shape[1:])
            if counts:
                self._counted = boards.counted.new_empty(len(self._boards), *boards.counted.shape[1:])
        self._features[kind], self._known[kind] = features, True
        if self._counted is not None:
            self._counted[kind] = boards.counted


class FullBoards:
    """A table without a cache, by default for full boards: there are too many to keep, so features are computed on demand.

    Args:
      num_cards: The number of cards on each board.
    """

    def __init__(self, num_cards: int = FULL_BOARD) -> None:
        self.num_cards = num_cards

    def meet(self, kind: Tensor) -> None:
        """Does nothing: everything is computed on demand."""

    def boards(self, kind: Tensor) -> BoardTensors:
        """Returns the boards with numbers `kind`, `[G]` (`board_number`)."""
        return BoardTensors(kind[:, None] // _powers(self.num_cards, kind.device) % NUM_CARDS)

    plain_boards = boards

    def features(self, kind: Tensor) -> Tensor:
        """Returns `[G, H, NUM_FEATURES]`, the features of the boards' hands, in half precision."""
        return self.boards(kind).features.half()


def board_number(boards: Tensor) -> Tensor:
    """Returns the cards of boards `[..., n]` as digits of a number."""
    return (boards * _powers(boards.shape[-1], boards.device)).sum(-1)


@cache
def _choices(count: int, chosen: int, device: str) -> Tensor:
    """Returns `[R, chosen]`, all ways to choose some of `count` things; kept, as captured steps cannot copy from the host."""
    return torch.tensor(list(combinations(range(count), chosen)), device=device)


def _powers(num_cards: int, device: torch.device) -> Tensor:
    return NUM_CARDS ** torch.arange(num_cards, device=device).flip(0)


def _strengths(boards: Tensor) -> Tensor:
    """Returns `[N, 1326]` int16, the strengths of all hands on `[N, 5]` boards; -1 if a board blocks the hand."""
    tables, hands = tensor_tables(str(boards.device)), _hands(str(boards.device))
    sums = tables.key[boards].sum(1)[:, None] + tables.key[hands].sum(1)
    best = tables.by_sum[sums.clamp(max=len(tables.by_sum) - 1)]
    on_board, in_hand = tables.suit_bit[boards].sum(1), tables.suit_bit[hands].sum(1)  # [N, 4], [1326, 4]
    for suit in range(4):
        best = torch.maximum(best, tables.by_suit[on_board[:, suit, None] | in_hand[:, suit]])
    gone = torch.zeros(len(boards), NUM_CARDS, dtype=torch.bool, device=boards.device).scatter_(1, boards, True)
    strengths: Tensor = best.masked_fill(gone[:, hands].any(2), -1)
    return strengths


@cache
def _preflop_margins(device: str) -> Tensor:
    """Returns `[1326, 1326]`, the margins before the flop."""
    return torch.from_numpy(run_out_margins((), "float32")).to(device)


@cache
def _hands(device: str) -> Tensor:
    return torch.from_numpy(HANDS).to(device)


@cache
def canonical_boards(num_cards: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns `[C, num_cards]`, one board for each class of boards equal up to names of suits, and the class sizes `[C]`."""
    boards = np.array(list(combinations(range(NUM_CARDS), num_cards)), np.int64).reshape(comb(NUM_CARDS, num_cards), num_cards)
    codes = []
    for names in permutations(range(4)):
        renamed = np.sort(boards // 4 * 4 + np.array(names)[boards % 4], axis=1)
        codes.append(renamed @ NUM_CARDS ** np.arange(num_cards)[::-1])
    least, count = np.unique(np.min(codes, axis=0), return_counts=True)
    cards = least[:, None] // NUM_CARDS ** np.arange(num_cards)[::-1] % NUM_CARDS
    return cards, count
