"""The notebooks run from first cell to last, and show what their text says.

They are stored without outputs: a stored picture can go out of date, and every run of a notebook would change its file. Their
outputs are checked here instead.
"""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"
NAMES = ("anatomy_of_a_solve", "quick_start")


def read(name: str) -> Any:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def run(name: str, folder: Path) -> tuple[list[str], list[str], int]:
    """Returns the printed texts, the HTML outputs and the number of pictures of a notebook that is run in a folder."""
    notebook = read(name)
    place = {"metadata": {"path": str(folder)}}
    # A kernel sends what is printed in pieces, on a busy machine in the middle of a line.
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place, coalesce_streams=True).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    printed = [output.text for output in outputs if output.output_type == "stream" and output.name == "stdout"]
    data = [output.data for output in outputs if "data" in output]
    return printed, [one["text/html"] for one in data if "text/html" in one], sum("image/png" in one for one in data)


def figures(text: str, pattern: str) -> dict[str, float]:
    """Returns numbers by name from lines such as `cfr+   0.001`."""
    return {name: float(number) for name, number in re.findall(pattern, text, re.MULTILINE)}


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_are_kept_without_outputs(name: str) -> None:
    notebook = read(name)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(NAMES)


def test_quick_start(tmp_path: Path) -> None:
    printed, drawn, _ = run("quick_start", tmp_path)
    game, solve, view, belief, river, trained, judged, match = drawn
    assert "leduc_poker" in game
    assert "<polyline" in solve
    assert "player 0 after check / bet" in view
    assert "belief about player 1" in belief
    assert ">AKs<" in river
    assert "nfsp on kuhn_poker" in trained
    assert "exact" in judged
    assert "A wins" in match
    assert re.search(r"you may: call, raise - you: raise\n(.*\n)*you win 1\.0", printed[-1])
    assert list(tmp_path.iterdir()) == []  # nothing is left behind


def test_anatomy_of_a_solve(tmp_path: Path) -> None:
    printed, drawn, pictures = run("anatomy_of_a_solve", tmp_path)
    text = "\n".join(printed)
    assert pictures == 5
    tree, strategy, view, response = drawn
    assert "public tree of kuhn_poker" in tree
    assert "strategy of kuhn_poker" in strategy
    assert "player 1 after bet" in view
    assert "player 1 after bet" in response
    assert "reach of player 0 (J, Q, K): [0.1 0.3 1. ]" in text
    assert "beliefs about player 0: [0.071 0.214 0.714] by Bayes' rule: [0.071 0.214 0.714]" in text
    assert "average: [0.33 0.34 0.33]" in text
    assert re.search(r"player 0  -            Q: call \d+ % .*, raise [01] % \(regret -", text)  # as the text says
    assert re.search(r"player 1  bet          K: fold 0 % .*, call 100 %", text)
    best = figures(text, r"^(by hand|solved) .*exploitability ([\d.]+)$")
    assert best["by hand"] == pytest.approx(0.4, abs=1e-4)
    assert best["solved"] < 0.002
    leduc = figures(text, r"^(fp|cfr|cfr\+|dcfr|pcfr\+) +([\d.]+)$")
    assert max(leduc["cfr+"], leduc["dcfr"], leduc["pcfr+"]) < 0.2 * min(leduc["cfr"], leduc["fp"])
    assert "heads with probability 0.5 - worth -0.5" in text
    search = figures(text, r"^(zero|random|oracle) +([\d.]+)$")
    assert search["oracle"] < 0.2 * min(search["zero"], search["random"])
    assert list(tmp_path.iterdir()) == []
