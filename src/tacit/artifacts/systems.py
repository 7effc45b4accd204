"""The systems that train, by name: ours, and those in the user's files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.boards import is_board
from tacit.games.holdem import require_holdem
from tacit.games.own import load_own, make_own, parse_own
from tacit.training.names import SYSTEMS, check_system
from tacit.training.system import System, Trainer

_TAKEN = (*SYSTEMS, "rebel-holdem", "sog-boards", "nfsp-limit")
"""The names of our systems in run folders."""


def own_system(name: str, near: str | Path | None = None) -> System[Any, Any] | None:
    """Returns the system that a `FILE.py:SYSTEM` names, or None if the name is of another kind.

    Args:
      name: names a `System`, or a class or function that makes one: `FILE.py:SYSTEM(key=value,...)` with its arguments.
      near: a path that may have been moved together with the file; the file is searched for near it if it is gone.

    Raises:
      TacitError: there is no such file or name, it is not a system, or it has the name of one of ours.
    """
    own = parse_own(name)
    if own is None:
        return None
    own = own if near is None else own.found_near(near)
    system = load_own(own.path, own.class_name, "system")
    if not isinstance(system, System) and callable(system) and not _is_trainer(system):
        system = make_own(system, own, {}, own.class_name)
    elif own.arguments:
        raise TacitError(f"{own.path}: {own.class_name} takes no arguments: change settings with --set NAME=VALUE")
    if not isinstance(system, System):
        hint = f": write SYSTEM = System(Settings, {own.class_name}) and name that" if _is_trainer(system) else ""
        raise TacitError(f"{own.path}: {own.class_name} is not a tacit.training.System{hint}")
    return checked_system(replace(system, source=str(own.absolute())))


def checked_system(system: System[Any, Any]) -> System[Any, Any]:
    """Returns a user's system after checking its name.

    Raises:
      TacitError: it has the name of one of our systems, or its settings do not name it.
    """
    name = getattr(system.config, "system", None)
    if not isinstance(name, str) or not name:
        raise TacitError(f'{system.config.__name__} does not say what its system is called: add system: ClassVar[str] = "..."')
    if name in _TAKEN and system.found_at() is not None:
        raise TacitError(f"{system.config.__name__}.system is {name!r}, which is one of ours: choose another name")
    return system


def _is_trainer(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, Trainer)


def find_system(name: str, game: AnyGame) -> System[Any, Any]:
    """Returns the variant of a named system that learns a game; the name is one of `SYSTEMS`, or `FILE.py:SYSTEM`.

    Raises:
      TacitError: there is no system of that name, or it cannot learn the game.
    """
    check_system(name)
    own = own_system(name)
    if own is not None:
        return own
    if name == "rebel" and game.tree_layout == "hands":
        from tacit.rebel.holdem.system import REBEL_HOLDEM

        return REBEL_HOLDEM
    if name == "rebel":
        from tacit.rebel.system import REBEL

        return REBEL
    if name == "blueprint":
        from tacit.blueprint.system import BLUEPRINT

        require_holdem(game, "blueprint")
        return BLUEPRINT
    if name in ("nfsp", "dqn"):
        from tacit.nfsp.system import DQN, nfsp_system

        return DQN if name == "dqn" else nfsp_system(game)
    if name in ("deep-cfr", "sd-cfr"):
        from tacit.deep_cfr.system import DEEP_CFR, SD_CFR

        return DEEP_CFR if name == "deep-cfr" else SD_CFR
    if name == "rpg":
        from tacit.policy_gradient.system import RPG

        return RPG
    if name == "deepstack" and is_board(game):
        raise TacitError(f"{game} hides nothing, so there are no situations to draw at random: train it with sog")
    if is_board(game):
        from tacit.sog.boards.system import SOG_BOARDS

        return SOG_BOARDS
    from tacit.sog.system import DEEPSTACK, SOG

    return SOG if name == "sog" else DEEPSTACK
