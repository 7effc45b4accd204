"""Pages: their code runs and prints what they show, and the numbers in docs/rebel.md match its pictures."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
import typer

from tacit.cli.main import app
from tacit.leaves.evaluators import OracleLeaves, ZeroLeaves

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS.parent / "README.md", *(page for page in sorted(DOCS.rglob("*.md")) if page.name != "LOG.md")]
STEP = re.compile(
    r'^```(?P<language>python|sh)(?: title="(?P<file>[^"]+)")?\n(?P<code>.*?)^```\n(?:\n```text\n(?P<printed>.*?)^```\n)?',
    re.DOTALL | re.MULTILINE,
)
NUMBER = re.compile(r"-?\d+\.\d*")


@pytest.fixture(scope="module")
def pictures() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_rebel_pages", DOCS / "make_rebel_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assert_printed(printed: str, claimed: str) -> None:
    """Asserts that words are equal, and numbers up to one unit of the last digit shown on their line of the page."""
    for line, page in zip(printed.splitlines(), claimed.splitlines(), strict=True):
        assert NUMBER.sub("#", line) == NUMBER.sub("#", page), printed
        found, numbers = NUMBER.findall(line), NUMBER.findall(page)
        unit = 10.0 ** -max((len(number.split(".")[1]) for number in numbers), default=0)
        assert [float(number) for number in found] == pytest.approx([float(number) for number in numbers], abs=1.01 * unit)


def runs_shell(page: Path) -> bool:
    """Returns whether a page's shell commands are run, too; those of other pages may take hours and are only parsed."""
    return page.parent.name == "tutorials" or page.name == "start.md"


def run_shell(lines: str, folder: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
    }
    shell = ["bash", "-euo", "pipefail", "-c", lines]
    ended = subprocess.run(shell, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, f"{lines}\n{ended.stdout}\n{ended.stderr}"


@pytest.mark.parametrize("page", [page for page in PAGES if "```python" in page.read_text()], ids=lambda page: page.stem)
def test_the_code_of_a_page_runs_and_prints_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python blocks run here in order, files are written, and a tutorial's commands run in a shell."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}  # shared, because each block continues the previous one
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for step in STEP.finditer(page.read_text()):
            if step["file"] is not None:
                (tmp_path / step["file"]).write_text(step["code"])
            elif step["language"] == "python":
                exec(compile(step["code"], page.name, "exec"), names)
                printed = capsys.readouterr().out
                if step["printed"] is not None:
                    assert_printed(printed, step["printed"])
            elif runs_shell(page):
                assert step["printed"] is None, "what a command prints is not compared"
                run_shell(step["code"], tmp_path)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("page", [page for page in PAGES if runs_shell(page) and "```python" not in page.read_text()])
def test_the_commands_of_a_page_run(page: Path, tmp_path: Path) -> None:
    steps = list(STEP.finditer(page.read_text()))
    assert steps or page.name == "index.md"
    for step in steps:
        run_shell(step["code"], tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_code_is_one_that_tests_know(page: Path) -> None:
    """So that no block is skipped: `text` and `console` mark what tests cannot run, such as a browser or a cluster."""
    fences = re.findall(r"^```(.*)$", page.read_text(), re.MULTILINE)
    assert set(fences[1::2]) <= {""}
    for opening in fences[::2]:
        assert re.fullmatch(r'python( title="\w+\.py")?|sh|text|console|', opening), opening


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        file, _, heading = target.partition("#")
        if "://" in target:
            continue
        assert (page.parent / file).exists(), target
        if heading:
            headings = re.findall(r"^#+ (.*)$", (page.parent / file).read_text(), re.MULTILINE)
            assert heading in [re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in headings], target


@pytest.mark.parametrize("name_of_page", ["rebel.md", "sog.md", "results.md"])
def test_pages_name_only_files_that_exist(name_of_page: str) -> None:
    page, root = (DOCS / name_of_page).read_text(), DOCS.parent
    for name in re.findall(r"[` ]((?:\w+/)+\w+\.py)", page):
        assert (root / name).exists() or (root / "src" / "tacit" / name).exists(), name


def commands() -> list[str]:
    """Returns every `tacit` command in the shell blocks of the pages, with continued lines joined."""
    found: dict[str, None] = {}
    for page in PAGES:
        for block in re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL):
            lines = re.sub(r" &$", "", re.sub(r"\\\n", " ", block), flags=re.MULTILINE).splitlines()
            found |= dict.fromkeys(line for line in lines if line.startswith("tacit "))
    return list(found)


@pytest.mark.parametrize("line", commands())
def test_commands_of_pages_are_commands(line: str) -> None:
    """Checks names, options and numbers without running anything."""
    command: Any = typer.main.get_command(app)
    words = shlex.split(re.sub(r"\b[SN]\b", "1", line), comments=True)[1:]
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    with command.make_context("tacit", words):
        pass


def test_kuhn_beliefs_are_those_by_hand(pictures: ModuleType) -> None:
    found = pictures.kuhn_beliefs()
    np.testing.assert_allclose(found["bet"].beliefs[0], np.array([1, 3, 10]) / 14)
    np.testing.assert_allclose(found["bet"].beliefs[1], np.array([1.3, 1.1, 0.4]) / 2.8)
    pairs = {(0, 2): 0.9, (1, 0): 0.7 * 0.3, (1, 2): 0.7}  # check, then a bet with 30 % of jacks, no queens and all kings
    joint = found["check bet"].joint / found["check bet"].probability
    for pair in np.ndindex(3, 3):
        assert joint[pair] == pytest.approx(pairs.get(pair, 0.0) / sum(pairs.values()))


def test_one_ply_search_needs_values_of_beliefs(pictures: ModuleType) -> None:
    space = pictures.rps_space()
    for mixture, value in (((1, 0, 0), -1), ((0, 1, 0), -2), ((0, 0, 1), -2), ((1 / 3,) * 3, -1 / 3), ((0.4, 0.4, 0.2), 0)):
        assert pictures.rps_value(space, np.array(mixture)) == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(pictures.rps_one_ply(space, ZeroLeaves()).average, 1 / 3)
    last = pictures.rps_one_ply(space, OracleLeaves(space)).average[-1]
    np.testing.assert_allclose(last, [0.406, 0.389, 0.205], atol=0.002)
    unsafe, safe = pictures.rps_answers(space, False, 1), pictures.rps_answers(space, True, 200)
    assert unsafe.loss == pytest.approx(1.0, abs=0.005)
    np.testing.assert_allclose(unsafe.strategy, [1, 0, 0], atol=0.005)
    np.testing.assert_allclose(safe.strategy, [0.40, 0.39, 0.21], atol=0.04)
    assert safe.loss < 0.1


def test_infostate_values_are_lines_that_touch_the_value_from_above(pictures: ModuleType) -> None:
    beliefs = np.linspace(0.0, 1.0, 21)
    for line_at, known in (
        (pictures.coin_line, np.minimum(-beliefs, beliefs - 1.0)),
        (pictures.bluff_line, np.minimum(1.0 - 1.5 * beliefs, 1.5 - 3.5 * beliefs)),  # player 1's queen folds, or calls
    ):
        lines = [line_at(belief) for belief in beliefs]
        np.testing.assert_allclose([line.at(line.belief) for line in lines], known, atol=1e-9)
        assert all((line.at(beliefs) >= known - 1e-9).all() for line in lines)


def test_a_bid_of_one_four_makes_a_four_twice_as_likely(pictures: ModuleType) -> None:
    start, opened, raised, claimed = pictures.solved_beliefs(["1x3", "1x4", "2x1"])
    np.testing.assert_allclose([*start, *opened], 0.25, atol=0.01)
    np.testing.assert_allclose(raised[1], [0.2, 0.2, 0.2, 0.4], atol=0.01)
    np.testing.assert_allclose(claimed[0], [1, 0, 0, 0], atol=0.02)
