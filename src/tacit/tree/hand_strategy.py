"""Strategies of hold'em: what is played with every hand, and which hands come to a point."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from tacit.cards.hands import NUM_HANDS, hand_name
from tacit.tree.base import Decision, Floats, HandPlay, Spot, Strategy
from tacit.tree.hand_tree import START, HandTree


@dataclass(frozen=True)
class HandStrategy(Strategy):
    """Both players' behaviour in a tree of hold'em; hands are numbers of the 1,326.

    Attributes:
      tree: The tree whose entries are meant.
    """

    tree: HandTree

    def played(self, spot: Spot) -> Floats:
        """Returns `[A, 1326]` what is played at a spot with every hand, zero for hands that are not possible."""
        spread = np.zeros((int(self.tree.num_actions[spot.node]), NUM_HANDS))
        spread[:, self.tree.hands(spot)] = self.tree.decision(self.probabilities, spot.node)
        return spread

    def range_at(self, spot: Spot, player: int) -> Floats:
        """Returns `[1326]` how likely a player comes to a spot with each hand, times its weight at the start."""
        tree, above = self.tree, START
        weights = np.zeros(NUM_HANDS)
        weights[tree.blocks.hands(0)] = tree.root_reach[player]
        for actor, what in tree.path(spot):
            if actor == player:
                weights *= self.played(above)[tree.actions(above.node).index(what)]
            above = tree.after(above, what)
        possible = np.zeros(NUM_HANDS)
        possible[tree.hands(spot)] = 1.0
        return weights * possible

    def play_at(self, text: str) -> HandPlay:
        tree, spot = self.tree, self.tree.find(text)
        where, reach = tree.who_acts(spot), self.range_at(spot, int(tree.actor[spot.node]))
        return HandPlay(where, self.played(spot), reach, tree.action_names(spot.node), tree.board(spot))

    def decision(self, infostate: int) -> Decision:
        number = int(np.searchsorted(self._starts, infostate, side="right")) - 1
        return next(islice(self._decisions(self.tree.decision_spots[number]), infostate - int(self._starts[number]), None))

    def __iter__(self) -> Iterator[Decision]:
        return (decision for spot in self.tree.decision_spots for decision in self._decisions(spot))

    def __len__(self) -> int:
        return int(self._starts[-1])

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """`[spots + 1]` the first infostate at each spot, all real cards counted."""
        widths = [self.tree.blocks.width(int(self.tree.block[spot.node])) for spot in self.tree.decision_spots]
        return np.concatenate([[0], np.cumsum(widths)])

    def _decisions(self, spot: Spot) -> Iterator[Decision]:
        """Yields what is played at a spot, hand after hand."""
        tree, node = self.tree, spot.node
        player, label, names = int(tree.actor[node]), tree.label(spot), tree.action_names(node)
        hands = tree.hands(spot).tolist()
        for hand, shares in zip(hands, tree.decision(self.probabilities, node).T.tolist(), strict=True):
            yield Decision(player, label, hand_name(hand), dict(zip(names, shares, strict=True)))
