"""The site builds without a warning, and its reference has every public name."""

import inspect
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import tacit

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
MODULES = ("games", "search", "training", "pettingzoo")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of the built site; a dead link or anchor, or a page in no menu, fails the build."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


def public() -> list[tuple[str, Any]]:
    """Returns every public name, after its page's module, and the object that it names."""
    top = [("tacit." + name, getattr(tacit, name)) for name in tacit.__all__]
    modules = [(f"tacit.{module}", import_module(f"tacit.{module}")) for module in MODULES]
    return top + [(f"{path}.{name}", getattr(module, name)) for path, module in modules for name in module.__all__]


def test_the_site_has_a_page_for_each_page(site: Path) -> None:
    pages = [page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")]
    assert len(pages) > 40
    assert all((site / page.with_suffix(".html")).is_file() for page in pages)
    assert (site / "source" / "examples" / "own_game.py.html").is_file()  # linked from a page, so the site includes it


def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        for tag in re.findall(r"<(?:script|link|img|iframe)\b[^>]*>", page.read_text()):
            address = re.search(r'(?:src|href)="([^"]*)"', tag)
            assert address is None or "://" not in address[1], f"{page.name}: {tag}"


def test_the_reference_has_every_public_name(site: Path) -> None:
    anchors = {
        anchor for page in (site / "reference").glob("*.html") for anchor in re.findall(r'id="([\w.]+)"', page.read_text())
    }
    for path, value in public():
        home = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"  # where it is defined
        names = {path, home, *(other for other, same in public() if same is value)}
        assert names & anchors, path


def undocumented() -> list[str]:
    """Returns public functions, classes, methods and properties that neither have a docstring nor inherit one."""
    found = []
    for path, value in public():
        if not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        found += [] if inspect.getdoc(value) else [path]
        members = vars(value).items() if inspect.isclass(value) else ()
        for name, member in members:
            if not name.startswith("_") and (callable(member) or isinstance(member, property | classmethod | staticmethod)):
                found += [] if inspect.getdoc(getattr(value, name)) else [f"{path}.{name}"]
    return found


def test_everything_public_is_documented() -> None:
    assert len(public()) > 70
    assert undocumented() == []


def test_public_functions_document_every_parameter() -> None:
    missing = []
    for path, value in public():
        functions = {path: value} if inspect.isfunction(value) else {}
        if inspect.isclass(value):
            functions = {f"{path}.{name}": member for name, member in vars(value).items() if inspect.isfunction(member)}
        for name, function in functions.items():
            text = inspect.getdoc(function) or ""
            if "Args:" in text:
                named = set(inspect.signature(function).parameters) - {"self", "cls"}
                missing += [
                    f"{name}: {one}" for one in named if not re.search(rf"^\s+\*{{0,2}}{one}( \(.*\))?:", text, re.MULTILINE)
                ]
    assert missing == []
