"""Exact exploitability of a policy in a hold'em endgame, from its strategy with every hand at every public state.

A walk over the endgame queries the policy at every public state. A policy that searches does so from its beliefs there, as at
the table. An endgame from the flop on is too large for one tree, so it is evaluated in parts. A part is the tree from some
board to the end of the hand or, if that is too large, to the end of the betting round. The value of each leaf of such a tree
is the mean over the next card of the parts below it. A best response in a part depends only on the opponent's reach there, so
the best responses to the parts add up to the best response to the whole.

A player that samples its strategy is given as several policies, one for each sample. Their average in realisation weights is
evaluated: one of them is drawn before the hand, and the opponent does not know which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from tacit.agents.hand_policy import HandPolicy, played
from tacit.cards.deck import NUM_CARDS
from tacit.cards.hands import NUM_HANDS, meetings
from tacit.cards.suits import IDENTITY
from tacit.errors import TacitError
from tacit.evaluation import Quality
from tacit.games.betting import BOARD_CARDS, FLOP, TURN
from tacit.games.holdem import Holdem
from tacit.games.public_hand import PublicHand
from tacit.kernels.base import LeafValues
from tacit.kernels.numba_hands import HandPasses
from tacit.tree.hand_builder import build_hand_tree, deal_chance, num_hand_entries
from tacit.tree.hand_tree import DEALS, DECIDES, LEAF, START, HandTree, Spot
from tacit.tree.public_tree import Floats
from tacit.tree.subgame import ROUND, Depth

MAX_ENTRIES = 20_000_000
"""The largest part, in strategy entries of some 40 bytes each."""
ALL_HANDS, NO_TWO_ALIKE = np.ones(NUM_HANDS), np.arange(1.0, NUM_HANDS + 1.0)
"""Weights of hands. No renaming of suits preserves the second, so with it every board is counted by itself."""

Arrivals = list[tuple[Floats, Floats]]
"""For each policy and player `[1326]`: the weight of each hand times the policy's reach with it."""
Watch = Callable[[int, int], None]


def endgame_quality(game: Holdem, policies: Sequence[HandPolicy], watch: Watch = lambda _done, _total: None) -> Quality:
    """Returns the exact quality of the average of some policies, all equally likely.

    Args:
      game: the endgame.
      policies: the policies that both players play.
      watch: called with the number of parts done and the number of parts known so far.

    Raises:
      TacitError: it is not an endgame, because there is no flop yet.
    """
    if len(game.known_board) < BOARD_CARDS[FLOP]:
        raise TacitError(f"exact exploitability in hold'em needs a board to start from, like board=3s7hTd, not {game}: try lbr")
    ranges, start = game.ranges, PublicHand.start(game).dealt(game.known_board)
    worth = _Judge(game, policies, watch).worth(start, [ranges] * len(policies))
    pairs = float(ranges[0] @ meetings(ranges[1]))
    first, second, value = (float(ranges[player] @ worth[which]) / pairs for which, player in enumerate((0, 1, 0)))
    return Quality(value, (first, second))


class _Judge:
    """Adds up the values of the parts of an endgame.

    A part's worth is `[3, 1326]`: the values of player 0's hands and of player 1's under a best response, and of player 0's in
    self-play, each in chips times the opponent's arrivals.
    """

    def __init__(self, game: Holdem, policies: Sequence[HandPolicy], watch: Watch) -> None:
        self._game, self._policies, self._watch = game, policies, watch
        self._done, self._total = 0, 1

    def worth(self, state: PublicHand, arrived: Arrivals) -> Floats:
        """Returns the worth of the part that begins at a public state."""
        tree = build_hand_tree(
            self._game, self._game.rules, state.board, (ALL_HANDS, ALL_HANDS), state.betting, depth=self._depth(state),
            group=(IDENTITY,),
        )  # fmt: skip
        leaves = np.flatnonzero(tree.kind == LEAF)
        self._total += len(leaves) * (NUM_CARDS - len(state.board))
        self._watch(self._done, self._total)
        plan, below = np.zeros(tree.num_entries), np.zeros((len(leaves), 3, NUM_HANDS))

        def walk(spot: Spot, state: PublicHand, arrived: Arrivals) -> None:
            """Fills `plan` with the strategy from a spot on, times the arrivals, and `below` with the worth of leaves."""
            node = spot.node
            if not any(part.any() for pair in arrived for part in pair):
                return  # no policy ever reaches this state
            if tree.kind[node] == DECIDES:
                actor, hands = int(tree.actor[node]), tree.hands(spot)
                plans = [played(policy, state) * pair[actor] for policy, pair in zip(self._policies, arrived, strict=True)]
                tree.decision(plan, node)[:] = np.mean(plans, axis=0)[:, hands]
                for number, action in enumerate(tree.actions(node)):
                    after = [_with(pair, actor, own[number]) for pair, own in zip(arrived, plans, strict=True)]
                    walk(tree.after(spot, action), state.after(action), after)
            elif tree.kind[node] == DEALS:
                for card in _cards_left(state):
                    walk(tree.after(spot, card), state.dealt((card,)), arrived)  # lanes leave out hands that the board blocks
            elif tree.kind[node] == LEAF:
                chance = deal_chance(len(state.board), len(state.board) + 1)
                parts = [self.worth(state.dealt((card,)), arrived) for card in _cards_left(state)]
                below[np.searchsorted(leaves, node)] = chance * np.sum(parts, axis=0)

        walk(START, state, arrived)
        self._done += 1
        self._watch(self._done, self._total)
        return _responses(tree, plan, np.mean(arrived, axis=0), below)

    def _depth(self, state: PublicHand) -> Depth:
        """Returns the depth of the part that begins at a public state."""
        if len(state.board) < BOARD_CARDS[TURN]:
            return ROUND
        entries = num_hand_entries(self._game.rules, state.board, (NO_TWO_ALIKE, NO_TWO_ALIKE), state.betting)
        return None if entries <= MAX_ENTRIES else ROUND


def _responses(tree: HandTree, plan: Floats, arrived: Floats, below: Floats) -> Floats:
    """Returns the worth of a part.

    Args:
      tree: the part.
      plan: `[E]` the strategy, in realisation weights.
      arrived: `[2, 1326]` the players' arrivals at its root.
      below: `[L, 3, 1326]` the worth of its leaves.
    """
    passes, hands = HandPasses(tree, np.float64), tree.hands(START)
    strategy = passes.entries(tree.normalise(plan))
    for player in (0, 1):
        passes.set_roots(player, passes.new_reach(player), arrived[player][hands])
    reaches = [passes.reach(player, strategy) for player in (0, 1)]
    scale, worth = tree.pair_weight[0], np.zeros((3, NUM_HANDS))
    for which, player in enumerate((0, 1, 0)):
        leaves = None
        if len(below):
            values = np.zeros((2, NUM_HANDS, len(below)))
            values[player] = scale * below[:, which].T
            leaves = LeafValues(torch.from_numpy(values.reshape(2 * NUM_HANDS, -1)), counterfactual=True)
        faced = reaches[1 - player]
        cfv = passes.values(0, strategy, faced, leaves) if which == 2 else passes.best_response(player, faced, leaves=leaves)[0]
        worth[which, hands] = cfv / scale
    return worth


def _with(pair: tuple[Floats, Floats], player: int, own: Floats) -> tuple[Floats, Floats]:
    """Returns a pair of arrivals with one player's replaced."""
    return (own, pair[1]) if player == 0 else (pair[0], own)


def _cards_left(state: PublicHand) -> list[int]:
    return [card for card in range(NUM_CARDS) if card not in state.board]
