"""The opponents that can be chosen for a game, and how they are opened."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tacit import artifacts
from tacit.agents.options import SearchOptions
from tacit.artifacts.base import Artifact, Monitor
from tacit.artifacts.bot import BOTS, POT_ODDS, SEARCHING
from tacit.artifacts.default import is_small_board
from tacit.errors import TacitError
from tacit.files import parse_json
from tacit.games import AnyGame
from tacit.games.small_poker import SmallPoker
from tacit.training.shipped import PRETRAINED, shipped_for
from tacit.web.desk import Outlet

ITERATIONS = 128
"""The iterations of a search in a small game: a quarter of those in a match, so that twenty people can play on two cores."""
MOST_RUNS = 200
"""The most folders searched for runs of a game."""
KEPT = 8
"""The number of opened opponents that a worker keeps for later tabs."""

_opened: OrderedDict[tuple[str, str], Artifact] = OrderedDict()


class Opponent(NamedTuple):
    """An opponent that a person can choose.

    Attributes:
      name: The name that `tacit.open` takes.
      title: The title shown in the app.
    """

    name: str
    title: str


def opponents_for(game: AnyGame, runs: str = "") -> list[dict[str, str]]:
    """Returns the opponents that can play a game at once, the strongest first, ready for JSON.

    Args:
      game: The rules.
      runs: A folder of runs. Those trained on the game are added as opponents.
    """
    pretrained, is_holdem = shipped_for(str(game)), game.tree_layout == "hands"
    best = "a network with search" if pretrained else "search" if is_holdem else "an equilibrium"
    if not pretrained and is_small_board(game):
        best = "perfect play"
    opponents = [Opponent("default", best)]
    if is_holdem:
        opponents += [Opponent(SEARCHING, "search without a network"), Opponent(POT_ODDS, "pot odds")]
    if is_holdem or isinstance(game, SmallPoker):
        opponents += [Opponent("always-call", "always calls"), Opponent("always-fold", "always folds")]
    opponents.append(Opponent("random", "random moves"))
    if runs:
        opponents += [Opponent(str(run), f"run {run.name}") for run in _runs_of(game, Path(runs))]
    return [opponent._asdict() for opponent in opponents]


def _runs_of(game: AnyGame, folder: Path) -> list[Path]:
    """Returns the runs of a game in a folder."""
    found = []
    for config in sorted(folder.glob("*/config.json"))[:MOST_RUNS]:
        try:
            if parse_json(config.read_text()).get("game") == str(game):
                found.append(config.parent)
        except (OSError, ValueError, AttributeError):
            continue  # not a run, or a file that is being written
    return found


def refuse_paths(context: Mapping[str, Any], opponent: str) -> None:
    """Raises for opponents that are files or folders of the server, unless only this machine has access.

    Raises:
      TacitError: the opponent is neither a bot, nor shipped with the package, nor a run in the folder of runs.
    """
    if context.get("files", True) or opponent in (*BOTS, "default") or opponent.startswith(PRETRAINED):
        return
    runs = [run for run in Path(context.get("runs", "")).glob("*") if (run / "config.json").is_file() and not run.is_symlink()]
    if not {opponent, opponent.rpartition(":")[0]} & {str(run) for run in runs}:
        raise TacitError(f"there is no opponent {opponent!r} here: choose one from the list")


def open_artifact(game: AnyGame, opponent: str, out: Outlet) -> Artifact:
    """Returns an opponent, opening it unless this worker already has; the browser sees the progress.

    Raises:
      TacitError: nothing has that name, or it does not play the game.
    """
    key, monitor = (str(game), opponent), _OpeningMonitor(out)
    if key not in _opened:
        _opened[key] = artifacts.open(opponent, game, monitor)
        while len(_opened) > KEPT:
            _opened.popitem(last=False)
    _opened.move_to_end(key)
    _opened[key].monitor = monitor
    return _opened[key]


def play_options(artifact: Artifact, seconds: float) -> SearchOptions:
    """Returns an opponent's search options against a person: by the clock if it can, else with few iterations."""
    if "time_per_decision" in artifact.search_options:
        return SearchOptions(time_per_decision=seconds)
    return SearchOptions(iterations=ITERATIONS if "iterations" in artifact.search_options else None)


class _OpeningMonitor(Monitor):
    """Reports to the browser how far the opening of an opponent is."""

    def __init__(self, out: Outlet) -> None:
        self._out = out

    def step(self, what: str, done: int, total: int | None = None, unit: str = "", note: str = "") -> None:
        self._out.frame("opening", text=note or what, done=done / total if total else None)

    def say(self, line: str) -> None:
        self._out.frame("opening", text=line, done=None)
