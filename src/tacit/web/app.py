"""The web application: static files, a little JSON, and the websocket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from tacit import __version__
from tacit.web.catalog import OFFERS, catalog, choose_lane
from tacit.web.desk import QUICK, SLOW
from tacit.web.guard import Guard
from tacit.web.pool import WorkerPool
from tacit.web.runs import RunList
from tacit.web.settings import DEFAULT_GAME, ServeSettings
from tacit.web.sockets import Tabs
from tacit.web.store import Store

STATIC = Path(__file__).parent / "static"
SLOW_GAME = "no_limit_holdem"
"""The game that slow workers load when they start."""


def make_app(settings: ServeSettings) -> Any:
    """Returns the application; its workers start and end with it."""
    store = Store(settings.data / "tacit.sqlite3")
    runs = RunList(settings.runs)
    tabs = Tabs(settings, store, choose_lane)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        lanes = {QUICK: settings.quick_workers, SLOW: settings.slow_workers}
        solves = [str(place) for place in settings.solves]
        context = {"seconds": settings.seconds, "solves": solves, "files": settings.is_local, "runs": str(settings.runs)}
        tabs.pool = WorkerPool(lanes, context, tabs.deliver, tabs.keep, settings.max_waiting)
        await tabs.pool.start()
        warming = asyncio.create_task(_warm(tabs.pool, settings))
        try:
            yield
        finally:
            warming.cancel()
            await tabs.pool.stop()
            store.close()

    app = FastAPI(title="tacit", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)

    @app.get("/")
    async def index() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.get("/api/catalog")
    async def games() -> dict[str, object]:
        return {"version": __version__, **catalog()}

    @app.get("/api/runs")
    def list_runs() -> dict[str, object]:
        return {"folder": str(settings.runs), "runs": runs.listed()}

    @app.get("/api/runs/metrics")
    def run_metrics(run: str, after: int = 0) -> dict[str, object]:
        return runs.metrics(run, after)

    @app.websocket("/ws")
    async def socket(websocket: WebSocket) -> None:
        await tabs.serve(websocket)

    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return Guard(app, settings)


async def _warm(pool: WorkerPool, settings: ServeSettings) -> None:
    """Prepares workers: first the front page's game in all of them, then the other small games in one worker after another.

    This keeps a worker free for visitors, and each worker finds on disk what the one before it compiled.
    """
    await pool.ready()
    quick = [f"quick{number}/play" for number in range(settings.quick_workers)]
    slow = [f"slow{number}/play" for number in range(settings.slow_workers)]
    first = [_prepare(pool, place, QUICK, DEFAULT_GAME) for place in quick]
    await asyncio.gather(*first, *(_prepare(pool, place, SLOW, SLOW_GAME) for place in slow))
    games = [offer.game for offer in OFFERS if offer.lane == QUICK and offer.game != DEFAULT_GAME] if settings.warm else []
    for place in quick:
        for game in games:
            await _prepare(pool, place, QUICK, game)
    for place in (*quick, *slow):
        pool.close(place)


async def _prepare(pool: WorkerPool, place: str, lane: str, game: str) -> None:
    """Loads a game's opponent at a place, in the quick lane plays a hand as well, and waits until that is done."""
    pool.submit(place, lane, {"desk": "play", "do": "load", "game": game, "plays": lane == QUICK})
    await pool.idle(place)
