"""Public trees of hold'em: betting over boards, with a lane for every hand that a board allows.

The betting between two deals is the same whatever card came, so a tree is a list of *blocks*: all that can happen on one
board. A block's nodes lie together, its hands are in order of strength on a full board, and every row of it, a strategy's, a
reach's or a value's, is a vector over these hands. Where a card is dealt, hands move to their lanes in the next block and
those that hold the card are gone. Pairs of hands that share a card never occur: sums over the opponent's hands leave them out
(`kernels/card_removal.py`), and nothing is stored for pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.cards.deck import card_name
from tacit.cards.hands import HANDS
from tacit.cards.strength import hand_strengths
from tacit.errors import TacitError
from tacit.games.betting import CALL, FOLD, Betting
from tacit.tree.public_tree import Floats

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]

DECIDES, DEALS, FOLDS, SHOWS, LEAF, RUNS_OUT = 0, 1, 2, 3, 4, 5
"""Kinds of nodes: somebody acts, a card comes, somebody has folded, hands are compared. Where a depth limit cuts the tree
before a card comes: there is more to bet (a leaf), or both are all-in and only the rest of the board is dealt."""
FULL_BOARD = 5


@dataclass(frozen=True)
class Blocks:
    """The `K` boards of a tree, a board after the one it grew from; lanes of all of them one after the other.

    Attributes:
      board: the cards of each.
      parent: `[K]` the block before the last card, -1 for the first.
      node_start: `[K + 1]` its nodes.
      lane_start: `[K + 1]` its lanes.
      hand: `[lanes]` the hand of each lane, a number of the 1,326.
      cards: `[lanes, 2]` its cards.
      tie: `[lanes]` on full boards the first lane, counted within the block, whose hand is as strong.
      above: `[lanes]` the lane of the same hand in the block before, counted within it.
    """

    board: list[tuple[int, ...]]
    parent: Ints
    node_start: Ints
    lane_start: Offsets
    hand: NDArray[np.int16]
    cards: NDArray[np.int8]
    tie: NDArray[np.int16]
    above: NDArray[np.int16]

    def width(self, block: int) -> int:
        """Returns the number of hands that a block's board allows."""
        return int(self.lane_start[block + 1] - self.lane_start[block])

    def hands(self, block: int) -> NDArray[np.int16]:
        """Returns the hands of a block's lanes."""
        return self.hand[self.lane_start[block] : self.lane_start[block + 1]]


@dataclass(frozen=True)
class HandTree:
    """A game of hold'em from some board on. Nodes come after their parents; so do rows.

    Entries and rows are vectors over the lanes of their block; offsets say where they start in flat arrays.

    Attributes:
      game: where it comes from.
      blocks: the boards.
      kind: `[N]` `DECIDES`, `DEALS`, `FOLDS`, `SHOWS`, `LEAF` or `RUNS_OUT`.
      actor: `[N]` who acts, -1 where nobody does.
      block: `[N]`.
      parent: `[N]` the node above, -1 at the root.
      amount: `[N]` what player 0 wins where player 1 or loses where it folded itself, or what either can win where hands
        are shown or the tree is cut; times the chance of the cards that were dealt.
      first_entry: `[N]` entries of the acting player; its actions' children are consecutive nodes of `child`.
      num_actions: `[N]` of a node that decides, or blocks that a dealing node leads to.
      first_child: `[N]` in
      child: the nodes below.
      reach_row: for both players `[N]` the row that holds a player's reach of the node.
      entry_action: `[E]` the action, as the rules count them.
      entry_offset: `[E + 1]`.
      entry_node: `[E]`.
      row_offset: for both players `[R + 1]`.
      row_parent: for both players `[R]` the row above, -1 at the root.
      row_entry: for both players `[R]` the own action that led here, -1 where a card was dealt.
      row_block: for both players `[R]`.
      root_reach: for both players `[H]` the weights of hands in their ranges.
      leaf_betting: the betting at each `LEAF`, in order of nodes.
    """

    game: Any
    blocks: Blocks
    kind: NDArray[np.int8]
    actor: NDArray[np.int8]
    block: Ints
    parent: Ints
    amount: Floats
    first_entry: Ints
    num_actions: Ints
    first_child: Ints
    child: Ints
    reach_row: tuple[Ints, Ints]
    entry_action: Ints
    entry_offset: Offsets
    entry_node: Ints
    row_offset: tuple[Offsets, Offsets]
    row_parent: tuple[Ints, Ints]
    row_entry: tuple[Ints, Ints]
    row_block: tuple[Ints, Ints]
    root_reach: tuple[Floats, Floats]
    leaf_betting: list[Betting]

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def num_nodes(self) -> int:
        """Public states: boards with the betting on them."""
        return len(self.kind)

    @property
    def num_entries(self) -> int:
        """Numbers of a strategy: hands and actions of all decisions."""
        return int(self.entry_offset[-1])

    @property
    def num_infostates(self) -> int:
        """Hands at decisions."""
        return int(self.infostate_start[-1])

    @cached_property
    def decisions(self) -> NDArray[np.int64]:
        """Nodes where somebody acts."""
        return np.flatnonzero(self.kind == DECIDES)

    @cached_property
    def infostate_start(self) -> NDArray[np.int64]:
        """`[decisions + 1]` the first infostate of each: one for every hand, decision after decision."""
        return np.concatenate([[0], np.cumsum(np.diff(self.blocks.lane_start)[self.block[self.decisions]])])

    @cached_property
    def entry_player(self) -> NDArray[np.int8]:
        """`[num_entries]` whose each number of a strategy is."""
        return np.repeat(self.actor[self.entry_node], np.diff(self.entry_offset))

    def path(self, node: int) -> list[tuple[int, int]]:
        """Returns how a node is reached: for each step the player who acted and the action, or -1 and the card that came."""
        steps = []
        while self.parent[node] >= 0:
            above = int(self.parent[node])
            if self.kind[above] == DEALS:
                steps.append((-1, self.blocks.board[self.block[node]][-1]))
            else:
                number = int(np.flatnonzero(self.children(above) == node)[0])
                steps.append((int(self.actor[above]), int(self.entry_action[self.first_entry[above] + number])))
            node = above
        return steps[::-1]

    def children(self, node: int) -> Ints:
        """Returns the nodes below a node, in the order of its actions or of the cards."""
        return self.child[self.first_child[node] : self.first_child[node] + self.num_actions[node]]

    def label(self, node: int) -> str:
        """Returns how a node is reached, in words: `check / bet to 2000 / call / 2c`."""
        steps, above = [], 0
        for player, what in self.path(node):
            steps.append(card_name(what) if player < 0 else self.action_names(above)[self.actions(above).index(what)])
            above = int(self.children(above)[self.step(above, what)])
        return " / ".join(steps)

    def find(self, text: str) -> int:
        """Returns the node that is reached as `label` says.

        Raises:
          TacitError: there is none; it says where the words end.
        """
        node = 0
        for step in filter(None, (part.strip() for part in text.split("/"))):
            if self.kind[node] not in (DECIDES, DEALS):
                over = "tree ends" if self.kind[node] == LEAF else "hand is over"
                raise TacitError(f"nothing follows {self.label(node)!r}: the {over} there")
            names = self.action_names(node) if self.kind[node] == DECIDES else self._cards(node)
            if step not in names:
                raise TacitError(f"no {step!r} after {self.label(node) or 'the start'}: choose one of {', '.join(names)}")
            node = int(self.children(node)[names.index(step)])
        return node

    def action_names(self, node: int) -> list[str]:
        """Returns the actions at a node in words."""
        actions = self.actions(node)
        facing = FOLD in actions
        names = {FOLD: "fold", CALL: "call" if facing else "check"}
        return [names.get(action, f"{'raise' if facing else 'bet'} to {action}") for action in actions]

    def actions(self, node: int) -> list[int]:
        """Returns the actions at a node, as the rules count them."""
        first = int(self.first_entry[node])
        return [int(action) for action in self.entry_action[first : first + self.num_actions[node]]]

    def _cards(self, node: int) -> list[str]:
        return [card_name(self.blocks.board[self.block[child]][-1]) for child in self.children(node)]

    def knows(self, node: int, what: int) -> bool:
        """Returns whether an action, or a card, is among those at a node."""
        return what in self.actions(node) if self.kind[node] == DECIDES else card_name(what) in self._cards(node)

    def step(self, node: int, what: int) -> int:
        """Returns the number of an action, or of a card, among those at a node."""
        if self.kind[node] == DECIDES:
            return self.actions(node).index(what)
        return self._cards(node).index(card_name(what))

    def decision(self, strategy: Floats, node: int) -> Floats:
        """Returns `[A, H]` what a strategy `[E]` plays at a node with each hand of its block."""
        first = self.first_entry[node]
        part = strategy[self.entry_offset[first] : self.entry_offset[first + self.num_actions[node]]]
        return part.reshape(int(self.num_actions[node]), -1)

    def uniform_strategy(self) -> Floats:
        """Returns the strategy that plays every action as often as any other."""
        return np.repeat(1.0 / self.num_actions[self.entry_node], np.diff(self.entry_offset))

    def normalise(self, weights: Floats) -> Floats:
        """Returns weights of actions as probabilities for every hand; uniform where they are all zero."""
        strategy = np.empty_like(weights)
        for node in self.decisions:
            entries = slice(*self.entry_offset[[self.first_entry[node], self.first_entry[node] + self.num_actions[node]]])
            found = weights[entries].reshape(self.num_actions[node], -1)
            total = found.sum(axis=0)
            shares = np.divide(found, total, out=np.full_like(found, 1.0 / len(found)), where=total > 0)
            strategy[entries] = shares.ravel()
        return strategy


def lanes_of(board: tuple[int, ...], above: NDArray[np.int16]) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Returns the hands of a board among those of the block before, and the first lane of equal strength for each.

    Args:
      board: at most five cards.
      above: hands possible before the last card.
    """
    gone = np.isin(HANDS[above], board).any(axis=1)
    hands = above[~gone]
    if len(board) < FULL_BOARD:
        return hands, np.zeros(len(hands), np.int16)
    strength = hand_strengths(board)[hands]
    order = np.argsort(strength, kind="stable")
    ordered = strength[order]
    starts = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    tie = np.maximum.accumulate(np.where(starts, np.arange(len(ordered)), 0))
    return hands[order], tie.astype(np.int16)
