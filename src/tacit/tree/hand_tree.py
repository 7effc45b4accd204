"""Public trees of hold'em: betting over boards, with a lane for every hand that a board allows.

The betting between two deals is the same whatever card was dealt, so a tree is a list of *blocks*, each with everything that
can happen on one board. A block's nodes are contiguous, and its hands are in order of strength on a full board. Every row of a
block, whether of a strategy, of reach or of values, is a vector over these hands. When a card is dealt, hands move to their
lanes in the next block, and hands that contain the card drop out. Pairs of hands that share a card never occur: sums over the
opponent's hands leave them out (`kernels/card_removal.py`), and nothing is stored for pairs.

Suits have no order. If renaming them leaves the board and both ranges unchanged, the possible next cards fall into orbits, and
the play after one card equals the play after any other of its orbit with hands renamed. One block stands for the whole orbit:
reach passes down to it once, and values pass up once for every member, each through its own lanes. A `Spot` is a point of the
game with its real cards, which is all that code following a hand needs.
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
"""Kinds of nodes: a player acts, a card is dealt, a player has folded, hands are compared. Where a depth limit cuts the tree
before a card: `LEAF` if more betting follows, `RUNS_OUT` if both are all-in and only the rest of the board is dealt."""
FULL_BOARD = 5


Spot = base.Spot
START = Spot()


@dataclass(frozen=True)
class Blocks:
    """The `K` boards of a tree, each after the one it continues; their lanes are concatenated.

    Attributes:
      board: the cards of each block.
      parent: `[K]` the block before the last card, -1 for the first.
      node_start: `[K + 1]` block k's nodes are `node_start[k]:node_start[k + 1]`.
      lane_start: `[K + 1]` block k's lanes are `lane_start[k]:lane_start[k + 1]`.
      hand: `[lanes]` the hand of each lane, numbered among the 1,326.
      cards: `[lanes, 2]` the two cards of each lane's hand.
      tie: `[lanes]` on full boards, the first lane of equal strength, counted within the block.
      above: `[lanes]` the lane of the same hand in the parent block, counted within that block.
      copy_start: `[K + 1]` block k's maps are `copy_above[copy_start[k]:copy_start[k + 1]]`.
      copy_above: a map like `above` for every further card that leads to a block: the parent's lanes of the hands that are
        renamed to those of the block.
      after: `[K, 52]` the block after each card, -1 where the card cannot be dealt.
      renaming: `[K, 52]` the permutation of suits that turns each card into the last one of the block after it.
      symmetries: the suit permutations that leave each block's cards and both ranges unchanged.
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
        """Returns `[symmetries, H]` the lane of each hand of a block after each of the block's symmetries."""
        lane = np.zeros(len(HANDS), np.int64)
        lane[self.hands(block)] = np.arange(self.width(block))
        return lane[RENAMED_HANDS[list(self.symmetries[block])][:, self.hands(block)]]


@dataclass(frozen=True)
class HandTree:
    """A game of hold'em from some board on. Nodes and rows come after their parents.

    Entries and rows are vectors over the lanes of their block; offsets give their starts in flat arrays.

    Attributes:
      game: the game that the tree was made from.
      blocks: the boards.
      kind: `[N]` `DECIDES`, `DEALS`, `FOLDS`, `SHOWS`, `LEAF` or `RUNS_OUT`.
      actor: `[N]` the player who acts, -1 where none does.
      block: `[N]` the block of each node.
      parent: `[N]` the node above, -1 at the root.
      amount: `[N]` player 0's winnings after a fold (negative if it folded itself), or what either player can win where hands
        are shown or the tree is cut; times the chance of the cards dealt so far.
      first_entry: `[N]` the actor's first entry at each node; its actions' children are consecutive in `child`.
      num_actions: `[N]` the actions of a decision, or the blocks that a deal leads to, one for each orbit of cards.
      first_child: `[N]` node n's children are `child[first_child[n]:first_child[n] + num_actions[n]]`.
      child: the children of all nodes.
      reach_row: for both players `[N]` the row that holds a player's reach of the node.
      entry_action: `[E]` the action of each entry, as the rules number them.
      entry_offset: `[E + 1]` the start of each entry's vector in a flat strategy.
      entry_node: `[E]` the node of each entry.
      row_offset: for both players `[R + 1]` the start of each row's vector.
      row_parent: for both players `[R]` the row above, -1 at the root.
      row_entry: for both players `[R]` the entry of the own action that led here, -1 where a card was dealt.
      row_block: for both players `[R]` the block of each row.
      root_reach: for both players `[H]` the weights of hands in their ranges.
      leaf_betting: the betting state at each `LEAF`, in the order of nodes.
      own: for both players `[lanes]` whether the player may hold each lane's hand.
      pair_weight: `[K]` the chance of each block's dealt cards over the total weight of pairs of hands at the root.
      held: the fixed part of the strategy (`hold`).
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
        """The number of public states up to suits: boards with the betting on them."""
        return len(self.kind)

    @property
    def num_entries(self) -> int:
        """The length of a strategy: hands times actions, over all decisions."""
        return int(self.entry_offset[-1])

    @property
    def num_infostates(self) -> int:
        """The number of infostates (hands at decisions), up to suits."""
        return int(self.infostate_start[-1])

    @cached_property
    def roots(self) -> NDArray[np.int64]:
        """The root node, or one for each tree of a forest."""
        return np.flatnonzero(self.parent < 0)

    @cached_property
    def decisions(self) -> NDArray[np.int64]:
        """The nodes where a player acts."""
        return np.flatnonzero(self.kind == DECIDES)

    @cached_property
    def infostate_start(self) -> NDArray[np.int64]:
        """`[decisions + 1]` the first infostate of each decision, which has one for every hand."""
        return np.concatenate([[0], np.cumsum(np.diff(self.blocks.lane_start)[self.block[self.decisions]])])

    @cached_property
    def decision_spots(self) -> list[Spot]:
        """The spots where a player acts, with all real cards, decision by decision."""
        renamings = [[IDENTITY] for _ in self.blocks.board]
        for block, before in enumerate(self.blocks.parent.tolist()):
            if before >= 0:
                steps = self.blocks.renaming[before, self.blocks.after[before] == block]
                renamings[block] = COMPOSED[np.ix_(steps, renamings[before])].ravel().tolist()
        return [Spot(int(node), renaming) for node in self.decisions for renaming in renamings[self.block[node]]]

    @cached_property
    def entry_player(self) -> NDArray[np.int8]:
        """`[num_entries]` the player of each number of a strategy."""
        return np.repeat(self.actor[self.entry_node], np.diff(self.entry_offset))

    def board(self, spot: Spot) -> tuple[int, ...]:
        """Returns the board at a spot."""
        first = block = int(self.block[spot.node])
        while self.blocks.parent[first] >= 0:
            first = int(self.blocks.parent[first])
        start, cards = self.blocks.board[first], self.blocks.board[block]  # renaming may only permute the starting board
        return (*start, *(int(card) for card in RENAMED_CARDS[INVERSE[spot.renaming], cards[len(start) :]]))

    def hands(self, spot: Spot) -> NDArray[np.int64]:
        """Returns `[H]` the hand of each lane."""
        hands: NDArray[np.int64] = RENAMED_HANDS[INVERSE[spot.renaming], self.blocks.hands(int(self.block[spot.node]))]
        return hands

    def path(self, spot: Spot) -> list[tuple[int, int]]:
        """Returns the steps to a spot: the player who acted and the action, or -1 and the card that was dealt."""
        steps, node = [], spot.node
        while self.parent[node] >= 0:
            above = int(self.parent[node])
            if self.kind[above] == DEALS:  # later renamings leave earlier cards unchanged
                card = self.blocks.board[self.block[node]][-1]
                steps.append((-1, int(RENAMED_CARDS[INVERSE[spot.renaming], card])))
            else:
                number = int(np.flatnonzero(self.children(above) == node)[0])
                steps.append((int(self.actor[above]), int(self.entry_action[self.first_entry[above] + number])))
            node = above
        return steps[::-1]

    def children(self, node: int) -> Ints:
        """Returns the children of a node, in the order of its actions or of the cards."""
        return self.child[self.first_child[node] : self.first_child[node] + self.num_actions[node]]

    def label(self, spot: Spot) -> str:
        """Returns the line that leads to a spot, like `check / bet to 2000 / call / 2c`."""
        steps, above = [], START
        for _, move in self.path(spot):
            steps.append(next(name for name, choice in self._choices(above).items() if choice == move))
            above = self.after(above, move)
        return " / ".join(steps)

    def find(self, text: str) -> Spot:
        """Returns the spot that a line leads to, as `label` writes it.

        Raises:
          TacitError: There is none; the message says which step is unknown.
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
        """Returns the player who acts at a spot; -1 if none does."""
        return int(self.actor[spot.node])

    def steps_after(self, spot: Spot) -> list[str]:
        """Returns the steps that `find` accepts after a spot."""
        return list(self._choices(spot)) if self.kind[spot.node] in (DECIDES, DEALS) else []

    def __repr__(self) -> str:
        return f"<tree of {self.game}: {self.num_nodes:,} public states, {self.num_infostates:,} infostates>"

    def _repr_html_(self) -> str:
        from tacit.tree.pictures import tree_html

        return tree_html(self)

    def action_names(self, node: int) -> list[str]:
        """Returns the names of the actions at a node."""
        actions = self.actions(node)
        facing = FOLD in actions
        names = {FOLD: "fold", CALL: "call" if facing else "check"}
        return [names.get(action, f"{'raise' if facing else 'bet'} to {action}") for action in actions]

    def actions(self, node: int) -> list[int]:
        """Returns the actions at a node, as the rules number them."""
        first = int(self.first_entry[node])
        return [int(action) for action in self.entry_action[first : first + self.num_actions[node]]]

    def _choices(self, spot: Spot) -> dict[str, int]:
        """Returns the actions or cards that can follow a spot, by name."""
        if self.kind[spot.node] == DECIDES:
            return dict(zip(self.action_names(spot.node), self.actions(spot.node), strict=True))
        return {card_name(card): card for card in range(NUM_CARDS) if self.knows(spot, card)}

    def knows(self, spot: Spot, what: int) -> bool:
        """Returns whether an action or card is possible at a spot."""
        if self.kind[spot.node] == DEALS:
            return bool(self.blocks.after[self.block[spot.node], RENAMED_CARDS[spot.renaming, what]] >= 0)
        return what in self.actions(spot.node)

    def after(self, spot: Spot, what: int) -> Spot:
        """Returns the spot after an action or card, which must be possible there (`knows`)."""
        node, renaming = spot
        below, block = self.children(node), self.block[node]
        if self.kind[node] == DECIDES:
            return Spot(int(below[self.actions(node).index(what)]), renaming)
        card = RENAMED_CARDS[renaming, what]
        number = np.flatnonzero(self.block[below] == self.blocks.after[block, card])[0]
        return Spot(int(below[number]), int(COMPOSED[self.blocks.renaming[block, card], renaming]))

    def decision(self, strategy: Floats, node: int) -> Floats:
        """Returns `[A, H]` a strategy's probabilities at a node, for each action and hand of its block."""
        first = self.first_entry[node]
        part = strategy[self.entry_offset[first] : self.entry_offset[first + self.num_actions[node]]]
        return part.reshape(int(self.num_actions[node]), -1)

    def strategy(self, probabilities: Floats) -> HandStrategy:
        """Returns `[E]` probabilities as a strategy."""
        from tacit.tree.hand_strategy import HandStrategy

        return HandStrategy(self, probabilities)

    def uniform_strategy(self) -> Floats:
        """Returns the uniform strategy `[E]`."""
        return self.held.put(np.repeat(1.0 / self.num_actions[self.entry_node], np.diff(self.entry_offset)))

    def normalise(self, weights: Floats) -> Floats:
        """Returns `[E]` weights scaled to sum to 1 over the actions of every hand; uniform where they are all zero.

        Before a deal, hands that symmetries turn into each other get their mean. Solvers keep them equal except for rounding,
        and an orbit's block stands for all its members only if they are equal. Averaging makes evaluation exact.
        """
        strategy, widths = weights.copy(), np.diff(self.blocks.lane_start)
        starts = self.entry_offset[np.searchsorted(self.entry_node, self.blocks.node_start)]  # a block's entries are contiguous
        for block in np.flatnonzero((self.blocks.after >= 0).any(axis=1)).tolist():
            if len(self.blocks.symmetries[block]) > 1:
                part = strategy[starts[block] : starts[block + 1]].reshape(-1, widths[block])
                lanes = self.blocks.renamed_lanes(block)
                chosen, orbit = np.unique(lanes.min(axis=0), return_inverse=True)
                part[:] = part[:, lanes[:, chosen]].mean(axis=1)[:, orbit]  # one sum for the whole orbit: equal to the last bit
        nodes = self.decisions
        take_shares(strategy, self.entry_offset[self.first_entry[nodes]], self.num_actions[nodes], widths[self.block[nodes]])
        return self.held.put(strategy)

    def hold(self, held: Held) -> HandTree:
        """Returns the tree with part of the strategy fixed; passes restore that part at every decision they visit."""
        return replace(self, held=held)

    def choices(self, spot: Spot) -> list[tuple[str, dict[str, int]]]:
        """Returns each hand that the actor at a spot may hold, with the entries of its actions, all by name.

        Raises:
          TacitError: No player acts there.
        """
        block = int(self.block[spot.node])
        own = self.own[who_acts(self, spot)][self.blocks.lane_start[block] : self.blocks.lane_start[block + 1]]
        entries, names, hands = self._entries_at(spot.node), self.action_names(spot.node), self.hands(spot)
        return [
            (hand_name(int(hands[lane])), dict(zip(names, entries[:, lane].tolist(), strict=True)))
            for lane in np.flatnonzero(own).tolist()
        ]

    def _entries_at(self, node: int) -> NDArray[np.int64]:
        """Returns `[A, H]` the positions of a decision's probabilities in a strategy."""
        first, count = int(self.first_entry[node]), int(self.num_actions[node])
        return np.arange(self.entry_offset[first], self.entry_offset[first + count]).reshape(count, -1)

    def private_states(self, text: str) -> dict[str, float]:
        """Returns the hands of a range with their weights.

        Raises:
          TacitError: The text is not a range.
        """
        weights = parse_range(text)
        return {hand_name(hand): float(weights[hand]) for hand in np.flatnonzero(weights).tolist()}

    def apart(self, spot: Spot, held: Held) -> HandTree:
        """Returns a tree in which `held` applies at this spot alone.

        It drops the suit symmetries that change the cards on the way to the spot, or map hands to hands with another strategy.

        Raises:
          TacitError: The tree without these symmetries does not fit into memory.
        """
        from tacit.tree.hand_builder import build_endgame

        entries = self._entries_at(spot.node)
        spread = np.full((len(entries), NUM_HANDS), -1.0)  # not a probability: these hands still decide
        action, lane = np.divmod(held.entry - entries[0, 0], entries.shape[1])
        spread[action, self.hands(spot)[lane]] = held.share
        cards = [card for actor, card in self.path(spot) if actor < 0]
        kept = tuple(
            number
            for number in self.blocks.symmetries[0]
            if all(RENAMED_CARDS[number, card] == card for card in cards)
            and np.array_equal(spread[:, RENAMED_HANDS[number]], spread)
        )
        return self if kept == self.blocks.symmetries[0] else build_endgame(self.game, kept)


def lanes_of(board: tuple[int, ...], above: NDArray[np.int16]) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Returns the hands of the previous block that a board allows, and the first lane of equal strength for each.

    Args:
      board: at most five cards.
      above: the hands possible before the last card.
    """
    blocked = np.isin(HANDS[above], board).any(axis=1)
    hands = above[~blocked]
    if len(board) < FULL_BOARD:
        return hands, np.zeros(len(hands), np.int16)
    strength = hand_strengths(board)[hands]
    order = np.argsort(strength, kind="stable")
    ordered = strength[order]
    starts = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    tie = np.maximum.accumulate(np.where(starts, np.arange(len(ordered)), 0))
    return hands[order], tie.astype(np.int16)
