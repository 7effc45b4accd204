"""What every tree of a game offers, whatever its layout: solvers, evaluation and saved solves know no more than this."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tacit.tree.held import Held

Floats = NDArray[np.float64]


class Spot(NamedTuple):
    """A public state of a tree.

    Attributes:
      node: Its node.
      renaming: Where one board stands for all that renamed suits make of it, the permutation of suits that turns the real
        cards into those of the node's board; 0 is the identity.
    """

    node: int = 0
    renaming: int = 0


class Decision(NamedTuple):
    """What a strategy does at one infostate, in words."""

    player: int
    public: str
    private: str
    probabilities: dict[str, float]


class HandPlay(NamedTuple):
    """What is played with every hand of hold'em at a public state.

    Attributes:
      where: Who acts there, in words.
      shares: `[A, 1326]` how often each hand takes each action.
      reach: `[1326]` how likely the actor comes there with each hand, times its weight at the start.
      action_names: The actions, bets and raises from small to large.
      board: The cards that lie.
    """

    where: str
    shares: Floats
    reach: Floats
    action_names: list[str]
    board: tuple[int, ...]


@dataclass(frozen=True)
class Strategy(ABC):
    """Both players' behaviour in a tree; iterating yields what is played at every infostate, in words.

    Attributes:
      tree: The tree whose entries are meant.
      probabilities: `[E]`, summing to 1 at each infostate.
    """

    tree: Tree
    probabilities: Floats

    @abstractmethod
    def decision(self, infostate: int) -> Decision:
        """Returns what is played at an infostate."""

    @abstractmethod
    def __len__(self) -> int: ...

    def play_at(self, text: str) -> HandPlay | None:
        """Returns what is played with every hand of hold'em where some steps lead (`Tree.find`); None in other games."""
        return None

    def __iter__(self) -> Iterator[Decision]:
        return (self.decision(infostate) for infostate in range(len(self)))


class Tree(Protocol):
    """A game, a subgame or a forest of subgames as arrays.

    Attributes:
      game: The rules it comes from.
      layout: The name of its layout, by which `kernels.make_passes` finds the passes over it.
    """

    layout: ClassVar[str]

    @property
    def held(self) -> Held:
        """What is fixed and no longer decided."""
        ...

    @property
    def game(self) -> Any: ...

    @property
    def num_nodes(self) -> int:
        """Public states."""
        ...

    @property
    def num_infostates(self) -> int:
        """Infostates of both players."""
        ...

    @property
    def num_entries(self) -> int:
        """`E`: the length of strategies and regrets, one number for each (infostate, action)."""
        ...

    @property
    def entry_player(self) -> NDArray[np.int8]:
        """`[E]` the player of each entry."""
        ...

    @property
    def root_reach(self) -> tuple[Floats, Floats]:
        """For each player the own reach of the root rows."""
        ...

    def uniform_strategy(self) -> Floats:
        """Returns `[E]`: every legal action equally often."""
        ...

    def normalise(self, weights: Floats) -> Floats:
        """Returns `[E]` weights scaled to sum to 1 at each infostate; uniform where they are all zero."""
        ...

    def strategy(self, probabilities: Floats) -> Strategy:
        """Returns `[E]` probabilities as a strategy."""
        ...

    def find(self, text: str) -> Spot:
        """Returns the public state that is reached by steps such as `check / bet to 200`.

        Raises:
          TacitError: there is none; it says where the words end.
        """
        ...

    def label(self, spot: Spot) -> str:
        """Returns how a public state is reached, in words that `find` reads."""
        ...

    def hold(self, held: Held) -> Tree:
        """Returns the tree in which the play of some infostates is fixed; its entries are those of this tree."""
        ...

    def choices(self, spot: Spot) -> list[tuple[str, dict[str, int]]]:
        """Returns each private state that the player who acts at a spot may be in, and the entry of each action, all by name.

        Raises:
          TacitError: nobody acts there.
        """
        ...

    def private_states(self, text: str) -> dict[str, float]:
        """Returns the private states that a text means, each with its weight: a name, or a range of hands."""
        ...

    def apart(self, spot: Spot, held: Held) -> Tree:
        """Returns the tree in which what is held at a spot holds there alone: this one, or one without suits taken as equal."""
        ...
