"""A tree of hold'em as a GPU reads it: in pieces that are independent of each other.

A *piece* is the betting of a street from one beginning, on one board. Its nodes lie together, and but for folds and showdowns
each hand of it can be handled alone. Pieces with as many cards behind them form a *stage*: reaches flow down from stage to
stage, values flow up. Folds and showdowns of all boards depend on reaches only and come first, in *tiles* of a few terminal
nodes of one board. Where a card comes, a hand's value is the sum over the cards that can come: *links* say where hands go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.tree.hand_tree import DEALS, DECIDES, FOLDS, SHOWS, HandTree

Array = NDArray[Any]

TILE = 32
"""Terminal nodes of a tile."""


@dataclass(frozen=True)
class Pieces:
    """The tables. Offsets count numbers of the flat arrays they lead into.

    Attributes:
      stage_start: `[S + 1]` the pieces of each stage, of the roots first.
      stage_deal_start: `[S + 1]` the deals of each stage.
      width: `[P]` hands of the piece's board; its
      lane: `[P]` first lane.
      decision_start: `[P + 1]` its decisions, those further up later; for each of these
      value: `[D]` where its values lie, its
      actor: `[D]`, its
      num_actions: `[D]`, the
      entry: `[D]` offset of its first entry, and the
      first_edge: `[D]` first of its edges; for each of these
      edge_value: where the values of the node below lie, and
      edge_row: `[2, edges]` where both players' reaches of it lie.
      begin_value: `[P]` where the values of the piece's beginning lie, and
      begin_row: `[2, P]` both players' reaches of it, and
      above_row: `[2, P]` those before the card, -1 at roots.
      root_start: `[P]` where the hands of a root begin among those of all roots.
      row_start: for both players `[P + 1]` the other rows of each piece, every one after the row above; for each of these
      row: for both players where it lies, and
      row_above: the row above, and
      row_entry: the entry that led to it.
      tile_block_lane: `[T]` the first lane of a tile's board, and
      tile_width: `[T]` its hands, whether
      tile_shows: `[T]` hands are shown, and the
      tile_first: `[T]` first and
      tile_count: `[T]` number of its terminal nodes; for each of these
      terminal_value: where its values lie,
      terminal_row: `[2, terminals]` where both players' reaches lie, and
      terminal_amount: `[2, terminals]` what both win there.
      deal_value: `[L]` where the values of a dealing node lie, its
      deal_width: `[L]` hands, and the
      link_start: `[L + 1]` first of its links, a link for each card; for each of these
      link_value: where the values after the card lie, and
      link_below: where in `below` its hands begin.
      below: for the cards that can come, the lane of each hand of the board before; -1 if it holds the card.
      num_values: numbers that all nodes' values take.
    """

    stage_start: Array
    stage_deal_start: Array
    width: Array
    lane: Array
    decision_start: Array
    value: Array
    actor: Array
    num_actions: Array
    entry: Array
    first_edge: Array
    edge_value: Array
    edge_row: Array
    begin_value: Array
    begin_row: Array
    above_row: Array
    root_start: Array
    row_start: tuple[Array, Array]
    row: tuple[Array, Array]
    row_above: tuple[Array, Array]
    row_entry: tuple[Array, Array]
    tile_block_lane: Array
    tile_width: Array
    tile_shows: Array
    tile_first: Array
    tile_count: Array
    terminal_value: Array
    terminal_row: Array
    terminal_amount: Array
    deal_value: Array
    deal_width: Array
    link_start: Array
    link_value: Array
    link_below: Array
    below: Array
    num_values: int


def cut_into_pieces(tree: HandTree) -> Pieces:
    """Returns the pieces of a tree."""
    t, blocks = tree, tree.blocks
    widths = np.diff(blocks.lane_start)
    value = np.cumsum(widths[t.block]) - widths[t.block]
    begins = (t.parent < 0) | (t.parent < blocks.node_start[t.block])
    piece_of = np.cumsum(begins) - 1  # pieces in the order of nodes
    root, block_stage = np.flatnonzero(begins), _stages(blocks.parent)
    order = np.argsort(block_stage[t.block[root]], kind="stable")  # pieces in the order of stages
    place = np.argsort(order)
    root, stage = root[order], block_stage[t.block[root]][order]
    num_stages = int(stage[-1]) + 1
    piece_of = place[piece_of]

    decisions = np.flatnonzero(t.kind == DECIDES)
    decisions = decisions[np.lexsort((-decisions, piece_of[decisions]))]
    edges = np.concatenate([t.children(node) for node in decisions.tolist()])
    above = [_parent_rows(t, player, root) for player in (0, 1)]
    rows = [_rows_by_piece(t, player, piece_of, len(root)) for player in (0, 1)]
    tiles, terminals = _tiles(t)
    deals = np.flatnonzero(t.kind == DEALS)
    deals = deals[np.argsort(block_stage[t.block[deals]], kind="stable")]
    after = np.concatenate([t.children(node) for node in deals.tolist()]) if len(deals) else np.zeros(0, np.int32)
    below, below_start = _below(t)
    winner = np.where(t.kind[terminals] == FOLDS, 1.0, 0.0)  # what one wins the other loses where somebody folded
    return Pieces(
        stage_start=_offsets(np.bincount(stage, minlength=num_stages)),
        stage_deal_start=_offsets(np.bincount(block_stage[t.block[deals]], minlength=num_stages)),
        width=widths[t.block[root]],
        lane=blocks.lane_start[t.block[root]],
        decision_start=_offsets(np.bincount(piece_of[decisions], minlength=len(root))),
        value=value[decisions],
        actor=t.actor[decisions],
        num_actions=t.num_actions[decisions],
        entry=t.entry_offset[t.first_entry[decisions]],
        first_edge=_offsets(t.num_actions[decisions])[:-1],
        edge_value=value[edges],
        edge_row=np.stack([t.row_offset[player][t.reach_row[player][edges]] for player in (0, 1)]),
        begin_value=value[root],
        begin_row=np.stack([t.row_offset[player][t.reach_row[player][root]] for player in (0, 1)]),
        above_row=np.stack(above),
        root_start=_offsets(np.where(stage == 0, widths[t.block[root]], 0))[:-1],
        row_start=(rows[0][0], rows[1][0]),
        row=(rows[0][1], rows[1][1]),
        row_above=(rows[0][2], rows[1][2]),
        row_entry=(rows[0][3], rows[1][3]),
        tile_block_lane=blocks.lane_start[tiles[0]],
        tile_width=widths[tiles[0]],
        tile_shows=tiles[1],
        tile_first=tiles[2],
        tile_count=tiles[3],
        terminal_value=value[terminals],
        terminal_row=np.stack([t.row_offset[player][t.reach_row[player][terminals]] for player in (0, 1)]),
        terminal_amount=np.stack([t.amount[terminals], (1.0 - 2.0 * winner) * t.amount[terminals]]),
        deal_value=value[deals],
        deal_width=widths[t.block[deals]],
        link_start=_offsets(t.num_actions[deals]),
        link_value=value[after],
        link_below=below_start[t.block[after]],
        below=below,
        num_values=int(value[-1] + widths[t.block[-1]]),
    )


def _offsets(counts: Array) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def _stages(block_parent: Array) -> NDArray[np.int64]:
    """Returns for each block how many cards came since its root."""
    stage = np.zeros(len(block_parent), np.int64)
    for block, parent in enumerate(block_parent):
        stage[block] = 0 if parent < 0 else stage[parent] + 1
    return stage


def _parent_rows(t: HandTree, player: int, root: Array) -> Array:
    """Returns where a player's reach before the card lies, for each piece; -1 for roots."""
    above = t.row_parent[player][t.reach_row[player][root]]
    return np.where(above >= 0, t.row_offset[player][np.maximum(above, 0)], -1)


def _rows_by_piece(t: HandTree, player: int, piece_of: Array, num_pieces: int) -> tuple[Array, Array, Array, Array]:
    """Returns a player's rows that own actions lead to, piece after piece: starts, offsets, those above, and entries."""
    rows = np.flatnonzero(t.row_entry[player] >= 0)
    piece = piece_of[t.entry_node[t.row_entry[player][rows]]]
    rows = rows[np.argsort(piece, kind="stable")]
    offset = t.row_offset[player]
    counts = np.bincount(piece, minlength=num_pieces)
    return _offsets(counts), offset[rows], offset[t.row_parent[player][rows]], t.entry_offset[t.row_entry[player][rows]]


def _tiles(t: HandTree) -> tuple[tuple[Array, Array, Array, Array], Array]:
    """Returns the tiles (block, whether hands are shown, first terminal, their number) and the terminals in their order."""
    terminals = np.flatnonzero((t.kind == FOLDS) | (t.kind == SHOWS))
    shows = t.kind[terminals] == SHOWS
    terminals = terminals[np.lexsort((shows, t.block[terminals]))]
    group = 2 * t.block[terminals].astype(np.int64) + (t.kind[terminals] == SHOWS)
    kinds, starts, counts = np.unique(group, return_index=True, return_counts=True)
    number = -(-counts // TILE)  # of tiles
    nth = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
    first, left = np.repeat(starts, number) + TILE * nth, np.repeat(counts, number) - TILE * nth
    kinds = np.repeat(kinds, number)
    return (kinds // 2, kinds % 2, first, np.minimum(left, TILE)), terminals


def _below(t: HandTree) -> tuple[Array, Array]:
    """Returns for every block but roots the lanes of the hands of the block before, and where each block's begin."""
    blocks, parts, starts, used = t.blocks, [np.zeros(0, np.int16)], [], 0
    for block, parent in enumerate(blocks.parent):
        starts.append(used)
        if parent >= 0:
            lanes = np.full(blocks.width(parent), -1, np.int16)
            above = blocks.above[blocks.lane_start[block] : blocks.lane_start[block + 1]]
            lanes[above] = np.arange(len(above))
            parts.append(lanes)
            used += len(lanes)
    return np.concatenate(parts), np.array(starts)
