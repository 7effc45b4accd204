"""Value functions for AIVAT in hold'em: checking down, or self-play in the tree of an endgame.

For both, the value before a deal is exactly the mean over the next cards, so AIVAT never evaluates cards that were not dealt.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from tacit.agents.hand_policy import HandPolicy, SolvedPolicy, played
from tacit.agents.hand_search import HandSearch
from tacit.arena.aivat import Reaches, Values
from tacit.cards.deck import NUM_CARDS
from tacit.cards.hands import meetings, possible_hands
from tacit.cards.run_outs import leads
from tacit.cards.suits import IDENTITY
from tacit.errors import TacitError
from tacit.games.betting import FOLDED, RIVER, SHOWDOWN
from tacit.games.holdem import Holdem
from tacit.games.public_hand import CARD, PublicHand
from tacit.kernels.numba_hands import HandPasses
from tacit.tree.hand_builder import HIDDEN_CARDS, build_hand_tree, num_hand_entries
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.hand_tree import DEALS, DECIDES, START, HandTree, Spot
from tacit.tree.public_tree import Floats

MAX_ENTRIES = 40_000_000
"""The largest strategy for which the values of all nodes are kept, at 8 bytes an entry and seat."""
GROWTH = 2.0
"""The factor by which the pot is expected to grow on each remaining street: that of a called bet of half the pot."""


def hand_values(game: Holdem, policies: Sequence[HandPolicy | None]) -> Sequence[Values]:
    """Returns value functions for the first policy in seat 0 and in seat 1.

    If a tree fits, they are self-play of a known policy that does not search, preferably a solved one; else checking down.
    """
    quick = {n: policy for n, policy in enumerate(policies) if policy is not None and not isinstance(policy, HandSearch)}
    if not quick or not fits_tree(game):
        return [check_down] * 2
    seat = min(quick, key=lambda number: not isinstance(quick[number], SolvedPolicy))
    tree, strategy = tabulate_game(quick[seat], game)
    return [self_play(tree, strategy, seat), self_play(tree, strategy, 1 - seat)]


def check_down(public: PublicHand, reaches: Reaches) -> tuple[float, float]:
    """Values any state of hold'em: an uncalled bet is returned, and the better hand wins the pot at its expected final size.

    The chances to win are exact. The growth of the pot is a guess that gives early cards about the weight they will have:
    estimates of big pots vary less than with the current pot (docs/LOG.md), and any guess is unbiased.
    """
    betting, (ranges, weight) = public.betting, _meet(public, reaches)
    if betting.actor == FOLDED:
        return weight * (betting.spent[1] if betting.folder == 1 else -betting.spent[0]), weight
    growth = 1.0 if betting.actor == SHOWDOWN else GROWTH ** (RIVER + 1 - betting.street)
    chips = min(growth * min(betting.spent), public.game.rules.stack)
    mover = public.path[-1][0] if public.path else CARD
    fixed = 1 if mover == CARD else 1 - mover  # all options of a move share this player's range
    lead = float(ranges[1 - fixed] @ _leads(public.board, ranges[fixed].tobytes()))
    return (2 * fixed - 1) * chips * lead, weight


@lru_cache(maxsize=8)
def _leads(board: tuple[int, ...], weights: bytes) -> Floats:
    return leads(board, np.frombuffer(weights))


def self_play(tree: HandTree, strategy: Floats, player: int) -> Values:
    """Returns the value function of self-play with a strategy `[E]` that `player` is known to play.

    One upward pass with that player's reach gives the sums for all nodes, since the player does play that strategy.
    """
    other, passes, root = 1 - player, HandPasses(tree, np.float64, keep=True), HandStrategy(tree, strategy)
    entries = passes.entries(strategy)
    passes.values(other, entries, passes.reach(player, entries))
    pairs = float(root.range_at(START, 0) @ meetings(root.range_at(START, 1)))
    cards = len(tree.blocks.board[0])

    def values(public: PublicHand, reaches: Reaches) -> tuple[float, float]:
        spot = START
        for _, what in public.path:
            if not tree.knows(spot, what):
                raise TacitError(f"{what} is not on the menu of {tree.game}: AIVAT has no value for it")
            spot = tree.after(spot, what)
        ranges, weight = _meet(public, reaches)
        # Tree values include the probability of the cards and of the two hands; `W` and `w` here leave it out.
        deals = pairs * math.perm(NUM_CARDS - HIDDEN_CARDS - cards, len(public.board) - cards)
        worth = float(ranges[other][tree.hands(spot)] @ passes.node_values(other, spot.node))
        return (1 - 2 * other) * deals * worth, weight

    return values


def _meet(public: PublicHand, reaches: Reaches) -> tuple[Reaches, float]:
    """Returns both players' ranges, weighted by the deal and their reaches, and the weight of all pairs that share no card."""
    possible = possible_hands(public.board)
    first, second = (reach * dealt * possible for reach, dealt in zip(reaches, public.game.ranges, strict=True))
    return (first, second), float(first @ meetings(second))


def fits_tree(game: Holdem) -> bool:
    """Returns whether the values of all nodes of a game fit into memory."""
    board = game.known_board
    return len(board) >= 4 and num_hand_entries(game.rules, board, game.ranges) <= MAX_ENTRIES


def tabulate_game(policy: HandPolicy, game: Holdem) -> tuple[HandTree, Floats]:
    """Returns the tree of an endgame and the strategy `[E]` that a policy plays in it.

    A policy may not treat suits alike, so the tree has all boards. A solve of the same game brings its own tree.
    """
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
