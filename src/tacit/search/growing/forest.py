"""Many growing trees side by side, with room to grow: appending to a tree never renumbers what it already has."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.search.growing.steps import NO_OWN_ACTION, NO_STEP, Steps
from tacit.tree.public_tree import NO_PARENT, Floats, Ints

NO_NODE = -1
"""Link to a child that is not in the tree yet."""
CLOSED, NEW, VALUED = 0, 1, 2
"""An action without children in the tree, an opened one that no regret update has valued yet, and one that has a value."""


class Forest(NamedTuple):
    """`B` trees with room for `N` nodes, `R` rows of each player, `E` entries and `K` links to children each.

    A node is a leaf while its step is `NO_STEP`, unless the game is over there. Nodes and rows are stored in the order they
    were added, so parents come first. The rows of a node are adjacent, and so are the entries of a row.

    Attributes:
      num_nodes: `[B]` nodes so far.
      num_rows: `[B, 2]` rows of each player so far.
      num_entries: `[B]` entries so far.
      num_links: `[B]` links so far.
      parent: `[B, N]` the node above, `NO_PARENT` at the root.
      state: `[B, N]` the node's state in `StepTables`: one of its parent's step, or for the root of its own.
      step: `[B, N]` the step of an open node, `NO_STEP` elsewhere.
      scale: `[B, N]` the factor on the chance weights of the node's state.
      live: `[B, N]` how much can still be opened in a node's subtree: leaves, and closed actions of open nodes.
      node_row: `[B, 2, N]` the first row of each player.
      node_entry: `[B, N]` the first entry of an open node.
      node_link: `[B, N]` the first link of an open node; it has one for each child of its step.
      link: `[B, K]` the child's node, or `NO_NODE`.
      row_parent: `[B, 2, R]` the row above, `NO_PARENT` at the root.
      row_entry: `[B, 2, R]` the entry of the player's own action that led here, or `NO_OWN_ACTION`.
      reach: `[B, 2, R]` the player's reach under the current strategies.
      faced: `[B, 2, R]` the player's reach that the opponent answered last.
      reach_sum: `[B, 2, R]` the sum over iterations of weight times `faced`, since the row was added.
      cfv: `[B, 2, R]` the counterfactual values of the player's latest update.
      cfv_sum: `[B, 2, R]` the sum over iterations of weight times `cfv`, since the row was added.
      leaf_value: `[B, 2, R]` infostate values of the rows at leaves.
      leaf_sum: `[B, 2, R]` if leaves are valued at averages: at the latest update, `leaf_value` times the likelihood of each
        row at a leaf, given chance and the opponent's `reach_sum`.
      leaf_asked: `[B, N]` 1 where a leaf without private information has its value, which never changes.
      regret: `[B, E]` cumulative regrets.
      average: `[B, E]` the sum over iterations of weight times own reach times strategy.
      strategy: `[B, E]` current strategies, 0 at closed actions.
      edge_value: `[B, E]` the counterfactual value of each action in the latest update.
      prior: `[B, E]` the prior of PUCT.
      visits: `[B, E]` how often a walk took the action.
      opened: `[B, E]` `CLOSED`, `NEW` or `VALUED`.
      bound: `[B]` the largest absolute return or leaf value so far: the unit of PUCT's values.
      random: `[B]` uint64, the state of the tree's random numbers.
    """

    num_nodes: Ints
    num_rows: Ints
    num_entries: Ints
    num_links: Ints
    parent: Ints
    state: Ints
    step: Ints
    scale: Floats
    live: Ints
    node_row: Ints
    node_entry: Ints
    node_link: Ints
    link: Ints
    row_parent: Ints
    row_entry: Ints
    reach: Floats
    faced: Floats
    reach_sum: Floats
    cfv: Floats
    cfv_sum: Floats
    leaf_value: Floats
    leaf_sum: Floats
    leaf_asked: Ints
    regret: Floats
    average: Floats
    strategy: Floats
    edge_value: Floats
    prior: Floats
    visits: Ints
    opened: Ints
    bound: Floats
    random: NDArray[np.uint64]


_PER_TREE = ("num_nodes", "num_rows", "num_entries", "num_links", "bound", "random")
_BY_NODE = ("parent", "state", "step", "scale", "live", "node_row", "node_entry", "node_link", "leaf_asked")
_BY_ROW = ("row_parent", "row_entry", "reach", "faced", "reach_sum", "cfv", "cfv_sum", "leaf_value", "leaf_sum")
_BY_PLAYER = ("node_row", *_BY_ROW)
_FLOATS = (
    *("scale", "reach", "faced", "reach_sum", "cfv", "cfv_sum", "leaf_value", "leaf_sum"),
    *("regret", "average", "strategy", "edge_value", "prior", "bound"),
)


def plant(steps: Steps, game_class: NDArray[Any], reaches: Floats, seeds: NDArray[Any]) -> Forest:
    """Returns trees that consist of their roots alone.

    Args:
      steps: the game; the steps of the roots are added to it.
      game_class: `[B]` the class of each root.
      reaches: `[B, 2, H]` the players' reaches there.
      seeds: `[B]` the seeds of the trees' random numbers.
    """
    steps.require(game_class)
    tables, B = steps.tables, len(game_class)
    arrays: dict[str, Any] = {}
    for name in Forest._fields:
        shape: tuple[int, ...] = (B, 2) if name == "num_rows" else (B,)
        if name not in _PER_TREE:
            shape = (B, 2, 0) if name in _BY_PLAYER else (B, 0)
        arrays[name] = np.zeros(shape, np.float64 if name in _FLOATS else np.int32)
    arrays["random"] = seeds.astype(np.uint64)
    forest = with_room(Forest(**arrays), (1, 0, reaches.shape[2], 0))
    state = tables.state_start[tables.step_of_class[game_class]]
    forest.num_nodes[:] = 1
    forest.live[:, 0] = 1
    forest.parent[:, 0], forest.step[:, 0], forest.scale[:, 0] = NO_PARENT, NO_STEP, 1.0
    forest.state[:, 0] = state
    for player in (0, 1):
        count = tables.num_rows[player][state]
        forest.num_rows[:, player] = count
        real = np.arange(reaches.shape[2]) < count[:, None]
        forest.reach[:, player, : reaches.shape[2]] = np.where(real, reaches[:, player], 0.0)
        forest.row_parent[:, player, : reaches.shape[2]] = NO_PARENT
        forest.row_entry[:, player, : reaches.shape[2]] = NO_OWN_ACTION
    return forest


def with_room(forest: Forest, wanted: tuple[int, int, int, int]) -> Forest:
    """Returns the forest with room in every tree for some more nodes, entries, rows of either player, and links.

    Room doubles when it runs out, so the cost of adding is proportional to what is added.
    """
    nodes, entries, rows, links = wanted
    used = (forest.num_nodes, forest.num_entries, forest.num_rows, forest.num_links)
    room = (forest.parent.shape[1], forest.regret.shape[1], forest.reach.shape[2], forest.link.shape[1])
    needed = [int(count.max()) + more for count, more in zip(used, (nodes, entries, rows, links), strict=True)]
    changed: dict[str, Any] = {}
    for name in Forest._fields:
        if name in _PER_TREE:
            continue
        number = 0 if name in _BY_NODE else 2 if name in _BY_ROW else 3 if name == "link" else 1
        if needed[number] > room[number]:
            old: NDArray[Any] = getattr(forest, name)
            grown = np.zeros((*old.shape[:-1], max(2 * room[number], needed[number], 16)), old.dtype)
            grown[..., : old.shape[-1]] = old
            changed[name] = grown
    return forest._replace(**changed)
