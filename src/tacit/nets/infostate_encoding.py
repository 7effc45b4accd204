"""Infostates as vectors, without knowledge of what is good in a game (NFSP, section 4.1).

- Poker with one card each: the ranks seen on each street, k of n, and the betting as a tensor {player, street, raises before,
  action}, without folds because they end the game. Leduc gives 2 * 3 + 2 * 2 * 3 * 2 = 30 numbers, as in the paper.
- OpenSpiel games: their own information state tensor. Numbers above 1, like chips, are divided by the largest at their place.
- Any other game: a number for each possible observation at each depth and position among the observations that arrive there
  together, 1 if it was made; own actions, and who acts, only if observations do not reveal them. Different infostates of a
  player have different vectors.

A vector is stored as the list of its active features. Feature numbers are those of a network's inputs, so saved networks rely
on their order: features are numbered as they first appear, infostate by infostate.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TacitError
from tacit.games.base import CHANCE, TERMINAL
from tacit.games.one_card_poker import OneCardPoker
from tacit.games.openspiel import OpenSpielGame
from tacit.games.small_poker import CALL, RAISE
from tacit.nets.sparse_mlp import Encodings, encodings_of
from tacit.tree.public_tree import NO_PARENT, Nodes, PlayerRows, PublicTree, in_ranges, split_observations

Matrix = NDArray[np.float32]
Longs = NDArray[np.int64]
_Key = TypeVar("_Key", bound=Hashable)

_PUBLIC, _PRIVATE, _OWN_ACTION, _ACTOR = range(4)
"""Kinds of features."""
_Feature = tuple[int, int, int, str | int]
"""Something that a player may have learnt: its kind, the depth where it was learnt, its position among the observations that
arrived there together, and the observation, action or actor itself."""
_Past = Callable[[Longs, NDArray[Any]], tuple[Longs, Longs]]
"""Maps infostates and their nodes or rows to pairs (infostate, feature learnt on the way to it)."""
_TOLD = -1
"""Marks an action or actor that observations already reveal."""
_BETTING = {"check": CALL, "call": CALL, "bet": RAISE, "raise": RAISE}


def encode_infostates(tree: PublicTree) -> tuple[Encodings, int]:
    """Returns the encodings of all infostates of a game, and their length `F`.

    Raises:
      TacitError: an OpenSpiel game has no tensors, or the player to act is not public.
    """
    if isinstance(tree.game, OneCardPoker):
        matrix = _poker(tree, tree.game)
    elif isinstance(tree.game, OpenSpielGame):
        matrix = _openspiel(tree, tree.game)
    else:
        return _generic(tree)
    return encodings_of(matrix), matrix.shape[1]


def _poker(tree: PublicTree, game: OneCardPoker) -> Matrix:
    histories = [_betting(tree, node) for node in range(tree.num_nodes)]
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


def _betting(tree: PublicTree, node: int) -> tuple[list[tuple[int, int, int, int]], str | None]:
    """Returns the moves before a public state, as (player, street, raises before, action), and the board card."""
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
    tensors: dict[tuple[int, str], Any] = {}
    stack = [game.initial_state()]
    while stack:
        state = stack.pop()
        actor = game.actor(state)
        if actor == TERMINAL:
            continue
        if actor != CHANCE:
            key = actor, game.infostate(state, actor)
            if key not in tensors:
                tensors[key] = np.array(state.information_state_tensor(actor), np.float32)
        moves = [a for a, _ in game.chance_outcomes(state)] if actor == CHANCE else game.legal_actions(state)
        stack.extend(game.apply(state, move) for move in moves)
    keys = ((int(p), tree.rows[p].token[row]) for p, row in zip(tree.infostate_player, tree.infostate_row, strict=True))
    matrix = np.stack([tensors[key] for key in keys])
    return np.asarray(matrix / np.maximum(np.abs(matrix).max(axis=0), 1.0), np.float32)


def _generic(tree: PublicTree) -> tuple[Encodings, int]:
    """Returns the encodings, with a number for each feature in the past of some infostate, and their length."""
    nodes, features = tree.require_nodes(), dict[_Feature, int]()
    public = _past(features, (_PUBLIC, _ACTOR), nodes, _unclear_actors(tree))
    pairs = []
    for player, rows in enumerate(tree.rows):
        private = _past(features, (_PRIVATE, _OWN_ACTION), rows, _untold_actions(tree, player))
        infostate = np.flatnonzero(tree.infostate_player == player)
        row = tree.infostate_row[infostate]
        pairs += [public(infostate, nodes.of_row[player][row]), private(infostate, row)]
    infostate, feature = (np.concatenate(part) for part in zip(*pairs, strict=True))
    first = np.full(len(features), tree.num_infostates)
    np.minimum.at(first, feature, infostate)
    # An infostate has one feature per kind, depth and position. Features that no infostate has are sorted last and left out.
    listed = sorted(features, key=lambda found: (first[features[found]], *found[:3]))
    number = np.empty(len(features), np.int64)
    number[[features[found] for found in listed]] = np.arange(len(features))
    feature = number[feature]
    feature = feature[np.lexsort((feature, infostate))]
    start = np.concatenate(([0], np.cumsum(np.bincount(infostate, minlength=tree.num_infostates))))
    return Encodings(start, feature, np.ones(len(feature), np.float32)), int((first < tree.num_infostates).sum())


def _unclear_actors(tree: PublicTree) -> Longs:
    """Returns `[N]` who acts where observations do not reveal it (chance may choose the actor without showing it)."""
    nodes = tree.require_nodes()
    lookalikes, _ = _numbered(zip(nodes.parent.tolist(), nodes.token, strict=True))
    first, second = (np.bincount(lookalikes, nodes.actor == player) > 0 for player in (0, 1))
    return np.where((nodes.actor >= 0) & (first & second)[lookalikes], nodes.actor, _TOLD)


def _untold_actions(tree: PublicTree, player: int) -> Longs:
    """Returns `[R]` the player's own last action where observations do not reveal it, or not even that there was one."""
    rows, nodes = tree.rows[player], tree.require_nodes()
    silent_node, silent_row = (np.array([not token for token in tokens], bool) for tokens in (nodes.token, rows.token))
    moved = rows.entry < tree.num_entries
    untold = tree.secret_action[player] | (moved & silent_row & silent_node[nodes.of_row[player]])
    return np.where(untold, tree.entry_action[np.where(moved, rows.entry, 0)], _TOLD)


def _past(features: dict[_Feature, int], kinds: tuple[int, int], at: Nodes | PlayerRows, unsaid: Longs) -> _Past:
    """Returns a function that lists the features learnt on the way to nodes or rows.

    Args:
      features: the features so far with their provisional numbers; new ones are added.
      kinds: the kind of a token's observations, and the kind of what they leave unsaid.
      at: the nodes or rows.
      unsaid: `[X]` the action or actor that each one's token leaves unsaid, or `_TOLD`.
    """
    depth = np.repeat(np.arange(len(at.level_start) - 1), np.diff(at.level_start))
    lesson_of, lessons = _numbered(zip(depth.tolist(), at.token, unsaid.tolist(), strict=True))
    counts, listed = [0], list[int]()
    for level, seen, what_else in lessons:
        found: list[_Feature] = [(kinds[0], level, position, what) for position, what in enumerate(split_observations(seen))]
        if what_else != _TOLD:
            found.append((kinds[1], level, 0, what_else))
        counts.append(len(found))
        listed.extend(features.setdefault(feature, len(features)) for feature in found)
    start, number = np.cumsum(counts), np.array(listed, np.int64)

    def pairs(infostate: Longs, place: NDArray[Any]) -> tuple[Longs, Longs]:
        infostates, numbers = [infostate[:0]], [number[:0]]
        while len(place):
            lesson = lesson_of[place]
            infostates.append(np.repeat(infostate, np.diff(start)[lesson]))
            numbers.append(number[in_ranges(start, lesson)])
            place = at.parent[place]
            below = place != NO_PARENT
            infostate, place = infostate[below], place[below]
        return np.concatenate(infostates), np.concatenate(numbers)

    return pairs


def _numbered(keys: Iterable[_Key]) -> tuple[Longs, list[_Key]]:
    """Returns the number of each key, equal where keys are equal, and the key of each number."""
    listed = list(keys)
    numbers = {key: number for number, key in enumerate(dict.fromkeys(listed))}
    return np.fromiter(map(numbers.__getitem__, listed), np.int64, len(listed)), list(numbers)
