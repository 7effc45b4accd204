"""Fictitious play: equal to OpenSpiel's XFP iteration by iteration; constant step sizes and noisy responses."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.kernels.numba_hands import HandPasses
from tacit.search.config import SearchConfig
from tacit.solvers import solve
from tacit.solvers.driver import DriverOptions
from tacit.solvers.openspiel import openspiel_policy
from tacit.solvers.schedules import average_weights, find_schedule, plain_schedule
from tacit.solvers.tabular import FORCING, TabularDriver
from tacit.tree.compiler import compile_for_solving, compile_game
from tacit.tree.public_tree import PublicTree
from tests.oracles import best_response_value, expected_value


def learner_of(name: str, solver: str, backend: str = "numba", seed: int = 0) -> tuple[PublicTree, TabularDriver]:
    tree = compile_game(load_game(name))
    return tree, TabularDriver(make_passes(tree, backend), find_schedule(solver), DriverOptions(seed=seed))


def own_reach(tree: PublicTree, strategy: np.ndarray) -> np.ndarray:
    """Returns `[E]` the probability that the acting player's own moves lead up to and including each entry."""
    passes = make_passes(tree, "torch")
    played = np.empty(tree.num_entries)
    for player in (0, 1):
        mine = tree.entry_player == player
        reach = passes.rows_to_numpy(player, passes.reach(player, passes.entries(strategy)))
        played[mine] = reach[tree.infostate_row[tree.entry_infostate[mine]]] * strategy[mine]
    return played


def largest_difference(tree: PublicTree, strategy: np.ndarray, theirs: list[dict]) -> float:
    ours = openspiel_policy(tree.strategy(strategy)).policy_table()
    found = [abs(dict(ours[key])[a] - p) for table in theirs for key, actions in table.items() for a, p in actions.items()]
    assert len(found) == tree.num_entries
    return max(found)


@pytest.mark.parametrize("iterations", [3, pytest.param(6, marks=pytest.mark.slow)])
def test_xfp_is_openspiels_on_leduc(iterations: int) -> None:
    """Both start from the uniform strategy, update simultaneously, and step by 1/(t + 1)."""
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python.algorithms.fictitious_play import XFPSolver

    tree, learner = learner_of("leduc_poker", "xfp")
    twin = pyspiel.load_game(tree.game.openspiel_twin())
    theirs = XFPSolver(twin)
    for _ in range(iterations):
        learner.step()
        theirs.iteration()
        assert largest_difference(tree, learner.average_strategy(), theirs.average_policy_tables()) < 1e-9
    quality = evaluate(learner.passes, learner.average_strategy())
    found = pyspiel.nash_conv(twin, openspiel_policy(tree.strategy(learner.average_strategy())))
    assert quality.nash_conv == pytest.approx(found, abs=1e-9)


def test_xfp_is_openspiels_on_kuhn_but_for_ties() -> None:
    """Kuhn has exact ties, which rounding breaks differently: our responses must be as good as theirs, and replace theirs."""
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python.algorithms import exploitability
    from open_spiel.python.algorithms.fictitious_play import XFPSolver

    tree, learner = learner_of("kuhn_poker", "xfp")
    twin = pyspiel.load_game(tree.game.openspiel_twin())
    theirs = XFPSolver(twin)
    for iteration in range(1, 61):
        average = learner.average_strategy()
        learner.step()
        response = learner.current_strategy()
        table = openspiel_policy(tree.strategy(response)).policy_table()
        for player in (0, 1):
            best = exploitability.best_response(twin, theirs.average_policy().to_tabular(), player)["best_response_value"]
            answered = expected_value(tree, np.where(tree.entry_player == player, response, average))
            assert (answered if player == 0 else -answered) == pytest.approx(best, abs=1e-12)
        theirs._iterations = iteration
        theirs._best_responses = [lambda state, t=table: list(t[state.information_state_string()])] * 2
        theirs.update_average_policies()
        assert largest_difference(tree, learner.average_strategy(), theirs.average_policy_tables()) < 1e-9


@pytest.mark.parametrize(("solver", "step"), [("xfp(step=0.1)", 0.1), ("fp(step=0.5)", 0.5), ("xfp(step=1)", 1.0)])
def test_a_constant_step_weighs_responses_geometrically(solver: str, step: float) -> None:
    """Against the definition: keep all responses, and mix them by reach at the end (NFSP, equation 1)."""
    tree, learner = learner_of("kuhn_poker", solver)
    played = [tree.uniform_strategy()]
    for _ in range(25):
        before = learner.average_strategy()
        learner.step()
        played.append(learner.current_strategy())
        best = best_response_value(tree, before, 0)
        assert expected_value(tree, np.where(tree.entry_player == 0, played[-1], before)) == pytest.approx(best, abs=1e-12)
    weights = [(1.0 - step) ** 25] + [step * (1.0 - step) ** (25 - t) for t in range(1, 26)]
    mixed = sum(weight * own_reach(tree, strategy) for weight, strategy in zip(weights, played, strict=True))
    np.testing.assert_allclose(learner.average_strategy(), tree.normalise(np.asarray(mixed)), atol=1e-12)


def test_thousands_of_constant_steps_stay_finite_and_plateau() -> None:
    reached = {step: solve("leduc_poker", solver=f"xfp(step={step})", iterations=4_000) for step in (0.5, 0.1, 0.01)}
    found = {step: result.exploitability for step, result in reached.items()}
    assert np.isfinite(reached[0.5].strategy.probabilities).all()
    assert found[0.01] < found[0.1] < found[0.5] < 3.0  # smaller steps end closer to equilibrium; uniform play has 2.374
    late = [point.exploitability for point in reached[0.01].curve if point.iteration > 1_000]
    assert max(late) < 1.5 * min(late)


@pytest.mark.parametrize("backend", ["numba", "torch"])
def test_a_noisy_response_is_the_best_that_obeys_the_noise(backend: str) -> None:
    """Compares with all pure strategies of Kuhn poker that take the forced actions."""
    tree = compile_game(load_game("kuhn_poker"))
    passes, rng = make_passes(tree, backend), np.random.default_rng(1)
    mixed = tree.normalise(rng.random(tree.num_entries))
    bonus = np.zeros(tree.num_entries)
    forced = {infostate: int(rng.integers(2)) for infostate in rng.permutation(tree.num_infostates)[:5].tolist()}
    for infostate, action in forced.items():
        bonus[tree.entry_start[infostate] + action] = FORCING
    for player in (0, 1):
        faced = passes.reach(1 - player, passes.entries(mixed))
        cfv, _ = passes.best_response(player, faced, passes.entries(bonus))
        mine = np.flatnonzero(tree.infostate_player == player)
        values = []
        for choice in product(*([forced[s]] if s in forced else (0, 1) for s in mine.tolist())):
            plan = mixed.copy()
            for infostate, action in zip(mine, choice, strict=True):
                plan[tree.entry_start[infostate] : tree.entry_start[infostate + 1]] = np.eye(2)[action]
            values.append(expected_value(tree, plan) * (1 - 2 * player))
        assert passes.root_value(player, cfv) == pytest.approx(max(values), abs=1e-12)


def test_hands_obey_the_noise_too() -> None:
    tree = compile_for_solving(load_game("no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=3000,bets=1|allin,raises=allin)"))
    passes = HandPasses(tree, np.float64)
    forcing = np.where(np.random.default_rng(0).random(tree.num_entries) < 0.3, FORCING, 0.0)
    faced = passes.reach(1, passes.uniform())
    free, _ = passes.best_response(0, faced)
    cfv, response = passes.best_response(0, faced, passes.entries(forcing))
    np.testing.assert_allclose(cfv, passes.values(0, response, faced), atol=1e-9)
    assert passes.root_value(0, cfv) < passes.root_value(0, free)
    mine = np.asarray(tree.entry_player) == 0
    chosen = passes.to_numpy(response) * mine
    wanted = tree.normalise((forcing > 0) * 1.0)
    assert (chosen[(wanted == 1.0) & mine] == 1.0).all()  # where exactly one action is forced


def test_noise_draws_every_action_equally_often_and_follows_the_seed() -> None:
    tree, learner = learner_of("leduc_poker", "xfp(noise=1)")
    counts = np.zeros(tree.num_entries)
    for _ in range(3_000):
        learner.step()
        counts += learner.current_strategy()
    assert abs(counts / 3_000 - tree.uniform_strategy()).max() < 0.05  # five standard errors
    rare = [learner_of("leduc_poker", "xfp(noise=0.1)", seed=seed)[1] for seed in (0, 0, 1)]
    for one in rare:
        one.step()
    first, same, other = (one.current_strategy() for one in rare)
    assert (first == same).all()
    exact = learner_of("leduc_poker", "xfp")[1]
    exact.step()
    for noisy in (first, other):
        changed = np.add.reduceat(noisy != exact.current_strategy(), tree.entry_start[:-1]).astype(bool).mean()
        assert 0.03 < changed < 0.1  # the random action is often the best one: there are 2.5 actions to a decision
    assert (first != other).any()


def test_step_sizes_are_the_weights_of_search() -> None:
    np.testing.assert_allclose(average_weights(plain_schedule("fp"), 500), 1.0, rtol=1e-12)
    np.testing.assert_allclose(average_weights(plain_schedule("flop"), 500), np.arange(1, 502), rtol=1e-12)


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        ("cfr(step=0.1)", "for fictitious play"),
        ("xfp(step=0.1", "cannot read the solver"),
        ("xfp(step=0)", "nothing is learnt"),
        ("xfp(step=2)", "between 0 and 1"),
        ("xfp(noise=much)", "between 0 and 1"),
        ("xfp(speed=1)", "it takes step="),
        ("xfp()", "it takes step="),
        ("nope(step=1)", "unknown solver 'nope'"),
    ],
)
def test_bad_parameters_are_explained(solver: str, message: str) -> None:
    with pytest.raises(TacitError, match=message):
        solve("kuhn_poker", solver=solver, iterations=3)


def test_search_takes_no_parameters() -> None:
    from tacit.search.solve import solve_by_search

    with pytest.raises(TacitError, match="unknown solver"):
        solve_by_search(load_game("kuhn_poker"), SearchConfig("xfp(step=0.1)", 4, 2), leaf="zero", load_network=lambda *_: None)


def test_averages_saved_as_sums_are_continued() -> None:
    """Files from when the average was a sum of weights hold the same strategy at another scale."""
    saved = solve("leduc_poker", solver="linear-fp", iterations=20)
    straight = solve("leduc_poker", solver="linear-fp", iterations=40)
    before = replace(saved, state={**saved.state, "average": 231.0 * saved.state["average"]})
    continued = solve("leduc_poker", solver="linear-fp", iterations=40, resume=before)
    np.testing.assert_allclose(continued.strategy.probabilities, straight.strategy.probabilities, atol=1e-9)
