"""Strategies in tables: one probability for every (infostate, action) of a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tacit.games.base import Game
from tacit.tree.public_tree import Floats, PublicTree


class Decision(NamedTuple):
    """What a strategy does at one infostate, in words."""

    player: int
    public: str
    private: str
    probabilities: dict[str, float]


@dataclass(frozen=True)
class Strategy:
    """Both players' behaviour.

    Attributes:
      tree: the tree whose infostates are meant.
      probabilities: `[E]`, summing to 1 at each infostate.
    """

    tree: PublicTree
    probabilities: Floats

    def decision(self, infostate: int) -> Decision:
        """Returns what is played at an infostate."""
        player, public, private = self.tree.infostate_label(infostate)
        chosen = slice(self.tree.entry_start[infostate], self.tree.entry_start[infostate + 1])
        actions = [int(action) for action in self.tree.entry_action[chosen]]
        names = action_names(self.tree.game, player, actions)
        return Decision(player, public, private, dict(zip(names, self.probabilities[chosen].tolist(), strict=True)))

    def __iter__(self) -> Iterator[Decision]:
        return (self.decision(infostate) for infostate in range(self.tree.num_infostates))

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
