"""Where hands of training start: stacks, bet sizes and boards at random, and suits renamed so that boards are few."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from tacit.cards.board_tensors import FULL_BOARD, BoardTable, BoardTensors, canonical_boards
from tacit.cards.deck import NUM_CARDS
from tacit.cards.hands import NUM_HANDS
from tacit.cards.suits import RENAMED_CARDS, RENAMED_HANDS
from tacit.games.betting import ALL_IN, PREFLOP, NoLimitBetting

NO_TABLES: Mapping[int, BoardTable] = {}
STACKS, ENDGAME_STACKS = (0.25, 1.25), (0.25, 2.5)
"""The least and the most chips of training, in stacks of the game: 5,000 to 25,000 of 20,000, in endgames 5,000 to 50,000."""


def draw_rules(rules: NoLimitBetting, perturbation: float, generator: np.random.Generator) -> NoLimitBetting:
    """Returns rules with other stacks, and bets up to `perturbation` of the pot smaller or larger."""
    least, most = STACKS if rules.first_street == PREFLOP else ENDGAME_STACKS
    lowest = rules.pot // 2 + rules.big_blind if rules.pot else 2 * rules.big_blind
    stack = max(lowest, round(rules.stack * float(np.exp(generator.uniform(np.log(least), np.log(most))))))

    def perturbed(sizes: tuple[float, ...]) -> tuple[float, ...]:
        moved = [s if s == ALL_IN else max(0.05, s + float(generator.uniform(-perturbation, perturbation))) for s in sizes]
        return tuple(sorted(moved))

    return replace(rules, stack=stack, bets=perturbed(rules.bets), raises=perturbed(rules.raises))


class DealtBoards(NamedTuple):
    """Boards after some cards came, renamed to those that stand for their kind.

    Attributes:
      boards: of the games.
      kind: `[G]` the number of each among `canonical_boards`; full boards are not renamed and have none, 0.
      lane: `[G, H]` where each of their hands was before the cards came, counted as lanes of those boards.
    """

    boards: BoardTensors
    kind: Tensor
    lane: Tensor


def deal(
    before: BoardTensors, count: int, generator: np.random.Generator, tables: Mapping[int, BoardTable] = NO_TABLES
) -> DealtBoards:
    """Returns boards with `count` more cards each, drawn at random; what `tables` know of boards with so many is used."""
    boards = before.board.cpu().numpy()
    order = np.argsort(generator.random((len(boards), NUM_CARDS)) + _holds(boards), axis=1)
    cards = np.concatenate([boards, order[:, :count]], axis=1)
    renaming = numbers = np.zeros(len(boards), np.int64)
    if cards.shape[1] < FULL_BOARD:
        renaming, numbers = _canonical(cards)
        cards = canonical_boards(cards.shape[1])[0][numbers]
    kind, table = torch.from_numpy(numbers).to(before.device), tables.get(cards.shape[1])
    after = BoardTensors(torch.from_numpy(cards).to(before.device)) if table is None else table.boards(kind)
    # A hand of the new board was another one before suits were renamed.
    was = torch.from_numpy(np.argsort(RENAMED_HANDS, axis=1)[renaming]).to(before.device).gather(1, after.hand)
    place = torch.full((len(boards), NUM_HANDS), -1, device=before.device, dtype=torch.int64)
    place.scatter_(1, before.hand, torch.arange(before.hand.shape[1], device=before.device).expand(len(boards), -1))
    return DealtBoards(after, kind, place.gather(1, was))


def no_cards(games: int, device: str) -> BoardTensors:
    """Returns boards before any card came."""
    return BoardTensors(torch.zeros(games, 0, dtype=torch.int64, device=device))


def _holds(boards: np.ndarray) -> np.ndarray:
    """Returns `[G, 52]` 1 where a card lies."""
    held = np.zeros((len(boards), NUM_CARDS))
    np.put_along_axis(held, boards, 1.0, axis=1)
    return held


def _canonical(boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns for each board a permutation of suits that makes it the one of its kind, and the number of that."""
    powers = NUM_CARDS ** np.arange(boards.shape[1])[::-1]
    codes = np.stack([np.sort(names[boards], axis=1) @ powers for names in RENAMED_CARDS])
    return np.argmin(codes, axis=0), np.searchsorted(_codes(boards.shape[1]), np.min(codes, axis=0))


@cache
def _codes(num_cards: int) -> np.ndarray:
    """Returns what `canonical_boards` are sorted by."""
    return canonical_boards(num_cards)[0] @ NUM_CARDS ** np.arange(num_cards)[::-1]
