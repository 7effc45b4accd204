"""Limit hold'em for thousands of hands at once: the rules of `games/betting.py` and `games/holdem.py` as tensor operations.

Every function has fixed shapes and never waits for the device, so that it can be captured as a CUDA graph. All nine cards are
dealt at the start; `nfsp/limit/encoding.py` says who sees them. Actions are `FOLD`, `CALL` and `RAISE`: raises have one size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from tacit.cards.deck import NUM_CARDS
from tacit.cards.strength import StrengthTables
from tacit.cards.torch_strength import seven_card_strengths, tensor_tables
from tacit.games.betting import CALL, FOLD, MAX_RAISES, RIVER
from tacit.games.holdem import LimitHoldem

RAISE = 2
NUM_ACTIONS = 3
STREETS, RAISE_COUNTS = 4, 5
"""The number of streets of a hand, and of possible raise counts on a street: 0 to 4."""
DEALT = 9
"""The number of cards of a hand: two of player 0, two of player 1, five of the board."""


class LimitHands(NamedTuple):
    """Hands in progress.

    Attributes:
      cards: `[G, 9]` int64.
      street: `[G]` int64, 0 to 3.
      actor: `[G]` int64, 0 (big blind) or 1 (button).
      spent: `[G, 2]` int64, the chips each player has put in over the whole hand.
      raises: `[G]` int64, bets and raises on this street, blinds not counted.
      acted: `[G]` bool, whether anybody has acted on this street.
      done: `[G, 80]` bool, the actions so far: {player, street, raises before it, `CALL` or `RAISE`}.
    """

    cards: Tensor
    street: Tensor
    actor: Tensor
    spent: Tensor
    raises: Tensor
    acted: Tensor
    done: Tensor


class Outcome(NamedTuple):
    """The result of one action in each hand.

    Attributes:
      hands: The hands after the action. In finished hands only the cards are meaningful.
      over: `[G]` bool, whether the hand is over.
      payoff: `[G]` float32, the chips that player 0 wins where the hand is over, else 0.
    """

    hands: LimitHands
    over: Tensor
    payoff: Tensor


@dataclass(frozen=True)
class LimitRules:
    """Limit hold'em on a device.

    Attributes:
      small_blind: The small blind, in chips.
      big_blind: The big blind, in chips.
      raise_size: `[4]` the chips that a raise adds on each street.
      max_raises: `[4]` the most raises on each street.
      strengths: The tables for seven-card strengths.
    """

    small_blind: int
    big_blind: int
    raise_size: Tensor
    max_raises: Tensor
    strengths: StrengthTables

    @staticmethod
    def of(game: LimitHoldem, device: str = "cpu") -> LimitRules:
        """Returns the rules of a game that starts from the blinds."""
        sizes = torch.tensor([game.rules.raise_size(street) for street in range(STREETS)], device=device)
        max_raises = torch.tensor(MAX_RAISES, device=device)
        return LimitRules(game.small_blind, game.big_blind, sizes, max_raises, tensor_tables(device))

    def begin(self, cards: Tensor) -> LimitHands:
        """Returns hands with cards `[G, 9]` before their first action."""
        count, device = len(cards), cards.device
        zero, none = torch.zeros(count, dtype=torch.int64, device=device), torch.zeros(count, dtype=torch.bool, device=device)
        spent = torch.stack((zero + self.big_blind, zero + self.small_blind), 1)
        done = torch.zeros(count, 2 * STREETS * RAISE_COUNTS * 2, dtype=torch.bool, device=device)
        return LimitHands(cards, zero, zero + 1, spent, zero.clone(), none, done)

    def legal(self, hands: LimitHands) -> Tensor:
        """Returns `[G, 3]`, True for the legal actions."""
        fold = hands.spent[:, 0] != hands.spent[:, 1]
        return torch.stack((fold, torch.ones_like(fold), hands.raises < self.max_raises[hands.street]), 1)

    def step(self, hands: LimitHands, action: Tensor) -> Outcome:
        """Returns the outcome of legal actions `[G]`."""
        cards, street, actor, spent, raises, acted, done = hands
        fold, call, lifts = action == FOLD, action == CALL, action == RAISE
        facing = spent.amax(1)
        owed = facing + self.raise_size[street] * lifts
        acts = torch.stack((actor == 0, actor == 1), 1) & ~fold[:, None]
        spent = torch.where(acts, owed[:, None], spent)
        place = ((actor * STREETS + street) * RAISE_COUNTS + raises) * 2 + action - CALL
        slots = torch.arange(done.shape[1], device=done.device)
        done = done | ((slots == place[:, None]) & ~fold[:, None])
        closes = call & acted
        shows = closes & (street == RIVER)
        lost = torch.where(actor == 0, -spent[:, 0], spent[:, 1])
        payoff = torch.where(fold, lost, self._showdown_payoff(cards, spent) * shows)
        following = LimitHands(
            cards,
            street + (closes & ~shows),
            torch.where(closes, 0, 1 - actor),
            spent,
            torch.where(closes, 0, raises + lifts),
            ~closes,
            done,
        )
        return Outcome(following, fold | shows, payoff.float())

    def _showdown_payoff(self, cards: Tensor, spent: Tensor) -> Tensor:
        board = cards[:, 4:]
        first, second = (seven_card_strengths(torch.cat((cards[:, own : own + 2], board), 1), self.strengths) for own in (0, 2))
        return spent[:, 0] * ((first > second).long() - (first < second).long())


def deal(count: int, generator: torch.Generator) -> Tensor:
    """Returns `[count, 9]`, the cards of random hands, on the generator's device."""
    return torch.rand(count, NUM_CARDS, generator=generator, device=generator.device).topk(DEALT, 1).indices


def where_over(over: Tensor, fresh: LimitHands, hands: LimitHands) -> LimitHands:
    """Returns the hands, with those that are over, `[G]`, replaced by fresh ones."""
    pairs = zip(fresh, hands, strict=True)
    return LimitHands(*(torch.where(over.view(-1, *[1] * (new.ndim - 1)), new, old) for new, old in pairs))
