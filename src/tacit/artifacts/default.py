"""`default`: the best agent for a game that is available without training."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial

from tacit.artifacts.base import Artifact, Monitor
from tacit.artifacts.bot import MINIMAX, SEARCHING, BotArtifact
from tacit.artifacts.table import TableArtifact
from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.boards import is_board
from tacit.solvers import solve
from tacit.tree.base import Strategy
from tacit.tree.compiler import has_direct_builder
from tacit.tree.estimate import memory_budget

QUICK_ITERATIONS = 500
QUICK_SECONDS = 30.0
"""Limits of the solve that plays a game when nobody named an agent."""
SMALL_BOARD = 10_000_000
"""Most histories of a board game that is solved by backward induction at once; its positions are far fewer."""


class QuickSolve(TableArtifact):
    """A solve that runs when its strategy is first needed; from then on it is named after the solver."""

    def __init__(self, name: str, game: AnyGame, monitor: Monitor | None = None) -> None:
        memory_budget(game, has_direct_builder(game))  # refuses a game that is too large before anything is announced
        super().__init__(name, game, monitor)

    def strategy(self) -> Strategy:
        return self._strategy

    @cached_property
    def _strategy(self) -> Strategy:
        monitor, game = self.monitor, self.given
        assert game is not None
        monitor.say(f"nothing is pretrained for {game}: solving it first")
        result = solve(
            game,
            iterations=QUICK_ITERATIONS,
            time_limit=QUICK_SECONDS,
            on_compile=lambda count: monitor.step(str(game), 0, note=f"compiling the game: {count:,} histories"),
            on_check=lambda point, _: monitor.step(
                str(game), point.iteration, QUICK_ITERATIONS, "iterations", f"exploitability {point.exploitability:.3g}"
            ),
        )
        self.name = f"{result.solver}, {result.iterations} iterations"
        monitor.say(f"solved by {self.name} in {result.seconds:.1f} s: exploitability {result.exploitability:.2g} (exact)")
        return result.strategy


def find(name: str, game: AnyGame | None, monitor: Monitor | None) -> Artifact | None:
    """Returns for `default` a game's pretrained network, else search in hold'em, minimax on small boards, or a solve."""
    if name != "default":
        return None
    if game is None:
        raise TacitError("default is the best agent available for a game: name the game, too")
    from tacit.artifacts import open as open_artifact
    from tacit.training.shipped import shipped_for

    pretrained = shipped_for(str(game))
    if pretrained is not None:
        return open_artifact(pretrained, game, monitor)
    if is_small_board(game):
        return BotArtifact(MINIMAX, game, monitor)
    return _UNTRAINED[game.tree_layout](game, monitor)


def is_small_board(game: AnyGame) -> bool:
    """Returns whether `minimax` can play a game without a long computation."""
    size = game.size() if is_board(game) else None
    known = size is not None and size.histories <= SMALL_BOARD
    return known and game.public_key(game.initial_state()) is not None


_UNTRAINED: dict[str, Callable[[AnyGame, Monitor | None], Artifact]] = {
    "rows": partial(QuickSolve, "default"),
    "hands": partial(BotArtifact, SEARCHING),
}
"""The agents for games without a pretrained network, by the layout of the game's trees."""
