"""The systems that train, by name."""

from __future__ import annotations

from typing import Any

from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.boards import is_board
from tacit.training.system import System

SYSTEMS = ("rebel", "sog", "deepstack", "nfsp", "dqn", "blueprint")


def find_system(name: str, game: AnyGame) -> System[Any, Any]:
    """Returns the system of `SYSTEMS` as it learns a game.

    Raises:
      TacitError: there is none of that name, or it cannot learn the game.
    """
    if name not in SYSTEMS:
        raise TacitError(f"unknown system {name!r}: choose one of {', '.join(SYSTEMS)}")
    if name == "rebel" and game.tree_layout == "hands":
        from tacit.rebel.holdem.system import REBEL_HOLDEM

        return REBEL_HOLDEM
    if name == "rebel":
        from tacit.rebel.system import REBEL

        return REBEL
    if name == "blueprint":
        from tacit.blueprint.system import BLUEPRINT

        return BLUEPRINT
    if name in ("nfsp", "dqn"):
        from tacit.nfsp.system import DQN, nfsp_system

        return DQN if name == "dqn" else nfsp_system(game)
    if name == "deepstack" and is_board(game):
        raise TacitError(f"{game} hides nothing, so there are no situations to draw at random: train it with sog")
    if is_board(game):
        from tacit.sog.boards.system import SOG_BOARDS

        return SOG_BOARDS
    from tacit.sog.system import DEEPSTACK, SOG

    return SOG if name == "sog" else DEEPSTACK
