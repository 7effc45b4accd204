"""The public API: what `import tacit` offers, through public names only."""

import ast
import json
import re
from importlib import import_module
from pathlib import Path

import pytest

import tacit

ROOT = Path(__file__).parents[2]
PUBLIC = ("games", "pettingzoo", "search", "training")
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.py")), *NOTEBOOKS]


def test_dir_lists_the_api_and_nothing_else() -> None:
    import tacit.cards.deck  # importing a module does not add it to the API

    assert dir(tacit) == sorted([*tacit.__all__, *PUBLIC, "__version__"])
    assert all(getattr(tacit, name) is not None for name in dir(tacit))
    with pytest.raises(AttributeError, match="no attribute 'slove'"):
        _ = tacit.slove  # type: ignore[attr-defined]


def test_types_are_shipped() -> None:
    assert (Path(tacit.__file__).parent / "py.typed").is_file()


def imports(page: Path) -> list[tuple[str, str]]:
    """Returns the modules of `tacit` that a page or an example imports from, with the imported names."""
    text = page.read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL) if page.suffix == ".md" else [text]
    if page.suffix == ".ipynb":
        blocks = ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    found = []
    for node in (node for block in blocks for node in ast.walk(ast.parse(block))):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node.module or "", alias.name) for alias in node.names]
    return [(module, name) for module, name in found if module.partition(".")[0] == "tacit"]


def test_pages_and_examples_import_public_names_only() -> None:
    found = {(page.name, *one) for page in PAGES for one in imports(page)}
    assert len(found) > 10
    for page, module, name in found:
        assert module in ("tacit", *(f"tacit.{one}" for one in PUBLIC)), f"{page} imports from {module}"
        assert not name or name in import_module(module).__all__, f"{page} imports {name} from {module}"


def test_a_match_returns_what_the_command_prints() -> None:
    result = tacit.match(tacit.solve("kuhn_poker", iterations=50), "random", hands=200, seed=3)
    assert (result.game, result.agents, result.hands, result.unit) == (
        "kuhn_poker",
        ("dcfr, 50 iterations", "random"),
        200,
        "payoff",
    )
    assert result.mean is not None
    assert result.interval is not None
    assert result.interval[0] < result.mean < result.interval[1]
    assert result.as_dict()["mean"] == result.mean
    assert repr(result).startswith("<MatchResult dcfr, 50 iterations v random on kuhn_poker: ")
    assert tacit.match("always-call", "always-call", "kuhn_poker", hands=20).mean == 0.0  # every deal is played in both seats
    poker = tacit.match("always-fold", "always-call", "no_limit_holdem", hands=4)
    assert (poker.unit, poker.as_dict()["mbb_per_hand"]) == ("mbb", poker.mean)


def test_evaluate_takes_names_and_objects() -> None:
    result = tacit.solve("kuhn_poker", iterations=50)
    for what in (result, result.strategy, tacit.open(result)):
        found = tacit.evaluate(what)
        assert (found.metric, found.kind) == ("exploitability", "exact")
        assert found.figure == pytest.approx(result.exploitability, abs=1e-12)
    assert repr(found) == f"<Evaluation of dcfr, 50 iterations on kuhn_poker: exploitability {found.figure:.6g}, exact>"
    assert tacit.evaluate(tacit.open("random", "kuhn_poker").strategy()).figure == pytest.approx(0.458333, abs=1e-6)
    uniform = tacit.evaluate("random", game="kuhn_poker")
    assert (uniform.agent, uniform.kind, uniform.figure) == ("random", "exact", pytest.approx(0.458333, abs=1e-6))


def test_show_is_what_a_result_shows() -> None:
    result = tacit.solve("kuhn_poker", solver="lp")
    shown, own = tacit.show(result, "bet"), result.show("bet")
    assert (shown.actions, shown.strategy.tolist()) == (own.actions, own.strategy.tolist())
    with pytest.raises(tacit.TacitError, match="bite"):
        tacit.show(result, "bite")


def test_a_run_is_trained_opened_and_continued(tmp_path: Path) -> None:
    seen: list[int] = []
    run = tacit.train(
        "nfsp", "kuhn_poker", run=tmp_path / "run", preset="smoke", epochs=1, on_epoch=lambda now: seen.append(now.epoch)
    )
    assert (run.system, run.game, run.epoch, run.finished, seen) == ("nfsp", "kuhn_poker", 1, True, [1])
    assert tacit.open(run).evaluate().figure == pytest.approx(run.exploitability)
    assert "nfsp on kuhn_poker, 1 of 1 epochs" in repr(run)
    more = tacit.train("nfsp", "kuhn_poker", run=run, resume=True, epochs=2)
    assert [now.epoch for now in more.history] == [1, 2]
    for wrong, message in (
        ({}, "holds a run: add resume=True"),
        ({"run": tmp_path / "none", "resume": True}, "has no run to resume"),
        ({"run": tmp_path / "new", "preset": "huge"}, "unknown preset 'huge'"),
        ({"run": tmp_path / "new", "colour": 3}, "unknown setting 'colour'"),
        ({"run": tmp_path / "new", "time_limit": 0.0}, "time_limit must be positive, not 0.0"),
        ({"run": tmp_path / "new", "device": "abacus"}, "abacus"),
    ):
        with pytest.raises(tacit.TacitError, match=message):
            tacit.train("nfsp", "kuhn_poker", **{"run": run, **wrong})  # type: ignore[arg-type]
    with pytest.raises(tacit.TacitError, match="unknown system 'alphazero': choose one of rebel"):
        tacit.train("alphazero", "kuhn_poker", run=tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: tacit.match("random", "random"), "which game do random and random play"),
        (lambda: tacit.match("random", "random", "kuhn_poker", hands=0), "at least one hand, not 0"),
        (lambda: tacit.match("random", object(), "kuhn_poker"), "object cannot play: it must have start"),
        (lambda: tacit.match("random", tacit.open("random"), "kuhn_poker", workers=2), "give their names, or workers=1"),
        (lambda: tacit.match(tacit.solve("kuhn_poker", iterations=1), "random", "leduc_poker"), "is a strategy of kuhn_poker"),
        (lambda: tacit.match("random", "random", "kuhn_poker", iterations=3), "--iterations cannot be used with random"),
        (lambda: tacit.evaluate("always-call", game="kuhn_poker"), "cannot be measured on kuhn_poker"),
        (lambda: tacit.evaluate(tacit.solve("kuhn_poker", iterations=1), "beauty"), "unknown metric 'beauty'"),
        (lambda: tacit.solve_by_search("kuhn_poker", depth=1, leaf="sage"), "no leaf 'sage'"),
        (lambda: tacit.open("random", "kuhn_poker").leaf(None), "has no value network"),  # type: ignore[arg-type]
        (lambda: tacit.open("always-call", "kuhn_poker").openspiel_policy(), "does not play by a table"),
    ],
)
def test_wrong_uses_get_one_line(use: object, message: str) -> None:
    with pytest.raises(tacit.TacitError, match=re.escape(message)) as refused:
        use()  # type: ignore[operator]
    assert "\n" not in str(refused.value)
