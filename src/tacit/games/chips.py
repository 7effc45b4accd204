"""The chips at a poker table, counted as players do: by what is put in on the current street."""

from __future__ import annotations

import re
from typing import NamedTuple

from tacit.errors import TacitError
from tacit.games.betting import CALL, FOLD

STREETS = ("before the flop", "on the flop", "on the turn", "on the river")
_ALL_IN = ("all-in", "allin", "all in", "a")
_SIZE = re.compile(r"(?:b|bet|r|raise)?(?: ?to)? ?(\d[\d,]{0,30})")
_NO_SIZE = ("b", "bet", "r", "raise")


class Chips(NamedTuple):
    """The public betting information at a decision. Actions are `FOLD`, `CALL` (also a check), and bets or raises.

    Attributes:
      street: The number of the street, from 0.
      streets: The names of the streets; empty if they have none.
      actor: The player to act.
      spent: The chips each player has put in over the whole game.
      stack: The chips each player has at the start, or None if the game has no stacks.
      raises: The smallest and the largest raise, as totals over the whole game; None if nobody may raise.
      raise_action: The action of a raise if it has only one size; None if the total is the action.
      before: The chips each player had put in before this street.
    """

    street: int
    streets: tuple[str, ...]
    actor: int
    spent: tuple[int, int]
    stack: int | None
    raises: tuple[int, int] | None
    raise_action: int | None
    before: tuple[int, int] = (0, 0)

    def since(self, last: Chips | None) -> Chips:
        """Returns a copy with `before` filled in, given the chips at an earlier decision or None.

        Blinds count as bets of the first street. An ante does not, since both players pay the same.
        """
        if last is not None and last.street == self.street:
            return self._replace(before=last.before)
        begun = min(self.spent)
        blinds = self.spent[0] != self.spent[1] and last is None
        return self._replace(before=(0, 0) if blinds else (begun, begun))

    @property
    def bets(self) -> tuple[int, int]:
        """The chips each player has put in on this street."""
        return self.spent[0] - self.before[0], self.spent[1] - self.before[1]

    @property
    def to_call(self) -> int:
        """The chips the actor must add to stay in."""
        return self.spent[1 - self.actor] - self.spent[self.actor]

    @property
    def sizes(self) -> tuple[int, int] | None:
        """The smallest and the largest bet or raise, as the actor's total on this street."""
        if self.raises is None:
            return None
        return self.raises[0] - self.before[self.actor], self.raises[1] - self.before[self.actor]

    def name(self, action: int) -> str:
        """Returns an action as players say it: `call 200`, `bet 300`, `raise to 900`."""
        if action == FOLD:
            return "fold"
        if action == CALL:
            return f"call {self.to_call:,}" if self.to_call else "check"
        total = action if self.raise_action is None else self._only_raise()
        size = total - self.before[self.actor]
        return f"{self._verb}{size:,}{' (all-in)' if total == self.stack else ''}"

    def situation(self, player: int) -> list[str]:
        """Returns lines that tell a player the pot, both players' bets, the cost of a call and both remaining stacks."""
        where = self.streets[self.street] if self.streets else f"in round {self.street + 1}"
        mine, theirs = self.bets[player], self.bets[1 - player]
        words = [f"pot {sum(self.spent):,}", f"{where} you have put in {mine:,} and it {theirs:,}"]
        if self.to_call:
            words.append(f"a call costs {self.to_call:,}")
        lines = ["; ".join(words)]
        if self.stack is not None:
            lines.append(f"you have {self.stack - self.spent[player]:,} left, it {self.stack - self.spent[1 - player]:,}")
        return lines

    @property
    def free_sizes(self) -> tuple[int, int] | None:
        """The range of sizes to choose from; None if there is at most one size."""
        return self.sizes if self.sizes is not None and self.sizes[0] < self.sizes[1] else None

    def read(self, text: str) -> int | None:
        """Returns the action that a text means: `f`, `c`, `b 450`, `raise 900`, `900` or `all-in`; None for any other text.

        Raises:
          TacitError: the action is not allowed.
        """
        if text in ("f", "fold"):
            if not self.to_call:
                raise TacitError("there is nothing to fold to: check")
            return FOLD
        if text in ("c", "call", "k", "check"):
            if self.to_call and text in ("k", "check"):
                raise TacitError(f"there is a bet: {self.name(CALL)} or fold")
            return CALL
        found = _SIZE.fullmatch(text)
        if text not in (*_ALL_IN, *_NO_SIZE) and found is None:
            return None
        if self.sizes is None:
            raise TacitError(f"nobody may raise here: {self.name(CALL)}{' or fold' if self.to_call else ''}")
        smallest, largest = self.sizes
        if text in _ALL_IN or (text in _NO_SIZE and smallest == largest):
            size = largest
        elif found is None:
            raise TacitError(f"how much? {self._verb}between {smallest:,} and {largest:,}")
        else:
            size = int(found[1].replace(",", ""))
        if text in _ALL_IN and size + self.before[self.actor] != self.stack:
            raise TacitError(f"nobody can go all-in here: {self._verb}{size:,} at most")
        if not smallest <= size <= largest:
            allowed = f"{smallest:,}" if smallest == largest else f"between {smallest:,} and {largest:,}"
            raise TacitError(f"{size:,} is not allowed: {self._verb}{allowed}")
        return size + self.before[self.actor] if self.raise_action is None else self.raise_action

    @property
    def _verb(self) -> str:
        return "raise to " if any(self.bets) else "bet "

    def _only_raise(self) -> int:
        assert self.raises is not None
        return self.raises[0]
