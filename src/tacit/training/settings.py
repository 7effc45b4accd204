"""Settings by `key=value`, presets by name, and the meaning of every setting."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, get_type_hints

from tacit.errors import TacitError
from tacit.training.ranges import Allowed

C = TypeVar("C")


class Settings:
    """The configuration of a run. Subclass it as a frozen dataclass whose fields declare their allowed values (`ranges.py`).

    `__post_init__` refuses values out of range; subclasses extend it to refuse values that do not fit together. A field's text
    under `Attributes:` is shown by `tacit train SYSTEM --settings`, so it must be a sentence of its own.

    Attributes:
      epochs: The length of the run.
      evaluate_every: Epochs between evaluations; 0 evaluates at the end only.
      seed: The seed of everything random.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]
    epochs: int
    evaluate_every: int
    seed: int

    system: ClassVar[str]
    """The name of the configured system in run folders and network files."""
    fitted: ClassVar[Mapping[str, float]] = {}
    """The settings that a trainer can choose to suit its game, each with the value that lets it choose."""

    def __post_init__(self) -> None:
        for key, allowed in allowed_values(type(self)).items():
            if not allowed.fits(getattr(self, key)):
                raise TacitError(allowed.refusal(key, getattr(self, key)))

    def with_settings(self, settings: Mapping[str, str]) -> Self:
        """Returns the configuration with `key=value` settings applied.

        Raises:
          TacitError: a key is unknown, or a value cannot be read or is out of range.
        """
        known = allowed_values(type(self))
        changes: dict[str, Any] = {}
        for key, value in settings.items():
            if key not in known:
                close = get_close_matches(key, known, n=1)
                meant = f"did you mean {close[0]}? There are" if close else "choose one of"
                raise TacitError(f"unknown setting {key!r}: {meant} {', '.join(known)}")
            try:
                changes[key] = known[key].read(value)
            except ValueError:
                raise TacitError(known[key].refusal(key, value)) from None
        return replace(self, **changes)

    def left_open(self) -> list[str]:
        """Returns the settings that are left for the trainer to choose once it knows the game."""
        return [key for key, placeholder in self.fitted.items() if getattr(self, key) == placeholder]

    def found_near(self, place: str | Path) -> Self:
        """Returns the settings with paths updated for files that were moved together with `place`, the run's folder."""
        del place
        return self

    def as_dict(self) -> dict[str, Any]:
        """Returns the settings, ready for JSON."""
        return asdict(self)

    def require_at_least(self, least: int, *keys: str, reason: str) -> None:
        """Checks settings against a least value that another setting requires.

        Raises:
          TacitError: one is smaller; the message has the reason.
        """
        for key in keys:
            if getattr(self, key) < least:
                raise TacitError(f"{key} must be at least {least}, {reason}, not {getattr(self, key)}")


@dataclass(frozen=True)
class SettingFacts:
    """What users are told about a setting.

    Attributes:
      name: The setting's key.
      meaning: What the setting does.
      range: The allowed values in words.
      default: The value in the default preset.
      value: The value for the game that was named; None without one.
      presets: The value in every preset.
    """

    name: str
    meaning: str
    range: str
    default: Any
    value: Any
    presets: dict[str, Any]


def describe_settings(presets: Mapping[str, Settings], preset: str, effective: Settings | None = None) -> list[SettingFacts]:
    """Returns the facts of every setting of a system.

    Args:
      presets: The system's presets by name.
      preset: The name of the default preset.
      effective: The settings that the named game would be trained with, if one was named.
    """
    base = find_preset(presets, preset)
    meanings, allowed = setting_meanings(type(base)), allowed_values(type(base))
    return [
        SettingFacts(
            field.name, meanings.get(field.name, ""), allowed[field.name].listed, getattr(base, field.name),
            None if effective is None else getattr(effective, field.name),
            {name: getattr(config, field.name) for name, config in presets.items()},
        )
        for field in fields(base)
    ]  # fmt: skip


def allowed_values(config: type[Settings]) -> dict[str, Allowed]:
    """Returns the allowed values of each setting of a class, as its fields declare them.

    Raises:
      TypeError: a field declares nothing.
    """
    hints = get_type_hints(config, include_extras=True)
    ranges: dict[str, Allowed] = {}
    for field in fields(config):
        declared = [part for part in getattr(hints[field.name], "__metadata__", ()) if isinstance(part, Allowed)]
        if not declared:
            raise TypeError(f"{config.__name__}.{field.name} does not declare what it may be (tacit/training/ranges.py)")
        ranges[field.name] = declared[-1]
    return ranges


def setting_meanings(config: type[Settings]) -> dict[str, str]:
    """Returns the meaning of each setting of a class: its text under `Attributes:` in the class or the base it comes from."""
    meanings: dict[str, str] = {}
    for kind in reversed(config.__mro__):
        if issubclass(kind, Settings):
            meanings |= _attributes(inspect.cleandoc(kind.__doc__ or ""))
    return meanings


def _attributes(text: str) -> dict[str, str]:
    """Returns the entries under `Attributes:` in a docstring, each as one line."""
    _, _, section = text.partition("\nAttributes:\n")
    entries: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        if line and not line.startswith(" "):
            break
        if (start := re.match(r"  (\w+): (.*)", line)) is not None:
            name = start[1]
            entries[name] = start[2]
        elif line.strip():
            entries[name] += f" {line.strip()}"
    return entries


def find_preset(presets: Mapping[str, C], name: str) -> C:
    """Returns a preset by name."""
    if name not in presets:
        raise TacitError(f"unknown preset {name!r}: choose one of {', '.join(presets)}")
    return presets[name]
