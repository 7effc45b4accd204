"""The command line as users meet it: one line per error, only JSON on standard output, real processes that get killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from tacit import __version__
from tacit.cli.main import _explained
from tacit.reproduce.tabular import EXPERIMENTS
from tests.command import tacit

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("solve", "nope"), "unknown game 'nope'"),
        (("solve", "kuhn_pokr"), "did you mean kuhn_poker?"),
        (("solve", "liars_dice(sides=3)"), "it takes: dice, faces"),
        (("solve", "liars_dice(dice=3,faces=6)"), "does not fit"),
        (("solve", "openspiel:chess"), "does not fit"),
        (("solve", "openspiel:nope"), "has no game 'nope'"),
        (("solve", "kuhn_poker", "--solver", "magic"), "unknown solver"),
        (("solve", "kuhn_poker", "--iterations", "-1"), "must be positive"),
        (("solve", "kuhn_poker", "--iterations", "0"), "must be positive"),
        (("solve", "kuhn_poker", "--iterations", "many"), "valid int"),
        (("solve", "kuhn_poker", "--target", "nan"), "must be positive and finite"),
        (("solve", "kuhn_poker", "--time-limit", "nan"), "must be positive and finite"),
        (("solve", "kuhn_poker", "--solver", "lp", "--target", "1e-3"), "lp solves a game in one go"),
        (("solve", "kuhn_poker", "--seed", "-1"), "--seed"),
        (("solve", "kuhn_poker", "--show", "-1"), "--show"),
        (("solve", "liars_dice(dice=1,faces=6,dice=2)"), "dice is given twice"),
        (("solve", "liars_dice(dice=1,faces=600)"), "does not fit"),
        (("solve", "liars_dice(dice=100000,faces=100000)"), "at most 10,000"),
        (("solve", "modified_rps", "--export", "x.openspiel.json"), "no counterpart in OpenSpiel"),
        (("solve", "liars_dice(dice=2,faces=6)", "--solver", "[/x]"), "unknown solver '[/x]'"),
        (("solve", "openspiel:hex(board_size=1)"), "openspiel:hex(board_size=1)"),
        (("solve", "openspiel:nfg_game"), "nfg_game"),
        (("solve", "openspiel:goofspiel(num_cards=-1)"), "openspiel:goofspiel: num_cards must not be negative, not -1"),
        (("solve", "kuhn_poker", "--time-limit", "soon"), "90s, 10m or 1h"),
        (("solve", "kuhn_poker", "--resume", "missing.tacit"), "no file at missing.tacit"),
        (("solve", "kuhn_poker", "--resume", "broken.tacit"), "not a saved solve"),
        (("solve", "kuhn_poker", "--save", "file/inside.tacit"), "cannot write"),
        (("solve", "kuhn_poker", "--save", "."), "it is a directory"),
        (("solve", "kuhn_poker", "--plot", "curve.txt"), "must end in .png"),
        (("solve", "kuhn_poker", "--export", "strategy.xml"), "must end in .json"),
        (("solve", "kuhn_poker", "--backend", "torch", "--device", "cuda:7"), "CUDA"),
        (("solve", "kuhn_poker", "--backend", "torch", "--device", "foo"), "cannot compute on the device 'foo'"),
        (("solve",), "Missing argument"),
        (("dance",), "No such command"),
        (("games", "nope"), "unknown game"),
        (("doctor", "nope"), "unknown game"),
        (("bench", "nope"), "unknown benchmark"),
        (("train", "nope", "kuhn_poker", "--run", "r"), "unknown system"),
        (("train", "rebel", "nope", "--run", "r"), "unknown game"),
        (("train", "rebel", "kuhn_poker", "--run", "r", "--preset", "nope"), "unknown preset"),
        (("train", "rebel", "kuhn_poker", "--run", "r", "--set", "speed=9"), "unknown setting"),
        (
            ("train", "rebel", "kuhn_poker", "--run", "r", "--set", "depth=deep"),
            "depth must be a whole number",
        ),
        (("train", "nfsp", "kuhn_poker", "--run", "r", "--set", "seed=-1"), "seed must be between 0 and 4294967295"),
        (("train", "rebel", "kuhn_poker", "--run", "r", "--time-limit", "0s"), "must be positive and finite"),
        (("train", "rebel", "kuhn_poker", "--run", "r", "--set", "hidden=99999999999"), "does not fit into memory"),
        (("evaluate", "pretrained:liars_dice_1x4f", "--playthroughs", "9" * 30), "--playthroughs"),
        (("train", "rebel", "kuhn_poker", "--run", "r", "--resume"), "has no run to resume"),
        (("train", "rebel", "openspiel:dark_hex(board_size=2)", "--run", "r"), "the player to act is not public"),
        (("train", "sog", "openspiel:dark_hex(board_size=2)", "--run", "r"), "the player to act is not public"),
        (("train", "sog", "pot_limit_leduc", "--run", "r", "--set", "solver=fp"), "re-solving needs regret matching"),
        (("train", "sog", "connect_four", "--run", "r", "--set", "expansions=0"), "expansions must be at least 1, not 0"),
        (("train", "deepstack", "connect_four", "--run", "r"), "hides nothing"),
        (("evaluate", "missing"), "no agent 'missing': give a run folder"),
        (("evaluate", "pretrained:chess"), "no pretrained network 'chess': choose one of connect_four"),
        (("evaluate", "broken.tacit"), "not a checkpoint"),
        (("solve", "kuhn_poker", "--depth", "0"), "at least 1 action"),
        (
            ("solve", "kuhn_poker", "--depth", "2", "--leaf", "magic"),
            "choose one of oracle, solved, zero, random, continuations, or a network",
        ),
        (("solve", "liars_dice(dice=1,faces=4)", "--depth", "1", "--leaf", "pretrained:liars_dice_1x4f"), "must be a multiple"),
        (("solve", "kuhn_poker", "--depth", "2", "--target", "0.1"), "cannot be used with --depth"),
        (("solve", "kuhn_poker", "--depth", "2", "--backend", "torch"), "--backend cannot be used with --depth"),
        (("solve", "kuhn_poker", "--depth", "2", "--solver", "magic"), "flop, xfp\n"),
        (("solve", "kuhn_poker", "--leaf", "zero", "--recycle", "1"), "--leaf, --recycle can only be used with --depth"),
        (("solve", "kuhn_poker", "--decomposition", "foo"), "--decomposition can only be used with --depth"),
        (("solve", "kuhn_poker", "--solver", "lp", "--simultaneous"), "--simultaneous cannot be used with --solver lp"),
        (("solve", "kuhn_poker", "--save", "a.json", "--export", "./a.json"), "--save and --export are the same file"),
        (("solve", "kuhn_poker", "--resume", "a.json", "--export", "a.json"), "--resume and --export are the same file"),
        (("play", "nope"), "unknown game"),
        (("play", "liars_dice(dice=1,faces=4)", "--solver", "lp"), "flop, xfp\n"),
        (("play", "openspiel:chess"), "does not fit"),
        (("play", "liars_dice(dice=3,faces=6)"), "does not fit"),
        (("play", "kuhn_poker", "--seat", "2"), "choose 0, 1 or random"),
        (("play", "kuhn_poker", "--agent", "nobody"), "no agent 'nobody'"),
        (("play", "kuhn_poker", "--agent", "broken.tacit"), "damaged"),
        (("play", "kuhn_poker", "--agent", "pretrained:liars_dice_1x4f"), "was trained on liars_dice"),
        (("play", "kuhn_poker", "--games", "0"), "--games"),
        (("bench", "tabular", "--seconds", "nan"), "must be positive and finite"),
        (("bench", "nfsp", "--games", "kuhn_poker"), "--games is for tabular"),
        (("match", "random", "random", "--game", "kuhn_poker", "--hands", "9" * 23), "--hands"),
        (("evaluate", "always-call", "--game", "kuhn_poker"), "`tacit match`"),
        (("reproduce", "nope"), "unknown experiment"),
        (("reproduce", "flop", "--rows", "cfr-d"), "--rows is for rebel-table2"),
        (("reproduce", "flop", "--games", "1x4f"), "--games is for rebel-table2"),
        (("reproduce", "rebel-table2", "--rows", "tabular", "--games", "1x4f"), "--games is for the learned rows"),
        (("reproduce", "flop", "--scale", "huge"), "unknown scale"),
        (("reproduce", "rebel-table2", "--rows", "tabular,nope"), "unknown rows 'nope'"),
        (("reproduce", "rebel-table2", "--rows", "learned", "--games", "9x9f"), "unknown variant '9x9f'"),
        (("train", "rebel", "kuhn_poker", "--run", "r", "--device", "cuda:7"), "CUDA"),
        (("evaluate", "pretrained:liars_dice_1x4f", "--metric", "nope"), "unknown metric"),
        (("evaluate", "pretrained:liars_dice_1x4f", "--last", "3"), "keeps the networks of 0 evaluations"),
    ],
)
def test_bad_input_gets_one_line_and_exit_code_2(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "broken.tacit").write_bytes(b"\x08\x00\x00\x00\x00\x00\x00\x00{}")
    (tmp_path / "file").write_text("not a folder")
    result = tacit(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert result.stdout == ""
    lines = [line for line in result.stderr.strip().splitlines() if not line.startswith("compiling kernels")]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("tacit: ")
    assert message in f"{lines[0]}\n"


@pytest.mark.parametrize(
    "closing",
    [">&-", pytest.param("<&-", marks=pytest.mark.slow), pytest.param("2>&-", marks=pytest.mark.slow), "<&- >&- 2>&-"],
)
def test_closed_streams_are_no_error(closing: str, tmp_path: Path) -> None:
    code = "from tacit.cli.main import main; main()"
    command = f'"{sys.executable}" -c "{code}" solve kuhn_poker --iterations 5 --save k.tacit {closing}'
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert (tmp_path / "k.tacit").exists()


def test_an_unwritable_folder_is_refused_before_the_work(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        folder = Path("/proc/1")  # even root cannot write here
    else:
        folder = tmp_path / "locked"
        folder.mkdir(mode=0o500)
    result = tacit("solve", "kuhn_poker", "--save", str(folder / "kuhn.tacit"))
    assert result.returncode == 2
    assert "cannot write" in result.stderr


def test_solve_prints_one_json_object(tmp_path: Path) -> None:
    save, plot, table = tmp_path / "k.safetensors", tmp_path / "sub" / "k.png", tmp_path / "k.csv"
    files = ("--save", str(save), "--plot", str(plot), "--export", str(table))
    result = tacit("solve", "kuhn_poker", "--solver", "cfr+", "--iterations", "200", "--json", *files)
    assert result.returncode == 0, result.stderr
    data = json.loads(result.stdout)
    contract = (
        "game solver iterations exploitability nash_conv value seconds iterations_per_second nodes infostates backend device"
    )
    assert set(contract.split()) <= data.keys()
    assert data["value"] == pytest.approx(-1 / 18, abs=1e-2)
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert len(table.read_text().splitlines()) == 25
    judged = json.loads(tacit("evaluate", str(save), "--json").stdout)  # its name does not matter
    assert judged["exploitability"] == pytest.approx(data["exploitability"])
    again = tacit("solve", "kuhn_poker", "--solver", "cfr+", "--iterations", "400", "--resume", str(save), "--json")
    assert json.loads(again.stdout)["exploitability"] < data["exploitability"]


def start_python(code: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


def test_a_solve_stopped_by_the_user_is_saved(tmp_path: Path) -> None:
    save = tmp_path / "leduc.tacit"
    arguments = ["solve", "leduc_poker", "--time-limit", "120s", "--save", str(save), "--json"]
    process = start_python(
        "from tacit.cli import main, solve\n"
        "solve.AUTOSAVE_SECONDS = 0.0\n"  # once the file exists, iterations have begun
        f"main.main({arguments})"
    )
    while not save.exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert json.loads(out)["interrupted"] is True
    assert f"the result so far is kept in {save}" in err.decode()


def test_stopping_while_a_game_is_compiled_says_so() -> None:
    process = start_python(
        "import signal, tacit.tree.growing as g\n"
        "from tacit.cli import main\n"
        "g.resolve_chance = lambda *_: signal.raise_signal(signal.SIGINT)\n"
        "main.main(['solve', 'modified_rps'])"
    )
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"tacit: stopped\n")


@pytest.mark.parametrize("arguments", [(), pytest.param(("--json",), marks=pytest.mark.slow)])
def test_output_that_cannot_be_written(arguments: tuple[str, ...]) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "tacit", "games", "kuhn_poker", *arguments]
    with open("/dev/full", "w") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment, check=False)
    assert result.returncode == 2
    assert result.stderr == "tacit: cannot write to standard output: No space left on device\n"
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, env=environment, check=False)
    os.close(writer)
    assert (result.returncode, result.stderr) == (0, "")


def test_brackets_are_no_markup(tmp_path: Path) -> None:
    source = (ROOT / "examples" / "own_game.py").read_text().replace('"quiet"', '"[/quiet] :smile:"')
    (tmp_path / "own.py").write_text(source)
    result = tacit("solve", "own.py:OneCardBluff(cards=2)", "--solver", "lp", "--show", "9", cwd=tmp_path)
    assert "[/quiet] :smile:" in result.stdout


def test_version() -> None:
    asked = tacit("--version")
    assert (asked.returncode, asked.stdout, asked.stderr) == (0, f"tacit {__version__}\n", "")


def test_help_does_not_import_the_heavy_libraries() -> None:
    code = (
        "import sys\nfrom tacit.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'numba', 'scipy', 'matplotlib', 'pyspiel', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert result.returncode == 0, result.stderr
    assert "solve" in result.stdout


@pytest.mark.parametrize(
    "command", ["games", "solve", "train", "evaluate", "play", "doctor", "bench", "reproduce", "equity", "report"]
)
def test_every_command_has_help_with_examples_json_and_seed(command: str) -> None:
    result = tacit(command, "--help")
    assert result.returncode == 0
    for word in ("Examples", f"tacit {command}", "--json", "--seed"):
        assert word in result.stdout


def test_games_and_doctor_report_json() -> None:
    games = json.loads(tacit("games", "--json").stdout)["games"]
    assert {"kuhn_poker", "leduc_poker"} <= {game["game"] for game in games}
    report = json.loads(tacit("doctor", "liars_dice(dice=2,faces=6)", "--json").stdout)
    assert report["job"]["fits"] is False


def test_reproduce_figure_3_at_smoke_scale(tmp_path: Path) -> None:
    result = tacit("reproduce", "flop", "--scale", "smoke", "--out", str(tmp_path), "--json")
    data = json.loads(result.stdout)
    assert len(data["results"]) == 16
    best = {cell["variant"]: cell["solver"] for cell in sorted(data["results"], key=lambda cell: -cell["exploitability"])}
    assert set(best.values()) == {"linear-cfr"}
    assert (tmp_path / "flop.png").exists()


@pytest.mark.slow
def test_reproduce_figure_4_at_smoke_scale(tmp_path: Path) -> None:
    data = json.loads(tacit("reproduce", "teh-tabular", "--scale", "smoke", "--out", str(tmp_path), "--json").stdout)
    found = {cell["solver"]: cell["exploitability"] for cell in data["results"]}
    assert found["linear-cfr"] == min(found.values())
    assert found["fp"] == max(found.values())
    assert (tmp_path / "teh-tabular.png").exists()


@pytest.mark.slow
def test_reproduce_figures_2_and_5_at_smoke_scale(tmp_path: Path) -> None:
    command = ("reproduce", "rebel-teh", "--scale", "smoke", "--out", str(tmp_path), "--json")
    data = json.loads(tacit(*command).stdout)
    found = {name: points[0][1] for name, points in data["figure_2"].items()}
    assert found["solved rivers"] < 0.95 * found["odds alone"]
    assert set(found) == {"odds alone", "self-play", "random", "solved rivers"}
    assert set(data["figure_5"]) == {"CFR-D", "modified CFR-AVE", "FP"}
    assert (tmp_path / "rebel-teh.png").exists()
    again = tacit(*command)  # nothing is trained or judged a second time
    assert "trained before" in again.stderr
    assert json.loads(again.stdout)["figure_2"] == data["figure_2"]


def test_reproduce_the_robustness_of_xfp_at_smoke_scale(tmp_path: Path) -> None:
    data = json.loads(tacit("reproduce", "nfsp-xfp", "--scale", "smoke", "--out", str(tmp_path), "--json").stdout)
    found = {(cell["figure"][:2], cell["level"]): cell["reached"]["1000"] for cell in data["results"]}
    assert found["3a", "1/T"] == found["3b", "0"] == pytest.approx(data["paper_xfp"]["exploitability"], abs=0.01)
    assert [claim["holds"] for claim in data["claims"] if claim["claim"].startswith("3a")] == [True] * 4
    assert found["3b", "0.1"] < found["3b", "0.2"] < found["3b", "0.3"] < found["3b", "0.5"]
    assert (tmp_path / "nfsp-xfp.png").exists()


@pytest.mark.slow
def test_reproduce_a_learned_row_and_show_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXPERIMENTS["rebel-table2"].iterations, "smoke", 8)  # test_solvers.py checks the real value, 1,024
    arguments = ("reproduce", "rebel-table2", "--scale", "smoke", "--out", str(tmp_path), "--rows")
    result = tacit(*arguments, "tabular,cfr-d", "--json")
    assert result.returncode == 0, result.stderr
    data = json.loads(result.stdout)
    (cell,) = data["learned"]
    assert [point["epoch"] for point in cell["checkpoints"]] == [4, 8, 12]
    mean = sum(sum(point["exploitability"]) for point in cell["checkpoints"]) / 9
    assert cell["exploitability"] == pytest.approx(mean)
    assert cell["solver"] == "linear-cfr"
    assert cell["better"]["solver"] == "dcfr"
    assert cell["exploitability"] < 0.35  # uniform play has 0.655
    assert cell["paper_exploitability"] == 0.017
    assert len(data["results"]) == 12
    for picture in (data["plot"], data["learning_plot"]):
        assert Path(picture).read_bytes().startswith(b"\x89PNG")
    again = tacit(*arguments, "cfr-d")
    assert "trained before, 12 epochs" in again.stderr
    assert f"{cell['exploitability']:.4f}" in again.stdout
    assert f"--agent {cell['run']}" in again.stdout


def test_a_scale_that_needs_a_gpu_names_the_one_that_does_not(tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    result = tacit("reproduce", "rebel-table2", "--scale", "gpu", "--out", str(tmp_path))
    assert result.returncode == 2
    assert "choose --scale cpu" in result.stderr


def test_bench_measures_without_peers() -> None:
    result = tacit("bench", "tabular", "--games", "kuhn_poker", "--seconds", "0.02", "--no-peers", "--json")
    row = json.loads(result.stdout)["results"][0]
    assert 0 < row["iteration"] < 1
    assert row["ratios"]["openspiel"] is None


def test_the_example_runs() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(ROOT / "examples" / "own_game.py")]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert result.returncode == 0, result.stderr
    assert "no violation" in result.stdout
    solved = tacit("solve", "examples/own_game.py:OneCardBluff(cards=6)", "--solver", "lp", "--json", cwd=ROOT)
    assert json.loads(solved.stdout)["exploitability"] < 1e-9


def test_train_resume_evaluate_and_search_with_the_result(tmp_path: Path) -> None:
    run = tmp_path / "run"
    trained = tacit("train", "rebel", "kuhn_poker", "--run", str(run), "--preset", "smoke", "--json")
    assert json.loads(trained.stdout)["kind"] == "upper bound", trained.stderr
    assert {"config.json", "command.txt", "metrics.jsonl"} <= {path.name for path in run.iterdir()}
    again = tacit("train", "rebel", "kuhn_poker", "--run", str(run))
    assert again.returncode == 2
    assert "add --resume" in again.stderr
    judged = json.loads(tacit("evaluate", str(run), "--playthroughs", "8", "--json").stdout)
    assert judged["playthroughs"] == 8
    assert 0 < judged["exploitability"] < 0.458
    mean = json.loads(tacit("evaluate", str(run), "--playthroughs", "8", "--last", "3", "--json").stdout)
    assert [point["epoch"] for point in mean["checkpoints"]] == [1, 2, 3]
    error = json.loads(tacit("evaluate", str(run), "--metric", "network-error", "--samples", "20", "--json").stdout)
    assert error["interval"][0] <= error["network_error"] <= error["interval"][1]
    assert error["kind"] == "sampled"
    searched = tacit(
        "solve", "kuhn_poker", "--solver", "cfr+", "--iterations", "16", "--depth", "2", "--leaf", str(run), "--json"
    )
    assert json.loads(searched.stdout)["backend"] == "search", searched.stderr
    exact = tacit(
        "solve", "kuhn_poker", "--solver", "linear-cfr", "--iterations", "32", "--depth", "2", "--leaf", "oracle", "--json"
    )
    assert json.loads(exact.stdout)["exploitability"] < 0.1
    wrong = tacit("solve", "leduc_poker", "--depth", "2", "--leaf", str(run))
    assert wrong.returncode == 2
    assert "was trained on kuhn_poker" in wrong.stderr


@pytest.mark.parametrize(
    ("text", "explained"),
    [
        ("CUDA out of memory. Tried to allocate 1.37 GiB.", True),
        ("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes.", True),
        ("unable to mmap 8 bytes from file <x>: Cannot allocate memory (12)", True),
        ("Cannot copy between CPU and CUDA tensors unless pinned: allocate the tensor with pin_memory=True.", False),
    ],
)
def test_only_a_lack_of_memory_is_called_one(text: str, explained: bool) -> None:
    assert (_explained(RuntimeError(text)) is not None) == explained
