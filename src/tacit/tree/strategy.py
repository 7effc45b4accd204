"""Strategies in tables: one probability for every (infostate, action) of a public tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.games.base import Game
from tacit.tree.base import Decision, Floats, Spot, Strategy, who_acts
from tacit.tree.beliefs import belief_state
from tacit.tree.node_view import NodeView, PlayerView
from tacit.tree.public_tree import PublicTree


@dataclass(frozen=True, repr=False)
class RowStrategy(Strategy):
    """A strategy of a public tree.

    Attributes:
      tree: The tree that the infostates belong to.
    """

    tree: PublicTree

    def decision(self, infostate: int) -> Decision:
        """Returns the decision at an infostate."""
        tree = self.tree
        player, row = int(tree.infostate_player[infostate]), int(tree.infostate_row[infostate])
        public = "" if tree.nodes is None else tree.label(Spot(tree.node_of_row(player, row)))
        chosen = slice(tree.entry_start[infostate], tree.entry_start[infostate + 1])
        names = action_names(tree.game, player, tree.entry_action[chosen].tolist())
        played = dict(zip(names, self.probabilities[chosen].tolist(), strict=True))
        return Decision(player, public, tree.private_label(player, row), played)

    def view(self, spot: Spot) -> NodeView:
        tree, node = self.tree, spot.node
        actor = who_acts(tree, spot)
        pbs, chance = belief_state(tree, self.probabilities, node), tree.require_nodes().joint(node)
        probability = pbs.probability
        faced = chance @ pbs.reaches[1], pbs.reaches[0] @ chance
        players = []
        for player, reach in enumerate(pbs.reaches):
            kept = np.flatnonzero((reach > 0) & (chance.sum(axis=1 - player) > 0))
            first_row = int(tree.require_nodes().row_start[player][node])
            names = [tree.private_label(player, first_row + row) for row in kept.tolist()]
            likely = reach[kept] * faced[player][kept]
            weight = likely / probability if probability > 0 else np.full(len(kept), np.nan)
            players.append(PlayerView(names, kept, reach[kept], faced[player][kept], weight))
        actions, shares = self._played(actor, int(tree.require_nodes().row_start[actor][node]) + players[actor].rows)
        return NodeView(
            str(tree.game), tree.label(spot), "", actor, actions, shares, (players[0], players[1]), probability,
            tree.steps_after(spot),
        )  # fmt: skip

    def _played(self, actor: int, rows: NDArray[np.int64]) -> tuple[list[str], Floats]:
        """Returns the names of the actions in the given rows of the actor, and `[rows, A]` their probabilities."""
        tree = self.tree
        infostates = tree.rows[actor].infostate[rows].tolist()
        entries = [range(tree.entry_start[infostate], tree.entry_start[infostate + 1]) for infostate in infostates]
        legal = [[int(tree.entry_action[entry]) for entry in chosen] for chosen in entries]
        actions = list(dict.fromkeys(action for some in legal for action in some))
        shares = np.full((len(entries), len(actions)), np.nan)
        for row, (chosen, some) in enumerate(zip(entries, legal, strict=True)):
            shares[row, [actions.index(action) for action in some]] = self.probabilities[chosen.start : chosen.stop]
        return action_names(tree.game, actor, actions), shares

    def __len__(self) -> int:
        return self.tree.num_infostates


def action_names(game: Game[Any], player: int, actions: Sequence[int]) -> list[str]:
    """Returns distinct names for a player's actions."""
    return distinct_names([game.action_name_for(player, action) for action in actions], actions)


def distinct_names(names: list[str], actions: Sequence[int]) -> list[str]:
    """Returns the names of actions, with the actions' numbers appended if some names are equal."""
    if len(set(names)) < len(names):
        return [f"{name} ({action})" for name, action in zip(names, actions, strict=True)]
    return names
