"""The app's shell: all its files exist, and its pages open in a real browser."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.web.conftest import WAIT

STATIC = Path(__file__).parents[2] / "src" / "tacit" / "web" / "static"


def test_everything_that_a_module_imports_is_kept_by_git() -> None:
    """A file that .gitignore matches would be missing everywhere but here."""
    known = subprocess.run(["git", "ls-files", "."], cwd=STATIC, capture_output=True, text=True, check=False)
    if known.returncode:
        pytest.skip("not a git checkout")
    files = {STATIC / line for line in known.stdout.splitlines()}
    for module in STATIC.rglob("*.js"):
        assert module in files, module
        for name in re.findall(r"(?:from|import\() ?\"(\.[^\"]+)\"", module.read_text()):
            assert (module.parent / name).resolve() in files, f"{module} imports {name}"


def test_the_root_is_a_table_ready_to_play(visit: Any) -> None:
    page = visit().open()
    page.wait_for_selector("button.choice", timeout=WAIT)
    assert page.locator(".felt.poker").count() == 1
    page.locator("button.choice").first.click()
    page.wait_for_selector(".log li.you")


def test_the_pages_are_reached_by_their_links(visit: Any) -> None:
    page = visit().open("#/play/kuhn_poker")
    page.wait_for_selector("button.choice", timeout=WAIT)
    for name in ("Explore", "Runs", "Play"):
        page.click(f"nav >> text={name}")
        page.wait_for_selector(f"nav a[aria-current=page]:has-text('{name}')")
        page.wait_for_selector("main h1")
