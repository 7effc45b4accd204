"""Settings by `key=value`, and presets by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any, ClassVar, Self, TypeVar

from tacit.errors import TacitError

C = TypeVar("C")

SWITCH = {"true": True, "false": False}
"""How settings that are on or off are written."""


class Settings:
    """The configuration of a run. Subclass as a frozen dataclass whose fields have defaults and say their types by them.

    What does not fit together is refused where it is made, in `__post_init__`.

    Attributes:
      epochs: length of the run.
      evaluate_every: epochs between evaluations; 0 evaluates at the end only.
      seed: of everything random.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]
    epochs: int
    evaluate_every: int
    seed: int

    system: ClassVar[str]
    """What run folders and network files call what it configures."""
    words: ClassVar[Mapping[str, str]] = {}
    """For some fields, a word that is as good as a value: a whole number."""

    def with_settings(self, settings: Mapping[str, str]) -> Self:
        """Returns the configuration with `key=value` settings applied.

        Raises:
          TacitError: a key is unknown, or a value cannot be read or makes no sense.
        """
        kinds = {f.name: int if f.name in self.words else type(getattr(self, f.name)) for f in fields(self)}
        changes: dict[str, Any] = {}
        for key, value in settings.items():
            if key not in kinds:
                raise TacitError(f"unknown setting {key!r}: choose one of {', '.join(kinds)}")
            if self.words.get(key) == value:
                changes[key] = value
                continue
            try:
                changes[key] = SWITCH[value] if kinds[key] is bool else kinds[key](value)
            except (KeyError, ValueError):
                word = f" or {self.words[key]}" if key in self.words else ""
                wanted = " or ".join(SWITCH) if kinds[key] is bool else kinds[key].__name__
                raise TacitError(f"{key} takes {wanted}{word}, not {value!r}") from None
        return replace(self, **changes)

    def as_dict(self) -> dict[str, Any]:
        """Returns the settings, ready for JSON."""
        return asdict(self)

    def require_choice(self, key: str, known: Iterable[str]) -> None:
        """Refuses a word that is none of those known."""
        if getattr(self, key) not in known:
            raise TacitError(f"unknown {key} {getattr(self, key)!r}: choose one of {', '.join(known)}")

    def require_at_least(self, least: float, *keys: str, reason: str = "") -> None:
        """Refuses numbers that are too small."""
        self._require(keys, lambda number: least <= number < math.inf, f"at least {least}{reason and f', {reason}'}")

    def require_positive(self, *keys: str) -> None:
        """Refuses numbers that are not above 0."""
        self._require(keys, lambda number: 0.0 < number < math.inf, "positive")

    def require_seed(self) -> None:
        """Refuses a seed that not every generator takes."""
        self._require(["seed"], lambda seed: 0 <= seed < 2**32, f"between 0 and {2**32 - 1}")

    def require_shares(self, *keys: str) -> None:
        """Refuses numbers that are no shares."""
        self._require(keys, lambda share: 0.0 <= share <= 1.0, "between 0 and 1")

    def _require(self, keys: Iterable[str], fits: Callable[[float], bool], what: str) -> None:
        for key in keys:
            if not fits(getattr(self, key)):
                raise TacitError(f"{key} must be {what}, not {getattr(self, key)}")


def find_preset(presets: Mapping[str, C], name: str) -> C:
    """Returns a preset by name."""
    if name not in presets:
        raise TacitError(f"unknown preset {name!r}: choose one of {', '.join(presets)}")
    return presets[name]
