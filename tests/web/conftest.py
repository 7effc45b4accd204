"""A server in its own process, and a real Chromium for the pages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
WAIT = 400_000
"""Most milliseconds that tests wait for the page: code may have to be compiled first."""
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip

pytest.importorskip("fastapi", reason="the browser app needs the extra web")


class Server:
    """A running `tacit serve`.

    Attributes:
      address: Its URL, without a trailing slash.
      data: Its data folder.
    """

    def __init__(self, data: Path, *options: str) -> None:
        self.data = data
        environment = {**os.environ, "PYTHONPATH": os.environ.get("PYTHONPATH", str(ROOT / "src"))}
        command = [
            sys.executable,
            "-m",
            "tacit",
            "serve",
            "--port",
            "0",
            "--workers",
            "1",
            "--no-warm",
            "--data",
            str(data),
            *options,
        ]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, cwd=ROOT)
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        assert line.startswith("tacit is at http"), line
        self.full_address = line.split()[3]
        self.address = self.full_address.partition("/?")[0].rstrip("/")

    def kill(self) -> None:
        """Kills the server at once, as a power cut would."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Stops the server as Ctrl-C does."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("web"), "--seconds", "0.3")
    yield running
    running.stop()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's Chromium; CI installs it (`.ci/run`)."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="browser tests need playwright")
    path = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("no chromium: .ci/run installs it with apt-get install chromium")
        pytest.skip("no chromium is installed: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


class Visit:
    """A page, and everything that went wrong on it.

    Attributes:
      page: Playwright's page.
      problems: Console errors and exceptions.
      hosts: The hosts that requests went to.
    """

    def __init__(self, browser: Any, server: Server, **options: Any) -> None:
        self.server = server
        self.context = browser.new_context(
            **{"viewport": {"width": 1200, "height": 800}, "reduced_motion": "reduce", **options}
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(WAIT)
        self.problems: list[str] = []
        self.hosts: set[str] = set()
        self.frames: list[str] = []
        self.page.on("console", lambda line: self.problems.append(line.text) if line.type == "error" else None)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self.hosts.add(request.url.split("/")[2]))

    def open(self, route: str = "") -> Any:
        """Opens a route and returns the page."""
        self.page.goto(f"{self.server.address}/{route}")
        return self.page

    def close(self) -> None:
        """Closes the page; anything that went wrong fails the test."""
        self.context.close()
        assert self.problems == []
        assert self.hosts <= {self.server.address.partition("//")[2]}


@pytest.fixture
def visit(chromium: Any, server: Server) -> Iterator[Any]:
    """Opens visits, which are checked at the end of the test."""
    visits: list[Visit] = []

    def make(**options: Any) -> Visit:
        visits.append(Visit(chromium, server, **options))
        return visits[-1]

    yield make
    for one in visits:
        one.close()
