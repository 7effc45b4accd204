"""The interface of every tree, whatever its layout: solvers, evaluation and saved solves use nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TacitError

if TYPE_CHECKING:
    from tacit.tree.held import Held
    from tacit.tree.node_view import NodeView

Floats = NDArray[np.float64]


class Spot(NamedTuple):
    """A public state of a tree.

    Attributes:
      node: Its node.
      renaming: The permutation of suits that turns the real cards into those of the node's board, where one board stands for
        all its suit renamings; 0 is the identity.
    """

    node: int = 0
    renaming: int = 0


@dataclass(frozen=True)
class Decision:
    """A strategy at one infostate, in words; `decision["bet"]` is the probability of an action.

    Attributes:
      player: The player who acts.
      public: The line that leads there, as `Tree.find` reads it.
      private: The private state.
      probabilities: The probability of each legal action, by name.
      reach: The player's own reach, where it was computed (`PlayerView.reach`).
      weight: The share of this private state in the player's range, where it was computed (`PlayerView.weight`).
      infostate_value: The player's expected winnings from here, where they were computed (`PlayerView.infostate_value`).
      equity: In poker, how often the hand wins if everyone checks down, where it was computed (`PlayerView.equity`).
    """

    player: int
    public: str
    private: str
    probabilities: dict[str, float]
    reach: float | None = None
    weight: float | None = None
    infostate_value: float | None = None
    equity: float | None = None

    def __getitem__(self, action: str) -> float:
        """Returns the probability of an action by name.

        Raises:
          TacitError: The action is not legal here.
        """
        if action not in self.probabilities:
            raise TacitError(f"no action {action!r} here: choose one of {', '.join(self.probabilities)}")
        return self.probabilities[action]


@dataclass(frozen=True, repr=False)
class Strategy(ABC):
    """Both players' strategies in a tree; iterating yields a `Decision` for every infostate.

    `strategy.at("check / bet")` shows a public state, `strategy[0, "check / bet", "K"]` one infostate.

    Attributes:
      tree: The tree that the entries belong to.
      probabilities: `[E]`, summing to 1 at each infostate.
    """

    tree: Tree
    probabilities: Floats

    @abstractmethod
    def decision(self, infostate: int) -> Decision:
        """Returns the decision at an infostate."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def view(self, spot: Spot) -> NodeView:
        """Returns the view of a decision node, without values: these need passes (`evaluation.StrategyViews`).

        Raises:
          TacitError: No player acts there, or the game has no public states.
        """

    def at(self, line: str = "") -> NodeView:
        """Returns the public state that a line leads to, without values.

        Args:
          line: steps such as `check / bet to 200`, as `Tree.find` reads them; empty for the start.

        Raises:
          TacitError: The line does not exist, or no player acts there.
        """
        return self.view(self.tree.find(line))

    def __getitem__(self, key: tuple[int, str, str]) -> Decision:
        """Returns what a player does in one private state: `strategy[0, "check / bet", "K"]`.

        Raises:
          TacitError: The line does not exist, or the player does not act there or never gets there with that private state.
        """
        player, line, private = key
        view = self.at(line)
        if player != view.actor:
            raise TacitError(f"player {player} does not act {at_line(view.line)}: player {view.actor} does")
        return view[private]

    def __repr__(self) -> str:
        return f"<strategy of {self.tree.game}: {self.tree.num_infostates:,} infostates>"

    def _repr_html_(self) -> str:
        from tacit.tree.pictures import strategy_html

        return strategy_html(self)

    def __iter__(self) -> Iterator[Decision]:
        return (self.decision(infostate) for infostate in range(len(self)))


class Tree(Protocol):
    """A game, a subgame or a forest of subgames as arrays.

    Attributes:
      game: The rules that the tree was made from.
      layout: The layout's name, by which `kernels.make_passes` finds the passes over it.
    """

    layout: ClassVar[str]

    @property
    def held(self) -> Held:
        """The fixed part of the strategy, which no player decides."""
        ...

    @property
    def game(self) -> Any: ...

    @property
    def num_nodes(self) -> int:
        """The number of public states."""
        ...

    @property
    def num_infostates(self) -> int:
        """The number of infostates, both players together."""
        ...

    @property
    def num_entries(self) -> int:
        """`E`: the length of strategies and regrets, with one number for each (infostate, action)."""
        ...

    @property
    def entry_player(self) -> NDArray[np.int8]:
        """`[E]` the player of each entry."""
        ...

    @property
    def root_reach(self) -> tuple[Floats, Floats]:
        """For each player, its own reach of the root rows."""
        ...

    def uniform_strategy(self) -> Floats:
        """Returns the uniform strategy `[E]`."""
        ...

    def normalise(self, weights: Floats) -> Floats:
        """Returns `[E]` weights scaled to sum to 1 at each infostate; uniform where they are all zero."""
        ...

    def strategy(self, probabilities: Floats) -> Strategy:
        """Returns `[E]` probabilities as a strategy."""
        ...

    def find(self, text: str) -> Spot:
        """Returns the public state that steps such as `check / bet to 200` lead to.

        Raises:
          TacitError: There is none; the message says which step is unknown.
        """
        ...

    def label(self, spot: Spot) -> str:
        """Returns the line that leads to a public state, as `find` reads it."""
        ...

    def actor_at(self, spot: Spot) -> int:
        """Returns the player who acts at a public state; a negative number if none does."""
        ...

    def steps_after(self, spot: Spot) -> list[str]:
        """Returns the steps that `find` accepts after a public state."""
        ...

    @property
    def decision_spots(self) -> Sequence[Spot]:
        """The public states where a player acts, parents before children."""
        ...

    def hold(self, held: Held) -> Tree:
        """Returns this tree with the strategy fixed at some infostates; the entries stay the same."""
        ...

    def choices(self, spot: Spot) -> list[tuple[str, dict[str, int]]]:
        """Returns each private state that the actor at a spot may be in, with the entry of each action, all by name.

        Raises:
          TacitError: No player acts there.
        """
        ...

    def private_states(self, text: str) -> dict[str, float]:
        """Returns the private states that a text (a name or a range of hands) stands for, each with its weight."""
        ...

    def apart(self, spot: Spot, held: Held) -> Tree:
        """Returns a tree in which `held` applies at this spot alone: this tree, or one that treats fewer suits as equal."""
        ...


def who_acts(tree: Tree, spot: Spot) -> int:
    """Returns the player who acts at a public state.

    Raises:
      TacitError: No player acts there.
    """
    actor = tree.actor_at(spot)
    if actor < 0:
        raise TacitError(f"nobody acts {at_line(tree.label(spot))}: choose a line that ends where somebody does")
    return actor


def at_line(line: str) -> str:
    """Returns where a line leads, in words for messages."""
    return f"after {line!r}" if line else "at the start"
