"""Strategies of hold'em: what is played with every hand, and which hands come to a point."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from tacit.cards.hands import NUM_HANDS, hand_name
from tacit.tree.hand_tree import HandTree
from tacit.tree.public_tree import Floats, PublicTree
from tacit.tree.strategy import Decision, Strategy


@dataclass(frozen=True)
class HandStrategy(Strategy):
    """Both players' behaviour in a tree of hold'em; hands are numbers of the 1,326.

    Attributes:
      tree: whose entries are meant.
      probabilities: `[E]`, summing to 1 for each hand at each decision.
    """

    tree: HandTree  # type: ignore[assignment] # a tree of another kind, with the same sizes and names

    def played(self, node: int) -> Floats:
        """Returns `[A, 1326]` what is played at a node with every hand, zero for hands that are not possible."""
        spread = np.zeros((int(self.tree.num_actions[node]), NUM_HANDS))
        spread[:, self.tree.blocks.hands(int(self.tree.block[node]))] = self.tree.decision(self.probabilities, node)
        return spread

    def range_at(self, node: int, player: int) -> Floats:
        """Returns `[1326]` how likely a player comes to a node with each hand, times its weight at the start."""
        tree, above = self.tree, 0
        weights = np.zeros(NUM_HANDS)
        weights[tree.blocks.hands(0)] = tree.root_reach[player]
        for actor, what in tree.path(node):
            step = tree.step(above, what)
            if actor == player:
                weights *= self.played(above)[step]
            above = int(tree.children(above)[step])
        possible = np.zeros(NUM_HANDS)
        possible[tree.blocks.hands(int(tree.block[node]))] = 1.0
        return weights * possible

    def decision(self, infostate: int) -> Decision:
        number = int(np.searchsorted(self.tree.infostate_start, infostate, side="right")) - 1
        lane = infostate - int(self.tree.infostate_start[number])
        return next(islice(self._decisions(int(self.tree.decisions[number])), lane, None))

    def __iter__(self) -> Iterator[Decision]:
        return (decision for node in self.tree.decisions for decision in self._decisions(int(node)))

    def _decisions(self, node: int) -> Iterator[Decision]:
        """Yields what is played at a node, hand after hand."""
        tree = self.tree
        player, label, names = int(tree.actor[node]), tree.label(node), tree.action_names(node)
        hands = tree.blocks.hands(int(tree.block[node])).tolist()
        for hand, shares in zip(hands, tree.decision(self.probabilities, node).T.tolist(), strict=True):
            yield Decision(player, label, hand_name(hand), dict(zip(names, shares, strict=True)))


def strategy_of(tree: PublicTree | HandTree, probabilities: Floats) -> Strategy:
    """Returns a strategy for a tree of either kind."""
    return HandStrategy(tree, probabilities) if isinstance(tree, HandTree) else Strategy(tree, probabilities)
