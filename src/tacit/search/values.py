"""What the private states at any public state of a searched subgame are worth, not only those at its root."""

from __future__ import annotations

import numpy as np
import torch

from tacit.search.search import BatchSearch
from tacit.tree.beliefs import PublicBeliefState
from tacit.tree.public_tree import LEAF, Floats, PlayerRows, PublicTree


def values_in_subgame(search: BatchSearch, root: int, pbs: PublicBeliefState, strategy: Floats) -> tuple[Floats, Floats]:
    """Returns for each player `[H]` the infostate values at `pbs`; 0 where the other's beliefs and chance exclude one.

    Args:
      search: the search, whose evaluator values the leaves.
      root: the node where the searched subgame starts.
      pbs: the public belief state of a node in it, no leaf.
      strategy: `[E]` of the whole tree: what both play from there on.
    """
    subgame = search.space.subgame_at(root)
    tree, nodes = subgame.tree, subgame.tree.require_nodes()
    node = int(np.searchsorted(subgame.node_index, pbs.node))
    here = [slice(int(start[node]), int(start[node + 1])) for start in nodes.row_start]
    extended = np.append(strategy[subgame.entry_index], 1.0)
    reaches = [_reach_below(tree.rows[player], here[player], pbs.reaches[player], extended) for player in (0, 1)]
    leaf_values = _leaf_values(search, tree, subgame.node_index, reaches)
    found = []
    for player, rows in enumerate(tree.rows):
        other, sign = 1 - player, 1.0 - 2.0 * player
        meeting = nodes.joint_chance * reaches[other][nodes.joint_rows[other]]
        likelihood = np.bincount(nodes.joint_rows[player], meeting, minlength=len(rows))
        paid = sign * tree.payoff * reaches[other][tree.payoff_rows[other]]
        cfv = np.bincount(tree.payoff_rows[player], paid, minlength=len(rows)) + likelihood * leaf_values[player]
        for start, end in reversed(list(zip(rows.level_start[1:-1], rows.level_start[2:], strict=True))):
            np.add.at(cfv, rows.parent[start:end], cfv[start:end] * extended[rows.entry[start:end]])
        likely = likelihood[here[player]]
        found.append(np.divide(cfv[here[player]], likely, out=np.zeros_like(likely), where=likely > 0))
    return found[0], found[1]


def _reach_below(rows: PlayerRows, here: slice, reach_here: Floats, extended: Floats) -> Floats:
    """Returns `[R]` a player's own reach of the rows below those of one node; zero elsewhere."""
    reach = np.zeros(len(rows))
    reach[here] = reach_here
    for start, end in zip(rows.level_start[1:-1], rows.level_start[2:], strict=True):
        if start > here.start:
            reach[start:end] = reach[rows.parent[start:end]] * extended[rows.entry[start:end]]
    return reach


def _leaf_values(search: BatchSearch, tree: PublicTree, node_index: np.ndarray, reaches: list[Floats]) -> list[Floats]:
    """Returns for each player `[R]` what the evaluator says at leaf rows; zero elsewhere."""
    nodes, H = tree.require_nodes(), search.space.tables.num_private_states
    values = [np.zeros(len(rows)) for rows in tree.rows]
    leaves = np.flatnonzero(nodes.actor == LEAF)
    if not len(leaves):
        return values
    places = []  # the columns of each leaf's rows, by leaf and player
    beliefs = np.zeros((2 * H, len(leaves)), np.float32)
    for column, leaf in enumerate(leaves):
        first, second = (slice(int(start[leaf]), int(start[leaf + 1])) for start in nodes.row_start)
        pbs = PublicBeliefState(tree, int(leaf), (reaches[0][first], reaches[1][second])).rescaled()
        places.append((first, second))
        for player in (0, 1):
            beliefs[player * H : player * H + len(pbs.reaches[player]), column] = pbs.reaches[player]
    leaf_class = torch.from_numpy(search.space.classes.of_node[node_index[leaves]].astype(np.int64))
    device, block = search.kernels.device, search.kernels.alignment  # leaves come in blocks of one class
    leaf_class, repeated = leaf_class.repeat_interleave(block), torch.from_numpy(beliefs).repeat_interleave(block, 1)
    evaluated = search.evaluator.evaluate(leaf_class.to(device), repeated.to(device))[:, ::block].cpu().numpy()
    for column, place in enumerate(places):
        for player, chosen in enumerate(place):
            values[player][chosen] = evaluated[player * H : player * H + chosen.stop - chosen.start, column]
    return values
