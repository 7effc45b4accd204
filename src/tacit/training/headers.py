"""The facts about a run in a network file's header, checked because the file may come from anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from tacit.errors import TacitError
from tacit.training.settings import Settings

S = TypeVar("S", bound=Settings)


class RunFacts(NamedTuple, Generic[S]):
    """The facts about a run.

    Attributes:
      game: The run's game.
      config: The run's settings.
      epoch: How many epochs the run had finished.
      source: Where the game is found, if it is in a user's own file (`game_source`).
    """

    game: str
    config: S
    epoch: int
    source: str | None


def run_facts(header: dict[str, Any], kind: type[S], name: str | Path) -> RunFacts[S]:
    """Returns the facts in a header.

    Args:
      header: The header of a network file.
      kind: The class of the run's settings.
      name: The user's name for the file.

    Raises:
      TacitError: Something is missing or has the wrong type.
    """
    game, epoch, source = header.get("game"), header.get("epoch"), header.get("source")
    settings = header.get("config")
    whole = isinstance(game, str) and type(epoch) is int and epoch >= 0 and isinstance(source, str | None)
    if whole and isinstance(settings, dict):
        try:
            return RunFacts(str(game), kind(**settings), int(epoch or 0), source)
        except (TypeError, ValueError, OverflowError):
            pass
    raise TacitError(f"{name} is not a network of this version")
