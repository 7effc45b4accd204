"""The `Game` protocol: rules only, as pure functions of immutable world states.

A game is a factored-observation game (Kovarik et al. 2022): on arrival at a world state everyone receives its public
observation and each player a private one. What a player knows, the *infostate*, is the sequence of these observations and
of the player's own actions, so perfect recall holds by construction; the public state is the sequence of public
observations. Every move of a player is a tick that all notice, so who acts and how many actions were taken is always public;
of a chance move players notice what they observe, and nothing where that is empty.
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
"""Actor of a state where nature moves."""
TERMINAL = -2
"""Actor of a state where the game is over."""

MAX_DEPTH = 5_000
"""Moves, chance included, after which a game counts as one that never ends."""
MAX_ACTION = 2**31 - 1
"""The highest action: they are kept as 32-bit integers, where negative ones mean that nobody moved."""

_LATER = "later"
"""Marks parameters made by `later`."""

State = TypeVar("State")
Moves = tuple[int, ...]


@dataclass(frozen=True)
class GameSize:
    """How large a game is, in closed form: exact where a game gives it, else an estimate.

    Attributes:
      histories: decision and terminal histories (chance moves counted within their successors).
      public_states: decision and terminal public states.
      infostates: decision points of both players.
    """

    histories: int
    public_states: int
    infostates: int


@dataclass(frozen=True)
class KnownValue:
    """A published value of the game for the first player, with where it comes from."""

    value: float
    source: str


class Game(ABC, Generic[State]):
    """A two-player zero-sum game. Subclass as a frozen dataclass whose fields are the game's parameters.

    States are never changed: `apply` returns a new one. Actions are small integers; their order in `legal_actions` is
    the order of every array made from the game.
    """

    name: ClassVar[str]
    tree_layout: ClassVar[str] = "rows"
    """The layout of the trees it is solved in (`Tree.layout`). Whatever differs between layouts is found by this name."""
    refused_parameters: ClassVar[Mapping[str, str]] = {}
    """Parameters that people look for and that cannot be had, by how their names begin, each with the line that says why."""

    @abstractmethod
    def initial_state(self) -> State:
        """Returns the world state the game starts from, often a chance state that deals."""

    @abstractmethod
    def actor(self, state: State) -> int:
        """Returns who moves: player 0, player 1, `CHANCE` or `TERMINAL`."""

    @abstractmethod
    def legal_actions(self, state: State) -> Sequence[int]:
        """Returns the acting player's actions; the same list throughout an infostate."""

    def is_legal(self, state: State, action: int) -> bool:
        """Returns whether the rules allow an action: one of `legal_actions`, or where these are a menu, another one."""
        return action in self.legal_actions(state)

    @abstractmethod
    def apply(self, state: State, action: int) -> State:
        """Returns the state after an action or a chance outcome."""

    @abstractmethod
    def returns(self, state: State) -> tuple[float, float]:
        """Returns both players' payoffs at a terminal state; they sum to zero."""

    def chance_outcomes(self, state: State) -> Sequence[tuple[int, float]]:
        """Returns the outcomes and their probabilities, which sum to 1, at a chance state."""
        raise NotImplementedError(f"{self.name} has a chance state but no chance_outcomes()")

    def public_observation(self, state: State) -> str:
        """Returns what everyone sees on arrival at `state`; empty when nothing."""
        return ""

    def private_observation(self, state: State, player: int) -> str:
        """Returns what only `player` sees on arrival at `state`, own actions aside; empty when nothing."""
        return ""

    def public_key(self, state: State) -> Hashable | None:
        """Returns what of the public past still matters at a decision, the player to act aside; None for all of it.

        Public states with equal keys and the same player to act must play alike: the same private states, moves, chance,
        observations and payoffs. Then one search tree and one value serve them all, and no search needs the whole game.
        """
        return None

    def public_features(self, actor: int, observed: Sequence[str]) -> Sequence[float] | None:
        """Returns what a network should see of a public state, as many numbers everywhere; None leaves it to the observations.

        Args:
          actor: who acts there.
          observed: what everyone has seen, in order.
        """
        del actor, observed
        return None

    def action_name(self, action: int) -> str:
        """Returns an action in words."""
        return str(action)

    def action_name_for(self, player: int, action: int) -> str:
        """Returns an action in the words of the player who takes it, where these differ."""
        return self.action_name(action)

    def action_name_at(self, state: State, action: int) -> str:
        """Returns a legal action of `state` in words, where the state helps to say it; the actor's private part must not."""
        return self.action_name_for(self.actor(state), action)

    def chips(self, state: State) -> Chips | None:
        """Returns the chips at a decision of a game of poker, for people to see; None in other games.

        Whoever gives chips folds and calls by `betting.FOLD` and `CALL`, and lets everyone see every action.
        """
        del state
        return None

    def drawing(self, state: State) -> str:
        """Returns what everyone sees, drawn in lines of text, such as a board; empty where there is nothing to draw."""
        return ""

    def planes(self, state: State) -> Planes:
        """Returns a board as a network sees it: planes of rows of numbers, from the view of the player to act.

        For games without chance and hidden information. Whoever gives planes can be learnt as a board (`games/boards.py`).
        """
        raise NotImplementedError(f"{self.name} has no planes()")

    def board_bounds(self) -> tuple[int, int]:
        """Returns, of a game with `planes`, a number that every action is below, and the most moves of a game.

        Raises:
          TacitError: the game does not say.
        """
        raise TacitError(f"{self.name} has planes() but no board_bounds(): it must say how many actions and moves there can be")

    def boards(self) -> Boards | None:
        """Returns the rules for arrays of positions, where the game has such rules."""
        return None

    def size(self) -> GameSize | None:
        """Returns the size in closed form, or None: then it is estimated by random descents."""
        return None

    def in_units(self, amount: float) -> dict[str, float]:
        """Returns an amount of the game's payoffs in other units that people use for it, by name."""
        del amount
        return {}

    def known_value(self) -> KnownValue | None:
        """Returns a published value of this game with these parameters, if there is one."""
        return None

    def openspiel_twin(self) -> str | None:
        """Returns the OpenSpiel name of the same game, moves and chance outcomes in the same order, if there is one."""
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
        unsaid = {one.name for one in fields(self) if _LATER in one.metadata and getattr(self, one.name) == one.default}  # type: ignore[arg-type]
        inside = ",".join(f"{key}={value}" for key, value in self.parameters.items() if key not in unsaid)
        return f"{self.name}({inside})" if inside else self.name


def later(default: Any) -> Any:
    """Returns a parameter that a game got after files with its name were written: the name leaves it out at its default."""
    return field(default=default, metadata={_LATER: True})


def check_depth(game: Game[Any], depth: int) -> None:
    """Refuses a game whose histories reach a depth at which it counts as one that never ends.

    Raises:
      TacitError: `depth` is beyond `MAX_DEPTH`.
    """
    if depth > MAX_DEPTH:
        raise TacitError(f"{game} has histories longer than {MAX_DEPTH:,} moves: it is not bounded, or far too large")


class InfostateGame(Game[State]):
    """A game that names infostates itself instead of sending observations (OpenSpiel's way).

    Its public states are the closure of shared infostates: two histories are in one public state when some chain of
    histories joins them in which neighbours look alike to some player.
    """

    @abstractmethod
    def infostate(self, state: State, player: int) -> str:
        """Returns what `player` knows at a decision state, whoever acts there. Perfect recall is checked, not assumed."""


class SequenceGame(Game[Moves]):
    """A game whose states are the sequences of moves so far, chance outcomes included."""

    def initial_state(self) -> Moves:
        return ()

    def apply(self, state: Moves, action: int) -> Moves:
        return (*state, action)
