"""`tacit runs`: what it lists, what damage it finds, how it compares, and what it prunes."""

import json
import shutil
from pathlib import Path

import pytest

from tacit.nets.checkpoint import is_whole, load_tensors
from tacit.rebel.system import REBEL
from tacit.rebel.trained import load_trained
from tacit.training.folder import RunFolder
from tacit.training.listing import find_runs, read_run
from tacit.training.run import load_trainer, open_run, train
from tests.command import tacit
from tests.unit.test_kept_checkpoints import damage
from tests.unit.test_run_folder import small, stop_after


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two finished runs of Kuhn poker, and one of dice that was stopped."""
    place = tmp_path_factory.mktemp("shared") / "runs"
    for name, settings in (("kuhn", {}), ("wide", {"hidden": "48"})):
        folder = RunFolder(place / name, REBEL)
        for stop in (2, 2):
            train(
                open_run(folder, "kuhn_poker", small(4, evaluate_every="1", **settings)), folder, should_stop=stop_after(stop)
            )
    dice = RunFolder(place / "more" / "dice", REBEL)
    train(open_run(dice, "liars_dice(dice=1,faces=3)", small(9)), dice, should_stop=stop_after(1))
    return place


@pytest.fixture
def runs(shared: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(shared, tmp_path / "runs"))


def test_the_list_tells_how_far_and_how_good_runs_are(runs: Path) -> None:
    ran = tacit("runs", "list", str(runs), "--json")
    assert ran.returncode == 0, ran.stderr
    found = {Path(run["run"]).name: run for run in json.loads(ran.stdout)["runs"]}
    assert found.keys() == {"kuhn", "wide", "dice"}
    kuhn, dice = found["kuhn"], found["dice"]
    history = RunFolder(runs / "kuhn", REBEL).history()
    assert (kuhn["system"], kuhn["game"], kuhn["epoch"], kuhn["epochs"]) == ("rebel", "kuhn_poker", 4, 4)
    assert (kuhn["exploitability"], kuhn["kind"]) == (history[-1].exploitability, "upper bound")
    assert kuhn["seconds"] == history[-1].seconds
    assert kuhn["bytes"] == sum(file.stat().st_size for file in (runs / "kuhn").rglob("*") if file.is_file())
    assert (dice["game"], dice["epoch"], dice["epochs"]) == ("liars_dice(dice=1,faces=3)", 1, 9)
    assert not any(run["training"] for run in found.values())
    with RunFolder(runs / "kuhn", REBEL).alone():
        listed = tacit("runs", "list", str(runs)).stdout.splitlines()
        assert {line.split()[0] for line in listed if "training now" in line} == {"kuhn"}
        assert {line.split()[0] for line in listed} == {"run", "kuhn", "wide", "more/dice"}
    assert "no runs in" in tacit("runs", "list", str(runs / "kuhn" / "checkpoints")).stdout


def test_whole_runs_are_verified(runs: Path) -> None:
    ran = tacit("runs", "verify", str(runs), "--json")
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    assert report["whole"]
    assert [run["damaged"] for run in report["runs"]] == [[], [], []]
    # The configuration, the metrics and the latest network; where evaluated, three more; a checkpoint for each session.
    assert [run["files"] for run in report["runs"]] == [8, 4, 8]
    assert report["runs"][0]["opens"].startswith("--resume continues after epoch 4 (checkpoint-000004.safetensors)")


@pytest.mark.parametrize(
    ("broken", "problem", "opens"),
    [
        ("checkpoints/checkpoint-000004.safetensors", "it was cut short or changed", "--resume continues after epoch 2"),
        ("checkpoints/network.safetensors", "it was cut short or changed", "network-000004.safetensors"),
        ("config.json", "cannot be read", ""),
    ],
)
def test_damage_is_found_and_what_opens_is_said(broken: str, problem: str, opens: str, runs: Path) -> None:
    file = runs / "kuhn" / broken
    damage(file)
    ran = tacit("runs", "verify", str(runs / "kuhn"), "--json")
    assert ran.returncode == 2
    if broken == "config.json":
        assert "its config.json cannot be read" in ran.stderr
        return
    (run,) = json.loads(ran.stdout)["runs"]
    assert run["damaged"] == [{"file": str(file), "problem": problem}]
    assert opens in run["opens"]
    assert ran.stderr.startswith(f"tacit: 1 file is damaged, first of all {file}: ")
    told = tacit("runs", "verify", str(runs)).stdout.splitlines()
    assert f"{file}: {problem}" in told


def test_metrics_that_lack_an_epoch_are_damaged_and_a_line_cut_short_is_not(runs: Path) -> None:
    file = runs / "kuhn" / "metrics.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    for content, problem in (
        (b"".join(lines) + lines[3][:9], None),
        (b"".join([lines[0], *lines[2:]]), "epoch 2 is missing"),
        (b"".join([*lines, lines[1]]), "epochs are repeated or out of order"),
        (b"".join([lines[0], b"???\n", *lines[1:]]), "line 2 cannot be read"),
        (b"", "epoch 1 is missing, and 3 more"),
    ):
        file.write_bytes(content)
        ran = tacit("runs", "verify", str(runs / "kuhn"), "--json")
        (run,) = json.loads(ran.stdout)["runs"]
        assert [found["problem"] for found in run["damaged"]] == ([] if problem is None else [problem])
        assert ran.returncode == (0 if problem is None else 2)


def test_runs_are_compared_by_settings_and_over_time(runs: Path, tmp_path: Path) -> None:
    plot = tmp_path / "curves.png"
    names = (str(runs / "kuhn"), str(runs / "wide"))
    ran = tacit("runs", "compare", *names, "--plot", str(plot), "--json")
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    assert report["settings"] == {"hidden": {"kuhn": 32, "wide": 48}}
    history = RunFolder(runs / "wide", REBEL).history()
    assert report["curves"]["wide"] == [[line.seconds, line.exploitability] for line in history]
    assert plot.read_bytes().startswith(b"\x89PNG")
    table = tacit("runs", "compare", *names).stdout
    assert "kuhn (upper bound)" in table
    assert f"{history[-1].exploitability:.4g}" in table.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("compare", "kuhn"), "is one run: name two or more to compare"),
        (("compare", "kuhn", "more"), "figures of kuhn_poker and of liars_dice(dice=1,faces=3) cannot be compared"),
        (("compare", "kuhn", "wide", "--plot", "curves.txt"), "the name must end in .png, .svg, .pdf"),
        (("verify", "nowhere"), "no run in nowhere: name the folder that --run named, or one above it"),
        (("list", "nowhere"), "there is no folder nowhere"),
        (("prune", "kuhn"), "--keep"),
        (("prune", "kuhn", "--keep", "-1"), "--keep"),
    ],
)
def test_wrong_uses_get_one_line(arguments: tuple[str, ...], message: str, shared: Path) -> None:
    ran = tacit("runs", *arguments, cwd=shared)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert message in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_pruning_says_what_would_go_and_removes_it_only_when_told(runs: Path) -> None:
    folder = RunFolder(runs / "kuhn", REBEL)
    files = {file: file.stat().st_size for file in folder.path.rglob("*") if file.is_file()}
    ran = tacit("runs", "prune", str(folder.path), "--keep", "1", "--json")
    report = json.loads(ran.stdout)
    gone = [folder.network.with_name(f"network-00000{epoch}.safetensors") for epoch in (2, 3)]
    assert report["runs"][0]["files"] == [str(file) for file in gone]
    assert (report["removed"], report["bytes"]) == (False, sum(files[file] for file in gone))
    assert {file for file in folder.path.rglob("*") if file.is_file()} == files.keys()
    assert tacit("runs", "prune", str(folder.path), "--keep", "1", "--yes").stdout.splitlines()[-1].endswith("2 files removed")
    assert {file for file in folder.path.rglob("*") if file.is_file()} == files.keys() - set(gone)
    assert train(load_trainer(folder), folder).epoch == 4


def test_without_checkpoints_a_run_still_plays(runs: Path) -> None:
    folder = RunFolder(runs / "kuhn", REBEL)
    assert tacit("runs", "prune", str(folder.path), "--keep", "0", "--checkpoint", "--yes").returncode == 0
    assert (list(folder.checkpoints()), list(folder.kept_networks())) == ([], [])
    assert load_trained(folder.path).epoch == 4
    assert not list(folder.path.rglob("*.part"))


def test_the_last_network_that_opens_stays(runs: Path) -> None:
    folder = RunFolder(runs / "kuhn", REBEL)
    damage(folder.network)
    assert tacit("runs", "prune", str(folder.path), "--keep", "0", "--checkpoint", "--yes").returncode == 0
    assert list(folder.kept_networks()) == [4]
    assert load_tensors(folder.kept_networks()[4])[1]["epoch"] == 4
    dice = RunFolder(runs / "more" / "dice", REBEL)
    for file in (dice.network, *dice.kept_networks().values()):
        damage(file)
    ran = tacit("runs", "prune", str(dice.path), "--keep", "0", "--checkpoint", "--yes")
    assert ran.returncode == 2
    assert "has no network that can be opened: its checkpoints are all that is left, and are kept" in ran.stderr
    assert all(map(is_whole, dice.checkpoints().values()))


def test_a_run_that_trains_is_not_pruned(runs: Path) -> None:
    with RunFolder(runs / "kuhn", REBEL).alone():
        ran = tacit("runs", "prune", str(runs), "--keep", "0", "--yes")
    assert ran.returncode == 2
    assert "a process is training in" in ran.stderr
    run = read_run(runs / "kuhn")
    assert run is not None
    assert not run.is_training()
    assert len(find_runs(runs)) == 3
