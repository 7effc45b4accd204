"""Boards after more cards are dealt, with suits renamed so that boards equal up to names of suits become the same."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from tacit.cards.board_tensors import FULL_BOARD, BoardTable, BoardTensors, FullBoards, board_number, canonical_boards
from tacit.cards.deck import NUM_CARDS
from tacit.cards.hands import NUM_HANDS
from tacit.cards.suits import RENAMED_CARDS, RENAMED_HANDS

Tables = Mapping[int, BoardTable | FullBoards]
"""Tables of board features, by the number of cards."""
NO_TABLES: Tables = {}


class DealtBoards(NamedTuple):
    """Boards after some cards were dealt, renamed to canonical boards.

    Attributes:
      boards: The boards of the games.
      kind: `[G]`, the number of each board among `canonical_boards`. Boards of a `FullBoards` table are not renamed; their
        number is `board_number`.
      lane: `[G, H]`, the lane of each of their hands on the boards before the deal.
    """

    boards: BoardTensors
    kind: Tensor
    lane: Tensor


NextBoards = tuple[Tensor, DealtBoards]
"""`[N]`, the game of each board, and the boards."""


def deal(before: BoardTensors, count: int, generator: np.random.Generator, tables: Tables = NO_TABLES) -> DealtBoards:
    """Returns boards with `count` more random cards each. It uses the table for that number of cards, if there is one."""
    boards = before.board.cpu().numpy()
    order = np.argsort(generator.random((len(boards), NUM_CARDS)) + _holds(boards), axis=1)
    parent = torch.arange(len(boards), device=before.device)
    return with_cards(before, parent, torch.from_numpy(order[:, :count]).to(before.device), tables)


def with_next_cards(before: BoardTensors, games: Tensor, tables: Tables = NO_TABLES) -> NextBoards:
    """Returns the boards of some games after every card that can come next: `[N]` the game of each board, and the boards."""
    board = before.board[games]
    gone = torch.zeros(len(board), NUM_CARDS, dtype=torch.int8, device=before.device).scatter_(1, board, 1)
    left = torch.argsort(gone, dim=1, stable=True)[:, : NUM_CARDS - board.shape[1]]
    parent = games[:, None].expand_as(left).flatten()
    return parent, with_cards(before, parent, left.reshape(-1, 1), tables)


def with_cards(before: BoardTensors, parent: Tensor, cards: Tensor, tables: Tables = NO_TABLES) -> DealtBoards:
    """Returns the boards `parent`, `[N]`, of `before` with `cards`, `[N, count]`, added."""
    boards, device = torch.cat([before.board[parent], cards], 1), before.device
    table = tables.get(boards.shape[1])
    if boards.shape[1] < FULL_BOARD and not isinstance(table, FullBoards):
        renaming, kind = _canonical(boards)
        if table is not None:
            table.meet(kind)
        after = BoardTensors(_kinds(boards.shape[1], device)[0][kind]) if table is None else table.boards(kind)
        # Renaming suits gave the hands other numbers; find the old ones.
        was = _unnamed_hands(device)[renaming].gather(1, after.hand)
    else:
        kind, after = board_number(boards), BoardTensors(boards)
        was = after.hand
    place = torch.full((len(before), NUM_HANDS), -1, device=device, dtype=torch.int64)
    place.scatter_(1, before.hand, torch.arange(before.hand.shape[1], device=device).expand(len(before), -1))
    return DealtBoards(after, kind, place[parent].gather(1, was))


def no_cards(games: int, device: str) -> BoardTensors:
    """Returns empty boards."""
    return BoardTensors(torch.zeros(games, 0, dtype=torch.int64, device=device))


def _holds(boards: np.ndarray) -> np.ndarray:
    """Returns `[G, 52]`, 1 for cards on the board."""
    held = np.zeros((len(boards), NUM_CARDS))
    np.put_along_axis(held, boards, 1.0, axis=1)
    return held


def canonical_names(boards: Tensor) -> Tensor:
    """Returns `[N]`, for each board `[N, n]` the permutation of suits that makes it canonical."""
    return _canonical(boards)[0]


def _canonical(boards: Tensor) -> tuple[Tensor, Tensor]:
    """Returns for each board `[N, n]` a permutation of suits that makes it canonical, and the canonical board's number."""
    names = torch.from_numpy(RENAMED_CARDS).to(boards.device)
    least, renaming = board_number(names[:, boards].sort(2).values).min(0)
    return renaming, torch.searchsorted(_kinds(boards.shape[1], boards.device)[1], least)


@cache
def _kinds(num_cards: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Returns `canonical_boards` on a device, and their board numbers, in ascending order."""
    boards = torch.from_numpy(canonical_boards(num_cards)[0]).to(device)
    return boards, board_number(boards)


@cache
def _unnamed_hands(device: torch.device) -> Tensor:
    """Returns `[24, 1326]`, for each renaming of suits the hand that becomes each hand."""
    return torch.from_numpy(np.argsort(RENAMED_HANDS, axis=1)).to(device)
