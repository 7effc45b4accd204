"""Views of one public state under a strategy, for people, files and the browser; the same for every tree layout."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TacitError
from tacit.tree.base import Decision, Floats, at_line

_ROWS = 20
"""Private states listed in the `repr` of a view."""
_BELIEVED = 5
"""Private states listed in the `repr` of a belief."""


@dataclass(frozen=True, eq=False, repr=False)
class Belief:
    """The probabilities of a player's private states at a public state; `belief["K"]` is one of them.

    Attributes:
      player: The player who has the private states.
      names: `[H]` the names of the private states that can occur.
      probabilities: `[H]` the probability of each; they sum to 1.
    """

    player: int
    names: list[str]
    probabilities: Floats

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, private: str) -> float:
        return float(self.probabilities[self.names.index(private)]) if private in self.names else 0.0

    def __repr__(self) -> str:
        likely = np.argsort(-self.probabilities, kind="stable")[:_BELIEVED].tolist()
        parts = [f"{_cell(self.names[number])} {self.probabilities[number]:.4g}" for number in likely]
        return f"<belief about player {self.player}: {', '.join(parts)}{', ...' if len(self) > _BELIEVED else ''}>"

    def _repr_html_(self) -> str:
        from tacit.tree.pictures import belief_html

        return belief_html(self)


@dataclass(frozen=True, eq=False, repr=False)
class PlayerView:
    """A player's `H` private states at a public state: those with positive own reach.

    The others cannot occur whatever the opponent does, because the player's range, the board or its own strategy excludes them.

    Attributes:
      names: `[H]` the names of the private states.
      rows: `[H]` their places among all of the player's private states at the node.
      reach: `[H]` the weight at the start times the probability that the player's own actions lead here.
      counterfactual_reach: `[H]` the probability that chance and the opponent lead here, given that the player tries to.
      weight: `[H]` the probability of each private state, given the public state; sums to 1, NaN if play never gets here.
      infostate_value: `[H]` the player's expected winnings from here if both play the strategy, in the game's units; NaN where
        the opponent never gets here. None if no values were computed.
      equity: `[H]` in poker, how often the hand wins if everyone checks down, a tie counting half; NaN like the values. None in
        other games.
    """

    names: list[str]
    rows: NDArray[np.int64]
    reach: Floats
    counterfactual_reach: Floats
    weight: Floats
    infostate_value: Floats | None = None
    equity: Floats | None = None

    def __len__(self) -> int:
        return len(self.names)

    def mean(self, numbers: Floats) -> float:
        """Returns the mean of `[H]` numbers over the range; NaN if play never gets here."""
        known = self.weight > 0
        return float(self.weight[known] @ numbers[known]) if known.any() else float("nan")

    def as_dict(self) -> dict[str, Any]:
        """Returns the private states ready for JSON, with a list for each quantity."""
        columns = {name: getattr(self, name) for name in ("reach", "weight", "infostate_value", "equity")}
        return {"private": self.names, **{name: column.tolist() for name, column in columns.items() if column is not None}}

    def __repr__(self) -> str:
        return f"<range of {len(self)} private states: {', '.join(self.names[:4])}{', ...' if len(self) > 4 else ''}>"


@dataclass(frozen=True, eq=False, repr=False)
class NodeView:
    """A public state where a player acts; iterating yields the actor's decision in each private state.

    Attributes:
      game: The game's name with its parameters.
      line: The line that leads here, as `Tree.find` reads it; empty at the start.
      board: In poker, the cards of the board, like `3s7hTd`.
      actor: The player who acts.
      actions: `[A]` the names of the actions.
      strategy: `[H, A]` the actor's action probabilities in each private state; NaN where an action is not legal.
      players: Both players' private states.
      probability: The probability that chance and both players lead here.
      next_steps: The steps that can continue the line.
      hands: In hold'em, `[H]` the numbers of the actor's hands among the 1,326; None in other games.
    """

    game: str
    line: str
    board: str
    actor: int
    actions: list[str]
    strategy: Floats
    players: tuple[PlayerView, PlayerView]
    probability: float
    next_steps: list[str]
    hands: NDArray[np.int64] | None = None

    @property
    def acting(self) -> PlayerView:
        """The private states of the player who acts."""
        return self.players[self.actor]

    @property
    def frequencies(self) -> Floats:
        """`[A]` how often the whole range takes each action; NaN if play never gets here."""
        return np.array([self.acting.mean(np.nan_to_num(column)) for column in self.strategy.T])

    @property
    def values(self) -> tuple[float, float] | None:
        """Each player's expected winnings from here, which sum to zero. None if no values were computed."""
        means = [None if player.infostate_value is None else player.mean(player.infostate_value) for player in self.players]
        return None if means[0] is None or means[1] is None else (means[0], means[1])

    @property
    def beliefs(self) -> tuple[Belief, Belief]:
        """The probabilities of each player's private states here.

        Raises:
          TacitError: The strategies never lead here.
        """
        if not self.probability > 0:
            raise TacitError(f"there are no beliefs {at_line(self.line)}: the strategies never lead there")
        first, second = (Belief(player, view.names, view.weight) for player, view in enumerate(self.players))
        return first, second

    def __len__(self) -> int:
        return len(self.acting)

    def __iter__(self) -> Iterator[Decision]:
        acting, nothing = self.acting, [None] * len(self)
        values, equity = (nothing if part is None else part.tolist() for part in (acting.infostate_value, acting.equity))
        numbers = zip(acting.names, acting.reach.tolist(), acting.weight.tolist(), values, equity, strict=True)
        for (name, reach, weight, value, wins), shares in zip(numbers, self.strategy.tolist(), strict=True):
            played = {action: share for action, share in zip(self.actions, shares, strict=True) if not math.isnan(share)}
            yield Decision(self.actor, self.line, name, played, reach, weight, value, wins)

    def __getitem__(self, private: str) -> Decision:
        """Returns the actor's decision in a private state.

        Raises:
          TacitError: The actor never gets here with it.
        """
        for decision in self:
            if decision.private == private:
                return decision
        known = ", ".join(self.acting.names[:8]) + (", ..." if len(self) > 8 else "") if len(self) else "nothing"
        raise TacitError(f"player {self.actor} does not hold {private!r} {at_line(self.line)}: it may hold {known}")

    def as_dict(self) -> dict[str, Any]:
        """Returns the view ready for JSON: lists over the actor's private states, and the opponent's under `opponent`."""
        head = {"game": self.game, "public": self.line, "board": self.board or None, "player": self.actor}
        whole = {"probability": self.probability, "frequencies": self.frequencies.tolist(), "values": self.values}
        return _without_none(
            {
                **head, **whole, "actions": self.actions, "next_steps": self.next_steps, **self.acting.as_dict(),
                "strategy": self.strategy.tolist(), "opponent": self.players[1 - self.actor].as_dict(),
            }
        )  # fmt: skip

    @property
    def heading(self) -> str:
        """One line of text: the place, the actor, the probability and the value."""
        values, board = self.values, f", board {self.board}" if self.board else ""
        worth = "" if values is None or math.isnan(values[0]) else f", worth {_cell(values[self.actor])} to it"
        where = f"after {self.line}" if self.line else "at the start"
        return f"player {self.actor} {where}{board}: probability {_cell(self.probability)}{worth}"

    def text(self, most: int | None = None) -> str:
        """Returns the view as a table for people, of all private states or of the `most` with the largest reach."""
        acting, head = self.acting, self.heading
        if not len(self):
            return f"{head}\nplayer {self.actor} never comes here"
        columns: dict[str, Sequence[Any]] = {"private": acting.names, "reach": acting.reach.tolist()}
        for name, numbers in (("weight", acting.weight), ("value", acting.infostate_value), ("equity", acting.equity)):
            if numbers is not None:
                columns[name] = numbers.tolist()
        columns.update({name: self.strategy[:, number].tolist() for number, name in enumerate(self.actions)})
        shown = np.sort(np.argsort(-acting.reach, kind="stable")[:most]).tolist()
        more = [] if len(shown) == len(self) else [f"... and {len(self) - len(shown):,} more"]
        return "\n".join([head, *_table(columns, shown), *more])

    def __repr__(self) -> str:
        return self.text(_ROWS)

    def _repr_html_(self) -> str:
        from tacit.tree.pictures import view_html

        return view_html(self)


def _without_none(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value is not None}


def _table(columns: dict[str, Sequence[Any]], rows: list[int]) -> Iterator[str]:
    """Yields the lines of a table: headings, then the given rows. The first column is text, the others are numbers."""
    cells = [list(columns), *([_cell(column[row]) for column in columns.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for name, *numbers in cells:
        right = (f"{number:>{width}}" for number, width in zip(numbers, widths[1:], strict=True))
        yield "  ".join((f"{name:<{widths[0]}}", *right))


def _cell(content: str | float) -> str:
    if isinstance(content, str):
        return " ".join(content.split()) or "-"
    return "-" if math.isnan(content) else f"{content:.4g}"
