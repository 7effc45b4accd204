"""From a solved subgame to its leaves: exploration, sampling a leaf, and the beliefs there.

Private states are summed out: a leaf is sampled by its total probability, never by a single history. That needs no bookkeeping
of hands and has less variance.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tacit.search.batch import Batch
from tacit.search.groups import root_reach, uniform_strategy
from tacit.search.odds import LeafOdds, normalised_reach
from tacit.search.search import BatchSearch

GAME_OVER = -1
"""The leaf of a game that ended before the depth limit."""


def explore(
    search: BatchSearch, batch: Batch, strategy: Tensor, others: Tensor, explorer: Tensor, exploration: float
) -> Tensor:
    """Returns the strategy that each game samples its next moves from.

    Args:
      search: the search that ran.
      batch: the layout of both strategies.
      strategy: what each game's explorer plays, mixed with uniform play.
      others: what the other player plays.
      explorer: `[B]` the players who explore.
      exploration: the share of uniform play.
    """
    device, t = strategy.device, search.space.tables
    entry_explorer = batch.by_place(explorer)[batch.places(t.entry_start, device)]
    explores = batch.spread(t.entry_start, t.entry_player, device) == entry_explorer
    return torch.where(explores, strategy.lerp(uniform_strategy(search.space, batch, device), exploration), others)


def reaches_below(search: BatchSearch, batch: Batch, strategy: Tensor, reaches: Tensor) -> list[Tensor]:
    """Returns for each player the reach of all rows of a batch's search trees, from reaches `[B, 2, H]` at the roots."""
    below = [root_reach(search.space, batch, part, player) for player, part in enumerate(batch.by_place(reaches).unbind(1))]
    for player in (0, 1):
        search.kernels.reach_down(batch, player, strategy, below[player])
    return below


def leaf_chances(search: BatchSearch, batch: Batch, strategy: Tensor, reaches: Tensor) -> Tensor:
    """Returns `[B, L]` the probability of each leaf of each game's subgame; the remainder is that of the game's end.

    Args:
      search: the search that ran.
      batch: the layout of `strategy`.
      strategy: what both players sample actions from.
      reaches: `[B, 2, H]` at the roots.
    """
    device, t = strategy.device, search.space.tables
    sorted_reaches, below = batch.by_place(reaches), reaches_below(search, batch, strategy, reaches)
    odds = LeafOdds(search.space, batch, device)
    chances = torch.zeros(len(batch.order), max(1, int(np.diff(t.leaf_start).max())), device=device)
    for group in batch:
        first, second = sorted_reaches[group.games, 0], sorted_reaches[group.games, 1]
        total = ((first @ torch.from_numpy(t.deals[group.public_class]).to(device)) * second).sum(1)
        mass = (odds.arrived(group.number, 0, below[0]) * odds.of_rows(group.number, 0, below[1])).sum(1)
        chances[group.games, : len(mass)] = mass.T / total.clamp_min(1e-30)[:, None]
    return batch.by_game(chances)


def sample_leaves(chances: Tensor, draws: Tensor) -> Tensor:
    """Returns `[D]` a leaf for each uniform random number of `draws` `[D]`, or `GAME_OVER`; `chances` is `[D, L]`."""
    drawn = (chances.cumsum(1) <= draws[:, None]).sum(1)
    return torch.where(drawn < chances.shape[1], drawn, GAME_OVER)


def leaf_states(
    search: BatchSearch, batch: Batch, strategy: Tensor, reaches: Tensor, leaf: Tensor, game: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Returns `[D]` the class and `[D, 2, H]` the normalised reaches at leaves; zeros for `GAME_OVER`.

    Args:
      search: the search that ran.
      batch: the layout of `strategy`.
      strategy: the strategy that defines the beliefs.
      reaches: `[B, 2, H]` at the roots.
      leaf: `[D]`, counted within each game's class.
      game: `[D]` the game of each leaf; None if each game has one.
    """
    device, t = strategy.device, search.space.tables
    below = reaches_below(search, batch, strategy, reaches)
    place = torch.from_numpy(batch.place).to(device)
    place = place if game is None else place[game]
    playing = (leaf != GAME_OVER)[:, None]

    def of_group(numbers: np.ndarray) -> Tensor:
        """Returns `[D]` the entry of each game's group in `numbers`."""
        return torch.from_numpy(np.repeat(numbers.astype(np.int64), batch.group_size)).to(device)[place]

    index = of_group(t.leaf_start[batch.group_class]) + leaf.clamp_min(0)
    index = index.clamp_max(len(t.leaf_class))
    leaf_class = torch.from_numpy(np.append(t.leaf_class, 0)).to(device).long()[index]
    column = (place - of_group(batch.game_offset[:-1]))[:, None]
    state = torch.arange(reaches.shape[2], device=device)
    new_reaches = torch.zeros(len(leaf), *reaches.shape[1:], device=device)
    for player in (0, 1):
        first_row = torch.from_numpy(np.append(t.leaf_row[player], 0)).to(device).long()[index]
        real = (state < torch.from_numpy(t.players[player].num_roots).to(device)[leaf_class][:, None]) & playing
        row = (first_row[:, None] + state) * of_group(batch.group_size)[:, None] + column
        position = of_group(batch.row_offset[player][:-1])[:, None] + row
        reach = torch.where(real, below[player][position.where(real, 0)], 0.0)
        new_reaches[:, player] = normalised_reach(reach, real, dim=1)
    return leaf_class.where(playing[:, 0], 0), new_reaches
