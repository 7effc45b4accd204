"""Builds the tree of a hold'em endgame: each street's betting is built once and repeated on every board."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.cards.deck import NUM_CARDS
from tacit.cards.hands import HANDS, possible_hands
from tacit.cards.suits import INVERSE, RENAMED_HANDS, orbits, stabiliser, symmetries
from tacit.errors import TacitError
from tacit.games.betting import Betting, BettingRules
from tacit.tree.betting_street import (
    NOTHING_EXTRA,
    BettingStreet,
    Extra,
    betting_streets,
    kind_and_amount,
    next_street,
    num_rounds,
)
from tacit.tree.estimate import memory_budget, memory_limit, readable_bytes
from tacit.tree.hand_tree import DEALS, DECIDES, Blocks, HandTree, lanes_of
from tacit.tree.public_tree import Floats
from tacit.tree.subgame import Depth

BYTES_PER_NUMBER = 40
"""Peak memory per number of a strategy (measured): 22 bytes with regret matching, most of them for the result, and 36 while it
is saved; 38 with fictitious play."""
HIDDEN_CARDS = 4
"""Cards in the two players' hands, which cannot be board cards."""


def build_hand_tree(
    game: Any,
    rules: BettingRules,
    board: tuple[int, ...],
    ranges: tuple[Floats, Floats],
    start: Betting | None = None,
    extra: Extra = NOTHING_EXTRA,
    depth: Depth = None,
    group: tuple[int, ...] | None = None,
    held: NDArray[np.bool_] | None = None,
) -> HandTree:
    """Returns the tree of hold'em from a board on.

    Args:
      game: the game that the tree belongs to.
      rules: the betting rules, from the board's street on.
      board: three to five cards, or none if the depth is `round`.
      ranges: for both players, `[1326]` weights of hands; hands that the board blocks do not count.
      start: the betting state to start from; None for the start of the rules.
      extra: raises that are possible at some betting states in addition to the menu.
      depth: None for the rest of the game, `round` to cut the tree at the next card, `two rounds` to cut it at the card after
        that.
      group: a group of suit permutations; boards that they turn into each other are kept once. None for all permutations that
        leave the board and both ranges unchanged.
      held: `[1326]` possible hands that both players may hold whatever their ranges; None for the hands of each range.

    Raises:
      TacitError: No hand of one range is compatible with one of the other, or the depth is none of these.
    """
    streets = betting_streets(rules, len(board), start, extra, depth)
    group = symmetries(board, ranges) if group is None else group
    own = [held_hands(board, range_, group) for range_ in ranges] if held is None else [held, held]
    blocks = _blocks(board, [len(street.kind) for street in streets], group, own[0] | own[1])
    block_street = np.array([len(cards) - len(board) for cards in blocks.board])
    reaches = ranges[0][blocks.hands(0)].astype(np.float64), ranges[1][blocks.hands(0)].astype(np.float64)
    meeting = meeting_weight(*reaches, blocks.hands(0))
    if meeting <= 0.0:
        raise TacitError("no hand of one range can be held together with one of the other on this board")
    chance = np.array([deal_chance(len(board), len(cards)) for cards in blocks.board])

    def repeat(numbers: str, kind: type, shift: NDArray[Any] | None = None) -> NDArray[Any]:
        """Returns a street's numbers for each of its boards, shifted by the counts before the block (except -1)."""
        parts = []
        for block, street in enumerate(block_street):
            part: NDArray[Any] = np.array(getattr(streets[street], numbers), kind)
            parts.append(part if shift is None else np.where(part >= 0, part + shift[block], part))
        return np.concatenate(parts).astype(kind)

    entries = np.array([len(street.entry_action) for street in streets])[block_street]
    entry_start = np.concatenate([[0], np.cumsum(entries)])
    entry_block, widths = np.repeat(np.arange(len(block_street)), entries), np.diff(blocks.lane_start)
    parent, child, first_child, num_below = _links(streets, blocks, block_street)
    first, second = (_rows(streets, blocks, block_street, entry_start, player) for player in (0, 1))
    reach_row, row_parent, row_entry, row_block, row_offset = zip(first, second, strict=True)
    kind = repeat("kind", np.int8)
    block = np.repeat(np.arange(len(block_street)), np.diff(blocks.node_start)).astype(np.int32)
    return HandTree(
        game=game,
        blocks=blocks,
        kind=kind,
        actor=repeat("actor", np.int8),
        block=block,
        parent=parent,
        amount=repeat("amount", np.float64) * chance[block] / meeting,
        first_entry=repeat("first_entry", np.int32, entry_start[:-1]),
        num_actions=np.where(kind == DEALS, num_below, repeat("num_actions", np.int32)).astype(np.int32),
        first_child=first_child,
        child=child,
        reach_row=reach_row,
        entry_action=repeat("entry_action", np.int32),
        entry_offset=np.concatenate([[0], np.cumsum(widths[entry_block])]),
        entry_node=repeat("entry_node", np.int32, blocks.node_start[:-1]),
        row_offset=row_offset,
        row_parent=row_parent,
        row_entry=row_entry,
        row_block=row_block,
        root_reach=reaches,
        leaf_betting=[betting for street in block_street if streets[street].is_last for _, betting in streets[street].deals],
        own=(own[0][blocks.hand], own[1][blocks.hand]),
        pair_weight=chance / meeting,
    )


def build_endgame(game: Any, group: tuple[int, ...] | None = None) -> HandTree:
    """Returns the tree of a game of hold'em from its known board to the end.

    Args:
      game: a game of hold'em whose board is known.
      group: suit permutations that boards are merged by (`build_hand_tree`).

    Raises:
      TacitError: The tree does not fit into memory.
    """
    needed, limit = endgame_bytes(game, group), memory_limit()
    if needed is None:
        memory_budget(game, direct=False)  # raises: no hold'em fits from the deal on
    elif needed > limit:
        room = f"needs about {readable_bytes(needed)} of memory, but only {readable_bytes(limit)} is available"
        raise TacitError(f"{game} {room}: offer fewer bets, narrow the ranges, or start with more cards on the board")
    return build_hand_tree(game, game.rules, game.known_board, game.ranges, group=group)


def endgame_bytes(game: Any, group: tuple[int, ...] | None = None) -> int | None:
    """Returns the memory for solving a game of hold'em in bytes, or None if its board is not known."""
    if not game.known_board:
        return None
    return num_hand_entries(game.rules, game.known_board, game.ranges, group=group) * BYTES_PER_NUMBER


def num_hand_entries(
    rules: BettingRules,
    board: tuple[int, ...],
    ranges: tuple[Floats, Floats],
    start: Betting | None = None,
    depth: Depth = None,
    extra: Extra = NOTHING_EXTRA,
    group: tuple[int, ...] | None = None,
) -> int:
    """Returns the number of entries of a strategy from a board on (see `build_hand_tree`)."""
    group = symmetries(board, ranges) if group is None else group
    held, boards, lanes = held_hands(board, ranges[0] + ranges[1], group), [(board, group)], []
    entries = _entries_by_street(rules, extra, start or rules.start(), num_rounds(depth), {})
    for street in range(len(entries)):
        if street:
            boards = [((*cards, card), stabiliser(group, card)) for cards, group in boards for card in orbits(cards, group)]
        lanes.append(sum(int((held & possible_hands(cards)).sum()) for cards, _ in boards))
    return sum(number * width for number, width in zip(entries, lanes, strict=True))


def _entries_by_street(
    rules: BettingRules, extra: Extra, betting: Betting, rounds: int | None, known: dict[Betting, list[int]]
) -> list[int]:
    """Returns the number of actions on this street and on each later one, in a tree of `rounds` betting rounds.

    Many sequences lead to equal betting states, which are counted once (`known`): a tree that would take minutes to build is
    counted in a moment.
    """
    if betting not in known:
        kind, _ = kind_and_amount(betting, rounds == 1)
        below: list[list[int]] = []
        if kind == DECIDES:
            actions = {*rules.actions(betting), *extra.get(betting, ())}
            below = [_entries_by_street(rules, extra, rules.apply(betting, action), rounds, known) for action in actions]
            below.append([len(actions)])
        elif kind == DEALS:
            left = None if rounds is None else rounds - 1
            below = [[0, *_entries_by_street(rules, extra, next_street(rules, betting), left, known)]]
        known[betting] = [sum(part) for part in zip_longest(*below, fillvalue=0)] or [0]
    return known[betting]


def meeting_weight(first: Floats, second: Floats, hands: NDArray[Any]) -> float:
    """Returns the total weight of all pairs of `hands` `[H]` that share no card, given both players' weights."""
    cards = HANDS[hands]
    sums = [np.bincount(cards.ravel(), np.repeat(reach, 2), minlength=NUM_CARDS) for reach in (first, second)]
    return float(first.sum() * second.sum() - sums[0] @ sums[1] + first @ second)


def held_hands(board: tuple[int, ...], weights: Floats, group: tuple[int, ...]) -> NDArray[np.bool_]:
    """Returns `[1326]` which hands of a range are possible on a board, including their renamings by a group of suits."""
    held = possible_hands(board) & (weights > 0)
    kept: NDArray[np.bool_] = np.logical_or.reduce(held[RENAMED_HANDS[list(group)]])
    return kept


def _blocks(board: tuple[int, ...], nodes: list[int], group: tuple[int, ...], held: NDArray[np.bool_]) -> Blocks:
    """Returns the boards that can follow, street by street, and the `held` hands on each, up to a group of suit renamings."""
    boards, parents, groups = [board], [-1], [group]
    root, tie = lanes_of(board, np.flatnonzero(held).astype(np.int16))
    hands, ties, above, first = [root], [tie], [np.zeros(len(root), np.int16)], 0
    copies: list[list[NDArray[np.int16]]] = [[]]
    deals: list[tuple[int, int, int, int]] = []  # block, card, next block, suit renaming
    for _ in nodes[1:]:
        last = len(boards)
        for parent in range(first, last):
            place = np.full(len(HANDS), -1, np.int16)
            place[hands[parent]] = np.arange(len(hands[parent]))
            for card, members in orbits(boards[parent], groups[parent]).items():
                possible, tie = lanes_of((*boards[parent], card), hands[parent])
                if not len(possible):  # a player must hold the card
                    continue
                deals += [(parent, member, len(boards), renaming) for member, renaming in members.items()]
                boards.append((*boards[parent], card))
                parents.append(parent)
                groups.append(stabiliser(groups[parent], card))
                hands.append(possible)
                ties.append(tie)
                before = place[RENAMED_HANDS[INVERSE[list(members.values())]][:, possible]]
                above.append(before[0])
                copies.append(list(before[1:]))
        first = last
    after, renaming = np.full((len(boards), NUM_CARDS), -1, np.int32), np.zeros((len(boards), NUM_CARDS), np.int8)
    for block, card, below, number in deals:
        after[block, card], renaming[block, card] = below, number
    sizes = [nodes[len(cards) - len(board)] for cards in boards]
    lanes = np.concatenate(hands)
    return Blocks(
        board=boards,
        parent=np.array(parents, np.int32),
        node_start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
        lane_start=np.concatenate([[0], np.cumsum([len(part) for part in hands])]),
        hand=lanes,
        cards=HANDS[lanes].astype(np.int8),
        tie=np.concatenate(ties),
        above=np.concatenate(above),
        copy_start=np.concatenate([[0], np.cumsum([sum(map(len, maps)) for maps in copies])]),
        copy_above=np.concatenate([np.zeros(0, np.int16), *(lanes for maps in copies for lanes in maps)]),
        after=after,
        renaming=renaming,
        symmetries=groups,
    )


def deal_chance(before: int, after: int) -> float:
    """Returns the probability of the cards dealt after `before` cards, given both hands: all other cards are equally likely."""
    return float(np.prod([1.0 / (NUM_CARDS - HIDDEN_CARDS - cards) for cards in range(before, after)]))


def _links(
    streets: list[BettingStreet], blocks: Blocks, block_street: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Returns each node's parent, the list of all children, and each node's start and count in that list."""
    below: list[list[int]] = [[] for _ in range(int(blocks.node_start[-1]))]
    parent = np.full(len(below), -1, np.int32)
    for block, street in enumerate(block_street):
        start, begins = int(blocks.node_start[block]), 0
        for node, above in enumerate(streets[street].parent):
            if above >= 0:
                parent[start + node] = start + above
            elif block > 0:
                dealing = streets[street - 1].deals[begins][0]
                parent[start + node] = blocks.node_start[blocks.parent[block]] + dealing
                below[parent[start + node]].append(start + node)
                begins += 1
        for node, children in enumerate(streets[street].children):
            below[start + node] += [start + number for number in children]
    counts = np.array([len(children) for children in below])
    child = np.array([node for children in below for node in children], np.int32)
    return parent, child, (np.cumsum(counts) - counts).astype(np.int32), counts.astype(np.int32)


def _rows(
    streets: list[BettingStreet], blocks: Blocks, block_street: NDArray[np.int64], entry_start: NDArray[np.int64], player: int
) -> list[NDArray[Any]]:
    """Returns a player's row at each node, and each row's parent, entry, block and offset.

    A block's first rows are those that its starting nodes inherit from the block before.
    """
    counts = np.array([len(street.row_parent[player]) for street in streets])[block_street]
    start = np.concatenate([[0], np.cumsum(counts)])
    of_node, parents, entries = [], [], []
    for block, street in enumerate(block_street):
        here = streets[street]
        of_node.append(np.array(here.rows[player]) + start[block])
        parent, entry = np.array(here.row_parent[player]), np.array(here.row_entry[player])
        if block > 0:
            before = streets[street - 1]
            inherited = [before.rows[player][node] for node, _ in before.deals]
            above = np.array(inherited) + start[blocks.parent[block]]
            parent = np.concatenate([above, parent[len(inherited) :] + start[block]])
        parents.append(parent)
        entries.append(np.where(entry >= 0, entry + entry_start[block], -1))
    row_block = np.repeat(np.arange(len(block_street)), counts)
    widths = np.diff(blocks.lane_start)
    numbers = [np.concatenate(of_node), np.concatenate(parents), np.concatenate(entries), row_block]
    return [*(part.astype(np.int32) for part in numbers), np.concatenate([[0], np.cumsum(widths[row_block])])]
