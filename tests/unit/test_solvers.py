"""Solvers against known values, published curves and each other; saving, continuing and exporting."""

import csv
import itertools
import json
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from safetensors import safe_open

from tacit.errors import TacitError
from tacit.files import write_whole
from tacit.games import load_game
from tacit.kernels.numba_lanes import LanePasses
from tacit.reproduce.dice import PAPER_TABLE_2, TABLE_2_ITERATIONS
from tacit.reproduce.published import VARIANTS
from tacit.reproduce.tabular import EXPERIMENTS, run_experiment
from tacit.solvers import SCHEDULES, load_result, solve
from tacit.solvers.export import check_export, export
from tacit.tree.compiler import compile_game

# First player's values: Kuhn 1950, OpenSpiel's LP for Leduc, independent solvers for the rest.
VALUES = {
    "modified_rps": 0.0,
    "coin_guess(p=0.3)": -0.7,
    "kuhn_poker": -1 / 18,
    "leduc_poker": -0.085606424078,
    "goofspiel(cards=4)": 0.0,
    "liars_dice(dice=1,faces=4)": 1 / 16,
    "liars_dice(dice=1,faces=5)": 1 / 125,
    "liars_dice(dice=1,faces=6)": -7 / 258,
    "liars_dice(dice=2,faces=3)": 5 / 81,
}

# Exploitability after 100 alternating iterations, measured with an independent solver.
CURVES = {
    ("kuhn_poker", "cfr"): 8.2e-3,
    ("kuhn_poker", "cfr+"): 1.2e-3,
    ("leduc_poker", "cfr"): 9.57e-2,
    ("leduc_poker", "cfr+"): 1.34e-2,
    ("liars_dice(dice=1,faces=4)", "cfr"): 1.70e-2,
    ("liars_dice(dice=1,faces=4)", "cfr+"): 2.3e-3,
    ("liars_dice(dice=1,faces=4)", "linear-cfr"): 8.7e-3,
    ("liars_dice(dice=1,faces=4)", "dcfr"): 6.8e-4,
    ("liars_dice(dice=1,faces=5)", "cfr"): 1.92e-2,
    ("liars_dice(dice=1,faces=5)", "cfr+"): 3.0e-3,
    ("liars_dice(dice=1,faces=6)", "cfr"): 2.25e-2,
    ("liars_dice(dice=1,faces=6)", "cfr+"): 4.9e-3,
    ("liars_dice(dice=1,faces=6)", "linear-cfr"): 7.6e-3,
    ("liars_dice(dice=1,faces=6)", "dcfr"): 2.2e-3,
    ("liars_dice(dice=2,faces=3)", "cfr"): 2.00e-2,
    ("liars_dice(dice=2,faces=3)", "cfr+"): 3.0e-3,
}

# The same after 1,000 iterations: by then rounding decides the digits, so these are orders of magnitude.
LATE_CURVES = {
    ("kuhn_poker", "cfr"): 9.4e-4,
    ("leduc_poker", "cfr"): 1.18e-2,
    ("leduc_poker", "cfr+"): 2.6e-4,
    ("liars_dice(dice=1,faces=4)", "cfr"): 1.69e-3,
    ("liars_dice(dice=1,faces=4)", "cfr+"): 5.3e-5,
    ("liars_dice(dice=1,faces=4)", "dcfr"): 1.5e-5,
    ("liars_dice(dice=1,faces=6)", "linear-cfr"): 1.05e-3,
    ("liars_dice(dice=2,faces=3)", "dcfr"): 2.1e-5,
}


LARGE = ("liars_dice(dice=1,faces=6)", "liars_dice(dice=2,faces=3)")  # seconds each


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LARGE)) for name in VALUES])
def test_lp_gives_the_known_value(name: str) -> None:
    result = solve(name, solver="lp")
    assert result.value == pytest.approx(VALUES[name], abs=1e-6)
    assert result.exploitability < 1e-9


def test_pot_limit_leduc() -> None:
    result = solve("pot_limit_leduc", solver="lp")
    assert result.value == pytest.approx(-11.66, abs=5e-3)  # published to two digits
    from tacit.evaluation import evaluate
    from tacit.kernels import make_passes

    tree = result.strategy.tree
    assert evaluate(make_passes(tree), tree.uniform_strategy()).exploitability == pytest.approx(366.25)


@pytest.mark.parametrize("solver", SCHEDULES)
@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "goofspiel(cards=4)", "modified_rps"])
@pytest.mark.parametrize("simultaneous", [False, True])
def test_every_solver_agrees_with_the_value_within_its_exploitability(name: str, solver: str, simultaneous: bool) -> None:
    result = solve(name, solver=solver, iterations=1_000, simultaneous=simultaneous)
    uniform = {"kuhn_poker": 0.458, "leduc_poker": 2.374, "goofspiel(cards=4)": 0.708, "modified_rps": 0.333}[name]
    slow = simultaneous and "fp" in solver  # fictitious play without alternation cycles widely
    assert result.exploitability < (0.25 if slow else 0.1) * uniform
    assert abs(result.value - VALUES[name]) <= result.nash_conv + 1e-12


@pytest.mark.parametrize(("name", "solver"), CURVES)
def test_curves_after_100_iterations(name: str, solver: str) -> None:
    assert solve(name, solver=solver, iterations=100).exploitability == pytest.approx(CURVES[name, solver], rel=0.03)


@pytest.mark.parametrize(("name", "solver"), LATE_CURVES)
def test_curves_after_1000_iterations(name: str, solver: str) -> None:
    reached = solve(name, solver=solver, iterations=1_000).exploitability
    assert 0.4 * LATE_CURVES[name, solver] < reached < 2.5 * LATE_CURVES[name, solver]


@pytest.mark.parametrize("variant", VARIANTS)
def test_rebel_table_2_tabular_rows(variant: str) -> None:
    """The published figures have three decimals; ties and rounding move FP by a fifth (docs/LOG.md)."""
    reached = {solver: solve(VARIANTS[variant], solver=solver, iterations=TABLE_2_ITERATIONS) for solver in PAPER_TABLE_2}
    assert reached["linear-cfr"].exploitability == pytest.approx(PAPER_TABLE_2["linear-cfr"][variant], abs=6e-4)
    assert reached["linear-fp"].exploitability == pytest.approx(PAPER_TABLE_2["linear-fp"][variant], rel=0.2)
    flop = solve(VARIANTS[variant], solver="flop", iterations=TABLE_2_ITERATIONS)
    assert reached["linear-cfr"].exploitability < flop.exploitability < reached["linear-fp"].exploitability  # Figure 3


def test_torch_solves_like_numba() -> None:
    for name in ("kuhn_poker", "modified_rps"):
        numba, torch = (solve(name, solver="dcfr", iterations=40, backend=backend) for backend in ("numba", "torch"))
        assert torch.exploitability == pytest.approx(numba.exploitability, rel=1e-6)
        assert torch.backend == "torch"


def test_target_stops_early_and_time_limit_stops() -> None:
    result = solve("leduc_poker", solver="dcfr", target=1e-2)
    assert result.exploitability <= 1e-2
    assert result.iterations < 500
    ticks = iter(range(10**6))
    limited = solve("leduc_poker", solver="dcfr", time_limit=25, clock=lambda: float(next(ticks)))
    assert 1 <= limited.iterations < 25


@pytest.mark.parametrize("solver", ["cfr", "dcfr", "pcfr+", "flop", "xfp", "xfp(step=0.1)", "xfp(noise=0.2)"])
def test_a_saved_solve_continues_as_if_never_stopped(solver: str, tmp_path: Path) -> None:
    path = tmp_path / "leduc.tacit"
    solve("leduc_poker", solver=solver, iterations=20).save(path)
    continued = solve("leduc_poker", solver=solver, iterations=40, resume=load_result(path))
    straight = solve("leduc_poker", solver=solver, iterations=40)
    assert continued.iterations == 40
    np.testing.assert_allclose(continued.strategy.probabilities, straight.strategy.probabilities, atol=1e-9)
    assert len(continued.curve) > len(load_result(path).curve)


def test_a_solve_of_another_game_is_not_continued(tmp_path: Path) -> None:
    saved = solve("kuhn_poker", solver="cfr", iterations=5)
    for game, solver in (("leduc_poker", "cfr"), ("kuhn_poker", "cfr+")):
        with pytest.raises(TacitError, match="same game and solver"):
            solve(game, solver=solver, iterations=9, resume=saved)
    with pytest.raises(TacitError, match="in turn: continue it without simultaneous"):
        solve("kuhn_poker", solver="cfr", iterations=9, resume=saved, simultaneous=True)


@pytest.mark.parametrize("damage", ["cut", "garbage", "empty", "other"])
def test_damaged_files_are_refused(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "kuhn.tacit"
    solve("kuhn_poker", iterations=5).save(path)
    content = path.read_bytes()
    if damage == "other":
        content = content.replace(b"kuhn_poker", b"coin_guess")
    path.write_bytes({"cut": content[:-30], "garbage": b"not safetensors at all", "empty": b"", "other": content}[damage])
    with pytest.raises(TacitError, match=r"not a saved solve|does not fit"):
        load_result(path)


def _without(key: str) -> Callable[[dict], dict]:
    return lambda table: {name: value for name, value in table.items() if name != key}


@pytest.mark.parametrize(
    "change",
    [
        *(_without(key) for key in ("format", "game", "iterations", "quality", "curve", "backend")),
        lambda metadata: [1],
        lambda metadata: {**metadata, "iterations": "many"},
        lambda metadata: {**metadata, "iterations": -5},
        lambda metadata: {**metadata, "game": 3},
        lambda metadata: {**metadata, "curve": [[1]]},
        lambda metadata: {**metadata, "quality": {"value": 0.0, "best_response_values": [1.0]}},
    ],
)
def test_saves_with_damaged_metadata_are_refused(change: Callable[[dict], object], tmp_path: Path) -> None:
    path = tmp_path / "kuhn.tacit"
    solve("kuhn_poker", iterations=5).save(path)
    with safe_open(str(path), "numpy") as file:
        metadata, tensors = json.loads(file.metadata()["tacit"]), {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    path.write_bytes(safetensors.numpy.save(tensors, {"tacit": json.dumps(change(metadata))}))
    with pytest.raises(TacitError, match="not a saved solve, or is damaged"):
        load_result(path)


@pytest.mark.parametrize(
    "change",
    [
        _without("probabilities"),
        _without("state.regret"),
        lambda tensors: {**tensors, "state.regret": tensors["state.regret"] * np.nan},
        lambda tensors: {key: array.astype(np.int64) for key, array in tensors.items()},
        lambda tensors: {**tensors, "probabilities": 7 * tensors["probabilities"]},
    ],
)
def test_saves_with_damaged_arrays_are_refused(change: Callable[[dict], dict], tmp_path: Path) -> None:
    path = tmp_path / "kuhn.tacit"
    solve("kuhn_poker", iterations=5).save(path)
    with safe_open(str(path), "numpy") as file:
        metadata, tensors = file.metadata(), {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    path.write_bytes(safetensors.numpy.save(change(tensors), metadata))
    with pytest.raises(TacitError, match="damaged"):
        load_result(path)


def test_nothing_is_left_of_a_file_that_was_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "file", b"content")
    assert list(tmp_path.iterdir()) == []


def _press_ctrl_c(_point: object, _result: object) -> None:
    signal.raise_signal(signal.SIGINT)


def test_interrupting_keeps_what_was_reached_if_asked_to() -> None:
    result = solve("kuhn_poker", iterations=1_000, on_check=_press_ctrl_c, keep_when_interrupted=True)
    assert result.interrupted
    assert result.iterations == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        solve("kuhn_poker", iterations=1_000, on_check=_press_ctrl_c)


def test_a_solve_ends_when_it_should_stop() -> None:
    asked = itertools.count(1)
    result = solve("leduc_poker", solver="cfr", iterations=1_000_000, should_stop=lambda: next(asked) == 4)
    assert result.interrupted
    assert next(asked) == 5  # it was not asked again
    same = solve("leduc_poker", solver="cfr", iterations=result.iterations)
    assert np.array_equal(result.strategy.probabilities, same.strategy.probabilities)


def test_an_interrupt_waits_for_the_end_of_the_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    repeat, calls = LanePasses.repeat, itertools.count()

    def interrupted_repeat(self: LanePasses, *arguments: Any) -> None:
        if next(calls) == 3:
            _press_ctrl_c(None, None)
        repeat(self, *arguments)

    straight = solve("leduc_poker", solver="cfr", iterations=40)
    monkeypatch.setattr(LanePasses, "repeat", interrupted_repeat)
    half = solve("leduc_poker", solver="cfr", iterations=40, keep_when_interrupted=True)
    assert half.interrupted
    assert next(calls) == 4
    assert half.iterations == 4
    continued = solve("leduc_poker", solver="cfr", iterations=40, resume=half)
    np.testing.assert_allclose(continued.strategy.probabilities, straight.strategy.probabilities, atol=1e-9)


def test_an_interrupted_experiment_prints_no_table() -> None:
    with pytest.raises(KeyboardInterrupt):
        run_experiment(EXPERIMENTS["rebel-table2"], "smoke", lambda *_: _press_ctrl_c(None, None))


def exported(path: Path) -> dict[str, dict[str, Any]]:
    """Returns the public states of a JSON export by their lines."""
    return {told["public"]: told for told in json.loads(path.read_text())["public_states"]}


def test_exports(tmp_path: Path) -> None:
    result = solve("kuhn_poker", iterations=500)
    export(result, tmp_path / "kuhn.json")
    text = (tmp_path / "kuhn.json").read_text()
    assert json.loads(text)["value"] == result.value
    assert len(text.splitlines()) == 6  # the figures, a line for each public state, and the end
    told = exported(tmp_path / "kuhn.json")
    assert list(told) == ["", "check", "bet", "check / bet"]
    king = told["bet"]["private"].index("K")
    assert (told["bet"]["player"], told["bet"]["actions"]) == (1, ["fold", "call"])
    assert told["bet"]["strategy"][king] == pytest.approx([0.0, 1.0], abs=1e-3)
    assert (told["bet"]["reach"][king], told["bet"]["infostate_value"][king]) == (1.0, pytest.approx(2.0, abs=1e-3))
    for view in result.views:
        assert told[view.line]["strategy"] == view.strategy.tolist()  # all digits
        assert told[view.line]["weight"] == view.acting.weight.tolist()
        assert "equity" not in told[view.line]
    export(result, tmp_path / "kuhn.csv")
    rows = list(csv.DictReader((tmp_path / "kuhn.csv").read_text().splitlines()))
    numbers = ["probability", "reach", "weight", "infostate_value", "equity"]
    assert list(rows[0]) == ["player", "public", "private", "action", *numbers]
    assert len(rows) == 24
    calls = next(row for row in rows if (row["public"], row["private"], row["action"]) == ("bet", "K", "call"))
    assert float(calls["probability"]) == told["bet"]["strategy"][king][1]
    assert (float(calls["weight"]), calls["equity"]) == (told["bet"]["weight"][king], "")
    with pytest.raises(TacitError, match=r"\.json, \.csv"):
        export(result, tmp_path / "kuhn.xml")


def test_exports_of_names_with_commas_and_lines(tmp_path: Path) -> None:
    pytest.importorskip("pyspiel")
    result = solve("openspiel:dark_hex(board_size=2)", iterations=5)
    export(result, tmp_path / "hex.csv")
    export(result, tmp_path / "hex.json")
    rows = list(csv.DictReader((tmp_path / "hex.csv").open(newline="")))
    told = json.loads((tmp_path / "hex.json").read_text())["public_states"]
    assert rows[0]["action"] == "Action(id=0, player=0)"
    assert rows[0]["private"] == told[0]["private"][0] == "..\n..\n0\n"
    assert told[0]["infostate_value"] == [pytest.approx(result.value)]
    assert told[0]["weight"] == [None]
    assert len(rows) == sum(len(one["actions"]) for one in told)


def test_exports_leave_out_what_cannot_occur(tmp_path: Path) -> None:
    """If player 0 never checks a king, it never holds one after a check; player 1 may still face a bet."""
    tree = compile_game(load_game("kuhn_poker"))
    weights = tree.uniform_strategy()
    weights[tree.entry_start[2]] = 0.0
    result = replace(solve("kuhn_poker", iterations=1), strategy=tree.strategy(tree.normalise(weights)))
    export(result, tmp_path / "kuhn.json")
    assert exported(tmp_path / "kuhn.json")["check / bet"]["private"] == ["J", "Q"]
    weights[tree.entry_start[:3]], weights[tree.entry_start[:3] + 1] = 1.0, 0.0
    result = replace(result, strategy=tree.strategy(tree.normalise(weights)))
    export(result, tmp_path / "kuhn.json")
    told = exported(tmp_path / "kuhn.json")
    assert told["bet"]["infostate_value"] == [None] * 3  # player 0 never bets, but player 1 is prepared for a bet
    assert told["bet"]["reach"] == [1.0] * 3
    weights[tree.entry_start[:3]], weights[tree.entry_start[:3] + 1] = 0.0, 1.0
    export(replace(result, strategy=tree.strategy(tree.normalise(weights))), tmp_path / "kuhn.json")
    assert list(exported(tmp_path / "kuhn.json")) == ["", "check", "bet"]  # player 0 never checks


def test_an_export_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = solve("kuhn_poker", iterations=1)
    (tmp_path / "kuhn.csv").write_text("before")
    monkeypatch.setattr("tacit.solvers.export._quoted", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        export(result, tmp_path / "kuhn.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["kuhn.csv"]
    assert (tmp_path / "kuhn.csv").read_text() == "before"


def test_exports_that_cannot_succeed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TacitError, match="no counterpart in OpenSpiel"):
        check_export(load_game("modified_rps"), "policy.openspiel.json")
    monkeypatch.setattr("tacit.solvers.export.find_spec", lambda _: None)
    with pytest.raises(TacitError, match="OpenSpiel is not installed"):
        check_export(load_game("kuhn_poker"), "policy.openspiel.json")
    check_export(load_game("kuhn_poker"), "policy.json")


def test_pure_strategies_of_the_linear_program_are_equilibria_of_kuhn() -> None:
    """Player 1 bluffs the Jack 1/3 and calls with the Queen 1/3; player 0 bluffs a <= 1/3 and bets the King 3a (Kuhn 1950)."""
    strategy = {(d.player, d.public, d.private): d.probabilities for d in solve("kuhn_poker", solver="lp").strategy}
    assert strategy[1, "check", "J"]["raise"] == pytest.approx(1 / 3)
    assert strategy[1, "bet", "Q"]["call"] == pytest.approx(1 / 3)
    bluff = strategy[0, "", "J"]["raise"]
    assert -1e-9 <= bluff <= 1 / 3 + 1e-9
    assert strategy[0, "", "K"]["raise"] == pytest.approx(3 * bluff, abs=1e-9)
    assert strategy[0, "check / bet", "Q"]["call"] == pytest.approx(bluff + 1 / 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"solver": "magic"}, "unknown solver"),
        ({"iterations": 0}, "must be positive"),
        ({"target": -1.0}, "must be positive"),
        ({"target": float("nan")}, "positive and finite"),
        ({"solver": "lp", "iterations": 5}, "lp solves a game in one go"),
        ({"backend": "torch", "device": "foo"}, "cannot compute on the device"),
        ({"backend": "jax"}, "unknown backend"),
        ({"device": "cuda"}, "runs on the cpu"),
    ],
)
def test_bad_arguments_are_explained_before_the_game_is_compiled(arguments: dict, message: str) -> None:
    with pytest.raises(TacitError, match=message):
        solve("liars_dice(dice=3,faces=6)", **arguments)  # far too large to be compiled


def test_lp_refuses_what_it_cannot_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.solvers.lp.MAX_PAYOFFS", 10)
    with pytest.raises(TacitError, match="too many for lp"):
        solve(load_game("kuhn_poker"), solver="lp")
