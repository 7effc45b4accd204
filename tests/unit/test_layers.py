"""Layers: a module may only import from its own layer and from those above it in the list in docs/architecture.md."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "tacit"
DOORS = ("__init__", "__main__")
"""Modules above all layers: the lazily imported names of `tacit`, and `python -m tacit`."""
CONSTANTS = ("__version__",)
"""Constants that `tacit` defines itself, which every layer may import."""


def listed() -> list[str]:
    """Returns the folders and single files of the package, in the order of docs/architecture.md."""
    tree = re.search(r"^src/tacit/\n((?:  .*\n)+)", (ROOT / "docs" / "architecture.md").read_text(), re.MULTILINE)
    assert tree is not None
    heads = [re.match(r"(?:  ?\w+(?:/|\.py)(?= ))+", line) for line in tree[1].splitlines()]
    return [name for head in heads if head is not None for name in re.findall(r"\w+(?=/|\.py)", head[0])]


def layer_of(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(source: str) -> Iterator[str]:
    """Yields what follows `tacit.` in a module's imports, including those inside functions and for type checks only."""
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names]
        for name in names:
            package, _, rest = name.partition(".")
            if package in ("tacit", ""):
                yield rest


def too_low(layer: str, source: str, order: list[str]) -> list[str]:
    """Returns the imports of a module that come from below its layer or from an unlisted one."""
    allowed = (*order[: order.index(layer) + 1], *CONSTANTS)
    return [name for name in imported(source) if name.partition(".")[0] not in allowed]


def test_all_of_the_package_is_listed_once() -> None:
    assert sorted(listed()) == sorted({layer_of(module) for module in PACKAGE.rglob("*.py")} - {*DOORS})


def test_a_layer_imports_only_from_those_above_it() -> None:
    order = listed()
    found = {
        str(module.relative_to(PACKAGE)): names
        for module in PACKAGE.rglob("*.py")
        if layer_of(module) not in DOORS and (names := too_low(layer_of(module), module.read_text(), order))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("from tacit.games.base import Game\nfrom tacit.tree import beliefs\nfrom tacit import games, __version__", []),
        ("import numpy\nimport tacit.tree.beliefs\nfrom tacitly.agents import base", []),
        ("from tacit.agents.base import Agent", ["agents.base.Agent"]),
        ("def late():\n    import tacit.agents.base", ["agents.base"]),
        ("if TYPE_CHECKING:\n    from tacit import agents", ["agents"]),
        ("from tacit import load_agent", ["load_agent"]),  # through the public API
        ("import tacit", [""]),
        ("from ..agents import base", [".agents.base"]),
    ],
)
def test_what_counts_as_an_import_from_below(source: str, names: list[str]) -> None:
    assert too_low("tree", source, ["games", "tree", "agents"]) == names
