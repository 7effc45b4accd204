"""Examples of round ends as they are stored: one byte per belief and one per value, so that memory holds millions.

How much hands lead by and how likely they are met follow from the board and the beliefs, so they need not be stored: on a GPU
they are products with margins that are there already. On a CPU counting margins takes longer than a training step, so odds are
stored.

A belief is stored as the cube root of its ratio to the player's largest one: small beliefs keep some precision, and no root is
off by more than 1 / 255 of the largest. A value is stored as the square root of its ratio to the largest value in its row. The
rounding errors of both are far below the noise of values, which is that of the card that came.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tacit.cards.board_tensors import BoardTable, FullBoards
from tacit.rebel.holdem.selfplay import RoundEndExamples

STEPS, SIGNED_STEPS, ODDS_STEPS = 255, 127, 32_767
UNKNOWN = -128
"""Marks the value of a hand that the card excludes."""
BOARDS_AT_ONCE = 512
"""Boards whose margins are gathered together: 0.7 GB on the turn and 1.5 on the flop."""


@dataclass
class StoredExamples:
    """Examples in few bytes (see `RoundEndExamples`).

    Attributes:
      kind: `[B]` int32 the boards.
      public: `[B, P]` float16 the public features.
      beliefs: `[B, 2, H]` uint8, cube roots.
      beyond: `[B, 2, H]` int8, square roots with the sign of the value.
      largest: `[B, 2]` the largest value of each row.
      odds: `[B, 2, H]` int16, or `[B, 2, 0]` if they are computed again.
    """

    kind: Tensor
    public: Tensor
    beliefs: Tensor
    beyond: Tensor
    largest: Tensor
    odds: Tensor


def kept_beliefs(beliefs: Tensor) -> Tensor:
    """Returns `[..., H]` beliefs of any scale as bytes."""
    roots = (beliefs / beliefs.amax(-1, keepdim=True).clamp(min=1e-30)) ** (1.0 / 3.0)
    return (roots * STEPS).round().to(torch.uint8)


def restored_beliefs(kept: Tensor) -> Tensor:
    """Returns `[..., H]` beliefs that sum to 1 from bytes."""
    cubes = (kept.float() / STEPS) ** 3
    return cubes / cubes.sum(-1, keepdim=True)


def stored(examples: RoundEndExamples, keeps_odds: bool) -> StoredExamples:
    """Returns examples in few bytes, with or without their odds."""
    beyond, odds = examples.beyond.float(), examples.odds.float()
    largest = beyond.nan_to_num(0.0).abs().amax(2)
    shares = beyond / largest.clamp(min=1e-30)[..., None]
    steps = (shares.sign() * shares.abs().sqrt() * SIGNED_STEPS).round()
    return StoredExamples(
        kind=examples.kind.int(),
        public=examples.public.half(),
        beliefs=kept_beliefs(examples.beliefs.float()),
        beyond=steps.nan_to_num(UNKNOWN).to(torch.int8),
        largest=largest,
        odds=(odds * ODDS_STEPS).round().to(torch.int16)[:, :, : odds.shape[2] if keeps_odds else 0],
    )


def restored(kept: StoredExamples, table: BoardTable | FullBoards) -> RoundEndExamples:
    """Returns examples as they were, except for rounding; what is not stored is computed from the boards of a table."""
    beliefs = restored_beliefs(kept.beliefs)
    steps = kept.beyond.float()
    values = (steps / SIGNED_STEPS).square() * steps.sign() * kept.largest[..., None]
    other, kind = beliefs.flip(1).transpose(0, 1).contiguous(), kept.kind.long()
    known_odds = kept.odds.shape[2] > 0
    parts = []
    for first in range(0, len(kind), BOARDS_AT_ONCE):
        some = slice(first, first + BOARDS_AT_ONCE)
        boards = table.plain_boards(kind[some]) if known_odds else table.boards(kind[some])
        weights = other[:, some].contiguous()
        met = boards.meetings(weights).clamp(min=1e-9)
        parts.append((met, met if known_odds else boards.leads(weights) / met))
    met, odds = (torch.cat(column, 1).transpose(0, 1) for column in zip(*parts, strict=True))
    return RoundEndExamples(
        kind=kind,
        public=kept.public.float(),
        beliefs=beliefs * beliefs.shape[2],
        odds=kept.odds.float() / ODDS_STEPS if known_odds else odds,
        met=met,
        beyond=values.masked_fill(kept.beyond == UNKNOWN, torch.nan),
    )
