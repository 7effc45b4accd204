"""Infostates of limit hold'em as 288 bits, without prior knowledge of good play (NFSP, section 4.1).

Four times 52 bits are the cards dealt on each street, k of n: the player's hand, the flop, the turn, the river. The other 80
are the betting as a tensor {player, street, raises before, call or raise}; folds are left out because they end the hand.
Memories store the bits packed, eight to a byte.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tacit.cards.deck import NUM_CARDS
from tacit.cards.hands import HANDS
from tacit.games.betting import CALL, DEAL, FOLD
from tacit.games.limit_batch import RAISE_COUNTS, STREETS, LimitHands
from tacit.games.public_hand import CARD, PublicHand

NUM_CARD_BITS = STREETS * NUM_CARDS
NUM_BITS = NUM_CARD_BITS + 2 * STREETS * RAISE_COUNTS * 2
NUM_BYTES = NUM_BITS // 8
_STREET_OF_CARD = (0, 0, 1, 1, 1, 2, 3)
"""The street on which each card that a player sees is dealt: its own two, then the board."""


class Encoder:
    """Turns hands into bits, and bits into inputs of networks, on one device."""

    def __init__(self, device: str = "cpu") -> None:
        self._street = torch.tensor(_STREET_OF_CARD, device=device)
        self._shift = torch.arange(8, dtype=torch.uint8, device=device)

    def encode(self, hands: LimitHands, player: Tensor) -> Tensor:
        """Returns `[G, 288]` bool, the infostates of players `[G]` in hands."""
        own = torch.where((player == 0)[:, None], hands.cards[:, 0:2], hands.cards[:, 2:4])
        seen = torch.cat((own, hands.cards[:, 4:]), 1)
        place = torch.where(self._street <= hands.street[:, None], self._street * NUM_CARDS + seen, NUM_CARD_BITS)
        cards = torch.zeros(len(seen), NUM_CARD_BITS + 1, dtype=torch.bool, device=seen.device)
        return torch.cat((cards.scatter_(1, place, True)[:, :NUM_CARD_BITS], hands.done), 1)

    def pack(self, bits: Tensor) -> Tensor:
        """Returns `[..., 36]` uint8, packed from bits `[..., 288]`."""
        return (bits.view(*bits.shape[:-1], NUM_BYTES, 8).to(torch.uint8) << self._shift).sum(-1, dtype=torch.uint8)

    def unpack(self, packed: Tensor) -> Tensor:
        """Returns `[..., 288]` float32, unpacked from `[..., 36]` uint8."""
        return (packed[..., None] >> self._shift & 1).flatten(-2).float()


def encode_all_hands(public: PublicHand) -> Tensor:
    """Returns `[1326, 288]` float32, the infostate of a public state's actor with each hand, possible or not."""
    bits = torch.zeros(len(HANDS), NUM_BITS)
    hands = torch.from_numpy(np.ascontiguousarray(HANDS))
    bits[:, :NUM_CARDS].scatter_(1, hands, 1.0)
    for place, card in enumerate(public.board, 2):
        bits[:, _STREET_OF_CARD[place] * NUM_CARDS + card] = 1.0
    betting, rules = public.game.rules.start(), public.game.rules
    for player, action in public.path:
        if player == CARD:
            continue
        if action != FOLD:
            before = (player * STREETS + betting.street) * RAISE_COUNTS + betting.num_raises
            bits[:, NUM_CARD_BITS + 2 * before + int(action > CALL)] = 1.0
        betting = rules.apply(betting, action)
        if betting.actor == DEAL:
            betting = rules.deal(betting)
    return bits
