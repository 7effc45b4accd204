"""The `Agent` protocol: a player who knows only what its seat sees."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from tacit.agents.view import View
from tacit.games.chips import Chips
from tacit.tree.navigate import PlayerNavigator, PlayerPlace
from tacit.tree.public_tree import NO_ACTION, Floats, PublicTree


class Sight(NamedTuple):
    """What one player sees when a game reaches a decision or its end. A player knows nothing but its sights.

    Attributes:
      actor: who moves now: 0, 1 or `TERMINAL`.
      action: this player's own action since the last sight; None if it took none.
      public: what everyone saw since the last sight.
      private: what this player alone saw; in a game that names infostates, the name of the current one.
      legal_actions: the player's legal actions; empty if it is not to act.
      action_names: the names of the legal actions, all different.
      drawing: what everyone sees, drawn as lines of text; empty if the game cannot be drawn.
      told: what everyone saw since the last sight, as people say it; poker bets are named by the amount put in on this street.
      chips: the chips on the table in poker while somebody acts; else None.
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
      name: its name in results.
    """

    name: str

    def start(self, player: int) -> None:
        """Takes a seat for a new game."""

    def observe(self, sight: Sight) -> None:
        """Takes in a new sight; called whenever the seat sees something new."""

    def act(self) -> int:
        """Returns one of the legal actions of the last sight."""
        ...

    def view(self) -> View | None:
        """Returns what the agent thinks at the last decision it saw, or None if it keeps no beliefs."""
        ...


def follow(navigator: PlayerNavigator, player: int, spot: PlayerPlace, sight: Sight) -> PlayerPlace:
    """Returns the player's place in the tree after it sees a decision."""
    action = NO_ACTION if sight.action is None else sight.action
    return navigator.follow_player(player, spot, action, sight.actor, sight.public, sight.private)


def action_weights(tree: PublicTree, strategy: Floats, player: int, row: int) -> tuple[list[int], Floats]:
    """Returns the legal actions of a row's infostate and the probability of each under a strategy `[E]`."""
    infostate = int(tree.rows[player].infostate[row])
    chosen = slice(tree.entry_start[infostate], tree.entry_start[infostate + 1])
    return tree.entry_action[chosen].tolist(), strategy[chosen]
