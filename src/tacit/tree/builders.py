"""Direct builders: public trees of liar's dice and small-deck poker, without walking over histories."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from math import perm

import numpy as np

from tacit.games.base import CHANCE, TERMINAL
from tacit.games.liars_dice import LiarsDice
from tacit.games.small_poker import FOLD, PokerState, SmallPoker
from tacit.tree.public_tree import NO_ACTION, NO_PARENT, Floats, PublicTree, join_observations
from tacit.tree.uniform import UniformTables, level_sizes, uniform_tree


def build_liars_dice(game: LiarsDice) -> PublicTree:
    """Returns the public tree of liar's dice: every rising sequence of bids, all but the empty one also with a call of liar."""
    parent, action, called = _bid_sequences(game.num_bids)
    sizes = level_sizes(parent)
    turn = np.repeat(np.arange(len(sizes)) % 2, sizes)
    over = action == game.liar
    names = [game.action_name(a) for a in range(game.liar + 1)]

    rolls = len(game.rolls)
    roll_names = [game.roll_name(roll) for roll in range(rolls)]
    chance = np.array(game.roll_probabilities)
    matches = np.array([[game.matches(roll, face) for roll in range(rolls)] for face in range(game.faces)])
    bids = np.arange(game.num_bids)
    total = matches[bids % game.faces][:, :, None] + matches[bids % game.faces][:, None, :]
    bidder_wins = np.where(total > (bids // game.faces)[:, None, None], 1.0, -1.0)
    tables = UniformTables(
        parent=parent,
        actor=np.where(over, TERMINAL, turn),
        action=action,
        token=["" if a == NO_ACTION else names[a] for a in action],
        lanes=(roll_names, roll_names),
        joint=np.outer(chance, chance)[None],
        joint_index=np.zeros(len(parent), np.int64),
        payoff=np.concatenate([bidder_wins, -bidder_wins]),
        payoff_index=np.where(over, called + game.num_bids * turn, 0),  # the caller moves right after the bidder
    )
    return uniform_tree(game, tables)


def _bid_sequences(num_bids: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns parent, action and (where liar is called) the called bid of every public state, level by level."""
    liar = num_bids
    parents, actions, calls = [np.array([NO_PARENT])], [np.array([NO_ACTION])], [np.array([NO_ACTION])]
    index, last = np.array([0]), np.array([-1])
    placed = 1
    while len(index):
        # After bid b: the bids above it, then liar; the first player cannot call.
        num_actions = np.where(last < 0, num_bids, num_bids - last)
        start = np.cumsum(num_actions) - num_actions
        action = np.repeat(last + 1 - start, num_actions) + np.arange(num_actions.sum())
        parents.append(np.repeat(index, num_actions))
        actions.append(action)
        calls.append(np.where(action == liar, np.repeat(last, num_actions), NO_ACTION))
        bids = action != liar
        index, last = placed + np.flatnonzero(bids), action[bids]
        placed += len(action)
    return np.concatenate(parents), np.concatenate(actions), np.concatenate(calls)


class _Deals:
    """The hands that two players can have on each board of small poker.

    Attributes:
      joint: for each board requested so far, `[H, H]` the chance of every pair of hands times that of the board in this order.
    """

    def __init__(self, game: SmallPoker) -> None:
        holds = np.zeros((len(game.hands), game.num_cards), np.int64)
        for hand, held in enumerate(game.hands):
            holds[hand, held] = 1
        self._holds, self._disjoint = holds, holds @ holds.T == 0
        self._cards_left = game.num_cards - 2 * game.hand_size
        self._number: dict[tuple[int, ...], int] = {}
        self.joint: list[Floats] = []

    def number(self, board: tuple[int, ...]) -> int:
        """Returns the index in `joint` of a board; the order of its cards does not matter."""
        board = tuple(sorted(board))
        if board not in self._number:
            self._number[board] = len(self.joint)
            free = self._holds[:, board].sum(axis=1) == 0
            chance = 1.0 / (self._disjoint.sum() * perm(self._cards_left, len(board)))
            self.joint.append(chance * (self._disjoint & np.logical_and.outer(free, free)))
        return self._number[board]

    def some_hands(self, board: tuple[int, ...]) -> tuple[int, int]:
        """Returns one possible hand for each player on a board."""
        first, second = np.argwhere(self.joint[self.number(board)])[0].tolist()
        return first, second


def build_small_poker(game: SmallPoker) -> PublicTree:
    """Returns the public tree of poker with a small deck: the betting tree, branching on each board card."""
    deals = _Deals(game)
    # Public states, breadth first: a state with arbitrary possible hands, the parent node, the action and what everyone saw.
    public_states = [(PokerState(deals.some_hands(()), ((),)), NO_PARENT, NO_ACTION, "")]
    actors: list[int] = []
    joint_index: list[int] = []
    payoff_index: list[int] = []
    payoff_number: dict[Hashable, int] = {}
    payoffs: list[Floats] = []
    for node, (state, *_) in enumerate(public_states):
        actors.append(game.actor(state))
        joint_index.append(deals.number(state.cards[2:]))
        payoff_index.append(0)
        if actors[node] == TERMINAL:
            key = game.returns(state)[0] if _folded(state) else (game.contributions(state)[0], joint_index[node])
            payoff_index[node] = payoff_number.setdefault(key, len(payoffs))
            if len(payoff_number) > len(payoffs):
                payoffs.append(_payoffs(game, state))
            continue
        for move in game.legal_actions(state):
            after = game.apply(state, move)
            below: list[tuple[PokerState, tuple[str, ...]]] = [(after, (game.public_observation(after),))]
            while game.actor(below[0][0]) == CHANCE:  # twice if both are all in before the first card
                below = [(dealt, (*seen, name)) for before, seen in below for dealt, name in _with_card(game, deals, before)]
            public_states += [(arrived, node, move, join_observations(seen)) for arrived, seen in below]

    _, parents, actions, tokens = zip(*public_states, strict=True)
    names = [game.hand_name(hand) for hand in range(len(game.hands))]
    tables = UniformTables(
        parent=np.array(parents),
        actor=np.array(actors),
        action=np.array(actions),
        token=list(tokens),
        lanes=(names, names),
        joint=np.stack(deals.joint),
        joint_index=np.array(joint_index),
        payoff=np.stack(payoffs),
        payoff_index=np.array(payoff_index),
    )
    return uniform_tree(game, tables)


def _with_card(game: SmallPoker, deals: _Deals, state: PokerState) -> Iterator[tuple[PokerState, str]]:
    """Yields the state after each possible next board card, and what everyone sees."""
    board = state.cards[2:]
    for card in range(game.num_cards):
        if card not in board:
            dealt = PokerState((*deals.some_hands((*board, card)), *board, card), (*state.streets, ()))
            yield dealt, game.public_observation(dealt)


def _folded(state: PokerState) -> bool:
    return state.streets[-1][-1:] == (FOLD,)


def _payoffs(game: SmallPoker, state: PokerState) -> Floats:
    """Returns player 0's returns `[H, H]` at the end of the betting."""
    hands = range(len(game.hands))
    if _folded(state):
        return np.full((len(hands), len(hands)), game.returns(state)[0])
    strengths = [game.strength(hand, state.cards[2:]) for hand in hands]
    order = {strength: number for number, strength in enumerate(sorted(set(strengths)))}
    strength = np.array([order[value] for value in strengths])
    wins: Floats = np.sign(strength[:, None] - strength[None, :]).astype(np.float64)
    return game.contributions(state)[0] * wins
