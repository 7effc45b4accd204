"""The Explore page's desk: opens games and saved solves, solves in slices, shows public states."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from tacit.errors import TacitError
from tacit.evaluation import StrategyViews
from tacit.games import AnyGame, load_game
from tacit.games.holdem import Holdem
from tacit.games.menus import MENU_PRESETS
from tacit.solvers import Point, SolveResult, load_result
from tacit.web.desk import Message, Outlet, refuse_code, text_of
from tacit.web.explore.limits import SOLVERS, check_size, read_solver, read_stop, size_data
from tacit.web.explore.live_solve import LiveSolve
from tacit.web.explore.node_data import node_data
from tacit.web.explore.ranges import range_data
from tacit.web.explore.saved import find_saved, list_saved

SLICE = 0.5
"""The seconds that a solve runs for one message, so that other tabs get their turns in between."""
LIVE_VIEW = 0.15
"""While a solve runs, a public state is shown only if that takes at most this many seconds."""
MOST_LETTERS = 15_000
"""The longest name of a game, enough for two ranges."""


class ExploreDesk:
    """One tab's explorer (see `Desk`)."""

    def __init__(self, context: Mapping[str, Any]) -> None:
        self._context = context
        self._saved: list[str] = list(context.get("solves", ()))
        self._out: Outlet | None = None
        self._solve: LiveSolve | None = None
        self._result: SolveResult | None = None
        self._views: StrategyViews | None = None
        self._view_seconds = 0.0

    def handle(self, message: Message, out: Outlet) -> None:
        do = message["do"]
        actions = {
            "open": self._open, "solve": self._go_on, "view": self._view, "range": self._range, "size": self._size,
            "offers": self._offers,
        }  # fmt: skip
        if do not in actions:
            raise TacitError(f"the explorer does not know {do!r}")
        self._out = out
        actions[do](message, out)

    def close(self) -> None:
        if self._solve is not None:
            self._solve.close()
        self._solve = self._result = self._views = None

    def _offers(self, message: Message, out: Outlet) -> None:
        """Sends what can be chosen: solvers, menus of bets and saved solves."""
        del message
        menus = [{"name": name, "meaning": preset.meaning} for name, preset in MENU_PRESETS.items()]
        out.frame("offers", solvers=SOLVERS, menus=menus, saved=list_saved(self._saved))

    def _size(self, message: Message, out: Outlet) -> None:
        out.frame("size", **size_data(self._read_game(message)), id=message.get("id"))

    def _range(self, message: Message, out: Outlet) -> None:
        side = message.get("side")
        if side not in (0, 1):
            raise TacitError("the side of a range must be 0 or 1")
        try:
            out.frame("range", side=side, **range_data(message), id=message.get("id"))
        except TacitError as error:
            out.frame("range", side=side, problem=" ".join(str(error).split()), id=message.get("id"))

    def _open(self, message: Message, out: Outlet) -> None:
        self.close()
        file = text_of(message, "file", "")
        if file:
            self._open_saved(file, out)
            return
        game, solver = self._read_game(message), read_solver(message)
        stop, size = read_stop(message, game, solver), check_size(game)
        self._solve = LiveSolve(game, {"solver": solver, **stop.options}, self._tell_point, self._tell_compile)
        out.frame("opened", **_game_data(game), solver=solver, stop=stop.text, size=size, file=None)

    def _open_saved(self, file: str, out: Outlet) -> None:
        result = self._result = load_result(find_saved(self._saved, file))
        game: AnyGame = result.strategy.tree.game
        out.frame("opened", **_game_data(game), solver=result.solver, stop="", size=size_data(game), file=file)
        for point in result.curve:
            self._tell_point(point)
        self._tell_solved(out)

    def _go_on(self, message: Message, out: Outlet) -> None:
        """Solves for one slice, then sends the progress and the public state that the reader looks at."""
        if self._solve is None:
            raise TacitError("open a game first")
        self._solve.run(SLICE, out.is_cut)
        self._views = None
        if self._solve.is_over:
            self._tell_solved(out)
        elif self._solve.points and self._view_seconds <= LIVE_VIEW:
            self._view(message, out)
        out.frame("slice", over=self._solve.is_over)

    def _view(self, message: Message, out: Outlet) -> None:
        began = time.perf_counter()
        result = self._reached()
        if result is None:
            raise TacitError("nothing is solved yet")
        if self._views is None:
            self._views = result.views
        out.frame("node", iterations=result.iterations, **node_data(self._views, text_of(message, "line", "")))
        self._view_seconds = time.perf_counter() - began

    def _read_game(self, message: Message) -> AnyGame:
        name = message.get("game")
        if not isinstance(name, str) or len(name) > MOST_LETTERS:
            raise TacitError("game must be a text")
        refuse_code(self._context, name)
        return load_game(name)

    def _reached(self) -> SolveResult | None:
        return self._result if self._solve is None else self._solve.reached()

    def _tell_point(self, point: Point) -> None:
        if self._out is not None:
            self._out.frame("point", iteration=point.iteration, seconds=point.seconds, exploitability=point.exploitability)

    def _tell_compile(self, histories: int) -> None:
        if self._out is not None:
            self._out.frame("compiling", histories=histories)

    def _tell_solved(self, out: Outlet) -> None:
        result = self._reached()
        assert result is not None
        summary = result.summary()
        del summary["locks"]
        known = result.strategy.tree.game.known_value()
        published = None if known is None else {"value": known.value, "source": known.source}
        out.frame("solved", summary=summary, units=result.in_units, known=published)


def _game_data(game: AnyGame) -> dict[str, Any]:
    """Returns what the page shows of a game besides its tree."""
    holdem = {"board": game.board, "pot": game.rules.pot, "stack": game.rules.stack} if isinstance(game, Holdem) else None
    return {"game": str(game), "holdem": holdem, "units": sorted(game.in_units(1.0))}
