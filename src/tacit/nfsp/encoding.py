"""Infostates as vectors, without knowledge of what is good in a game (NFSP, section 4.1).

- Poker with one card each: the ranks seen on each street, k of n, and the betting as a tensor {player, street, raises before,
  action}, folds left out because a game with a fold is over. Leduc gives 2 * 3 + 2 * 2 * 3 * 2 = 30 numbers, as in the paper.
- Games of OpenSpiel: its own information state tensor.
- Any other game: a number for each thing that can be observed or done at each depth, 1 where it happened. Different
  infostates have different vectors.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TacitError
from tacit.games.base import CHANCE, TERMINAL
from tacit.games.one_card_poker import CALL, RAISE, OneCardPoker
from tacit.games.openspiel import OpenSpielGame
from tacit.tree.public_tree import PublicTree, split_observations

Matrix = NDArray[np.float32]
_BETTING = {"check": CALL, "call": CALL, "bet": RAISE, "raise": RAISE}


def encode_infostates(tree: PublicTree) -> Matrix:
    """Returns `[S, F]` the encodings of all infostates of a game.

    Raises:
      TacitError: an OpenSpiel game has no tensors.
    """
    if isinstance(tree.game, OneCardPoker):
        return _poker(tree, tree.game)
    if isinstance(tree.game, OpenSpielGame):
        return _openspiel(tree, tree.game)
    return _generic(tree)


def _poker(tree: PublicTree, game: OneCardPoker) -> Matrix:
    histories = [_betting(tree, game, node) for node in range(tree.num_nodes)]
    suits, ranks, streets = len(game.suits), len(game.ranks), game.num_streets
    names = [game.card_name(card) for card in range(game.num_cards)]
    most = max(raises for history, _ in histories for _, _, raises, _ in history)
    cards = np.zeros((tree.num_infostates, streets, ranks), np.float32)
    betting = np.zeros((tree.num_infostates, 2, streets, most + 1, 2), np.float32)
    for infostate in range(tree.num_infostates):
        player, row = int(tree.infostate_player[infostate]), int(tree.infostate_row[infostate])
        (own,) = (names.index(token) for r in tree.row_path(player, row) if (token := tree.rows[player].token[r]))
        history, board = histories[tree.node_of_row(player, row)]
        cards[infostate, 0, own // suits] = 1.0
        if board is not None:
            cards[infostate, 1, names.index(board) // suits] = 1.0
        for actor, street, raises, action in history:
            betting[infostate, actor, street, raises, action - CALL] = 1.0
    flat = tree.num_infostates, -1
    return np.concatenate((cards.reshape(flat), betting.reshape(flat)), axis=1)


def _betting(tree: PublicTree, game: OneCardPoker, node: int) -> tuple[list[tuple[int, int, int, int]], str | None]:
    """Returns the (player, street, raises before, action) of all moves before a public state, and the board card."""
    history, board, player, raises = [], None, 0, 0
    for step in tree.node_path(node):
        for seen in split_observations(tree.require_nodes().token[step]):
            if seen in _BETTING:
                history.append((player, int(board is not None), raises, _BETTING[seen]))
                raises += _BETTING[seen] == RAISE
                player = 1 - player
            elif seen != "fold":
                board, player, raises = seen, 0, 0
    return history, board


def _openspiel(tree: PublicTree, game: OpenSpielGame) -> Matrix:
    if not game.spiel_game.get_type().provides_information_state_tensor:
        raise TacitError(f"{game} gives no information_state_tensor, so its infostates have no encoding")
    found: dict[tuple[int, str], Any] = {}
    stack = [game.initial_state()]
    while stack:
        state = stack.pop()
        actor = game.actor(state)
        if actor == TERMINAL:
            continue
        if actor != CHANCE:
            key = actor, game.infostate(state, actor)
            if key not in found:
                found[key] = np.array(state.information_state_tensor(actor), np.float32)
        moves = [a for a, _ in game.chance_outcomes(state)] if actor == CHANCE else game.legal_actions(state)
        stack.extend(game.apply(state, move) for move in moves)
    keys = ((int(p), tree.rows[p].token[row]) for p, row in zip(tree.infostate_player, tree.infostate_row, strict=True))
    return np.stack([found[key] for key in keys])


def _generic(tree: PublicTree) -> Matrix:
    """Returns a number for each (what, depth, how often) that some infostate has in its past."""
    nodes, seen = tree.require_nodes(), []
    features: dict[tuple[str, int, str, int], int] = {}
    for infostate in range(tree.num_infostates):
        player, row = int(tree.infostate_player[infostate]), int(tree.infostate_row[infostate])
        rows = tree.rows[player]
        public = [("public", nodes.token[node]) for node in tree.node_path(tree.node_of_row(player, row))]
        path = tree.row_path(player, row)
        private = [("private", rows.token[r]) for r in path]
        own = [("own", str(int(tree.entry_action[rows.entry[r]])) if tree.secret_action[player][r] else "") for r in path]
        past: list[tuple[str, int, str, int]] = []
        for sequence in (public, private, own):
            for depth, (kind, token) in enumerate(sequence):
                for what, count in Counter(split_observations(token)).items():
                    past.extend((kind, depth, what, number) for number in range(count))
        seen.append([features.setdefault(feature, len(features)) for feature in past])
    matrix = np.zeros((tree.num_infostates, len(features)), np.float32)
    for infostate, active in enumerate(seen):
        matrix[infostate, active] = 1.0
    return matrix
