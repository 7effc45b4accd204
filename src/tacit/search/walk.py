"""From a solved subgame to its leaves: exploring, sampling one, and the beliefs there.

Private states are summed out: a leaf is sampled by its total probability, never a single history. That needs no bookkeeping of
hands and has less variance.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tacit.search.batch import Batch, Group
from tacit.search.numbers import SearchKernels
from tacit.search.state import root_reach, uniform_strategy
from tacit.search.tables import SearchSpace
from tacit.tree.public_tree import LEAF

GAME_OVER = -1
"""The leaf of a game that ended before the depth limit."""


def explore(space: SearchSpace, batch: Batch, strategy: Tensor, explorer: Tensor, exploration: float) -> Tensor:
    """Returns strategies in which each game's explorer `[B]` leans to uniform play by `exploration`."""
    device = strategy.device
    mixed, uniform = strategy.clone(), uniform_strategy(space, batch, device)
    player_of = torch.from_numpy(space.tables.entry_player).to(device)
    explorer = explorer[torch.from_numpy(batch.order).to(device)]
    for group in batch:
        start, end = space.tables.entry_start[group.public_class : group.public_class + 2]
        share = exploration * (player_of[start:end, None] == explorer[group.games]).float()
        batch.view(mixed, batch.entry_offset, group).lerp_(batch.view(uniform, batch.entry_offset, group), share)
    return mixed


def sample_leaves(
    space: SearchSpace, kernels: SearchKernels, batch: Batch, strategy: Tensor, reaches: Tensor, draws: Tensor
) -> Tensor:
    """Returns `[B]` a leaf for each game, counted within its class, or `GAME_OVER`.

    Args:
      space: the game.
      kernels: the passes.
      batch: the layout of `strategy`.
      strategy: what both players sample actions with.
      reaches: `[B, 2, H]` at the roots.
      draws: `[B]` uniform random numbers.
    """
    device = strategy.device
    order = torch.from_numpy(batch.order).to(device)
    sorted_reaches, sorted_draws = reaches[order], draws[order]
    below = [root_reach(space, batch, sorted_reaches[:, player], player) for player in (0, 1)]
    for player in (0, 1):
        kernels.reach_down(batch, player, strategy, below[player])
    chosen = torch.empty(len(order), dtype=torch.int64, device=device)
    for group in batch:
        deals = torch.from_numpy(space.tables.deals[group.public_class]).to(device)
        total = torch.einsum("gi,ij,gj->g", sorted_reaches[group.games, 0], deals, sorted_reaches[group.games, 1])
        shares = _leaf_weights(space, batch, group, below) / total.clamp_min(1e-30)
        drawn = (shares.cumsum(0) <= sorted_draws[group.games]).sum(0)
        chosen[group.games] = torch.where(drawn < len(shares), drawn, GAME_OVER)
    return chosen[torch.from_numpy(batch.place).to(device)]


def leaf_states(
    space: SearchSpace, kernels: SearchKernels, batch: Batch, strategy: Tensor, reaches: Tensor, leaf: Tensor
) -> tuple[Tensor, Tensor]:
    """Returns `[B]` the class at each game's leaf and `[B, 2, H]` the normalised reaches there; zeros where it is over."""
    device, t = strategy.device, space.tables
    order = torch.from_numpy(batch.order).to(device)
    sorted_reaches, sorted_leaf = reaches[order], leaf[order]
    playing = (sorted_leaf != GAME_OVER)[:, None]
    first_leaf = np.repeat(t.leaf_start[batch.group_class], batch.group_size)
    index = torch.from_numpy(first_leaf).to(device).long() + sorted_leaf.clamp_min(0)
    leaf_class = torch.from_numpy(np.append(t.leaf_class, 0)).to(device).long()[index.clamp_max(len(t.leaf_class))]
    group = np.repeat(np.arange(len(batch.group_class)), batch.group_size)
    size = torch.from_numpy(batch.group_size[group].astype(np.int64)).to(device)[:, None]
    game = torch.from_numpy(np.arange(len(group)) - batch.game_offset[group]).to(device)[:, None]
    state = torch.arange(reaches.shape[2], device=device)
    new_reaches = torch.zeros_like(sorted_reaches)
    for player in (0, 1):
        below = root_reach(space, batch, sorted_reaches[:, player], player)
        kernels.reach_down(batch, player, strategy, below)
        first_row = torch.from_numpy(np.append(t.leaf_row[player], 0)).to(device).long()[index.clamp_max(len(t.leaf_class))]
        offset = torch.from_numpy(batch.row_offset[player][group]).to(device)[:, None]
        real = (state < torch.from_numpy(t.players[player].num_roots).to(device)[leaf_class][:, None]) & playing
        position = offset + (first_row[:, None] + state) * size + game
        found = torch.where(real, below[position.where(real, 0)], 0.0)
        total = found.sum(1, keepdim=True)
        uniform = real / real.sum(1, keepdim=True).clamp_min(1)
        new_reaches[:, player] = torch.where(total > 1e-20, found / total.clamp_min(1e-20), uniform)
    place = torch.from_numpy(batch.place).to(device)
    return leaf_class.where(playing[:, 0], 0)[place], new_reaches[place]


def _leaf_weights(space: SearchSpace, batch: Batch, group: Group, below: list[Tensor]) -> Tensor:
    """Returns `[leaves, games]` how likely each leaf of a group is: chance and both reaches, summed over private states."""
    tree = space.subgames[group.public_class].tree
    nodes = tree.require_nodes()
    leaves = (nodes.actor == LEAF).nonzero()[0]
    reach = [batch.view(below[player], batch.row_offset[player], group) for player in (0, 1)]
    weights = torch.zeros(len(leaves), group.size, device=below[0].device)
    for number, leaf in enumerate(leaves):
        chance = torch.from_numpy(nodes.joint(int(leaf))).float().to(below[0].device)
        first, second = (reach[p][int(nodes.row_start[p][leaf]) : int(nodes.row_start[p][leaf + 1])] for p in (0, 1))
        weights[number] = (first * (chance @ second)).sum(0)
    return weights
