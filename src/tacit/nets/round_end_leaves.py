"""Leaves at the end of a betting round, valued by networks: one network per street on which a round can end."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from tacit.cards.board_tensors import BoardTensors
from tacit.cards.hands import NUM_HANDS
from tacit.games.betting import Betting
from tacit.kernels.hand_leaves import HandStates
from tacit.kernels.street_passes import StreetStates
from tacit.nets.round_end_net import RoundEndNet, public_features
from tacit.nets.round_net import RoundNet

_Known = tuple[Any, Tensor]
"""A network's encoding of the boards, and the public features `[L, G, P]`."""


@dataclass(frozen=True)
class _Faced:
    """Quantities computed from each player's beliefs at the `L` leaves of `G` games.

    Attributes:
      summed: `[2, G, L, K]` each player's beliefs, summed up by the network's embeddings.
      leads: `[2, L, G, H]` the wins less the losses of a player's hands against the opponent's beliefs.
      met: `[2, L, G, H]` the share of the opponent's beliefs that shares no card with each hand.
      planes: The numbers of each player's planes among the beliefs `[2 * L, G, H]`.
      ones: `[L]` ones.
    """

    summed: Tensor
    leads: Tensor
    met: Tensor
    planes: tuple[Tensor, Tensor]
    ones: Tensor


class RoundEndLeaves:
    """Values leaves by networks; call `refresh` after training steps.

    Args:
      nets: the networks, by the number of cards on the board.
      stack: each player's chips at the start of the hand, if the leaves are those of a `HandTree`.
      dtype: the type of the networks' numbers; None for bfloat16 on a GPU and float32 elsewhere.

    Attributes:
      num_sizes: The most raise sizes that any later state of the betting offers (`public_features`). Change it only between
        searches.
    """

    counterfactual = True

    def __init__(
        self, nets: Mapping[int, RoundNet], stack: int = 0, dtype: torch.dtype | None = None, num_sizes: int = 1
    ) -> None:
        self.nets, self.num_sizes, self._stack = nets, num_sizes, stack
        on_gpu = next(iter(nets.values())).out.weight.device.type == "cuda"
        self._dtype = dtype or (torch.bfloat16 if on_gpu else torch.float32)
        self._fast = {cards: copy.deepcopy(net).to(self._dtype) for cards, net in nets.items()}
        self._known: WeakKeyDictionary[StreetStates, _Known] = WeakKeyDictionary()
        self._faced: WeakKeyDictionary[StreetStates, _Faced] = WeakKeyDictionary()
        self._games: WeakKeyDictionary[HandStates, list[tuple[StreetStates, Tensor]]] = WeakKeyDictionary()

    @torch.no_grad()
    def refresh(self) -> None:
        """Copies the networks' current weights, in place so that captured graphs see them."""
        for cards, net in self.nets.items():
            for fast, trained in zip(self._fast[cards].parameters(), net.parameters(), strict=True):
                fast.copy_(trained)
        self._known.clear()
        self._faced.clear()

    @torch.no_grad()
    def evaluate(self, states: StreetStates | HandStates, beliefs: Tensor) -> Tensor:
        """Returns counterfactual values, laid out like `beliefs` (see `LeafEvaluator`)."""
        return self._valued(states, beliefs, None)

    @torch.no_grad()
    def evaluate_changed(self, states: StreetStates | HandStates, beliefs: Tensor, changed: Collection[int]) -> Tensor:
        """Returns the same as `evaluate` (see `RememberingEvaluator`)."""
        return self._valued(states, beliefs, changed)

    def _valued(self, states: StreetStates | HandStates, beliefs: Tensor, changed: Collection[int] | None) -> Tensor:
        """Returns the values; `changed` is None if nothing is to be cached."""
        if isinstance(states, StreetStates):
            return self._evaluate(states, beliefs, changed)
        halves = beliefs.view(2, NUM_HANDS, -1)
        values = torch.zeros_like(halves)
        for games, leaves in self._boards(states, beliefs.device):
            places = games.boards.hand[:, :, None], leaves[:, None]
            here = halves[:, *places].permute(0, 3, 1, 2).float().contiguous()
            values[:, *places] = self._evaluate(games, here, changed).permute(0, 2, 3, 1).to(values.dtype)
        return values.view(beliefs.shape)

    def _boards(self, states: HandStates, device: torch.device) -> list[tuple[StreetStates, Tensor]]:
        """Returns the leaves as batches of games with the same betting, each with `[G, L]` the numbers of its leaves."""
        if states not in self._games:
            alike: dict[tuple[Betting, ...], list[tuple[tuple[int, ...], list[int]]]] = {}
            for board, leaves in states.by_board().items():
                alike.setdefault(tuple(states.betting[leaf] for leaf in leaves), []).append((board, leaves))
            self._games[states] = [
                (
                    StreetStates(
                        BoardTensors(torch.tensor([board for board, _ in games], device=device)),
                        list(bettings),
                        1.0,
                        self._stack,
                    ),
                    torch.tensor([leaves for _, leaves in games], device=device),
                )
                for bettings, games in alike.items()
            ]
        return self._games[states]

    def _evaluate(self, states: StreetStates, beliefs: Tensor, changed: Collection[int] | None) -> Tensor:
        """Returns `[2, L, G, H]` counterfactual values for a batch of games."""
        boards, net = states.boards, self._fast[states.boards.board.shape[1]]
        if states not in self._known:
            public = public_features(boards, states.betting, states.stack, self.num_sizes)
            self._known[states] = net.know(boards, self._dtype), public
        hands, public = self._known[states]
        if not isinstance(net, RoundEndNet) or not (net.helps.odds and net.helps.zero_sum):
            return self._plain(net, states, hands, public, beliefs)
        faced = self._faced.get(states) if changed is not None else None
        if faced is None:
            faced = _room(hands, beliefs)
            if changed is not None:
                self._faced[states] = faced
        for player in (0, 1) if changed is None else changed:
            _face(faced, states, net, hands, beliefs, player)
        if boards.device.type == "cuda":
            from tacit.nets.triton_round_end import finish
        else:
            from tacit.nets.numba_round_end import finish
        return finish(*net.make(hands, public, faced.summed), faced.leads, faced.met, beliefs, states.chips)

    @staticmethod
    def _plain(net: RoundNet, states: StreetStates, hands: Any, public: Tensor, beliefs: Tensor) -> Tensor:
        """Returns `[2, L, G, H]` counterfactual values from any network, without the fused last step."""
        other = beliefs.flip(0).flatten(0, 1)
        leads, met = (part(other).view(beliefs.shape) for part in (states.boards.leads, states.boards.meetings))
        values = net.values(hands, public, beliefs, leads / met.clamp(min=1e-9), met)
        return values * met * states.chips[:, None, None]


def _room(hands: tuple[Tensor, Tensor], beliefs: Tensor) -> _Faced:
    """Returns empty buffers for the quantities computed from beliefs `[2, L, G, H]`."""
    _, leaves, games, _ = beliefs.shape
    planes = torch.arange(2 * leaves, device=beliefs.device)
    summed = hands[0].new_empty(2, games, leaves, hands[0].shape[2])
    parts = beliefs.new_empty(beliefs.shape), beliefs.new_empty(beliefs.shape)
    return _Faced(summed, *parts, (planes[:leaves], planes[leaves:]), torch.ones(leaves, device=beliefs.device))


def _face(
    faced: _Faced, states: StreetStates, net: RoundEndNet, hands: tuple[Tensor, Tensor], beliefs: Tensor, player: int
) -> None:
    """Fills in the quantities for one player's beliefs: their sums, and `leads` and `met` of the opponent's hands."""
    faced.summed[player] = net.sum_up(hands, beliefs[player])
    source, rows, places = beliefs.flatten(0, 1), faced.planes[player], faced.planes[1 - player]
    states.boards.fill_leads(source, rows, faced.leads.flatten(0, 1), places, faced.ones)
    states.boards.fill_meetings(source, rows, faced.met.flatten(0, 1), places, faced.ones)
