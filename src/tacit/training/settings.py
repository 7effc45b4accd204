"""Settings by `key=value`, and presets by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from tacit.errors import TacitError

C = TypeVar("C")


def with_settings(config: C, settings: Mapping[str, str], words: Mapping[str, str] | None = None) -> C:
    """Returns a configuration, a dataclass, with `key=value` settings applied.

    Args:
      config: what is changed.
      settings: values by key, as text.
      words: for some keys, a word that is as good as a value.

    Raises:
      TacitError: a key is unknown or a value cannot be read.
    """
    kinds = {field.name: type(getattr(config, field.name)) for field in fields(config)}  # type: ignore[arg-type]
    changes: dict[str, Any] = {}
    for key, value in settings.items():
        if key not in kinds:
            raise TacitError(f"unknown setting {key!r}: choose one of {', '.join(kinds)}")
        if words is not None and words.get(key) == value:
            changes[key] = value
            continue
        try:
            changes[key] = kinds[key](value)
        except ValueError:
            raise TacitError(f"{key} takes {kinds[key].__name__}, not {value!r}") from None
    return replace(config, **changes)  # type: ignore[type-var]


def find_preset(presets: Mapping[str, C], name: str) -> C:
    """Returns a preset by name."""
    if name not in presets:
        raise TacitError(f"unknown preset {name!r}: choose one of {', '.join(presets)}")
    return presets[name]
