"""Strategies in tables: one probability for every (infostate, action) of a public tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tacit.games.base import Game
from tacit.tree.base import Decision, Strategy
from tacit.tree.public_tree import PublicTree


@dataclass(frozen=True)
class RowStrategy(Strategy):
    """A strategy of a public tree.

    Attributes:
      tree: The tree whose infostates are meant.
    """

    tree: PublicTree

    def decision(self, infostate: int) -> Decision:
        """Returns what is played at an infostate."""
        player, public, private = self.tree.infostate_label(infostate)
        chosen = slice(self.tree.entry_start[infostate], self.tree.entry_start[infostate + 1])
        actions = [int(action) for action in self.tree.entry_action[chosen]]
        names = action_names(self.tree.game, player, actions)
        return Decision(player, public, private, dict(zip(names, self.probabilities[chosen].tolist(), strict=True)))

    def __len__(self) -> int:
        return self.tree.num_infostates


def action_names(game: Game[Any], player: int, actions: Sequence[int]) -> list[str]:
    """Returns a player's actions in words, all different."""
    return distinct_names([game.action_name_for(player, action) for action in actions], actions)


def distinct_names(names: list[str], actions: Sequence[int]) -> list[str]:
    """Returns the names of actions, with the actions' numbers where words alone say too little."""
    if len(set(names)) < len(names):
        return [f"{name} ({action})" for name, action in zip(names, actions, strict=True)]
    return names
