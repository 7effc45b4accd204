"""The allowed values of a setting, declared once with its field and used to check it, to read `key=value` and to list it.

A field of a configuration is declared like `exploration: Share = 0.25`, or in full like
`depth: Annotated[int | str, Number(int, 1, word="round")] = 2`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Integral, Real
from typing import Annotated, Any

from tacit.errors import TacitError


class Allowed(ABC):
    """The allowed values of a setting; `str` gives their range in words."""

    @abstractmethod
    def fits(self, value: Any) -> bool:
        """Returns whether a value is allowed."""

    @abstractmethod
    def read(self, text: str) -> Any:
        """Returns the value that a text stands for, in range or not.

        Raises:
          ValueError: the text cannot be read.
        """

    @property
    def listed(self) -> str:
        """The range as shown in a list of settings."""
        return str(self)

    def refusal(self, key: str, value: Any) -> str:
        """Returns the error line for a value out of range, or for a text that cannot be read."""
        return f"{key} must be {self}, not {value!r}"


class Number(Allowed):
    """A number between bounds, both inclusive unless `above` is given; or a word in place of a number.

    Args:
      kind: `int` or `float`.
      least: the lower bound.
      most: the upper bound.
      above: an exclusive lower bound.
      word: a word that is allowed in place of a number.
    """

    def __init__(
        self,
        kind: type[int] | type[float],
        least: float = -math.inf,
        most: float = math.inf,
        *,
        above: float = -math.inf,
        word: str | None = None,
    ) -> None:
        self.kind, self.least, self.most, self.above, self.word = kind, least, most, above, word

    def fits(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, Integral if self.kind is int else Real):
            return self.word is not None and value == self.word
        number: Any = value  # not converted: an integer may be too large for a float
        return bool(-math.inf < number < math.inf and self.least <= number <= self.most and number > self.above)

    def read(self, text: str) -> Any:
        return text if self.word is not None and text == self.word else self.kind(text)

    @property
    def listed(self) -> str:
        return f"{'a whole number' if self.kind is int else 'a number'}, {self}"

    def refusal(self, key: str, value: Any) -> str:
        return f"{key} must be {self.listed if isinstance(value, str) else self}, not {value!r}"

    def __str__(self) -> str:
        if self.above > -math.inf:
            bounds = "positive" if self.above == 0 else f"above {self.above:g}"
        elif self.most < math.inf:
            bounds = f"between {self._shown(self.least)} and {self._shown(self.most)}"
        else:
            bounds = f"at least {self._shown(self.least)}"
        return bounds if self.word is None else f"{bounds}, or {self.word}"

    def _shown(self, bound: float) -> str:
        return str(int(bound)) if bound == int(bound) else str(bound)


class Choice(Allowed):
    """One of several words.

    Args:
      *options: the words.
      reason: why similar words are not allowed.
    """

    def __init__(self, *options: str, reason: str = "") -> None:
        self.options, self.reason = options, reason

    def fits(self, value: Any) -> bool:
        return value in self.options

    def read(self, text: str) -> Any:
        return text

    def __str__(self) -> str:
        return f"one of {', '.join(self.options)}{self.reason and f' ({self.reason})'}"


class Switch(Allowed):
    """On or off."""

    def fits(self, value: Any) -> bool:
        return isinstance(value, bool)

    def read(self, text: str) -> Any:
        if text not in ("true", "false"):
            raise ValueError(text)
        return text == "true"

    def __str__(self) -> str:
        return "true or false"


class Text(Allowed):
    """A text with its own syntax.

    Args:
      form: the syntax in words.
      check: raises a `TacitError` or a `ValueError` if a text is wrong.
    """

    def __init__(self, form: str, check: Callable[[str], object] = lambda _: None) -> None:
        self.form, self.check = form, check

    def fits(self, value: Any) -> bool:
        try:
            self.check(value)
        except (TacitError, ValueError):
            return False
        return isinstance(value, str)

    def read(self, text: str) -> Any:
        return text

    def __str__(self) -> str:
        return self.form


Count = Annotated[int, Number(int, 1)]
"""A whole number from 1 on."""
CountOrZero = Annotated[int, Number(int, 0)]
"""A whole number from 0 on."""
Share = Annotated[float, Number(float, 0, 1)]
"""A number from 0 to 1."""
Positive = Annotated[float, Number(float, above=0)]
"""A number above 0."""
PositiveOrZero = Annotated[float, Number(float, 0)]
"""A number that is not negative."""
Flag = Annotated[bool, Switch()]
"""`true` or `false`."""
Seed = Annotated[int, Number(int, 0, 2**32 - 1)]
"""The seed of a random generator."""
