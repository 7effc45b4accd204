"""`tacit bench tabular`: full CFR iterations and exact exploitability against OpenSpiel (C++) and LiteEFG (C++).

An iteration updates both players once. OpenSpiel runs its C++ `CFRSolver`, LiteEFG its CFR+ with averaging; we run `cfr`
and, beside LiteEFG, `cfr+`. All use one thread. Each is called through its own interface: the peers once per iteration, ours
for as many iterations at a time as in `tacit solve` (`Passes.span`).
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from tacit.bench.timing import best_seconds
from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.kernels import AnyTreePasses, make_passes
from tacit.solvers.schedules import find_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.threads import at_most
from tacit.tree.compiler import compile_game

GAMES = (
    "kuhn_poker",
    "leduc_poker",
    "liars_dice(dice=1,faces=4)",
    "liars_dice(dice=1,faces=5)",
    "liars_dice(dice=1,faces=6)",
    "goofspiel(cards=4)",
    "goofspiel(cards=5)",
)

PEERS = {"openspiel": "pyspiel", "liteefg": "LiteEFG"}


@dataclass(frozen=True)
class Measurement:
    """Seconds per unit of work on one game; None if a peer is not installed.

    Attributes:
      game: The game's name.
      iteration: Seconds of our `cfr` iteration.
      plus_iteration: Seconds of our `cfr+` iteration.
      openspiel_iteration: Seconds of OpenSpiel's CFR iteration.
      liteefg_iteration: Seconds of LiteEFG's CFR+ iteration.
      exploitability: Seconds of our exact exploitability.
      openspiel_exploitability: Seconds of OpenSpiel's exact exploitability.
      bytes_per_iteration: The least bytes that our iteration must read and write.
      bytes_per_second: The speed of a plain copy of arrays of the same total size on this machine.
    """

    game: str
    iteration: float
    plus_iteration: float
    openspiel_iteration: float | None
    liteefg_iteration: float | None
    exploitability: float
    openspiel_exploitability: float | None
    bytes_per_iteration: int
    bytes_per_second: float

    def ratios(self) -> dict[str, float | None]:
        """Returns how many times as fast we are, and the share of the copy speed we reach."""
        return {
            "openspiel": _ratio(self.openspiel_iteration, self.iteration),
            "liteefg": _ratio(self.liteefg_iteration, self.plus_iteration),
            "openspiel_exploitability": _ratio(self.openspiel_exploitability, self.exploitability),
            "of_copy_speed": self.bytes_per_iteration / self.iteration / self.bytes_per_second,
        }


def measure(game_name: str, window: float, peers: tuple[str, ...]) -> Measurement:
    """Returns the speeds on one game.

    Args:
      game_name: a game with a counterpart in OpenSpiel.
      window: seconds a measurement takes, times three; slow peers get at least one iteration.
      peers: keys of `PEERS`.
    """
    game = load_game(game_name)
    tree = compile_game(game)
    with at_most(1):  # like the peers
        passes = make_passes(tree)
    twin = game.openspiel_twin()
    if peers and twin is None:
        raise TacitError(f"{game} has no counterpart in OpenSpiel to compare with")
    uniform = tree.uniform_strategy()
    needed = minimal_bytes(passes)
    return Measurement(
        game=str(game),
        iteration=_time_ours(passes, "cfr", window),
        plus_iteration=_time_ours(passes, "cfr+", window),
        openspiel_iteration=best_seconds(_openspiel(twin), window) if "openspiel" in peers else None,
        liteefg_iteration=_time_liteefg(twin, window) if "liteefg" in peers else None,
        exploitability=best_seconds(lambda: evaluate(passes, uniform), window),
        openspiel_exploitability=best_seconds(_openspiel_exploitability(twin), window, 1) if "openspiel" in peers else None,
        bytes_per_iteration=needed,
        bytes_per_second=_copy_speed(needed),
    )


def missing_peers() -> list[str]:
    """Returns the peers that are not installed."""
    return [name for name, module in PEERS.items() if find_spec(module) is None]


def minimal_bytes(passes: AnyTreePasses) -> int:
    """Returns the bytes an iteration has to move, apart from payoffs.

    Regrets, strategy and average are read and written once; both players' reaches and values are written and read once.
    """
    return 6 * passes.zeros().nbytes + 4 * sum(passes.new_reach(player).nbytes for player in (0, 1))  # type: ignore[no-any-return]


def _time_ours(passes: AnyTreePasses, solver: str, window: float) -> float:
    driver = TabularDriver(passes, find_schedule(solver))
    span = max(1, passes.span)
    return best_seconds(lambda: driver.run(span), window) / span


def _openspiel(twin: Any) -> Callable[[], object]:
    import pyspiel

    solver = pyspiel.CFRSolver(pyspiel.load_game(twin))
    return solver.evaluate_and_update_policy  # type: ignore[no-any-return]


def _openspiel_exploitability(twin: Any) -> Callable[[], object]:
    import pyspiel

    game = pyspiel.load_game(twin)
    policy = pyspiel.UniformRandomPolicy(game)
    return lambda: pyspiel.exploitability(game, policy)


def _time_liteefg(twin: Any, window: float) -> float:
    with _quiet_home():
        import pyspiel

        lite, plus = (importlib.import_module(name) for name in ("LiteEFG", "LiteEFG.baselines.CFRplus"))
        environment = lite.OpenSpielEnv(pyspiel.load_game(twin), traverse_type="Enumerate", regenerate=True)
        graph = plus.graph()
        environment.set_graph(graph)

        def iterate() -> None:
            graph.update_graph(environment)
            environment.update_strategy(graph.current_strategy())

        return best_seconds(iterate, window)


@contextlib.contextmanager
def _quiet_home() -> Iterator[None]:
    """Silences a peer that prints, and gives it a temporary home folder for the files it leaves."""
    home = os.environ.get("HOME", "")
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.environ["HOME"] = folder
        try:
            yield
        finally:
            os.environ["HOME"] = home


def _copy_speed(num_bytes: int) -> float:
    """Returns bytes read and written per second by a copy that touches `num_bytes` in all.

    It touches at least 64 KiB: with less, the call would take longer than the copy.
    """
    source = np.ones(max(num_bytes, 2**16) // 16)
    target = np.empty_like(source)
    return 2 * source.nbytes / best_seconds(lambda: np.copyto(target, source), 0.05)


def _ratio(theirs: float | None, ours: float) -> float | None:
    return None if theirs is None else theirs / ours
