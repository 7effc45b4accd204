"""A blueprint at the table: its strategy at any public state, off-tree bets included, and the ranges that follow from it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacit.agents.translation import nearest_action, spread_answers
from tacit.blueprint.trained import BlueprintStrategy
from tacit.cards.hands import NUM_HANDS, possible_hands
from tacit.games.betting import CALL, DEAL
from tacit.games.public_hand import CARD, PublicHand
from tacit.tree.public_tree import Floats


class BlueprintPolicy:
    """Plays a blueprint (see `HandPolicy`) and translates off-tree bets (`agents/translation.py`)."""

    def __init__(self, strategy: BlueprintStrategy) -> None:
        self.strategy = strategy

    def probabilities(self, public: PublicHand) -> Floats:
        tree, node = self.strategy.tree, 0
        for _, _, action in self._steps(public):
            node = tree.after(node, action)
        if not tree.actions[node]:  # in the blueprint's tree both players are all in
            return spread_answers(public, tree.states[node], [CALL], np.ones((1, NUM_HANDS)))
        return spread_answers(public, tree.states[node], list(tree.actions[node]), self.strategy.played(node, public.board))

    def ranges(self, public: PublicHand) -> tuple[Floats, Floats]:
        """Returns for both players `[1326]` the weight of each hand at a public state, if both play the blueprint.

        An off-tree bet counts as the bet it is translated to. A search can start from these ranges at any public state.
        """
        ranges = [part.copy() for part in public.game.ranges]
        for node, board, action in self._steps(public):
            player, place = self.strategy.tree.states[node].actor, self.strategy.tree.actions[node].index(action)
            ranges[player] *= self.strategy.played(node, board)[place]
        possible = possible_hands(public.board)
        return ranges[0] * possible, ranges[1] * possible

    def _steps(self, public: PublicHand) -> Iterator[tuple[int, tuple[int, ...], int]]:
        """Yields the node, board and abstract action of each decision on the path to a public state."""
        tree, rules, node, board = self.strategy.tree, public.game.rules, 0, public.game.known_board
        real = rules.start()
        for player, what in public.path:
            if player == CARD:
                board = (*board, what)
                continue
            if tree.actions[node]:
                action = nearest_action(what, real, list(tree.actions[node]), tree.states[node])
                yield node, board, action
                node = tree.after(node, action)
            after = rules.apply(real, what)
            real = rules.deal(after) if after.actor == DEAL else after
