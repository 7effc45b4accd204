"""Direct builders: public trees of dice and one-card poker without walking over histories."""

from __future__ import annotations

import numpy as np

from tacit.games.base import CHANCE, TERMINAL
from tacit.games.liars_dice import LiarsDice
from tacit.games.one_card_poker import FOLD, OneCardPoker, PokerState
from tacit.tree.public_tree import NO_ACTION, NO_PARENT, PublicTree, join_observations
from tacit.tree.uniform import UniformTables, level_sizes, uniform_tree


def build_liars_dice(game: LiarsDice) -> PublicTree:
    """Returns the public tree of liar's dice: every rising sequence of bids, each but the empty one with a call of liar."""
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
        payoff_index=np.where(over, called + game.num_bids * turn, 0),  # the caller's turn was one after the bidder's
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


def build_one_card_poker(game: OneCardPoker) -> PublicTree:
    """Returns the public tree of a one-card poker game: the betting tree, branching on the board card."""
    cards = range(game.num_cards)
    distinct = 1.0 - np.eye(game.num_cards)
    joint = [distinct / distinct.sum()]
    for board in cards:
        alive = distinct.copy()
        alive[board, :] = alive[:, board] = 0.0
        joint.append(alive / (distinct.sum() * (game.num_cards - 2)))

    # Public states, breadth first: a state whose private cards stand for any, the node above, the action and what all saw.
    found = [(PokerState((0, 1), ((),)), NO_PARENT, NO_ACTION, "")]
    actors: list[int] = []
    joint_index: list[int] = []
    payoff_index: list[int] = []
    payoffs: list[np.ndarray] = []
    for node, (state, *_) in enumerate(found):
        board_card = state.cards[2] if len(state.cards) == 3 else None
        actors.append(game.actor(state))
        joint_index.append(0 if board_card is None else board_card + 1)
        payoff_index.append(len(payoffs))
        if actors[node] == TERMINAL:
            payoffs.append(_payoffs(game, state, board_card))
            continue
        for move in game.legal_actions(state):
            after = game.apply(state, move)
            seen = game.public_observation(after)
            if game.actor(after) != CHANCE:
                found.append((after, node, move, seen))
                continue
            for board in cards:
                private = [card for card in cards if card != board][:2]
                dealt = game.apply(PokerState((private[0], private[1]), after.streets), board)
                found.append((dealt, node, move, join_observations((seen, game.public_observation(dealt)))))

    _, parents, actions, tokens = zip(*found, strict=True)
    names = [game.card_name(card) for card in cards]
    tables = UniformTables(
        parent=np.array(parents),
        actor=np.array(actors),
        action=np.array(actions),
        token=list(tokens),
        lanes=(names, names),
        joint=np.stack(joint),
        joint_index=np.array(joint_index),
        payoff=np.stack(payoffs),
        payoff_index=np.array(payoff_index),
    )
    return uniform_tree(game, tables)


def _payoffs(game: OneCardPoker, state: PokerState, board: int | None) -> np.ndarray:
    """Returns player 0's returns `[H, H]` at the end of the betting."""
    if state.streets[-1] and state.streets[-1][-1] == FOLD:
        return np.full((game.num_cards, game.num_cards), game.returns(state)[0])
    strength = np.array([game.strength(card, board) for card in range(game.num_cards)])
    wins: np.ndarray = np.sign(strength[:, None] - strength[None, :]).astype(np.float64)
    return game.contributions(state)[0] * wins
