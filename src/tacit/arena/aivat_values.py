"""Value functions for AIVAT: self-play on a tree of rows or on an endgame's tree of hands, and checking down in any hold'em.

Those of hold'em keep their mean over the next cards exactly, so AIVAT never has to try a card that did not come.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from tacit.agents.hand_policy import HandPolicy, SolvedPolicy, played
from tacit.agents.hand_search import HandSearch
from tacit.arena.aivat import Reaches, Values
from tacit.cards.deck import NUM_CARDS
from tacit.cards.hands import meetings, possible_hands
from tacit.cards.run_outs import leads
from tacit.cards.suits import IDENTITY
from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.betting import FOLDED, RIVER, SHOWDOWN
from tacit.games.holdem import Holdem
from tacit.games.public_hand import CARD, PublicHand
from tacit.kernels.numba_hands import HandPasses
from tacit.tree.hand_builder import HIDDEN_CARDS, build_hand_tree, num_hand_entries
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.hand_tree import DEALS, DECIDES, FULL_BOARD, START, HandTree, Spot
from tacit.tree.public_tree import Floats, PublicTree

MAX_ENTRIES = 40_000_000
"""The largest strategy for which the values of all nodes are kept, at 8 bytes an entry and seat."""
GROWTH = 2.0
"""How much the pot is expected to grow on each street still to be bet: as much as by a called bet of half the pot."""


class PairValues:
    """Values nodes of a tree of rows by self-play of a strategy `[E]`. A public state is a range of sibling nodes."""

    def __init__(self, tree: PublicTree, strategy: Floats) -> None:
        nodes, width = tree.require_nodes(), len(tree.rows[1])
        rows = np.concatenate([nodes.joint_rows, tree.payoff_rows], axis=1).astype(np.int64)
        order = np.argsort(rows[0] * width + rows[1])
        self._rows = rows = rows[:, order]
        self._chance = np.concatenate([nodes.joint_chance, tree.payoff_chance])[order]
        self._worth = np.concatenate([np.zeros(len(nodes.joint_chance)), tree.payoff])[order]
        self._row_start = nodes.row_start
        self._start = np.searchsorted(rows[0], nodes.row_start[0])  # a node's pairs lie together
        above = [tree.rows[player].parent[rows[player]].astype(np.int64) for player in (0, 1)]
        parent = np.searchsorted(rows[0] * width + rows[1], above[0] * width + above[1])
        shares = np.append(strategy, 1.0)
        played = shares[tree.rows[0].entry[rows[0]]] * shares[tree.rows[1].entry[rows[1]]]
        for first, last in pairwise(self._start[nodes.level_start[:0:-1]]):
            np.add.at(self._worth, parent[last:first], played[last:first] * self._worth[last:first])

    def sums(self, public: range, reaches: Reaches) -> tuple[float, float]:
        pairs = slice(self._start[public.start], self._start[public.stop])
        rows = [self._rows[player, pairs] - self._row_start[player][public.start] for player in (0, 1)]
        both = reaches[0][rows[0]] * reaches[1][rows[1]]
        return float(both @ self._worth[pairs]), float(both @ self._chance[pairs])


class CheckDown:
    """Returns an uncalled bet, and gives the better hand what the pot is expected to grow to.

    It works for any hold'em. How often hands win is exact. The growth is a guess that weighs early cards about as much as they
    will count: estimates of big pots vary less than with the present pot (docs/LOG.md), and are unbiased with any guess.
    """

    def sums(self, public: PublicHand, reaches: Reaches) -> tuple[float, float]:
        betting, (ranges, weight) = public.betting, _meet(public, reaches)
        if betting.actor == FOLDED:
            return weight * (betting.spent[1] if betting.folder == 1 else -betting.spent[0]), weight
        growth = 1.0 if betting.actor == SHOWDOWN else GROWTH ** (RIVER + 1 - betting.street)
        chips = min(growth * min(betting.spent), public.game.rules.stack)
        mover = public.path[-1][0] if public.path else CARD
        fixed = 1 if mover == CARD else 1 - mover  # all options of a move have this player's range in common
        lead = float(ranges[1 - fixed] @ _leads(public.board, ranges[fixed].tobytes()))
        return (2 * fixed - 1) * chips * lead, weight


@lru_cache(maxsize=8)
def _leads(board: tuple[int, ...], reach: bytes) -> Floats:
    return leads(board, np.frombuffer(reach))


class TreeValues:
    """Values a state by self-play of a known player's strategy in the tree of an endgame.

    One upward pass with that player's reach gives the sums for all nodes, since the player does play that strategy.
    """

    def __init__(self, tree: HandTree, strategy: Floats, player: int) -> None:
        """Passes up the tree once, with a strategy `[E]` for both seats that `player` is known to play."""
        self._tree, self._other = tree, 1 - player
        self._passes = HandPasses(tree, np.float64, keep=True)
        entries = self._passes.entries(strategy)
        self._passes.values(self._other, entries, self._passes.reach(player, entries))
        root = HandStrategy(tree, strategy)
        pairs = float(root.range_at(START, 0) @ meetings(root.range_at(START, 1)))
        # Tree values include the probability of the cards and of the two hands, which the sums here leave out.
        first, deck = len(tree.blocks.board[0]), NUM_CARDS - HIDDEN_CARDS
        self._scale = [pairs * math.prod(deck - number for number in range(first, cards)) for cards in range(FULL_BOARD + 1)]

    def sums(self, public: PublicHand, reaches: Reaches) -> tuple[float, float]:
        tree, spot = self._tree, START
        for _, what in public.path:
            if not tree.knows(spot, what):
                raise TacitError(f"{what} is not on the menu of {tree.game}: AIVAT's values do not know it")
            spot = tree.after(spot, what)
        ranges, weight = _meet(public, reaches)
        worth = float(ranges[self._other][tree.hands(spot)] @ self._passes.node_values(spot.node))
        return (1 - 2 * self._other) * self._scale[len(public.board)] * worth, weight


def _meet(public: PublicHand, reaches: Reaches) -> tuple[Reaches, float]:
    """Returns both players' hands, weighted by the deal and their reaches, and the weight of pairs that share no card."""
    possible = possible_hands(public.board)
    first, second = (reach * dealt * possible for reach, dealt in zip(reaches, public.game.ranges, strict=True))
    return (first, second), float(first @ meetings(second))


def hand_values(game: Holdem, policies: Sequence[HandPolicy | None]) -> Sequence[Values]:
    """Returns value functions for the first policy in seat 0 and in seat 1.

    Where a tree fits, they are self-play of a known policy that need not search, preferably of a saved solve.
    """
    solved = [seat for seat, policy in enumerate(policies) if isinstance(policy, SolvedPolicy)]
    quick = [seat for seat, policy in enumerate(policies) if policy is not None and not isinstance(policy, HandSearch)]
    if not quick or not fits_tree(game):
        return [CheckDown()] * 2
    seat = (solved or quick)[0]
    policy = policies[seat]
    assert policy is not None
    tree, strategy = tabulate_game(policy, game)
    return [TreeValues(tree, strategy, seat), TreeValues(tree, strategy, 1 - seat)]


def fits_tree(game: Holdem) -> bool:
    """Returns whether the values of all nodes of a game fit in memory."""
    board = game.known_board
    return len(board) >= 4 and num_hand_entries(game.rules, board, game.ranges) <= MAX_ENTRIES


def tabulate_game(policy: HandPolicy, game: AnyGame) -> tuple[HandTree, Floats]:
    """Returns the tree of an endgame and the strategy `[E]` that a policy plays in it.

    A policy need not treat suits alike, so the tree has all boards. A solve of the same game comes with its own tree.

    Raises:
      TacitError: The game is no turn or river endgame of hold'em, or too large.
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

    def fill(spot: Spot, state: PublicHand) -> None:
        if tree.kind[spot.node] == DECIDES:
            tree.decision(strategy, spot.node)[:] = played(policy, state)[:, tree.hands(spot)]
            for action in tree.actions(spot.node):
                fill(tree.after(spot, action), state.after(action))
        elif tree.kind[spot.node] == DEALS:
            for card in range(NUM_CARDS):
                if tree.knows(spot, card):
                    fill(tree.after(spot, card), state.dealt((card,)))

    fill(START, PublicHand.start(game).dealt(game.known_board))
    return tree, strategy
