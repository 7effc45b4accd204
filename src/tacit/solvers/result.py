"""Results of solves and their files: safetensors with JSON metadata, written completely or not at all."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from tacit.errors import TacitError
from tacit.evaluation import BestResponse, Quality, StrategyViews, best_response
from tacit.files import check_readable, parse_json, write_whole
from tacit.games import AnyGame, game_source, recall_game
from tacit.html import card, facts, log_curve
from tacit.kernels import make_passes
from tacit.plots import convergence_figure, save_figure
from tacit.solvers.locks import Lock, lock_tree, read_locks
from tacit.tree.base import Strategy
from tacit.tree.compiler import compile_for_solving
from tacit.tree.node_view import Belief, NodeView
from tacit.tree.public_tree import Floats

FORMAT = "tacit-solve-1"
_METADATA = {
    "game": str,
    "solver": str,
    "simultaneous": bool,
    "iterations": int,
    "quality": dict,
    "seconds": float,
    "curve": list,
    "backend": str,
    "device": str,
    "locks": list,
    "seed": int,
}
"""The metadata saved with the arrays, and their types."""


_UNREADABLE = (SafetensorError, LookupError, TypeError, ValueError, OverflowError, OSError)
"""The errors that reading a damaged file raises."""


class Point(NamedTuple):
    """A point of a convergence curve."""

    iteration: int
    seconds: float
    exploitability: float


@dataclass(frozen=True, repr=False)
class SolveResult:
    """A solved game.

    `result.show("check / bet")` shows a public state, `result.strategy[0, "check / bet", "K"]` one infostate.

    Attributes:
      strategy: the average strategy.
      solver: the algorithm's name.
      simultaneous: whether both players were updated at once instead of in turn.
      iterations: the number of iterations; 0 for `lp`.
      quality: the strategy's value and exact exploitability.
      seconds: the time spent iterating and evaluating, over all sessions of the solve.
      curve: the exploitability along the way.
      state: the driver's arrays `[E]`, to continue from; empty for `lp`.
      backend: the backend that computed the solve.
      device: the device that it ran on.
      interrupted: whether the user stopped the solve early.
      locks: the fixed strategies, from which no best response of `quality` deviates.
      seed: the seed of noisy responses and sampled games.
    """

    strategy: Strategy
    solver: str
    simultaneous: bool
    iterations: int
    quality: Quality
    seconds: float
    curve: list[Point]
    state: dict[str, Floats]
    backend: str
    device: str
    interrupted: bool = False
    locks: tuple[Lock, ...] = ()
    seed: int = 0

    @property
    def game(self) -> str:
        """The game's name with its parameters."""
        return str(self.strategy.tree.game)

    @property
    def exploitability(self) -> float:
        """The exact mean, over the players, of the gain of a best response."""
        return self.quality.exploitability

    @property
    def nash_conv(self) -> float:
        """Twice the exploitability."""
        return self.quality.nash_conv

    @property
    def value(self) -> float:
        """The first player's expected return when both play the strategy."""
        return self.quality.value

    @property
    def in_units(self) -> dict[str, float]:
        """The exploitability in other units customary for the game."""
        game: AnyGame = self.strategy.tree.game
        return game.in_units(self.exploitability)

    @cached_property
    def views(self) -> StrategyViews:
        """The strategy at all its public states, with values."""
        return StrategyViews(self.strategy)

    def show(self, at: str = "") -> NodeView:
        """Returns a public state with the play, reach, weight and value of every private state that can occur.

        Args:
          at: the line that leads there, such as `check / bet to 200`; empty for the start.

        Raises:
          TacitError: The line does not exist, or no player acts there.
        """
        return self.views.at(at)

    def beliefs(self, at: str = "") -> tuple[Belief, Belief]:
        """Returns both players' beliefs at a public state: the probabilities of each player's private states.

        Raises:
          TacitError: The line does not exist, no player acts there, or the strategies never lead there.
        """
        return self.strategy.at(at).beliefs

    def best_response(self, player: int) -> BestResponse:
        """Returns a player's exact best response to the other's strategy, with its value. It respects the locks.

        Raises:
          TacitError: There is no such player.
        """
        if player not in (0, 1):
            raise TacitError(f"players are 0 and 1: there is no player {player}")
        _, locked = lock_tree(self.strategy.tree, self.locks)
        response = best_response(make_passes(locked).exact(), self.views.strategy.probabilities, player)
        mine = locked.entry_player[locked.held.entry] == player
        response.strategy.probabilities[locked.held.entry[mine]] = locked.held.share[mine]
        return response

    def plot(self, path: str | Path | None = None) -> Any:
        """Returns the convergence curve as a matplotlib figure, and writes it to a file if one is given.

        Args:
          path: a .png, .svg or .pdf file.

        Raises:
          TacitError: The file has another ending or cannot be written.
        """
        figure = convergence_figure({self.game: {self.solver: self.curve}}, "")
        if path is not None:
            save_figure(figure, path)
        return figure

    def __repr__(self) -> str:
        how = f"{self.solver}, {self.iterations:,} iterations" if self.iterations else self.solver
        return f"<{self.game} by {how}: value {self.value:.6g}, exploitability {self.exploitability:.4g}>"

    def _repr_html_(self) -> str:
        figures = {
            "solver": self.solver, "iterations": self.iterations or None, "value for player 0": self.value,
            "exploitability": f"{self.exploitability:.4g} (exact)", "seconds": self.seconds,
            "public states": self.strategy.tree.num_nodes, "infostates": self.strategy.tree.num_infostates,
            **{f"exploitability in {unit.replace('_', ' ')}": figure for unit, figure in self.in_units.items()},
        }  # fmt: skip
        curve = log_curve([(point.iteration, point.exploitability) for point in self.curve], "iterations", "exploitability")
        return card(f"{self.game}, solved", facts(figures), curve, note="stopped early" if self.interrupted else "")

    def summary(self) -> dict[str, Any]:
        """Returns the figures of the solve, ready for JSON."""
        return {
            "game": self.game,
            "solver": self.solver,
            "iterations": self.iterations,
            "exploitability": self.exploitability,
            "nash_conv": self.nash_conv,
            "value": self.value,
            **{f"exploitability_{unit}": number for unit, number in self.in_units.items()},
            "kind": "exact",
            "seconds": self.seconds,
            "iterations_per_second": self.iterations / self.seconds if self.seconds else 0.0,
            "nodes": self.strategy.tree.num_nodes,
            "infostates": self.strategy.tree.num_infostates,
            "backend": self.backend,
            "device": self.device,
            "interrupted": self.interrupted,
            "locks": [asdict(lock) for lock in self.locks],
        }

    def save(self, path: str | Path) -> None:
        """Writes the solve to a file that `load_result` reads and `solve(resume=...)` continues."""
        metadata = {"format": FORMAT, **{key: getattr(self, key) for key in _METADATA}, "quality": asdict(self.quality)}
        metadata["locks"] = [asdict(lock) for lock in self.locks]
        metadata["source"] = game_source(self.strategy.tree.game)
        tensors = {"probabilities": self.strategy.probabilities, **{f"state.{key}": array for key, array in self.state.items()}}
        write_whole(path, save(tensors, {"tacit": json.dumps(metadata)}))


def load_result(path: str | Path, game: AnyGame | None = None) -> SolveResult:
    """Returns a saved solve.

    Args:
      path: the file.
      game: the solved game; needed only if the Python file that defines it is gone.

    Raises:
      TacitError: The file is missing, unreadable, truncated, of another kind, or made for another version of the game.
    """
    if not os.path.isfile(path):
        raise TacitError(f"no file at {path}")
    check_readable(path)
    try:
        with safe_open(str(path), framework="numpy") as file:
            metadata = {"locks": [], "seed": 0, **parse_json((file.metadata() or {})["tacit"])}  # older files lack these
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        if metadata["format"] != FORMAT:
            raise TacitError(f"{path} has format {metadata['format']}, but this version reads {FORMAT}")
        _check_metadata(metadata)
        _check_tensors(tensors)
    except _UNREADABLE:
        raise TacitError(f"{path} is not a saved solve, or is damaged") from None
    if game is not None and str(game) != metadata["game"]:
        raise TacitError(f"{path} is a solve of {metadata['game']}, not of {game}")
    try:
        game = recall_game(metadata["game"], metadata.get("source"), path) if game is None else game
    except TacitError as error:
        raise TacitError(f"{path}: {error}; or give the game itself: load_result(path, game)") from None
    locks = tuple(read_locks(metadata["locks"], str(path)))
    tree, _ = lock_tree(compile_for_solving(game), locks)
    if any(array.shape != (tree.num_entries,) for array in tensors.values()):
        raise TacitError(f"{path} does not fit {metadata['game']}: this version gives it other infostates, so solve it again")
    strategy = tree.strategy(tensors.pop("probabilities"))
    if not np.allclose(tree.normalise(strategy.probabilities), strategy.probabilities, atol=1e-5):
        raise TacitError(f"{path} is damaged: its probabilities do not sum to 1")
    facts = {key: metadata[key] for key in _METADATA if key != "game"}
    facts["quality"] = Quality(metadata["quality"]["value"], tuple(metadata["quality"]["best_response_values"]))
    facts["locks"] = locks
    facts["curve"] = [Point(*point) for point in metadata["curve"]]
    state = {name.removeprefix("state."): array for name, array in tensors.items()}
    return SolveResult(strategy=strategy, state=state, **facts)


def is_saved_solve(path: str | Path) -> bool:
    """Returns whether a file claims to be a saved solve of any version, without checking the rest of it."""
    try:
        with safe_open(str(path), framework="numpy") as file:
            return str(parse_json((file.metadata() or {})["tacit"])["format"]).startswith(FORMAT.rstrip("0123456789"))
    except _UNREADABLE:
        return False


def saved_game(path: str | Path) -> str | None:
    """Returns the name of the game in a saved solve; None for other files."""
    if not is_saved_solve(path):
        return None
    with safe_open(str(path), framework="numpy") as file:
        return str(parse_json(file.metadata()["tacit"]).get("game"))


def _check_metadata(metadata: dict[str, Any]) -> None:
    """Raises a `KeyError`, `TypeError` or `ValueError` unless the metadata are as `save` writes them."""
    for key, kind in _METADATA.items():
        if not isinstance(metadata[key], kind):
            raise TypeError(key)
    first, second = metadata["quality"]["best_response_values"]
    numbers = [metadata["iterations"], metadata["seconds"], metadata["quality"]["value"], first, second]
    for iteration, seconds, exploitability in metadata["curve"]:
        numbers += [iteration, seconds, exploitability]
    if not all(math.isfinite(number) for number in numbers) or metadata["iterations"] < 0:
        raise ValueError("numbers")


def _check_tensors(tensors: dict[str, Floats]) -> None:
    """Raises a `ValueError` unless the arrays are as `save` writes them.

    An exact solve has no state to continue from. A lean one derives its current strategy from regrets and saves none. One by
    sampled games may have baselines.
    """
    lean = {"probabilities", "state.average", "state.regret"}
    if set(tensors) not in ({"probabilities"}, lean, {*lean, "state.strategy"}, {*lean, "state.baseline"}):
        raise ValueError("arrays")
    if not all(array.dtype in (np.float64, np.float32) and np.isfinite(array).all() for array in tensors.values()):
        raise ValueError("numbers")
