"""`tacit serve`: the browser app."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from tacit.errors import TacitError


def serve(
    solves: Annotated[
        list[Path] | None, typer.Argument(help="Saved solves, or folders of them, that the Explore page opens.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; any but this machine's own requires a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 takes a free one.")] = 8710,
    token: Annotated[
        str | None, typer.Option(help="Secret that browsers must send. [default: none on this machine, else a new one]")
    ] = None,
    data: Annotated[Path, typer.Option(help="Folder for scores and hand histories.")] = Path("out/web"),
    runs: Annotated[Path, typer.Option(help="Folder of the runs that the Runs page shows.")] = Path("runs"),
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, max=64, help="Processes for small games; half as many more for hold'em. [default: one for each core]"
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.05, max=600, help="Thinking time per decision in hold'em.")] = 2.0,
    warm: Annotated[bool, typer.Option(help="Prepare all small games at startup, so that they open at once.")] = True,
    browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser, if there is a screen.")] = False,
) -> None:
    """Play in the browser, see what the opponent believes, explore solves and watch runs.

    Examples:

      tacit serve

      tacit serve --open --seconds 1

      tacit serve leduc.tacit solves/ --runs runs

      tacit serve --host 0.0.0.0 --port 8000
    """
    try:
        import uvicorn

        from tacit.web.app import make_app
    except ModuleNotFoundError as error:
        raise TacitError(f"the browser app needs {error.name}: pip install 'tacit[web]'") from None
    from tacit.processes import num_cores
    from tacit.web.settings import ServeSettings, is_loopback

    missing = next((place for place in solves or () if not place.exists()), None)
    if missing is not None:
        raise TacitError(f"no file or folder at {missing}")
    count = workers or num_cores()
    if token is None:
        token = "" if is_loopback(host) else secrets.token_urlsafe(16)
    listener = _listen(host, port)
    port = listener.getsockname()[1]
    settings = ServeSettings(
        host=host, port=port, token=token, data=data, runs=runs, quick_workers=count, slow_workers=max(1, count // 2),
        seconds=seconds, solves=tuple(solves or ()), warm=warm,
    )  # fmt: skip
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{port}/{f'?token={token}' if token else ''}"
    sys.stderr.write(f"tacit is at {address}  (Ctrl-C stops)\n")
    if browser and _has_screen():
        threading.Timer(1.0, webbrowser.open, [address]).start()
    config = uvicorn.Config(
        make_app(settings), log_level="warning", ws_max_size=4 * settings.max_message, ws="websockets-sansio", lifespan="on",
        timeout_graceful_shutdown=2,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listener])


def _has_screen() -> bool:
    """Returns whether a browser would open a window; one in the terminal would get in the way."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _listen(host: str, port: int) -> socket.socket:
    """Returns a listening socket; a port in use is reported in one line."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)  # a browser can connect as soon as the address is printed
    except OSError as error:
        raise TacitError(f"cannot listen on {host}:{port}: {error.strerror}; try --port 0") from None
    return listener
