"""Public trees of hold'em: betting over boards, with a lane for every hand that a board allows.

The betting between two deals is the same whatever card came, so a tree is a list of *blocks*: all that can happen on one
board. A block's nodes lie together, its hands are in order of strength on a full board, and every row of it, a strategy's, a
reach's or a value's, is a vector over these hands. Where a card is dealt, hands move to their lanes in the next block and
those that hold the card are gone. Pairs of hands that share a card never occur: sums over the opponent's hands leave them out
(`kernels/card_removal.py`), and nothing is stored for pairs.

Suits have no order. Where renaming them leaves the board and both ranges what they are, the cards that may come next fall into
orbits, and all that follows a card follows the others of its orbit, too, with hands renamed. One block stands for the orbit:
players' reaches go down to it once, values come up once for every member, each by lanes of its own. A `Spot` is a point of
the game with its real cards: whoever follows a hand needs to know no more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.cards.deck import NUM_CARDS, card_name
from tacit.cards.hands import HANDS, NUM_HANDS, hand_name
from tacit.cards.ranges import parse_range
from tacit.cards.strength import hand_strengths
from tacit.cards.suits import COMPOSED, IDENTITY, INVERSE, RENAMED_CARDS, RENAMED_HANDS
from tacit.errors import TacitError
from tacit.games.betting import CALL, FOLD, Betting
from tacit.tree import base
from tacit.tree.base import Floats, who_acts
from tacit.tree.hand_shares import take_shares
from tacit.tree.held import NOTHING_HELD, Held

if TYPE_CHECKING:
    from tacit.tree.hand_strategy import HandStrategy

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]

DECIDES, DEALS, FOLDS, SHOWS, LEAF, RUNS_OUT = 0, 1, 2, 3, 4, 5
"""Kinds of nodes: somebody acts, a card comes, somebody has folded, hands are compared. Where a depth limit cuts the tree
before a card comes: there is more to bet (a leaf), or both are all-in and only the rest of the board is dealt."""
FULL_BOARD = 5


Spot = base.Spot
START = Spot()


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
      copy_start: `[K + 1]` where the maps of each begin in
      copy_above: for every further card that leads to a block, `above` as it is after that card: the lanes in the block
        before of the hands that are renamed to those of the block.
      after: `[K, 52]` the block after a card, -1 where it cannot come.
      renaming: `[K, 52]` the permutation of suits that turns that card into the last one of the block after it.
      symmetries: for each the permutations that leave all its cards and both ranges what they are.
    """

    board: list[tuple[int, ...]]
    parent: Ints
    node_start: Ints
    lane_start: Offsets
    hand: NDArray[np.int16]
    cards: NDArray[np.int8]
    tie: NDArray[np.int16]
    above: NDArray[np.int16]
    copy_start: Offsets
    copy_above: NDArray[np.int16]
    after: Ints
    renaming: NDArray[np.int8]
    symmetries: list[tuple[int, ...]]

    def width(self, block: int) -> int:
        """Returns the number of hands that a block's board allows."""
        return int(self.lane_start[block + 1] - self.lane_start[block])

    def hands(self, block: int) -> NDArray[np.int16]:
        """Returns the hands of a block's lanes."""
        return self.hand[self.lane_start[block] : self.lane_start[block + 1]]

    def renamed_lanes(self, block: int) -> NDArray[np.int64]:
        """Returns `[symmetries, H]` the lanes of a block's hands after each of its symmetries."""
        lane = np.zeros(len(HANDS), np.int64)
        lane[self.hands(block)] = np.arange(self.width(block))
        return lane[RENAMED_HANDS[list(self.symmetries[block])][:, self.hands(block)]]


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
      num_actions: `[N]` of a node that decides, or blocks that a dealing node leads to, one for each orbit of cards.
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
      own: for both players `[lanes]` which hands of all boards' lanes it may hold.
      pair_weight: `[K]` the chance of the cards that came to each block, over the weight of all pairs of hands at the root.
      held: what is fixed and no longer decided (`hold`).
    """

    layout: ClassVar[str] = "hands"

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
    own: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    pair_weight: Floats
    held: Held = NOTHING_HELD

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def num_nodes(self) -> int:
        """Public states up to suits: boards with the betting on them."""
        return len(self.kind)

    @property
    def num_entries(self) -> int:
        """Numbers of a strategy: hands and actions of all decisions."""
        return int(self.entry_offset[-1])

    @property
    def num_infostates(self) -> int:
        """Hands at decisions, up to suits."""
        return int(self.infostate_start[-1])

    @cached_property
    def roots(self) -> NDArray[np.int64]:
        """Nodes where it begins: one, or more in a forest."""
        return np.flatnonzero(self.parent < 0)

    @cached_property
    def decisions(self) -> NDArray[np.int64]:
        """Nodes where somebody acts."""
        return np.flatnonzero(self.kind == DECIDES)

    @cached_property
    def infostate_start(self) -> NDArray[np.int64]:
        """`[decisions + 1]` the first infostate of each: one for every hand, decision after decision."""
        return np.concatenate([[0], np.cumsum(np.diff(self.blocks.lane_start)[self.block[self.decisions]])])

    @cached_property
    def decision_spots(self) -> list[Spot]:
        """Where somebody acts, with all real cards: decision after decision."""
        renamings = [[IDENTITY] for _ in self.blocks.board]
        for block, before in enumerate(self.blocks.parent.tolist()):
            if before >= 0:
                steps = self.blocks.renaming[before, self.blocks.after[before] == block]
                renamings[block] = COMPOSED[np.ix_(steps, renamings[before])].ravel().tolist()
        return [Spot(int(node), renaming) for node in self.decisions for renaming in renamings[self.block[node]]]

    @cached_property
    def entry_player(self) -> NDArray[np.int8]:
        """`[num_entries]` whose each number of a strategy is."""
        return np.repeat(self.actor[self.entry_node], np.diff(self.entry_offset))

    def board(self, spot: Spot) -> tuple[int, ...]:
        """Returns the cards that lie."""
        first = block = int(self.block[spot.node])
        while self.blocks.parent[first] >= 0:
            first = int(self.blocks.parent[first])
        start, cards = self.blocks.board[first], self.blocks.board[block]  # the start may be renamed in its order
        return (*start, *(int(card) for card in RENAMED_CARDS[INVERSE[spot.renaming], cards[len(start) :]]))

    def hands(self, spot: Spot) -> NDArray[np.int64]:
        """Returns `[H]` the hand of each lane."""
        hands: NDArray[np.int64] = RENAMED_HANDS[INVERSE[spot.renaming], self.blocks.hands(int(self.block[spot.node]))]
        return hands

    def path(self, spot: Spot) -> list[tuple[int, int]]:
        """Returns how a spot is reached: for each step the player who acted and the action, or -1 and the card that came."""
        steps, node = [], spot.node
        while self.parent[node] >= 0:
            above = int(self.parent[node])
            if self.kind[above] == DEALS:  # later renamings leave the cards before them what they are
                card = self.blocks.board[self.block[node]][-1]
                steps.append((-1, int(RENAMED_CARDS[INVERSE[spot.renaming], card])))
            else:
                number = int(np.flatnonzero(self.children(above) == node)[0])
                steps.append((int(self.actor[above]), int(self.entry_action[self.first_entry[above] + number])))
            node = above
        return steps[::-1]

    def children(self, node: int) -> Ints:
        """Returns the nodes below a node, in the order of its actions or of the cards."""
        return self.child[self.first_child[node] : self.first_child[node] + self.num_actions[node]]

    def label(self, spot: Spot) -> str:
        """Returns how a spot is reached, in words: `check / bet to 2000 / call / 2c`."""
        steps, above = [], START
        for _, what in self.path(spot):
            steps.append(next(name for name, choice in self._choices(above).items() if choice == what))
            above = self.after(above, what)
        return " / ".join(steps)

    def find(self, text: str) -> Spot:
        """Returns the spot that is reached as `label` says.

        Raises:
          TacitError: there is none; it says where the words end.
        """
        spot = START
        for step in filter(None, (part.strip() for part in text.split("/"))):
            if self.kind[spot.node] not in (DECIDES, DEALS):
                over = "tree ends" if self.kind[spot.node] == LEAF else "hand is over"
                raise TacitError(f"nothing follows {self.label(spot)!r}: the {over} there")
            names = self._choices(spot)
            if step not in names:
                raise TacitError(f"no {step!r} after {self.label(spot) or 'the start'}: choose one of {', '.join(names)}")
            spot = self.after(spot, names[step])
        return spot

    def actor_at(self, spot: Spot) -> int:
        """Returns who acts at a spot; -1 where nobody does."""
        return int(self.actor[spot.node])

    def steps_after(self, spot: Spot) -> list[str]:
        """Returns the words that `find` takes next after a spot."""
        return list(self._choices(spot)) if self.kind[spot.node] in (DECIDES, DEALS) else []

    def __repr__(self) -> str:
        return f"<tree of {self.game}: {self.num_nodes:,} public states, {self.num_infostates:,} infostates>"

    def _repr_html_(self) -> str:
        from tacit.tree.pictures import tree_html

        return tree_html(self)

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

    def _choices(self, spot: Spot) -> dict[str, int]:
        """Returns what can follow by name: actions, or cards."""
        if self.kind[spot.node] == DECIDES:
            return dict(zip(self.action_names(spot.node), self.actions(spot.node), strict=True))
        return {card_name(card): card for card in range(NUM_CARDS) if self.knows(spot, card)}

    def knows(self, spot: Spot, what: int) -> bool:
        """Returns whether an action, or a card, is among those at a spot."""
        if self.kind[spot.node] == DEALS:
            return bool(self.blocks.after[self.block[spot.node], RENAMED_CARDS[spot.renaming, what]] >= 0)
        return what in self.actions(spot.node)

    def after(self, spot: Spot, what: int) -> Spot:
        """Returns the spot after an action, or a card, that is among those there (`knows`)."""
        node, renaming = spot
        below, block = self.children(node), self.block[node]
        if self.kind[node] == DECIDES:
            return Spot(int(below[self.actions(node).index(what)]), renaming)
        card = RENAMED_CARDS[renaming, what]
        number = np.flatnonzero(self.block[below] == self.blocks.after[block, card])[0]
        return Spot(int(below[number]), int(COMPOSED[self.blocks.renaming[block, card], renaming]))

    def decision(self, strategy: Floats, node: int) -> Floats:
        """Returns `[A, H]` what a strategy `[E]` plays at a node with each hand of its block."""
        first = self.first_entry[node]
        part = strategy[self.entry_offset[first] : self.entry_offset[first + self.num_actions[node]]]
        return part.reshape(int(self.num_actions[node]), -1)

    def strategy(self, probabilities: Floats) -> HandStrategy:
        """Returns `[E]` probabilities as a strategy."""
        from tacit.tree.hand_strategy import HandStrategy

        return HandStrategy(self, probabilities)

    def uniform_strategy(self) -> Floats:
        """Returns the strategy that plays every action as often as any other."""
        return self.held.put(np.repeat(1.0 / self.num_actions[self.entry_node], np.diff(self.entry_offset)))

    def normalise(self, weights: Floats) -> Floats:
        """Returns weights of actions as probabilities for every hand; uniform where they are all zero.

        Before a deal, hands that symmetries turn into each other get their mean. Solvers keep them equal but for rounding, and
        only where they are equal does the block of an orbit stand for all its members: so what is evaluated is exact.
        """
        strategy, widths = weights.copy(), np.diff(self.blocks.lane_start)
        starts = self.entry_offset[np.searchsorted(self.entry_node, self.blocks.node_start)]  # a block's entries lie together
        for block in np.flatnonzero((self.blocks.after >= 0).any(axis=1)).tolist():
            if len(self.blocks.symmetries[block]) > 1:
                part = strategy[starts[block] : starts[block + 1]].reshape(-1, widths[block])
                lanes = self.blocks.renamed_lanes(block)
                chosen, orbit = np.unique(lanes.min(axis=0), return_inverse=True)
                part[:] = part[:, lanes[:, chosen]].mean(axis=1)[:, orbit]  # one sum for all of an orbit: equal to the last bit
        nodes = self.decisions
        take_shares(strategy, self.entry_offset[self.first_entry[nodes]], self.num_actions[nodes], widths[self.block[nodes]])
        return self.held.put(strategy)

    def hold(self, held: Held) -> HandTree:
        """Returns the tree in which some play is fixed; passes over it put that back wherever they come by."""
        return replace(self, held=held)

    def choices(self, spot: Spot) -> list[tuple[str, dict[str, int]]]:
        """Returns each hand that the player who acts at a spot may hold, and the entries of its actions, all by name.

        Raises:
          TacitError: nobody acts there.
        """
        block = int(self.block[spot.node])
        own = self.own[who_acts(self, spot)][self.blocks.lane_start[block] : self.blocks.lane_start[block + 1]]
        entries, names, hands = self._entries_at(spot.node), self.action_names(spot.node), self.hands(spot)
        return [
            (hand_name(int(hands[lane])), dict(zip(names, entries[:, lane].tolist(), strict=True)))
            for lane in np.flatnonzero(own).tolist()
        ]

    def _entries_at(self, node: int) -> NDArray[np.int64]:
        """Returns `[A, H]` the numbers of a decision's entries."""
        first, count = int(self.first_entry[node]), int(self.num_actions[node])
        return np.arange(self.entry_offset[first], self.entry_offset[first + count]).reshape(count, -1)

    def private_states(self, text: str) -> dict[str, float]:
        """Returns the hands of a range with their weights.

        Raises:
          TacitError: it is no range.
        """
        weights = parse_range(text)
        return {hand_name(hand): float(weights[hand]) for hand in np.flatnonzero(weights).tolist()}

    def apart(self, spot: Spot, held: Held) -> HandTree:
        """Returns the tree in which what is held at a spot holds there alone.

        Symmetries of suits go that turn the cards on the way to the spot into others, or its hands into hands with other play.

        Raises:
          TacitError: the tree without them does not fit into memory.
        """
        from tacit.tree.hand_builder import build_endgame

        entries = self._entries_at(spot.node)
        spread = np.full((len(entries), NUM_HANDS), -1.0)  # no probability: these hands decide
        action, lane = np.divmod(held.entry - entries[0, 0], entries.shape[1])
        spread[action, self.hands(spot)[lane]] = held.share
        cards = [what for actor, what in self.path(spot) if actor < 0]
        kept = tuple(
            number
            for number in self.blocks.symmetries[0]
            if all(RENAMED_CARDS[number, card] == card for card in cards)
            and np.array_equal(spread[:, RENAMED_HANDS[number]], spread)
        )
        return self if kept == self.blocks.symmetries[0] else build_endgame(self.game, kept)


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
