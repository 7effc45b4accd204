"""The sequence layout: any public tree by each player's own action sequences, with several infostates to a vector.

A player's reach changes only where it acts itself, so all of its rows since its last action share one number. A *sequence*
stands for such a group: an own action with everything that led to it (an entry), or a root row. A player's reach and values are
indexed by its sequences, which are far fewer than its rows if it observes the opponent's moves or chance.

Infostates with equal numbers of actions and of earlier own decisions never depend on each other, so `LANES` of them form a
*block* that a CPU updates as one vector. Terminal pairs are in blocks as well: `LANES` sequences side by side, each with its
pairs below one another (sliced ELLPACK, Kreutzer et al. 2014).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix

from tacit.tree.public_tree import Floats, Ints, PublicTree, chunks_of_nodes

LANES = 4
"""Infostates in a block: one AVX2 register of float64."""
_SORT_WINDOW = 4_096
"""Sequences are sorted by number of pairs only within windows of this size, so that neighbours in memory stay close."""


@dataclass(frozen=True)
class PairBlocks:
    """One player's payoffs by sequence, as a sparse matrix to be multiplied by the opponent's reach.

    Attributes:
      own: `[C, LANES]` the sequences of each block of pairs; the unused sequence where a lane is empty.
      start: `[C + 1]` the pairs of block c are rows `start[c]:start[c + 1]` of `other` and `payoff`.
      other: `[P, LANES]` the opponent's sequence of each pair.
      payoff: `[P, LANES]` the player's return times chance, 0 in empty lanes.
    """

    own: Ints
    start: Ints
    other: Ints
    payoff: Floats


@dataclass(frozen=True)
class PlayerSequences:
    """One player's sequences, as positions in a flattened `[Q, LANES]`: root rows, an unused sequence, then the entries.

    Attributes:
      num_rows: `Q`, the number of rows.
      blocks: the player's blocks of infostates are `blocks[0]:blocks[1]`.
      shift: row m of the entries `[M, LANES]` is row `m + shift` of the sequences.
      of_row: `[R]` the sequence of each of the tree's rows.
      pairs: the payoffs of the sequences.
    """

    num_rows: int
    blocks: tuple[int, int]
    shift: int
    of_row: NDArray[np.int64]
    pairs: PairBlocks


@dataclass(frozen=True)
class SequenceLayout:
    """The arrays of a public tree in sequences.

    Attributes:
      block_start: `[B + 1]` the actions of block b are rows `block_start[b]:block_start[b + 1]` of the entries `[M, LANES]`.
      above: `[B, LANES]` the sequence (of its player) that each infostate follows; the unused sequence where a lane is empty.
      entry_position: `[E]` the position of each entry of the tree in a flattened `[M, LANES]`.
      infostate_position: `[S]` the position of each infostate in a flattened `[B, LANES]`.
      players: the sequences of each player.
    """

    block_start: Ints
    above: Ints
    entry_position: NDArray[np.int64]
    infostate_position: NDArray[np.int64]
    players: tuple[PlayerSequences, PlayerSequences]


def sequence_layout(tree: PublicTree) -> SequenceLayout:
    """Returns the tree in sequences. Blocks are ordered by player, then by the number of earlier own decisions."""
    num_actions = np.diff(tree.entry_start).astype(np.int64)
    last_entry, depth = zip(*(_last_own_actions(tree, player) for player in (0, 1)), strict=True)
    decisions = np.zeros(tree.num_infostates, np.int64)
    for player in (0, 1):
        mine = tree.infostate_player == player
        decisions[mine] = depth[player][tree.infostate_row[mine]]
    order = np.lexsort((num_actions, decisions, tree.infostate_player))
    same = np.stack([tree.infostate_player, decisions, num_actions])[:, order]
    block, lane = _side_by_side(np.append(True, (same[:, 1:] != same[:, :-1]).any(axis=0)))
    position = np.empty(tree.num_infostates, np.int64)
    position[order] = block * LANES + lane
    per_block = np.zeros(position.max(initial=-1) // LANES + 1, np.int64)
    per_block[position // LANES] = num_actions
    block_start = np.append(0, np.cumsum(per_block))
    slot = np.arange(tree.num_entries) - tree.entry_start[tree.entry_infostate]
    at = position[tree.entry_infostate]
    entry_position = (block_start[at // LANES] + slot) * LANES + at % LANES

    split = int((position[tree.infostate_player == 0] // LANES).max(initial=-1)) + 1
    blocks = (0, split), (split, len(per_block))
    roots = [int(rows.level_start[1]) for rows in tree.rows]
    shifts = [-(-(roots[player] + 1) // LANES) - int(block_start[blocks[player][0]]) for player in (0, 1)]
    of_row, above = [], np.empty((len(per_block), LANES), np.int32)
    for player in (0, 1):
        places = np.concatenate([entry_position + shifts[player] * LANES, np.arange(roots[player])])
        of_row.append(places[last_entry[player]])
        above[slice(*blocks[player])] = roots[player]
        mine = tree.infostate_player == player
        above.ravel()[position[mine]] = of_row[player][tree.infostate_row[mine]]
    paid = _paid(tree, of_row, [shifts[p] * LANES + LANES * int(block_start[blocks[p][1]]) for p in (0, 1)])
    first = _pair_blocks(paid, roots)
    paid = paid.T.tocsr()
    np.negative(paid.data, out=paid.data)
    pairs = first, _pair_blocks(paid, roots[::-1])
    players = [
        PlayerSequences(shifts[p] + int(block_start[blocks[p][1]]), blocks[p], shifts[p], of_row[p], pairs[p]) for p in (0, 1)
    ]
    return SequenceLayout(block_start.astype(np.int32), above, entry_position, position, (players[0], players[1]))


def _last_own_actions(tree: PublicTree, player: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns `[R]` the last own entry on the way to each row (`E` plus the root's number if none) and the number of them."""
    rows = tree.rows[player]
    last, depth = np.arange(len(rows)) + tree.num_entries, np.zeros(len(rows), np.int64)
    for start, end in zip(rows.level_start[1:-1], rows.level_start[2:], strict=True):
        entry, parent = rows.entry[start:end], rows.parent[start:end]
        moved = entry < tree.num_entries
        last[start:end] = np.where(moved, entry, last[parent])
        depth[start:end] = depth[parent] + moved
    return last, depth


def _side_by_side(begins: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the block and lane of each item, where True begins a group; no block mixes two groups."""
    group = np.cumsum(begins) - 1
    sizes = np.bincount(group)
    place = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    per_group = -(-sizes // LANES)
    return (np.cumsum(per_group) - per_group)[group] + place // LANES, place % LANES


def _paid(tree: PublicTree, of_row: list[NDArray[np.int64]], sizes: list[int]) -> csr_matrix:
    """Returns `[sizes[0], sizes[1]]` player 0's payoff times chance by pair of sequences, without zeros."""
    rows = (of_row[player].astype(np.int32)[tree.payoff_rows[player]] for player in (0, 1))
    paid = coo_matrix((tree.payoff, tuple(rows)), shape=tuple(sizes)).tocsr()
    paid.eliminate_zeros()
    paid.sort_indices()
    return paid


def _pair_blocks(paid: csr_matrix, unused: list[int]) -> PairBlocks:
    """Returns pairs in blocks: each own sequence takes a lane, next to others with about as many pairs.

    Args:
      paid: `[own sequences, opponent's sequences]` the player's payoffs.
      unused: the unused sequences, the player's own first.
    """
    counts = np.diff(paid.indptr)
    sequences = np.flatnonzero(counts)
    order = np.lexsort((-counts[sequences], sequences // _SORT_WINDOW))
    num_blocks = -(-len(order) // LANES)
    longest = np.zeros(num_blocks * LANES, np.int64)
    longest[: len(order)] = counts[sequences[order]]
    start = np.append(0, np.cumsum(longest.reshape(-1, LANES).max(axis=1)))
    table = PairBlocks(
        own=np.full((num_blocks, LANES), unused[0], np.int32),
        start=start.astype(np.int32),
        other=np.full((int(start[-1]), LANES), unused[1], np.int32),
        payoff=np.zeros((int(start[-1]), LANES)),
    )
    table.own.ravel()[: len(order)] = sequences[order]
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    begin = start[rank // LANES] * LANES + rank % LANES  # where the first pair of each sequence lies
    ends = paid.indptr[sequences + 1]
    for low, high in chunks_of_nodes(np.append(0, ends)):
        pairs = slice(paid.indptr[sequences[low]], ends[high - 1])
        shift = begin[low:high] - LANES * paid.indptr[sequences[low:high]]
        cell = np.repeat(shift, counts[sequences[low:high]]) + LANES * np.arange(pairs.start, pairs.stop)
        table.other.ravel()[cell] = paid.indices[pairs]
        table.payoff.ravel()[cell] = paid.data[pairs]
    return table
