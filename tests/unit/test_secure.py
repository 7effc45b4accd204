"""What a stranger's file or name must never do: run code, or lead out of its folder."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tacit.errors import TacitError
from tacit.files import parse_json

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "tacit").rglob("*.py"))

MODULES = ("pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml", "xml")
"""Modules that run code, or load data that can: none is imported. `multiprocessing` pickles only between our processes."""
CALLS = {
    "eval", "exec", "compile", "__import__", "torch.load", "torch.save", "os.system", "os.popen", "subprocess.getoutput",
    "np.fromfile", "tarfile.open", "zipfile.ZipFile", "shutil.unpack_archive",
}  # fmt: skip
TO_OUR_WORKERS = {"scale/hands.py": {"pickle"}}
"""Where a process sends a job to the workers that it starts, as `multiprocessing` does; nothing else is unpickled."""
IMPORTS_FILES = {"games/own.py"}
"""Where a file is run as a module: the user names it as `FILE.py:CLASS`, or one of the user's runs or solves does."""


def called(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src/tacit")))
def test_nothing_unpickles_or_runs_what_it_reads(path: Path) -> None:
    tree, name = ast.parse(path.read_text()), str(path.relative_to(ROOT / "src/tacit"))
    for node in ast.walk(tree):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not {module.partition(".")[0] for module in modules} & {*MODULES} - TO_OUR_WORKERS.get(name, set()), name
    for function, call in called(tree):
        assert function not in CALLS, f"{name}: {function}"
        words = {word.arg: ast.unparse(word.value) for word in call.keywords}
        assert words.get("allow_pickle", "False") == "False", name
        assert words.get("shell", "False") == "False", name
        if function.endswith(("exec_module", "run_path", "spec_from_file_location")):
            assert name in IMPORTS_FILES, name


def test_the_search_for_dangerous_calls_finds_them() -> None:
    source = "import torch\ntorch.load(f)\neval(x)\nnp.load(f, allow_pickle=True)\n"
    assert {"torch.load", "eval"} <= {name for name, _ in called(ast.parse(source)) if name in CALLS}


BAD_NAMES = (
    "../secret",
    "a/../../secret",
    "/etc/passwd",
    "..",
    "~/x",
    "\0",
    "a\0b",
    "x" * 300,
    "x" * 5000,
    "con",
    "NUL",
    "a\nb",
    "link",
    "link/x",
    "\udcff",
    "/dev/zero",
    "/proc/self/mem",
    "file:///etc/passwd",
)


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """A folder with a run and a solve, a secret beside it, and links that lead to the secret."""
    from tacit.games import load_game
    from tacit.solvers import solve

    folder, secret = tmp_path / "served", tmp_path / "secret"
    for place in (folder / "run", secret):
        place.mkdir(parents=True)
        (place / "config.json").write_text(json.dumps({"system": "rebel", "game": place.name}))
        (place / "metrics.jsonl").write_text(json.dumps({"epoch": 1, "of": place.name}) + "\n")
    solve(load_game("kuhn_poker"), iterations=1).save(folder / "kuhn.tacit")
    solve(load_game("coin_guess"), iterations=1).save(secret / "coin.tacit")
    (folder / "link").symlink_to(secret)
    return folder


@pytest.mark.parametrize("name", BAD_NAMES)
def test_no_name_leads_the_browser_app_out_of_its_folders(served: Path, name: str) -> None:
    pytest.importorskip("fastapi")
    from tacit.web.explore.saved import find_saved
    from tacit.web.runs import RunList

    answer = RunList(served).metrics(name)
    assert answer["epochs"] == []
    assert "problem" in answer
    with pytest.raises(TacitError, match="no saved solve"):
        find_saved([str(served)], name)


def test_what_is_inside_is_found_and_what_is_linked_from_outside_is_not_listed(served: Path) -> None:
    pytest.importorskip("fastapi")
    from tacit.web.explore.saved import list_saved
    from tacit.web.runs import RunList

    assert RunList(served).metrics("run")["epochs"] == [{"epoch": 1, "of": "run"}]
    assert [run["name"] for run in RunList(served).listed()] == ["run"]
    assert [solve["file"] for solve in list_saved([str(served)])] == ["kuhn.tacit"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_stranger_opens_no_file_of_the_server_by_its_path(served: Path, name: str) -> None:
    """A server that others can reach opens bots, shipped networks and runs in its own folder, nothing else."""
    pytest.importorskip("fastapi")
    from tacit.web.play.opponents import refuse_paths

    with pytest.raises(TacitError, match="opponent"):
        refuse_paths({"files": False, "runs": str(served)}, name)
    with pytest.raises(TacitError, match="opponent"):
        refuse_paths({"files": False, "runs": str(served)}, f"{served}/{name}")


def test_a_stranger_still_plays_against_everyone_on_offer(served: Path) -> None:
    pytest.importorskip("fastapi")
    from tacit.games import load_game
    from tacit.web.play.opponents import opponents_for, refuse_paths

    context = {"files": False, "runs": str(served)}
    for game in ("kuhn_poker", "no_limit_holdem", "run"):
        if game != "run":
            for one in opponents_for(load_game(game), str(served)):
                refuse_paths(context, one["name"])
    refuse_paths(context, str(served / "run"))
    refuse_paths(context, "pretrained:liars_dice_1x4f")
    refuse_paths({"files": True}, "/anything/at/all")


@pytest.mark.parametrize(
    "part", ["../outside.part", "/etc/passwd", "..", "", ".", "network.x/y.part", "\0", "a" * 300, None, 3, ["x"]]
)
def test_a_network_file_cannot_name_parts_elsewhere(tmp_path: Path, part: object) -> None:
    from safetensors.torch import save

    from tacit.nets.checkpoint import load_tensors, read_header

    (tmp_path / "outside.part").write_bytes(b"x")
    (tmp_path / "inside").mkdir()
    file = tmp_path / "inside" / "network.safetensors"
    facts = {"format": "tacit-checkpoint-1", "parts": [part], "shapes": {}}
    file.write_bytes(save({}, {"tacit": json.dumps(facts)}))
    assert read_header(file) is None
    with pytest.raises(TacitError):
        load_tensors(file)


def test_settings_cannot_name_a_folder_outside_of_their_plan(tmp_path: Path) -> None:
    from tacit.training.plan import RunPlan

    sweep = {"../x": ["/etc", ".."], "hidden": ["a/b", "\0"]}
    for run in RunPlan("rebel", "kuhn_poker", "cpu", {}, sweep, None, 0).runs():
        assert (tmp_path / run.name).resolve().parent == tmp_path.resolve()


def test_names_too_long_for_a_file_are_refused_in_a_line() -> None:
    import tacit

    for name in ("x" * 5000, "~nobody/x", "x" * 300 + "/y"):
        with pytest.raises(TacitError):
            tacit.open(name, "kuhn_poker")
        with pytest.raises(TacitError):
            tacit.load_game(f"{name}.py:Game")
    assert os.path.exists(ROOT)


def test_json_has_one_kind_of_error() -> None:
    for text in ("[" * 100_000, '{"a":' * 100_000, "", "nope", b"\xff", "9" * 5_000):
        with pytest.raises(ValueError):  # noqa: PT011 (each parser says it in its own words)
            parse_json(text)
    for text in ("NaN", "[1e999]", "-Infinity", str(2**53 + 1), '"\\ud800"', '{"\\udfff": 1}'):
        parse_json(text)
        with pytest.raises(ValueError):  # noqa: PT011 (each parser says it in its own words)
            parse_json(text, strict=True)
    assert parse_json('{"a": [1, 2.5, "\\u00e9", null]}', strict=True) == {"a": [1, 2.5, "\u00e9", None]}


def test_a_file_of_brackets_is_a_damaged_file(tmp_path: Path) -> None:
    from tacit.arena.journal import read_journal
    from tacit.solvers.locks import load_locks
    from tacit.training.folder import system_of
    from tacit.training.plan import read_plan

    readers = {"locks.json": load_locks, "results.jsonl": read_journal}
    for name, read in readers.items():
        (tmp_path / name).write_text("[" * 100_000 + "\n")
        with pytest.raises(TacitError):
            read(tmp_path / name)
    (tmp_path / "config.json").write_text("[" * 100_000)
    with pytest.raises(TacitError, match="damaged"):
        system_of(tmp_path)
    (tmp_path / "plan.json").write_text("[" * 100_000)
    with pytest.raises(TacitError, match="damaged"):
        read_plan(tmp_path)


def test_a_compressed_strategy_is_not_unpacked_beyond_its_length() -> None:
    import zlib

    import numpy as np

    from tacit.blueprint.trained import unpack

    bomb = np.frombuffer(zlib.compress(bytes(10**8), 9), np.uint8)
    assert len(unpack(bomb, 1_000)) == 1_000
