"""Self-play: hands that advance one decision at a time, and add to the players' memories (NFSP, Algorithm 1)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from tacit.games.limit_batch import NUM_ACTIONS, LimitHands, LimitRules, deal, where_over
from tacit.nfsp.config import LimitConfig
from tacit.nfsp.limit.encoding import NUM_BYTES, Encoder
from tacit.nfsp.limit.memory import PackedMemory, pack_legal
from tacit.nfsp.limit.networks import NUM_NETWORKS, POLICY, Layers, Q, forward, greedy, policy


class Seats(NamedTuple):
    """The state of both players in each hand.

    Attributes:
      best_response: `[G, 2]` bool, whether a player follows its best response in this hand, else its average policy.
      pending: `[G, 2]` bool, whether a player has acted in this hand.
      bits: `[G, 2, 36]` uint8, the infostate where a player acted last.
      action: `[G, 2]` uint8, a player's last action.
      finished: `[1]` int64, the number of hands that have ended.
    """

    best_response: Tensor
    pending: Tensor
    bits: Tensor
    action: Tensor
    finished: Tensor


class HandsInPlay:
    """Hands in play on a device; `advance` has fixed shapes and never waits for the device."""

    def __init__(self, rules: LimitRules, config: LimitConfig, generator: torch.Generator) -> None:
        self.rules, self.config = rules, config
        self._generator, self._device = generator, generator.device
        self.encoder = Encoder(str(self._device))
        count, device = config.games, self._device
        self.hands = LimitHands(*(part.clone() for part in rules.begin(deal(count, generator))))
        self.seats = Seats(
            self._who_responds(),
            torch.zeros(count, 2, dtype=torch.bool, device=device),
            torch.zeros(count, 2, NUM_BYTES, dtype=torch.uint8, device=device),
            torch.zeros(count, 2, dtype=torch.uint8, device=device),
            torch.zeros(1, dtype=torch.int64, device=device),
        )

    def advance(self, layers: Layers, transitions: PackedMemory, behaviour: PackedMemory, exploration: Tensor) -> None:
        """Makes one decision in every hand, and deals a new hand in place of each that ends.

        Args:
          layers: the networks.
          transitions: receives all actions of players, once they see what follows.
          behaviour: receives the actions of players that follow their best response, random moves included.
          exploration: `[1]` how often a best response moves at random.
        """
        hands, seats, rules = self.hands, self.seats, self.rules
        actor, legal = hands.actor, rules.legal(hands)
        bits = self.encoder.encode(hands, actor)
        packed, packed_legal = self.encoder.pack(bits), pack_legal(legal)
        responds = _of(seats.best_response, actor)
        action = self._act(layers, bits.float(), actor, responds, legal, exploration)
        taken = action.to(torch.uint8)
        items = packed, taken, packed_legal
        behaviour.add_sampled(actor, responds, items, self.config.least_probability, self._generator)
        outcome = rules.step(hands, action)
        over, won = outcome.over, outcome.payoff / (rules.big_blind * self.config.reward_unit)
        acts = torch.stack((actor == 0, actor == 1), 1)
        now_pending = seats.pending | acts
        now_bits = torch.where(acts[:, :, None], packed[:, None], seats.bits)
        now_action = torch.where(acts, taken[:, None], seats.action)
        nothing, no_bits = torch.zeros_like(taken), torch.zeros_like(packed)
        zero = torch.zeros_like(actor)
        transitions.add_latest(
            torch.cat((actor, zero, zero + 1)),
            torch.cat((_of(seats.pending, actor), over & now_pending[:, 0], over & now_pending[:, 1])),
            (
                torch.cat((_of(seats.bits, actor), now_bits[:, 0], now_bits[:, 1])),
                torch.cat((_of(seats.action, actor), now_action[:, 0], now_action[:, 1])),
                torch.cat((torch.zeros_like(won), won, -won)),
                torch.cat((packed, no_bits, no_bits)),
                torch.cat((packed_legal, nothing, nothing)),
            ),
        )
        fresh = rules.begin(deal(len(actor), self._generator))
        _assign(hands, where_over(over, fresh, outcome.hands))
        ended = over[:, None]
        responders = torch.where(ended, self._who_responds(), seats.best_response)
        _assign(seats, Seats(responders, now_pending & ~ended, now_bits, now_action, seats.finished + over.sum()))

    def _act(self, layers: Layers, bits: Tensor, actor: Tensor, responds: Tensor, legal: Tensor, exploration: Tensor) -> Tensor:
        """Returns `[G]` actions drawn from the players' strategies."""
        scores = forward(layers, bits.expand(NUM_NETWORKS, -1, -1))[-1].view(2, 2, -1, NUM_ACTIONS)
        own = torch.where((actor == 0)[:, None], scores[0], scores[1])
        best = (greedy(own[Q], legal)[:, None] == torch.arange(NUM_ACTIONS, device=self._device)).float()
        uniform = legal / legal.sum(1, keepdim=True)
        response = best + exploration * (uniform - best)
        return sample(torch.where(responds[:, None], response, policy(own[POLICY], legal)), legal, self._generator)

    def _who_responds(self) -> Tensor:
        drawn = torch.rand(self.config.games, 2, generator=self._generator, device=self._device)
        return drawn < self.config.anticipation


def sample(probabilities: Tensor, legal: Tensor, generator: torch.Generator) -> Tensor:
    """Returns `[G]` legal actions drawn from probabilities `[G, 3]`, by the first of competing exponential clocks."""
    times = torch.empty_like(probabilities).exponential_(generator=generator)
    return (probabilities / times).masked_fill(~legal, -1.0).argmax(1)


def _of(both: Tensor, player: Tensor) -> Tensor:
    """Returns `[G, ...]`, the entries of players `[G]` in `[G, 2, ...]`."""
    first = (player == 0).view(-1, *[1] * (both.ndim - 2))
    return torch.where(first, both[:, 0], both[:, 1])


def _assign(old: LimitHands | Seats, new: LimitHands | Seats) -> None:
    """Copies new tensors into the old ones, whose addresses a CUDA graph relies on."""
    for there, here in zip(old, new, strict=True):
        there.copy_(here)
