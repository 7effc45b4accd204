"""The `Game` protocol: rules only, as pure functions of immutable world states.

A game is a factored-observation game (Kovarik et al. 2022): on arrival at a world state everyone receives its public
observation and each player a private one. What a player knows, the *infostate*, is the sequence of these observations and
of the player's own actions, so perfect recall holds by construction; the public state is the sequence of public
observations. Everyone notices every player move, so who acts and how many actions were taken is always public. Players
notice a chance move only through their observations of it; if these are empty, they notice nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from tacit.errors import TacitError
from tacit.html import card, facts, safe_text, text_drawing

if TYPE_CHECKING:
    from tacit.games.boards import Boards, Planes
    from tacit.games.chips import Chips

CHANCE = -1
"""Actor of a state where chance moves."""
TERMINAL = -2
"""Actor of a state where the game is over."""

MAX_DEPTH = 5_000
"""The longest history allowed, in moves with chance included. A longer game counts as one that never ends."""
MAX_ACTION = 2**31 - 1
"""The highest action. Actions are stored as 32-bit integers; negative ones mean that nobody moved."""

_LATER = "later"
"""The metadata key of parameters made by `later`."""

State = TypeVar("State")
Moves = tuple[int, ...]


@dataclass(frozen=True)
class GameSize:
    """The size of a game: exact if the game gives it in closed form, otherwise an estimate.

    Attributes:
      histories: The number of decision and terminal histories (chance moves are counted with their successors).
      public_states: The number of decision and terminal public states.
      infostates: The number of infostates of both players, at decisions.
    """

    histories: int
    public_states: int
    infostates: int


@dataclass(frozen=True)
class KnownValue:
    """A published value of the game for player 0, and its source."""

    value: float
    source: str


class Game(ABC, Generic[State]):
    """A two-player zero-sum game. Subclass as a frozen dataclass whose fields are the game's parameters.

    States are never changed: `apply` returns a new one. Actions are small integers; their order in `legal_actions` is
    the order of every array made from the game.
    """

    name: ClassVar[str]
    tree_layout: ClassVar[str] = "rows"
    """The layout of the trees that the game is solved in (`Tree.layout`). Code that depends on the layout is chosen by it."""
    refused_parameters: ClassVar[Mapping[str, str]] = {}
    """Parameters that users may expect but that are not supported: each name prefix with the reason."""

    @abstractmethod
    def initial_state(self) -> State:
        """Returns the world state the game starts from, often a chance state that deals."""

    @abstractmethod
    def actor(self, state: State) -> int:
        """Returns who moves: player 0, player 1, `CHANCE` or `TERMINAL`."""

    @abstractmethod
    def legal_actions(self, state: State) -> Sequence[int]:
        """Returns the acting player's actions; the list must be the same throughout an infostate."""

    def is_legal(self, state: State, action: int) -> bool:
        """Returns whether the rules allow an action. Where `legal_actions` is only a menu, others are legal too."""
        return action in self.legal_actions(state)

    @abstractmethod
    def apply(self, state: State, action: int) -> State:
        """Returns the state after an action or a chance outcome."""

    @abstractmethod
    def returns(self, state: State) -> tuple[float, float]:
        """Returns both players' payoffs at a terminal state; they sum to zero."""

    def chance_outcomes(self, state: State) -> Sequence[tuple[int, float]]:
        """Returns the outcomes of a chance state with their probabilities, which sum to 1."""
        raise NotImplementedError(f"{self.name} has a chance state but no chance_outcomes()")

    def public_observation(self, state: State) -> str:
        """Returns what everyone sees on arrival at `state`, or an empty string for nothing."""
        return ""

    def private_observation(self, state: State, player: int) -> str:
        """Returns what only `player` sees on arrival at `state`, apart from own actions; an empty string for nothing."""
        return ""

    def public_key(self, state: State) -> Hashable | None:
        """Returns the part of the public past that still matters at a decision; None means all of it.

        Public states with equal keys and the same player to act must play alike: the same private states, moves, chance,
        observations and payoffs. Then one search tree and one value serve them all, and no search needs the whole game.
        The key need not contain the player to act.
        """
        return None

    def public_features(self, actor: int, observed: Sequence[str]) -> Sequence[float] | None:
        """Returns a network's input for a public state, of the same length everywhere; None means it is made of observations.

        Args:
          actor: The player to act.
          observed: The public observations so far, in order.
        """
        del actor, observed
        return None

    def action_name(self, action: int) -> str:
        """Returns the name of an action."""
        return str(action)

    def action_name_for(self, player: int, action: int) -> str:
        """Returns the name of an action of one player, for games where the players' names differ."""
        return self.action_name(action)

    def action_name_at(self, state: State, action: int) -> str:
        """Returns the name of a legal action of `state`. It may depend on the state, but not on the actor's private part."""
        return self.action_name_for(self.actor(state), action)

    def chips(self, state: State) -> Chips | None:
        """Returns the chips at a decision of a poker game, for display; None in other games.

        A game that returns chips must use `betting.FOLD` and `CALL` as its actions, and all its actions must be public.
        """
        del state
        return None

    def drawing(self, state: State) -> str:
        """Returns a text drawing of what everyone sees, such as a board; empty if there is nothing to draw."""
        return ""

    def planes(self, state: State) -> Planes:
        """Returns a board as a network sees it: planes of rows of numbers, from the view of the player to act.

        For games without chance and hidden information. A game with planes can be learnt as a board (`games/boards.py`).
        """
        raise NotImplementedError(f"{self.name} has no planes()")

    def board_bounds(self) -> tuple[int, int]:
        """Returns the number of actions and the largest number of moves of a game with `planes`.

        Raises:
          TacitError: the game does not define them.
        """
        raise TacitError(f"{self.name} has planes() but no board_bounds(): it must say how many actions and moves there can be")

    def boards(self) -> Boards | None:
        """Returns the rules for arrays of positions, or None if the game has none."""
        return None

    def size(self) -> GameSize | None:
        """Returns the size in closed form, or None; it is then estimated by random descents."""
        return None

    def in_units(self, amount: float) -> dict[str, float]:
        """Returns an amount of payoff in other common units of the game, by name."""
        del amount
        return {}

    def known_value(self) -> KnownValue | None:
        """Returns a published value of the game with these parameters, or None."""
        return None

    def openspiel_twin(self) -> str | None:
        """Returns the OpenSpiel name of the same game (moves and chance outcomes in the same order), or None."""
        return None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters this game was made with."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        size, known = None if self.tree_layout == "hands" else self.size(), self.known_value()  # hands take long to count
        sizes = {} if size is None else {"public states": size.public_states, "infostates": size.infostates}
        value = None if known is None else f"{known.value:.6g} for player 0 ({known.source})"
        about = safe_text((type(self).__doc__ or "").strip().partition("\n\n")[0])
        board = "" if self.tree_layout == "hands" else text_drawing(self.drawing(self.initial_state()))
        return card(
            self.name if self.parameters else str(self),
            about,
            facts({**self.parameters, **sizes, "known value": value}),
            board,
        )

    def __str__(self) -> str:
        hidden = {one.name for one in fields(self) if _LATER in one.metadata and getattr(self, one.name) == one.default}  # type: ignore[arg-type]
        arguments = ",".join(f"{key}={value}" for key, value in self.parameters.items() if key not in hidden)
        return f"{self.name}({arguments})" if arguments else self.name


def later(default: Any) -> Any:
    """Returns the field of a parameter added after files with the game's name existed: at its default, the name omits it."""
    return field(default=default, metadata={_LATER: True})


def check_depth(game: Game[Any], depth: int) -> None:
    """Raises if a game's histories are so long that it counts as one that never ends.

    Raises:
      TacitError: `depth` is beyond `MAX_DEPTH`.
    """
    if depth > MAX_DEPTH:
        raise TacitError(f"{game} has histories longer than {MAX_DEPTH:,} moves: it is not bounded, or far too large")


class InfostateGame(Game[State]):
    """A game that names its infostates itself instead of giving observations, as OpenSpiel does.

    Its public states are the closure of shared infostates: two histories are in one public state if a chain of histories
    connects them in which some player cannot tell each history from the next.
    """

    @abstractmethod
    def infostate(self, state: State, player: int) -> str:
        """Returns what `player` knows at a decision state of either player. Perfect recall is checked, not assumed."""


class SequenceGame(Game[Moves]):
    """A game whose states are the sequences of moves so far, chance outcomes included."""

    def initial_state(self) -> Moves:
        return ()

    def apply(self, state: Moves, action: int) -> Moves:
        return (*state, action)
