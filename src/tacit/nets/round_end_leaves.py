"""Leaves at the end of a betting round, valued by networks: one for each street that a round can end on."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from tacit.cards.board_tensors import BoardTensors
from tacit.cards.hands import NUM_HANDS
from tacit.kernels.hand_leaves import HandStates
from tacit.kernels.street_passes import StreetStates
from tacit.nets.round_end_net import RoundEndNet, public_features
from tacit.nets.round_net import RoundNet

_Known = tuple[Any, Tensor]
"""What a network makes of the boards, and the public part `[L, G, P]`."""


class RoundEndLeaves:
    """Values leaves by networks; `refresh` after training steps.

    Args:
      nets: by the number of cards on the board.
      stack: the chips of either player at the start of the hand, where leaves are those of a tree of hands.
      dtype: of the networks' numbers; None for bfloat16 on a GPU and float32 elsewhere.
    """

    counterfactual = True

    def __init__(self, nets: Mapping[int, RoundNet], stack: int = 0, dtype: torch.dtype | None = None) -> None:
        self.nets, self._stack = nets, stack
        on_gpu = next(iter(nets.values())).out.weight.device.type == "cuda"
        self._dtype = dtype or (torch.bfloat16 if on_gpu else torch.float32)
        self._fast = {cards: copy.deepcopy(net).to(self._dtype) for cards, net in nets.items()}
        self._known: WeakKeyDictionary[StreetStates, _Known] = WeakKeyDictionary()
        self._faced: WeakKeyDictionary[StreetStates, dict[int, tuple[Tensor, Tensor, Tensor]]] = WeakKeyDictionary()
        self._games: WeakKeyDictionary[HandStates, list[tuple[StreetStates, list[int]]]] = WeakKeyDictionary()

    @torch.no_grad()
    def refresh(self) -> None:
        """Takes over the networks' present weights, in place so that captured graphs see them."""
        for cards, net in self.nets.items():
            for fast, trained in zip(self._fast[cards].parameters(), net.parameters(), strict=True):
                fast.copy_(trained)
        self._known.clear()

    @torch.no_grad()
    def evaluate(self, states: StreetStates | HandStates, beliefs: Tensor) -> Tensor:
        """Returns counterfactual values, laid out like `beliefs` (see `LeafEvaluator`)."""
        if isinstance(states, StreetStates):
            return self._evaluate(states, beliefs)
        halves = beliefs.view(2, NUM_HANDS, -1)
        values = torch.zeros_like(halves)
        for game, leaves in self._boards(states):
            hand = game.boards.hand[0]
            here = halves[:, hand][:, :, leaves].permute(0, 2, 1)[:, :, None].float()
            found = self._evaluate(game, here)[:, :, 0].permute(0, 2, 1).to(values.dtype)
            values[:, hand[:, None], torch.tensor(leaves)[None]] = found
        return values.view(beliefs.shape)

    def _boards(self, states: HandStates) -> list[tuple[StreetStates, list[int]]]:
        """Returns the leaves on each board as those of a batch of one game."""
        if states not in self._games:
            self._games[states] = [
                (
                    StreetStates(
                        BoardTensors(torch.tensor([board])), [states.betting[leaf] for leaf in leaves], 1.0, self._stack
                    ),
                    leaves,
                )
                for board, leaves in states.by_board().items()
            ]
        return self._games[states]

    def _evaluate(self, states: StreetStates, beliefs: Tensor) -> Tensor:
        """Returns `[2, L, G, H]` the same for a batch of games."""
        boards, net = states.boards, self._fast[states.boards.board.shape[1]]
        if states not in self._known:
            public = public_features(boards, states.betting, states.stack)
            self._known[states] = net.know(boards, self._dtype), public
        hands, public = self._known[states]
        if not isinstance(net, RoundEndNet) or not (net.helps.odds and net.helps.zero_sum):
            return self._plain(net, states, hands, public, beliefs)
        if boards.device.type == "cuda":
            from tacit.nets.triton_round_end import finish

            other = beliefs.flip(0).flatten(0, 1)
            leads, met = (part.view(beliefs.shape) for part in (boards.leads(other), boards.meetings(other)))
            return finish(*net.make(hands, public, beliefs), leads, met, beliefs, states.chips)
        from tacit.nets.numba_round_end import finish as finish_here

        faced = [self._against(states, player, beliefs[1 - player]) for player in (0, 1)]
        leads_by_player, met_by_player = zip(*faced, strict=True)
        return finish_here(*net.make(hands, public, beliefs), leads_by_player, met_by_player, beliefs, states.chips)

    @staticmethod
    def _plain(net: RoundNet, states: StreetStates, hands: Any, public: Tensor, beliefs: Tensor) -> Tensor:
        """Returns `[2, L, G, H]` the same, step by step, for any network."""
        other = beliefs.flip(0).flatten(0, 1)
        leads, met = (part(other).view(beliefs.shape) for part in (states.boards.leads, states.boards.meetings))
        values = net.values(hands, public, beliefs, leads / met.clamp(min=1e-9), met)
        return values * met * states.chips[:, None, None]

    def _against(self, states: StreetStates, player: int, theirs: Tensor) -> tuple[Tensor, Tensor]:
        """Returns `[L, G, H]` a player's leads against beliefs, and how likely these let hands be held.

        Players who are updated in turn change one half of the beliefs at a time: what follows from the other half is kept.
        """
        known = self._faced.setdefault(states, {})
        if player not in known or not torch.equal(known[player][0], theirs):
            known[player] = theirs.clone(), states.boards.leads(theirs), states.boards.meetings(theirs)
        return known[player][1:]
