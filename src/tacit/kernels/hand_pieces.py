"""A hold'em tree in the form that a GPU reads: pieces that are independent of each other.

A *piece* is the betting of a street from one beginning, on one board. Its nodes are contiguous, and except at folds and
showdowns each of its hands can be computed alone. Pieces with the same number of cards dealt form a *stage*: reaches flow down
from stage to stage, values flow up. Folds and showdowns of all boards depend on reaches only and are computed first. Where a
card is dealt, a hand's value is the sum over the possible cards: *links* say where hands go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.cards.deck import NUM_CARDS
from tacit.tree.hand_tree import DEALS, DECIDES, FOLDS, SHOWS, Blocks, HandTree

Array = NDArray[Any]

SLOTS = 64
"""Table size for cards, and for the hands that hold a card: larger than either count."""


def cut_into_pieces(tree: HandTree) -> dict[str, Array]:
    """Returns the tables of a tree's pieces by name. Offsets are indices into the flat arrays that they refer to.

    There are `S` stages with `P` pieces in total, `D` decisions, `T` folds and showdowns, and `L` deals.
    """
    t, blocks = tree, tree.blocks
    widths = np.diff(blocks.lane_start)
    value = np.cumsum(widths[t.block]) - widths[t.block]
    begins = (t.parent < 0) | (t.parent < blocks.node_start[t.block])
    piece_of, root, block_stage = np.cumsum(begins) - 1, np.flatnonzero(begins), _stages(blocks.parent)
    order = np.argsort(block_stage[t.block[root]], kind="stable")
    root, piece_of = root[order], np.argsort(order)[piece_of]
    stage = block_stage[t.block[root]]
    num_stages = int(stage[-1]) + 1

    decisions = np.flatnonzero(t.kind == DECIDES)
    decisions = decisions[np.lexsort((-decisions, piece_of[decisions]))]
    edges = _children(t, decisions)
    deals = np.flatnonzero(t.kind == DEALS)
    deals = deals[np.argsort(block_stage[t.block[deals]], kind="stable")]
    after = _children(t, deals)
    below, below_start, num_cards = _below(blocks)
    cards = num_cards[t.block[after]]  # how many cards lead to each
    which = np.arange(cards.sum()) - np.repeat(_offsets(cards)[:-1], cards)
    after, deal_of = np.repeat(after, cards), np.repeat(np.repeat(np.arange(len(deals)), t.num_actions[deals]), cards)
    card_lane, weaker, stronger, past_tie = _card_orders(blocks)

    def rows(nodes: Array) -> Array:
        return np.stack([t.row_offset[player][t.reach_row[player][nodes]] for player in (0, 1)])

    return {
        # Stages, the roots' first: where each one's pieces and deals start.
        "stage_start": _offsets(np.bincount(stage, minlength=num_stages)),
        "stage_deal_start": _offsets(np.bincount(block_stage[t.block[deals]], minlength=num_stages)),
        # Pieces: the hands of the board and their first lane.
        "width": widths[t.block[root]],
        "lane": blocks.lane_start[t.block[root]],
        # Where the values of a piece's beginning are, and both players' reaches of it `[2, P]`.
        "begin_value": value[root],
        "begin_row": rows(root),
        # Both players' reaches before the card was dealt, -1 at roots.
        "above_row": np.where(t.parent[root] < 0, -1, rows(t.parent[root])),
        # Where a root's hands start among those of all roots.
        "root_start": _offsets(np.where(stage == 0, widths[t.block[root]], 0))[:-1],
        # Where a piece's decisions start; those nearer the root come later.
        "decision_start": _offsets(np.bincount(piece_of[decisions], minlength=len(root))),
        # Decisions: where their values and both players' reaches are, who acts, and the first of their entries and edges.
        "value": value[decisions],
        "row": rows(decisions),
        "actor": t.actor[decisions],
        "num_actions": t.num_actions[decisions],
        "entry": t.entry_offset[t.first_entry[decisions]],
        "first_edge": _offsets(t.num_actions[decisions])[:-1],
        # Edges: where the values and both players' reaches of the child are.
        "edge_value": value[edges],
        "edge_row": rows(edges),
        **_terminal_tables(t, value, rows),
        # Deals: where their values are, the number of hands on their board, and the first of their links, one per card.
        "deal_value": value[deals],
        "deal_width": widths[t.block[deals]],
        "link_start": _offsets(np.bincount(deal_of, minlength=len(deals))),
        # Links: where the values after the card are, and where the card's hands start in `below`.
        "link_value": value[after],
        "link_below": below_start[t.block[after]] + which * widths[blocks.parent[t.block[after]]],
        # For each card, the new lane of every hand of the previous board; -1 if the hand holds the card.
        "below": below,
        # `[K, SLOTS, SLOTS]` for each block and card the lanes that hold it, in order; then -1.
        "card_lane": card_lane,
        # `[2, lanes]` for both cards of a hand, the first slot of `card_lane` (flat) whose hand is at least as strong, and the
        # first whose hand is stronger.
        "weaker": weaker,
        "stronger": stronger,
        # `[lanes]` the first lane whose hand is as strong, and the first whose hand is stronger.
        "tie": blocks.tie,
        "past_tie": past_tie,
        # `[N]` where each node's values are.
        "node_value": value,
    }


def _terminal_tables(t: HandTree, value: Array, rows: Callable[[Array], Array]) -> dict[str, Array]:
    """Returns the tables of folds and showdowns; `value` says where nodes' values are, `rows` where some nodes' reaches are."""
    blocks, terminals = t.blocks, np.flatnonzero((t.kind == FOLDS) | (t.kind == SHOWS))
    loses = np.where(t.kind[terminals] == FOLDS, -1.0, 1.0)  # at a fold one player wins what the other loses
    return {
        # Folds and showdowns: the board and its hands, whether it is a showdown, where values and reaches are, what each wins.
        "terminal_block": t.block[terminals],
        "terminal_lane": blocks.lane_start[t.block[terminals]],
        "terminal_width": np.diff(blocks.lane_start)[t.block[terminals]],
        "terminal_shows": t.kind[terminals] == SHOWS,
        "terminal_value": value[terminals],
        "terminal_row": rows(terminals),
        "terminal_amount": np.stack([t.amount[terminals], loses * t.amount[terminals]]),
    }


def _offsets(counts: Array) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def _children(t: HandTree, nodes: Array) -> Array:
    """Returns the children of some nodes, node by node."""
    counts = t.num_actions[nodes]
    below: Array = t.child[np.repeat(t.first_child[nodes] - _offsets(counts)[:-1], counts) + np.arange(counts.sum())]
    return below


def _stages(block_parent: Array) -> NDArray[np.int64]:
    """Returns for each block how many cards were dealt since its root."""
    stage = np.zeros(len(block_parent), np.int64)
    for block, parent in enumerate(block_parent):
        stage[block] = 0 if parent < 0 else stage[parent] + 1
    return stage


def _below(blocks: Blocks) -> tuple[Array, Array, Array]:
    """Returns, for every card that leads to a block, the lanes there of the previous block's hands, block after block.

    Also returns where each block's first card starts, and how many cards there are: one, or all cards of an orbit.
    """
    parts, starts, counts, used = [np.zeros(0, np.int16)], [], [], 0
    for block, parent in enumerate(blocks.parent):
        starts.append(used)
        counts.append(0)
        if parent >= 0:
            first = blocks.above[blocks.lane_start[block] : blocks.lane_start[block + 1]]
            copies = blocks.copy_above[blocks.copy_start[block] : blocks.copy_start[block + 1]]
            for above in (first, *copies.reshape(-1, len(first))):
                lanes = np.full(blocks.width(parent), -1, np.int16)
                lanes[above] = np.arange(len(above))
                parts.append(lanes)
                counts[-1] += 1
                used += len(lanes)
    return np.concatenate(parts), np.array(starts), np.array(counts)


def _card_orders(blocks: Blocks) -> tuple[Array, Array, Array, Array]:
    """Returns `card_lane`, `weaker`, `stronger` and `past_tie`."""
    card_lane = np.full((len(blocks.board), SLOTS, SLOTS), -1, np.int16)
    weaker, stronger = np.zeros((2, 2, len(blocks.hand)), np.int16)
    past_tie = np.zeros(len(blocks.hand), np.int16)
    for block in range(len(blocks.board)):
        lanes = slice(blocks.lane_start[block], blocks.lane_start[block + 1])
        cards, tie = blocks.cards[lanes].astype(np.int64), blocks.tie[lanes].astype(np.int64)
        past = np.searchsorted(tie, tie, side="right")  # unused unless the board is full
        holds = np.zeros((len(tie) + 1, NUM_CARDS), np.int64)
        holds[np.arange(len(tie)) + 1, cards.T] = 1
        before = np.cumsum(holds, axis=0)  # how many hands before a lane hold a card
        card, lane = np.nonzero(holds[1:].T)
        card_lane[block, card, before[lane, card]] = lane
        for place in (0, 1):
            weaker[place, lanes] = SLOTS * cards[:, place] + before[tie, cards[:, place]]
            stronger[place, lanes] = SLOTS * cards[:, place] + before[past, cards[:, place]]
        past_tie[lanes] = past
    return card_lane, weaker, stronger, past_tie
