"""The position of a hold'em hand in its chain of searches, and the values that a search promised there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from tacit.cards.hands import NUM_HANDS, meetings, possible_hands
from tacit.evaluation.exact import infostate_values, leaf_values
from tacit.games.betting import Betting
from tacit.kernels.base import AnyTreePasses, LeafEvaluator
from tacit.kernels.hand_leaves import HandStates
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.hand_tree import DEALS, START, Spot
from tacit.tree.public_tree import Floats

Ranges = tuple[Floats, Floats]


@dataclass(frozen=True)
class Situation:
    """A public state of a hand, and its place in a solution.

    Attributes:
      betting: the state of the betting; the cards of its street may not be dealt yet.
      board: the cards on the board.
      ranges: for both players `[1326]` the range at the start of the solution, on any scale.
      path: the path to the state (`PublicHand.path`).
      strategy: the solution; None before the search.
      spot: the state's place in the solution.
      left: the situation in an earlier solution from which this search starts; None for the first search of a hand.
    """

    betting: Betting
    board: tuple[int, ...]
    ranges: Ranges
    path: tuple[tuple[int, int], ...] = ()
    strategy: HandStrategy | None = None
    spot: Spot = START
    left: Situation | None = None

    @property
    def solution(self) -> HandStrategy:
        """The solution, which must exist."""
        assert self.strategy is not None
        return self.strategy

    def ranges_here(self) -> Ranges:
        """Returns for both players `[1326]` the range here."""
        if self.strategy is None:
            return self.ranges
        return self.strategy.range_at(self.spot, 0), self.strategy.range_at(self.spot, 1)

    def leave(self) -> Situation:
        """Returns the same situation as the start of a new search."""
        left = self if self.strategy is not None else self.left
        return replace(self, ranges=self.ranges_here(), strategy=None, spot=START, left=left)

    def deal(self, step: tuple[int, int]) -> Situation:
        """Returns the situation after a card: on the next board of the same solution, or at the start of a new search.

        A new search starts where the solution ends, and also if it is cut off further down: a search from here sees more.
        """
        board, path = (*self.board, step[1]), (*self.path, step)
        tree = None if self.strategy is None else self.strategy.tree
        if tree is not None and tree.kind[self.spot.node] == DEALS and not tree.leaf_betting:
            return replace(self, board=board, path=path, spot=tree.after(self.spot, step[1]))
        after = self.leave()
        first, second = (part * possible_hands(board) for part in after.ranges)
        return replace(after, board=board, path=path, ranges=(first, second))

    def values(self, player: int, passes: AnyTreePasses, evaluator: LeafEvaluator) -> Floats:
        """Returns `[H]` the values of a player's hands at a decision of the solution, by lane (`HandTree.hands`).

        Args:
          player: the owner of the hands.
          passes: over the solution's tree.
          evaluator: values the leaves.
        """
        return infostate_values(passes, self.solution.probabilities, player, self.spot.node, evaluator)

    def action_values(self, passes: AnyTreePasses, evaluator: LeafEvaluator) -> Floats:
        """Returns `[A, H]` the value of each action to the actor's hands, if both play the solution afterwards.

        Args:
          passes: over the solution's tree.
          evaluator: values the leaves.
        """
        tree, node = self.solution.tree, self.spot.node
        actor, entries = int(tree.actor[node]), passes.entries(self.solution.probabilities)
        reaches = [passes.reach(player, entries) for player in (0, 1)]
        passes.values(actor, entries, reaches[1 - actor], leaf_values(passes, evaluator, reaches)[actor])
        cfv = np.stack([passes.node_values(actor, int(child)) for child in tree.children(node)])
        likelihood = passes.node_likelihood(actor, node, reaches[1 - actor])
        return np.divide(cfv, likelihood, out=np.full_like(cfv, np.nan), where=likelihood > 0)


def promised(now: Situation, player: int, passes: AnyTreePasses, evaluator: LeafEvaluator) -> Floats:
    """Returns `[1326]` the value that the solution before a new search promised each hand of a player here, in chips.

    If the new search begins at a decision, these are the solution's values. If it begins with new cards at a leaf, they are the
    evaluator's values for the board with those cards, whose mean over cards is the leaf's value.

    Args:
      now: where the new search begins.
      player: the player to whom the values were promised.
      passes: over the tree of the solution before.
      evaluator: values the leaves of that tree.
    """
    left, worth = now.left, np.zeros(NUM_HANDS)
    assert left is not None
    if left.board == now.board:
        worth[left.solution.tree.hands(left.spot)] = left.values(player, passes, evaluator)
        return worth
    beliefs = [part / part.sum() for part in now.ranges]
    states = HandStates([now.board], [left.betting])
    values = evaluator.evaluate(states, torch.from_numpy(np.concatenate(beliefs)[:, None])).numpy()[:, 0]
    worth = values[player * NUM_HANDS : (player + 1) * NUM_HANDS] * possible_hands(now.board)
    if not evaluator.counterfactual:
        return worth
    met = meetings(beliefs[1 - player])
    return np.divide(worth, met, out=np.zeros(NUM_HANDS), where=met > 1e-12)
