"""`tacit train SYSTEM --settings`: every setting with its meaning, range and values."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tacit.cli.common import print_lines, printer
from tacit.cli.looks import find_system, variants
from tacit.cli.pace import preparation_shown

if TYPE_CHECKING:
    from tacit.games import AnyGame
    from tacit.training.settings import SettingFacts, Settings
    from tacit.training.system import System


def settings_report(name: str, game: AnyGame | None, preset: str, given: dict[str, str]) -> dict[str, Any]:
    """Returns the settings of a system; with a game, those of the variant that learns it, with the values it would get.

    Args:
      name: the system.
      game: the game, if one was named.
      preset: the preset.
      given: settings that the user changes.

    Raises:
      TacitError: the preset is unknown, or a setting is refused.
    """
    from tacit.training.settings import describe_settings, find_preset

    kinds = variants(name) if game is None else {"": find_system(name, game)[0]}
    listed = []
    for kind, system in kinds.items():
        base: Settings = find_preset(system.presets, preset)
        effective = None if game is None else _effective(system, game, base.with_settings(given))
        facts = describe_settings(system.presets, preset, effective)
        listed.append({"system": system.name, "for": kind or str(game), "settings": [asdict(fact) for fact in facts]})
    return {"system": name, "game": None if game is None else str(game), "preset": preset, "systems": listed}


def print_settings(report: dict[str, Any]) -> None:
    """Prints the settings for people."""
    from tacit.training.settings import SettingFacts

    for system in report["systems"]:
        facts = [SettingFacts(**fact) for fact in system["settings"]]
        print_lines(f"{report['system']} ({system['for']}): {len(facts)} settings; change one by --set NAME=VALUE", "")
        for fact in facts:
            _print_setting(fact, report["preset"])


def _print_setting(fact: SettingFacts, preset: str) -> None:
    value = fact.default if fact.value is None else fact.value
    others = {name: shown for name, shown in fact.presets.items() if name != preset and shown != value}
    presets = f"; {', '.join(f'{name} {_shown(shown)}' for name, shown in others.items())}" if others else ""
    width = max(40, min(printer().width, 110))
    indented = {"width": width, "initial_indent": "    ", "subsequent_indent": "    "}
    print_lines(
        f"{fact.name}={_shown(value)}",
        *textwrap.wrap(fact.meaning, **indented),  # type: ignore[arg-type]
        *textwrap.wrap(f"[{fact.range}{presets}]", **indented),  # type: ignore[arg-type]
    )


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _effective(system: System[Any, Any], game: AnyGame, config: Settings) -> Settings:
    """Returns the settings that a game would be trained with. The game is prepared only if some settings depend on it."""
    if not config.left_open():
        return config
    with preparation_shown(f"preparing {game}"):
        effective: Settings = system.trainer(game, config, "cpu").config
    return effective
