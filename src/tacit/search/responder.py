"""A best response to search, found by search: for agents whose whole policy is too large to write down.

The responder follows a *model* of the agent: a chain of searches that play and believe average strategies. To someone who
does not know which iteration the agent drew, a random one plays like the average. The responder opens the likeliest public
paths of the model, one search each, and computes its answers backwards from their ends. Leaves that were not opened are valued
by the agent's own evaluator.

In a game so small that every path is opened, the answers are a best response to the model. Otherwise they fall short by the
evaluator's errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from tacit.search.batch import Batch, Group
from tacit.search.search import BatchSearch
from tacit.search.walk import explore, leaf_chances, leaf_states, reaches_below
from tacit.tree.public_tree import NOT_ACTING, PublicTree, in_ranges
from tacit.tree.search_space import PlayerTables

NOT_OPENED = -1
"""The path below a leaf where the responder has not searched."""
CURIOSITY = 0.5
"""The share of uniform play that the responder is assumed to mix in when the likeliest paths are chosen."""


class ResponseStage:
    """The model at `P` public paths, each the same number of searches long, and the responder's answers.

    Attributes:
      public_class: `[P]` the classes where the paths end.
      reaches: `[P, 2, H]` the model's reaches there.
      batch: the layout of strategies and leaf values.
      expected: the model's strategies.
      below: `[P, L]` the path of the next stage that starts at each leaf, or `NOT_OPENED`.
      response: each player's best response to the model, as entries of both players.
      leaf_values: `[2 * H, leaves]` the infostate values of the responder in either seat.
    """

    def __init__(self, search: BatchSearch, public_class: np.ndarray, reaches: Tensor) -> None:
        self._search, self.public_class, self.reaches = search, public_class, reaches
        result = search.run(public_class, reaches)
        self.batch, (self.expected, _) = result.batch, result.to_play(safe=False)
        most = max(1, int(np.diff(search.space.tables.leaf_start).max()))
        self.below = torch.full((len(public_class), most), NOT_OPENED, device=reaches.device)
        self.response = torch.zeros_like(self.expected)
        self.leaf_values = reaches.new_zeros(2 * reaches.shape[2], len(self.batch.leaf_class))

    def leaf_states(self, leaf: Tensor, path: Tensor) -> tuple[np.ndarray, Tensor]:
        """Returns `[n]` the classes and `[n, 2, H]` the model's reaches at leaves `[n]` of paths `[n]`."""
        classes, reaches = leaf_states(self._search, self.batch, self.expected, self.reaches, leaf, path)
        return classes.cpu().numpy(), reaches

    def likely_leaves(self, weight: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
        """Returns the paths `[n]`, leaves `[n]` and weights `[2, n]` of the likeliest leaves, at most `count`.

        Args:
          weight: `[2, P]` the probability of each path with a curious responder in either seat.
          count: the most leaves.
        """
        search, chances = self._search, []
        for seat in (0, 1):
            explorer = torch.full((len(self.public_class),), seat, device=weight.device)
            curious = explore(search, self.batch, self.expected, self.expected, explorer, CURIOSITY)
            to_leaf = leaf_chances(search, self.batch, curious, self.reaches)
            chances.append((to_leaf * weight[seat][:, None]).flatten())
        likely, order = (chances[0] + chances[1]).sort(descending=True, stable=True)
        order = order[:count][likely[:count] > 0]
        most = self.below.shape[1]
        return order // most, order % most, torch.stack(chances)[:, order]

    def answer(self, values_below: Tensor | None) -> Tensor:
        """Returns `[P, 2, H]` the infostate values of best responses at the roots; fills `response` and `leaf_values`.

        Args:
          values_below: `[n, 2, H]` what the next stage returned; None if there is none.
        """
        space, batch, device, H = self._search.space, self.batch, self.reaches.device, self.reaches.shape[2]
        reach = reaches_below(self._search, batch, self.expected, self.reaches)
        self._value_leaves(reach, values_below)
        roots, values = batch.by_place(self.reaches), self.reaches.new_zeros(len(batch.order), 2, H)
        for group in batch:
            c = group.public_class
            rows, response = batch.rows(reach, group), batch.view(self.response, batch.entry_offset, group)
            leaves = self.leaf_values[:, slice(*batch.leaf_offset[group.number :][:2])].view(2 * H, -1, group.size)
            deals = torch.from_numpy(space.tables.deals[c]).to(device)
            for player, table in enumerate(space.tables.players):
                here = slice(*table.row_start[c : c + 2])
                at = np.flatnonzero(table.leaf[here] >= 0)
                state, leaf = (torch.from_numpy(part[here][at]).long().to(device) for part in (table.state, table.leaf))
                cfv = meeting_sums(table, c, rows[1 - player])
                cfv[torch.from_numpy(at).to(device)] *= leaves[player * H + state, leaf]
                _best_actions(space.subgames[c].tree, player, cfv, response)
                count = int(table.num_roots[c])
                likely = (roots[group.games, 1 - player] @ (deals.T if player == 0 else deals))[:, :count]
                values[group.games, player, :count] = torch.where(likely > 1e-9, cfv[:count].T / likely.clamp_min(1e-9), 0.0)
        return batch.by_game(values)

    def _value_leaves(self, reach: list[Tensor], values_below: Tensor | None) -> None:
        """Values all leaves: those that were opened by the next stage, the others by the agent's evaluator."""
        search, batch, t, device = self._search, self.batch, self._search.space.tables, self.reaches.device
        if not len(batch.leaf_class):
            return
        beliefs = torch.zeros_like(self.leaf_values)
        for player in (0, 1):
            search.kernels.leaf_beliefs(batch, player, reach[player], beliefs)
        self.leaf_values = search.evaluator.evaluate(torch.from_numpy(batch.leaf_class).to(device), beliefs)
        if values_below is not None:
            number = np.arange(len(t.leaf_class)) - np.repeat(t.leaf_start[:-1], np.diff(t.leaf_start))
            path = torch.from_numpy(batch.order).to(device)[batch.places(t.leaf_start, device)]
            child = self.below[path, batch.spread(t.leaf_start, number, device)]
            self.leaf_values = torch.where(child == NOT_OPENED, self.leaf_values, values_below[child].flatten(1).T)

    def matches(self, batch: Batch, games: Tensor, path: Tensor) -> Iterator[tuple[Group, Group, Tensor, Tensor]]:
        """Yields each group of a batch whose class occurs in this stage, with the places of its games' paths.

        Args:
          batch: another batch.
          games: `[n]` games of it that follow a path of this stage.
          path: `[n]` their paths.

        Yields:
          The group, this stage's group, `[size]` the columns of the games' paths in it, and `[size]` which games have one.
        """
        device = path.device
        path_of = torch.full((len(batch.place),), NOT_OPENED, device=device).index_put_((games,), path)
        place, here = torch.from_numpy(self.batch.place).to(device), {group.public_class: group for group in self.batch}
        for group in batch:
            if group.public_class in here:
                paths = path_of[torch.from_numpy(batch.order[group.games]).to(device)]
                source, is_here = here[group.public_class], paths != NOT_OPENED
                yield group, source, torch.where(is_here, place[paths] - source.games.start, 0), is_here


def plan_response(search: BatchSearch, width: int, progress: Callable[[int], None] = lambda _: None) -> list[ResponseStage]:
    """Returns the responder's answers on the likeliest paths, from the start of the game down.

    Args:
      search: the agent's search.
      width: the most paths that are opened at each stage.
      progress: called with the number of searches done.
    """
    space, device = search.space, search.kernels.device
    stages: list[ResponseStage] = []
    classes, reaches = space.root_class, torch.from_numpy(space.root_reaches).to(device)
    weight = torch.from_numpy(space.root_chance).float().to(device).expand(2, -1)
    while len(classes):
        stage = ResponseStage(search, classes, reaches)
        stages.append(stage)
        progress(sum(len(opened.public_class) for opened in stages))
        path, leaf, weight = stage.likely_leaves(weight, width)
        stage.below[path, leaf] = torch.arange(len(path), device=device)
        classes, reaches = stage.leaf_states(leaf, path)
    values = None
    for stage in reversed(stages):
        values = stage.answer(values)
    return stages


def meeting_sums(table: PlayerTables, public_class: int, other_reach: Tensor) -> Tensor:
    """Returns `[rows, games]` for a player's rows the sum of meeting weights times the other's reaches `[rows, games]`."""
    first, last = table.row_start[public_class : public_class + 2]
    start = table.meeting_start[first : last + 1]
    meetings, own = slice(start[0], start[-1]), np.repeat(np.arange(last - first), np.diff(start))
    row, weight = (torch.from_numpy(x[meetings]).to(other_reach.device) for x in (table.meeting_row, table.meeting_weight))
    sums = other_reach.new_zeros(int(last - first), other_reach.shape[1])
    return sums.index_add_(0, torch.from_numpy(own).to(other_reach.device), weight[:, None] * other_reach[row.long()])


def _best_actions(tree: PublicTree, player: int, cfv: Tensor, response: Tensor) -> None:
    """Fills a player's entries of `response` `[E, games]` with the best actions, evenly where they tie.

    Args:
      tree: the subgame.
      player: the player who responds.
      cfv: `[rows, games]` counterfactual values, set where the game ends or is cut; the rest is filled in.
      response: receives the best actions.
    """
    rows, device = tree.rows[player], cfv.device
    edge_value = cfv.new_zeros(tree.num_entries, cfv.shape[1])

    def put(numbers: np.ndarray) -> Tensor:
        return torch.from_numpy(numbers.astype(np.int64)).to(device)

    for start, end in reversed(list(pairwise(rows.level_start.tolist()))):
        infostate = rows.infostate[start:end][rows.infostate[start:end] != NOT_ACTING]
        entries = put(in_ranges(tree.entry_start, infostate))
        which = put(np.repeat(np.arange(len(infostate)), np.diff(tree.entry_start)[infostate]))
        value = edge_value[entries]
        best = cfv.new_full((len(infostate), cfv.shape[1]), -torch.inf)
        best.scatter_reduce_(0, which[:, None].expand_as(value), value, "amax")
        chosen = (value == best[which]).to(cfv)
        response[entries] = chosen / torch.zeros_like(best).index_add_(0, which, chosen)[which]
        cfv[put(tree.infostate_row[infostate])] = best
        if start:
            here, moved = cfv[start:end], rows.entry[start:end] < tree.num_entries
            edge_value.index_add_(0, put(rows.entry[start:end][moved]), here[put(np.flatnonzero(moved))])
            cfv.index_add_(0, put(rows.parent[start:end][~moved]), here[put(np.flatnonzero(~moved))])
