"""The `Agent` protocol: what plays a game knowing only what its seat sees."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from tacit.agents.view import View
from tacit.games.chips import Chips
from tacit.tree.navigate import PlayerNavigator, PlayerPlace
from tacit.tree.public_tree import NO_ACTION, Floats, PublicTree


class Sight(NamedTuple):
    """What one player sees when a game comes to a decision or to its end. Its sights are all that a player ever knows.

    Attributes:
      actor: who moves now: 0, 1 or `TERMINAL`.
      action: the own action since the last sight; None where there was none.
      public: what everyone saw since the last sight.
      private: what this player alone saw; in a game that names infostates, the name of the present one.
      legal_actions: what the player may do now; empty where it does not act.
      action_names: the same in words, all different.
      drawing: what everyone sees, drawn in lines of text, where the game can be drawn.
      told: what everyone saw since the last sight, as people say it; in poker bets go by what is put in on this street.
      chips: in poker those on the table, where somebody acts.
    """

    actor: int
    action: int | None
    public: tuple[str, ...]
    private: tuple[str, ...]
    legal_actions: tuple[int, ...]
    action_names: tuple[str, ...]
    drawing: str = ""
    told: tuple[str, ...] = ()
    chips: Chips | None = None


class Agent(Protocol):
    """A player. One object plays any number of games, one after the other.

    Attributes:
      name: how results call it.
    """

    name: str

    def start(self, player: int) -> None:
        """Takes a seat for a new game."""

    def observe(self, sight: Sight) -> None:
        """Takes in what the seat sees now; called whenever that is something new."""

    def act(self) -> int:
        """Returns one of the legal actions of the last sight."""
        ...

    def view(self) -> View | None:
        """Returns what the agent thinks at the last decision state it saw, or None where it keeps no beliefs."""
        ...


def follow(navigator: PlayerNavigator, player: int, spot: PlayerPlace, sight: Sight) -> PlayerPlace:
    """Returns the player's spot in the tree after a sight of a decision state."""
    action = NO_ACTION if sight.action is None else sight.action
    return navigator.follow_player(player, spot, action, sight.actor, sight.public, sight.private)


def action_weights(tree: PublicTree, strategy: Floats, player: int, row: int) -> tuple[list[int], Floats]:
    """Returns the legal actions of the infostate at a row, and how often a strategy `[E]` takes each."""
    infostate = int(tree.rows[player].infostate[row])
    chosen = slice(tree.entry_start[infostate], tree.entry_start[infostate + 1])
    return tree.entry_action[chosen].tolist(), strategy[chosen]
