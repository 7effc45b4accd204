"""What the header of a network file says of the run that it is of, checked: the file may come from anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from tacit.errors import TacitError
from tacit.training.settings import Settings

S = TypeVar("S", bound=Settings)


class RunFacts(NamedTuple, Generic[S]):
    """What a run was.

    Attributes:
      game: The game it is of.
      config: Its settings.
      epoch: The epochs it had finished.
      source: Where the game is found, if it is in a file of one's own (`game_source`).
    """

    game: str
    config: S
    epoch: int
    source: str | None


def run_facts(header: dict[str, Any], kind: type[S], name: str | Path) -> RunFacts[S]:
    """Returns what a header says.

    Args:
      header: Of a network file.
      kind: The class of the run's settings.
      name: What the user called the file.

    Raises:
      TacitError: Something is missing, or of another kind.
    """
    game, epoch, source = header.get("game"), header.get("epoch"), header.get("source")
    settings = header.get("config")
    whole = isinstance(game, str) and type(epoch) is int and epoch >= 0 and isinstance(source, str | None)
    if whole and isinstance(settings, dict):
        try:
            return RunFacts(str(game), kind(**settings), int(epoch or 0), source)
        except (TypeError, ValueError, OverflowError):
            pass
    raise TacitError(f"{name} is no network of this version")
