"""Strategies from policy networks for every decision of a betting round in a batch of games, from the root down."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import torch
from torch import Tensor

from tacit.games.betting import Betting
from tacit.kernels.street_passes import StreetPasses
from tacit.nets.round_policy_net import NUM_ACTION, RoundPolicyNet, action_features, decision_features


class RoundPolicies:
    """Proposes strategies by networks; call `refresh` after training steps.

    Args:
      nets: the networks, by the number of cards on the board.
      dtype: the type of the networks' numbers; None for bfloat16 on a GPU and float32 elsewhere.
    """

    def __init__(self, nets: Mapping[int, RoundPolicyNet], dtype: torch.dtype | None = None) -> None:
        self.nets = nets
        on_gpu = next(iter(nets.values())).out.weight.device.type == "cuda"
        self._dtype = dtype or (torch.bfloat16 if on_gpu else torch.float32)
        self._fast = {cards: copy.deepcopy(net).to(self._dtype) for cards, net in nets.items()}

    @torch.no_grad()
    def refresh(self) -> None:
        """Copies the networks' current weights."""
        for cards, net in self.nets.items():
            for fast, trained in zip(self._fast[cards].parameters(), net.parameters(), strict=True):
                fast.copy_(trained)

    @torch.no_grad()
    def propose(self, passes: StreetPasses, betting: list[Betting] | None = None) -> Tensor:
        """Returns entries `[E, G, H]`: at each decision the network's strategy for the beliefs there.

        This runs once before a search and is not captured in a graph.

        Args:
          passes: the passes over the games.
          betting: the state of the betting at each node, if the street of the passes does not have it.
        """
        states = betting or passes.street.betting
        street, boards, strategy = passes.street, passes.boards, passes.uniform()
        net = self._fast[boards.board.shape[1]]
        hands = net.embed(boards.features.to(self._dtype), boards.texture.to(self._dtype))
        for nodes in decision_levels(passes):
            reaches = [passes.reach(player, strategy) for player in (0, 1)]
            bettings = [states[node] for node in nodes]
            menus = [street.entry_action[street.first_entry[node] :][: street.num_actions[node]] for node in nodes]
            rows = [action_features(*pair, passes.stack) for pair in zip(bettings, menus, strict=True)]
            most = max(map(len, rows))
            actions = torch.tensor([part + [[0.0] * NUM_ACTION] * (most - len(part)) for part in rows], device=passes.device)
            legal = torch.tensor([[place < len(part) for place in range(most)] for part in rows], device=passes.device)
            strategies = net(
                hands, decision_features(boards, bettings, passes.stack), decision_beliefs(passes, reaches, nodes),
                actions[:, None].expand(-1, len(boards), -1, -1), legal[:, None].expand(-1, len(boards), -1),
            )  # fmt: skip
            for node, played in zip(nodes, strategies, strict=True):
                first, count = street.first_entry[node], street.num_actions[node]
                strategy[first : first + count] = played[:, :count].transpose(0, 1)
        return strategy


def decision_levels(passes: StreetPasses) -> list[list[int]]:
    """Returns the decisions of a street by the number of actions before them."""
    levels: list[list[int]] = []
    depth = [0] * len(passes.street.kind)
    for node, above in enumerate(passes.street.parent):  # parents come before their children
        depth[node] = depth[above] + 1 if above >= 0 else 0
        if passes.street.num_actions[node]:
            levels.extend([] for _ in range(depth[node] + 1 - len(levels)))
            levels[depth[node]].append(node)
    return levels


def decision_beliefs(passes: StreetPasses, reaches: list[Tensor], nodes: list[int]) -> Tensor:
    """Returns `[2, N, G, H]` beliefs at decisions: the acting player's, then the opponent's."""
    actors = [passes.street.actor[node] for node in nodes]
    pairs = [
        [passes.beliefs(player, reaches[player], node) for player in (actor, 1 - actor)]
        for node, actor in zip(nodes, actors, strict=True)
    ]
    return torch.stack([torch.stack(column) for column in zip(*pairs, strict=True)])
