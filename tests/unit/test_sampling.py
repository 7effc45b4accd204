"""Monte Carlo CFR: samples are unbiased, whatever the baselines, and averages converge to known values."""

from pathlib import Path

import numpy as np
import pytest

from tacit.errors import TacitError
from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.kernels.numba_walks import make_sums, run_walks
from tacit.solvers import load_result, solve
from tacit.solvers.driver import DriverOptions
from tacit.solvers.locks import Lock
from tacit.solvers.sampling import SAMPLERS, SamplingDriver
from tacit.solvers.schedules import SCHEDULES
from tacit.solvers.tabular import TabularDriver
from tacit.tree.compiler import compile_game
from tacit.tree.public_tree import Floats, PublicTree

GAME = "kuhn_poker"


@pytest.mark.parametrize(
    ("solver", "kuhn", "leduc"),
    [("external-mccfr", 0.006, 0.06), ("chance-mccfr", 0.008, 0.06), ("outcome-mccfr", 0.012, 0.4), ("vr-mccfr", 0.012, 0.3)],
)
def test_averages_converge(solver: str, kuhn: float, leduc: float) -> None:
    """Figures measured with this seed are half to two thirds of the bounds."""
    result = solve(GAME, solver=solver, iterations=100_000, seed=5)
    assert result.exploitability < kuhn
    assert result.value == pytest.approx(-1 / 18, abs=0.002)
    assert solve("leduc_poker", solver=solver, iterations=200_000, seed=5).exploitability < leduc


def first_regrets(solver: str, game: str, samples: int, baseline: Floats | None = None) -> tuple[PublicTree, Floats]:
    """Returns the tree and the regrets `[samples, E]` after a first iteration, each with its own seed."""
    tree = compile_game(load_game(game))
    passes = make_passes(tree)
    found = np.zeros((samples, tree.num_entries))
    driver = SamplingDriver(passes, solver, 0)
    for seed in range(samples):
        sums = make_sums(tree.num_entries, tree.num_infostates, SAMPLERS[solver][1])._replace(regret=found[seed])
        sums.baseline[:] = 0.0 if baseline is None else baseline
        room = driver._table, sums, driver._frames, driver._streams
        run_walks(SAMPLERS[solver][0], *room, np.uint64(7_919 * seed + 1), 1, 1)
    return tree, found


@pytest.mark.parametrize("solver", SAMPLERS)
@pytest.mark.parametrize("game", [GAME, "liars_dice(dice=1,faces=2)"])
def test_a_sampled_regret_is_the_exact_one_on_average(solver: str, game: str) -> None:
    """Compares with the first regrets of plain CFR; baselines are random numbers, which must not matter."""
    num_entries = compile_game(load_game(game)).num_entries
    baseline = np.random.default_rng(2).normal(size=num_entries)
    tree, found = first_regrets(solver, game, 20_000, baseline)
    driver = TabularDriver(make_passes(tree), SCHEDULES["cfr"], DriverOptions())
    driver.run(1)
    first = tree.entry_player == 0  # the second player answers the first one's updated strategy
    exact, error = driver.state()["regret"][first], found.std(0)[first] / np.sqrt(len(found))
    assert np.abs(exact).max() > 0.1
    np.testing.assert_array_less(np.abs(found.mean(0)[first] - exact), 4.5 * error + 1e-12)


def test_baselines_take_variance_out() -> None:
    learnt = solve(GAME, solver="vr-mccfr", iterations=20_000).state["baseline"]
    tree, plain = first_regrets("outcome-mccfr", GAME, 4_000)
    _, less = first_regrets("vr-mccfr", GAME, 4_000, learnt)
    first = tree.entry_player == 0
    assert less.var(0)[first].mean() < 0.7 * plain.var(0)[first].mean()


@pytest.mark.parametrize("solver", SAMPLERS)
def test_a_solve_that_stops_and_goes_on_is_the_same(solver: str, tmp_path: Path) -> None:
    whole = solve(GAME, solver=solver, iterations=9_000, seed=3)
    solve(GAME, solver=solver, iterations=700, seed=3).save(tmp_path / "part.tacit")
    again = solve(GAME, iterations=9_000, resume=load_result(tmp_path / "part.tacit"))
    np.testing.assert_array_equal(again.strategy.probabilities, whole.strategy.probabilities)
    other = solve(GAME, solver=solver, iterations=9_000, seed=4)
    assert not np.array_equal(other.strategy.probabilities, whole.strategy.probabilities)


def test_it_is_linear_cfr_where_nothing_is_left_to_sample() -> None:
    """This game has no chance, so chance sampling is alternating Linear CFR, iteration for iteration."""
    game = "modified_rps"
    exact = solve(game, solver="linear-cfr", iterations=50).strategy.probabilities
    sampled = solve(game, solver="chance-mccfr", iterations=50).strategy.probabilities
    np.testing.assert_allclose(sampled, exact, atol=1e-9)


@pytest.mark.parametrize(
    ("game", "options", "message"),
    [
        ("turn_endgame_holdem", {}, "walks compiled games; for hold'em there is tacit train blueprint"),
        ("openspiel:dark_hex(board_size=2)", {}, "public"),
        (GAME, {"locks": (Lock("", {"check": 1.0}),)}, "it takes no locks"),
        (GAME, {"simultaneous": True}, "it takes no locks"),
        (GAME, {"backend": "torch"}, "other backend"),
    ],
)
def test_what_it_cannot_do_is_refused(game: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(TacitError, match=message):
        solve(game, solver="external-mccfr", iterations=5, **options)  # type: ignore[arg-type]


def test_an_unknown_solver_hears_of_all() -> None:
    with pytest.raises(TacitError, match=r"unknown solver 'mccfr': choose one of cfr, .*external-mccfr.*, lp"):
        solve(GAME, solver="mccfr")
