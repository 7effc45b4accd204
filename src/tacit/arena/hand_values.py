"""Value functions for AIVAT in hold'em: what pairs of hands are worth at a public state, fixed before anything is played.

AIVAT is unbiased whatever they say, as long as the mean over a deal of what they say after it is what they said before it: then
no card has to be tried that did not come. Both functions here have that property exactly.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Protocol

import numpy as np

from tacit.agents.hand_policy import HandPolicy, SolvedPolicy, played
from tacit.cards.deck import NUM_CARDS
from tacit.cards.hands import NUM_HANDS, meetings
from tacit.cards.run_outs import leads
from tacit.cards.suits import IDENTITY
from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.betting import FOLDED, RIVER, SHOWDOWN
from tacit.games.holdem import Holdem
from tacit.games.public_hand import PublicHand
from tacit.kernels.numba_hands import HandPasses
from tacit.tree.hand_builder import HIDDEN_CARDS, build_hand_tree, num_hand_entries
from tacit.tree.hand_tree import FULL_BOARD, START, HandTree, Spot
from tacit.tree.public_tree import Floats

MAX_ENTRIES = 40_000_000
"""Numbers of a strategy up to which all nodes' values are kept, 8 bytes each and for both seats."""
GROWTH = 2.0
"""How much the pot is expected to grow on each street that is still bet: as by a called bet of half the pot."""


class HandValues(Protocol):
    """A value function, summed over pairs of hands."""

    def worth(self, state: PublicHand, reaches: tuple[Floats, Floats], fixed: int) -> float:
        """Returns player 0's value summed over all pairs of hands that share no card, times both players' reaches.

        Args:
          state: where the hand stands.
          reaches: for both players `[1326]`, zero for hands that share a card with the board.
          fixed: the player whose reach stays the same from one question to the next: what is summed over it is kept.
        """
        ...


class CheckDown:
    """What was not called is given back, and the better hand wins what the pot is expected to grow to; for any hold'em.

    How often hands win is exact. The growth is a guess, so that early cards count about as much as they will: it is what
    makes estimates of big pots vary less than with the present pot (docs/LOG.md), and nothing depends on its being right.
    """

    def __init__(self) -> None:
        self._leads: OrderedDict[tuple[tuple[int, ...], bytes], Floats] = OrderedDict()

    def worth(self, state: PublicHand, reaches: tuple[Floats, Floats], fixed: int) -> float:
        betting = state.betting
        if betting.actor == FOLDED:
            payoff = betting.spent[1] if betting.folder == 1 else -betting.spent[0]
            return payoff * float(reaches[0] @ meetings(reaches[1]))
        growth = 1.0 if betting.actor == SHOWDOWN else GROWTH ** (RIVER + 1 - betting.street)
        chips = min(growth * min(betting.spent), state.game.rules.stack)
        return (2 * fixed - 1) * chips * float(reaches[1 - fixed] @ self._against(state.board, reaches[fixed]))

    def _against(self, board: tuple[int, ...], reach: Floats) -> Floats:
        key = (board, reach.tobytes())
        if key not in self._leads:
            self._leads[key] = leads(board, reach)
            if len(self._leads) > 4:
                self._leads.popitem(last=False)
        return self._leads[key]


class TreeValues:
    """Self-play of one player's strategy, from every node of an endgame's tree on.

    With that player's own reach one pass upwards has the sums for all nodes, since from there on it plays what it does.

    Args:
      tree: the game.
      strategy: `[E]` of both seats.
      player: the seat in which it is played.
    """

    def __init__(self, tree: HandTree, strategy: Floats, player: int) -> None:
        self._tree, self._other = tree, 1 - player
        self._passes = HandPasses(tree, np.float64, keep=True)
        entries = self._passes.entries(strategy)
        self._passes.values(self._other, entries, self._passes.reach(player, entries))
        self._spots: dict[tuple[tuple[int, int], ...], Spot] = {(): START}
        pairs = float(meetings(_spread(tree, player)) @ _spread(tree, self._other))
        lie, deck = len(tree.blocks.board[0]), NUM_CARDS - HIDDEN_CARDS
        # The tree's values are times the chance of the cards and of the two hands: that is taken out again.
        self._scale = [pairs * math.prod(deck - number for number in range(lie, cards)) for cards in range(FULL_BOARD + 1)]

    def worth(self, state: PublicHand, reaches: tuple[Floats, Floats], fixed: int) -> float:
        del fixed
        spot, sign = self._spot(state.path), 1 if self._other == 0 else -1
        found = float(reaches[self._other][self._tree.hands(spot)] @ self._passes.node_values(self._other, spot.node))
        return sign * self._scale[len(state.board)] * found

    def _spot(self, path: tuple[tuple[int, int], ...]) -> Spot:
        if path not in self._spots:
            above = self._spot(path[:-1])
            if not self._tree.knows(above, path[-1][1]):
                raise TacitError(f"{path[-1][1]} is not on the menu of {self._tree.game}: AIVAT's values do not know it")
            self._spots[path] = self._tree.after(above, path[-1][1])
        return self._spots[path]


def _spread(tree: HandTree, player: int) -> Floats:
    """Returns `[1326]` a player's weights at the root."""
    weights = np.zeros(NUM_HANDS)
    weights[tree.blocks.hands(0)] = tree.root_reach[player]
    return weights


def fits_tree(game: Holdem) -> bool:
    """Returns whether values can be kept for all nodes of a game."""
    board = game.known_board
    return len(board) >= 4 and num_hand_entries(game.rules, board, game.ranges) <= MAX_ENTRIES


def tabulate_game(policy: HandPolicy, game: AnyGame) -> tuple[HandTree, Floats]:
    """Returns the tree of an endgame and the strategy `[E]` that a policy plays in it, asked at every decision.

    A policy need not treat suits alike: but for a solve of the same game, which has its own tree, all boards are kept.

    Raises:
      TacitError: the game is no turn or river endgame of hold'em, or too large.
    """
    if not isinstance(game, Holdem):
        raise TacitError(f"exact figures of a bot are for hold'em, not for {game}: see how it plays with `tacit match`")
    if not fits_tree(game):
        raise TacitError(f"exact figures of a bot need a turn or river endgame that fits, not {game}: try lbr")
    if isinstance(policy, SolvedPolicy) and str(policy.strategy.tree.game) == str(game):
        tree = policy.strategy.tree
        return tree, tree.normalise(policy.strategy.probabilities.astype(np.float64))
    tree = build_hand_tree(game, game.rules, game.known_board, game.ranges, group=(IDENTITY,))
    strategy = np.zeros(tree.num_entries)
    states = {0: PublicHand.start(game).dealt(game.known_board)}
    for node in range(len(tree)):
        state = states.pop(node)
        for child, (player, what) in _below(tree, node):
            states[child] = state.dealt((what,)) if player < 0 else state.after(what)
        if tree.actor[node] >= 0:
            hands = tree.blocks.hands(int(tree.block[node]))
            tree.decision(strategy, node)[:] = played(policy, state)[:, hands]
    return tree, strategy


def _below(tree: HandTree, node: int) -> list[tuple[int, tuple[int, int]]]:
    """Returns the children of a node with the steps that lead there."""
    children = [int(child) for child in tree.children(node)]
    if tree.actor[node] >= 0:
        return [(child, (int(tree.actor[node]), action)) for child, action in zip(children, tree.actions(node), strict=True)]
    return [(child, (-1, tree.blocks.board[tree.block[child]][-1])) for child in children]
