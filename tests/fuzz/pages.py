"""Targets in the browser app: messages from a tab, requests, and names that could lead out of a folder."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.fuzz.target import Prepared, Target

GAMES = ("kuhn_poker", "leduc_poker", "tic_tac_toe", "goofspiel(cards=3)", "no_limit_holdem")
"""Games that open quickly. Other games may take long, which is no failure, so they are skipped; names of no game are tried."""


def _message(**fields: Any) -> bytes:
    return json.dumps({"id": 7, **fields}).encode()


PLAY = (
    _message(desk="play", do="hello", player="abcdefgh"),
    _message(desk="play", do="open", game="kuhn_poker", opponent="random", seat="0", training=True, seconds=0.1),
    _message(desk="play", do="act", action=0),
    _message(desk="play", do="act", say="bet"),
    _message(desk="play", do="next"),
    _message(desk="play", do="train", on=True),
    _message(desk="play", do="hands", game="kuhn_poker"),
    _message(desk="play", do="replay", hand=1),
    _message(desk="play", do="now"),
    _message(desk="play", do="load", game="leduc_poker", opponent="always-call", plays=True),
    _message(desk="play", do="open", game="no_limit_holdem", opponent="always-call", seat="1"),
    _message(desk="play", do="act", say="raise 450"),
)
EXPLORE = (
    _message(desk="explore", do="offers"),
    _message(desk="explore", do="open", game="kuhn_poker", solver="dcfr", stop="20"),
    _message(desk="explore", do="open", game="leduc_poker", solver="lp", stop=""),
    _message(desk="explore", do="open", file="kuhn.tacit"),
    _message(desk="explore", do="view", line="pass / bet"),
    _message(desk="explore", do="solve", line=""),
    _message(desk="explore", do="range", side=0, text="AA,AKs:0.5"),
    _message(desk="explore", do="range", side=1, cells=[0.5] * 169),
    _message(desk="explore", do="size", game="kuhn_poker"),
)


def _sequences(messages: tuple[bytes, ...]) -> tuple[bytes, ...]:
    return (*messages, b"\n".join(messages[:3]), b"\n".join(messages[1:5]), b"\n".join(messages))


def _tabs(folder: Path) -> Prepared:
    """Messages on their way from the socket to a worker, and the frames that come back."""
    from tacit.web.catalog import choose_lane
    from tacit.web.desk import QUICK, SLOW
    from tacit.web.settings import ServeSettings
    from tacit.web.sockets import Tabs
    from tacit.web.store import Store

    record = {"game": "kuhn_poker", "opponent": "random", "seat": 0, "payoff": 1.0, "steps": [], "desk": "play"}
    store = Store(folder / "tacit.sqlite3")
    settings = ServeSettings(messages_per_second=1e9, burst=10**9)

    class Socket:
        """A browser that sends the input and parses the answers as strict JSON."""

        def __init__(self, texts: list[str]) -> None:
            self.texts, self.sent = texts, 0

        async def accept(self) -> None:
            pass

        async def receive_text(self) -> str:
            await asyncio.sleep(0)
            if not self.texts:
                from starlette.websockets import WebSocketDisconnect

                await asyncio.sleep(0.001)
                raise WebSocketDisconnect
            return self.texts.pop(0)

        async def send_text(self, text: str) -> None:
            assert json.loads(text, parse_constant=_no_constant)["type"]
            self.sent += 1

        async def close(self, code: int = 1000) -> None:
            pass

    class Pool:
        """Takes messages as the real pool does, and answers each with a frame that carries its number."""

        def submit(self, place: str, lane: str, message: Any) -> None:
            import pickle

            assert lane in (QUICK, SLOW)
            pickle.dumps({**message, "busy": False})  # as for a real worker process
            tabs.deliver(place, {"type": "error", "desk": message.get("desk"), "id": message.get("id"), "message": "x"})
            tabs.keep(place, dict(record))

        def cut(self, place: str) -> None:
            assert isinstance(place, str)

        close = cut

    tabs = Tabs(settings, store, choose_lane)
    tabs.pool = Pool()  # type: ignore[assignment]
    greeting = PLAY[0].decode()

    async def serve(texts: list[str]) -> None:
        problems: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
        pumps: list[asyncio.Task[Any]] = []
        before = asyncio.all_tasks()
        serving = asyncio.create_task(tabs.serve(Socket(texts)))  # type: ignore[arg-type]
        while not serving.done():
            await asyncio.sleep(0)
            pumps += [task for task in asyncio.all_tasks() - before - {serving} if task not in pumps]
        serving.result()
        for pump in pumps:
            if pump.done() and not pump.cancelled() and pump.exception() is not None:
                raise pump.exception()  # type: ignore[misc]
        assert not problems

    def run(data: bytes) -> None:
        texts = [line.decode("utf-8", "replace") for line in data.split(b"\n")][:20]
        asyncio.run(serve([greeting, *texts]))

    return Prepared(_sequences((*PLAY, *EXPLORE)), run)


def _no_constant(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")


def _desk(name: str, messages: tuple[bytes, ...], **context: Any) -> Any:
    """Returns the `prepare` of a desk's target; a desk is the object that answers messages in a worker process."""

    def prepare(folder: Path) -> Prepared:
        from tacit.errors import TacitError
        from tacit.games import load_game
        from tacit.solvers import solve
        from tacit.web.desk import Outlet, make_desk, read_message

        solve(load_game("kuhn_poker"), iterations=3).save(folder / "kuhn.tacit")
        told = {"seconds": 0.05, "solves": [str(folder)], "files": False, "runs": str(folder), "seed": 1, **context}

        def send(kind: str, frame: dict[str, Any]) -> None:
            json.dumps(frame, allow_nan=False)

        def run(data: bytes) -> None:
            desk, out, problem = make_desk(name, told), Outlet(send), None
            for line in data.split(b"\n")[:12]:
                try:
                    message = read_message(line.decode("utf-8", "replace"))
                    if _quick(message):
                        out.restart()
                        desk.handle(message, out)
                except TacitError as error:
                    problem = error
            desk.close()
            if problem is not None:
                raise problem

        return Prepared(_sequences(messages), run)

    return prepare


def _quick(message: dict[str, Any]) -> bool:
    """Returns whether a message can be answered quickly: it opens no large game and no opponent that must be solved first."""
    from tacit.errors import TacitError
    from tacit.games import load_game

    if message["do"] == "solve":
        return False  # takes half a second each
    game, opponent = message.get("game"), message.get("opponent")
    if message["do"] in ("open", "load", "size") and isinstance(game, str) and game not in GAMES and ".py" not in game:
        try:
            load_game(game)
        except TacitError:
            return True
        return False
    return (
        message["do"] not in ("open", "load")
        or "file" in message
        or message.get("desk") != "play"
        or opponent not in (None, "default")
    )


def _runs(folder: Path) -> Prepared:
    """What the Runs page may ask for, which must never leave the folder of runs."""
    from tacit.web.runs import RunList

    run = folder / "runs" / "one"
    run.mkdir(parents=True)
    secret = folder / "secret"
    secret.mkdir()
    (secret / "metrics.jsonl").write_text('{"secret": 1}\n')
    (secret / "config.json").write_text('{"system": "rebel", "game": "secret"}')
    (folder / "runs" / "link").symlink_to(secret)
    (run / "config.json").write_text('{"system": "rebel", "game": "kuhn_poker", "epochs": 3}')
    (run / "metrics.jsonl").write_text('{"epoch": 1, "seconds": 2.0}\n')
    runs = RunList(folder / "runs")

    def ask(data: bytes) -> None:
        name, _, after = data.decode("utf-8", "surrogateescape").partition("\n")
        answer = json.dumps(runs.metrics(name, int(after) if after.isdecimal() and len(after) < 30 else 0), allow_nan=False)
        assert '{"secret": 1}' not in answer

    return Prepared((b"one\n0", b"../secret\n1", b"link\n0", b"/etc\n5", b"one\n99999999999"), ask)


def _requests(folder: Path) -> Prepared:
    """Headers and query strings, as seen by the guard in front of the app."""
    from tacit.web.guard import Guard
    from tacit.web.settings import ServeSettings

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    guards = [Guard(app, ServeSettings()), Guard(app, ServeSettings(host="0.0.0.0", token="right"))]

    def run(data: bytes) -> None:
        query, *lines = data.replace(b"\r", b"").split(b"\n")
        headers = [(name.strip().lower(), value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
        for kind in ("http", "websocket"):
            for guard in guards:
                sent: list[Any] = []

                async def send(event: Any, sent: list[Any] = sent) -> None:
                    sent.append(event)

                scope = {"type": kind, "method": "GET", "headers": headers, "query_string": query, "path": "/"}
                asyncio.run(guard(scope, None, send))
                assert sent
                if sent[0].get("status") == 200 and guard is guards[1]:
                    assert b"right" in data

    seeds = (
        b"token=right\nHost: 127.0.0.1:8710\nOrigin: http://127.0.0.1:8710",
        b"\nHost: localhost\nCookie: tacit_token=right; a=b",
        b"a=1&token=wrong\nHost: [::1]:80\nOrigin: null",
        b"\nHost: evil.example\nCookie: $x=1; ;=;",
    )
    return Prepared(seeds, run)


PAGES = (
    Target("tabs", _tabs),
    Target("play-desk", _desk("play", PLAY[1:]), seconds=10.0, examples=60),
    Target("explore-desk", _desk("explore", EXPLORE), seconds=10.0, examples=60),
    Target("run-lists", _runs),
    Target("requests", _requests),
)
