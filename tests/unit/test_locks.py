"""Locks: the rest of a game is in equilibrium around a fixed strategy, by a linear program with the locks in it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, csr_matrix, hstack

import tacit
from tacit.errors import TacitError
from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.solvers import load_result, solve
from tacit.solvers.locks import Lock, load_locks, lock_tree, parse_lock
from tacit.tree.compiler import compile_for_solving, compile_game
from tacit.tree.held import NOTHING_HELD, Held
from tacit.tree.public_tree import NOT_ACTING, PublicTree
from tests.command import tacit as command

RIVER = (
    "no_limit_holdem(board=AhKdQc7s2d,pot=200,stack=1000,bets=1,raises=allin,"
    "range0=AdAc|KsKh|JsTs|9h8h|6c5c,range1=AsKh|QhJh|JdTd|6s6h)"
)
TURN = "no_limit_holdem(board=AhKhQh7c,pot=200,stack=300,bets=1,range0=AdAc|AsAc|AsAd|JdJc|JsJc,range1=KdKc|KsKc|TdTc|TsTc)"


class Plans:
    """One player's realisation plans `[R + E]` over its root rows and all entries with `equations @ plan == sides`."""

    def __init__(self, tree: PublicTree, player: int, held: Held) -> None:
        rows, roots = tree.rows[player], int(tree.rows[player].level_start[1])
        self.of_row = np.where(rows.entry < tree.num_entries, roots + rows.entry, NOT_ACTING)
        self.of_row[:roots] = np.arange(roots)
        for row in range(roots, len(rows)):
            if self.of_row[row] == NOT_ACTING:
                self.of_row[row] = self.of_row[rows.parent[row]]
        self.size = roots + tree.num_entries
        equations: list[dict[int, float]] = [{root: 1.0} for root in range(roots)]
        self.sides = [*rows.root_reach]
        fixed = dict(zip(held.entry.tolist(), held.share.tolist(), strict=True))
        for infostate in np.flatnonzero(tree.infostate_player == player).tolist():
            entries = range(tree.entry_start[infostate], tree.entry_start[infostate + 1])
            before = int(self.of_row[tree.infostate_row[infostate]])
            equations.append({before: -1.0, **{roots + entry: 1.0 for entry in entries}})
            equations += [{roots + entry: 1.0, before: -fixed[entry]} for entry in entries if entry in fixed]
        self.sides += [0.0] * (len(equations) - roots)
        cells = [(row, column, value) for row, equation in enumerate(equations) for column, value in equation.items()]
        row, column, value = zip(*cells, strict=True)
        self.equations = csr_matrix((value, (row, column)), shape=(len(equations), self.size))

    def of(self, tree: PublicTree, strategy: np.ndarray, player: int) -> np.ndarray:
        """Returns the plan of a strategy `[E]`."""
        roots = self.size - tree.num_entries
        plan = np.zeros(self.size)
        plan[:roots] = self.sides[:roots]
        mine = np.flatnonzero(tree.infostate_player == player)
        for infostate in mine[np.argsort(tree.infostate_row[mine])].tolist():  # rows come after their parents
            entries = slice(tree.entry_start[infostate], tree.entry_start[infostate + 1])
            plan[roots:][entries] = plan[self.of_row[tree.infostate_row[infostate]]] * strategy[entries]
        return plan


def payoffs(tree: PublicTree, first: Plans, second: Plans) -> csr_matrix:
    places = first.of_row[tree.payoff_rows[0]], second.of_row[tree.payoff_rows[1]]
    return coo_matrix((tree.payoff, places), shape=(first.size, second.size)).tocsr()


def value_by_lp(tree: PublicTree, held: Held) -> float:
    """Returns the value of the game whose plans must obey the locks, by duality over the second player's plans."""
    first, second = Plans(tree, 0, held), Plans(tree, 1, held)
    count = second.equations.shape[0]
    found = linprog(
        np.concatenate([np.zeros(first.size), -np.array(second.sides)]),
        A_ub=hstack([-payoffs(tree, first, second).T, second.equations.T]),
        b_ub=np.zeros(second.size),
        A_eq=hstack([first.equations, csr_matrix((first.equations.shape[0], count))]),
        b_eq=first.sides,
        bounds=[(0, None)] * first.size + [(None, None)] * count,
    )
    assert found.success
    return -float(found.fun)


def responses_by_lp(tree: PublicTree, held: Held, strategy: np.ndarray) -> list[float]:
    """Returns what each player's best plan that obeys the locks gets against the other player's part of a strategy."""
    plans = [Plans(tree, player, held) for player in (0, 1)]
    paid = payoffs(tree, *plans)
    worth = paid @ plans[1].of(tree, strategy, 1), -(paid.T @ plans[0].of(tree, strategy, 0))
    found = [linprog(-worth[p], A_eq=plans[p].equations, b_eq=plans[p].sides) for p in (0, 1)]
    return [-float(one.fun) for one in found]


def held_by(tree: PublicTree, locks: list[Lock]) -> Held:
    return lock_tree(tree, locks)[1].held


LOCKED = [
    ("kuhn_poker", [Lock("", "raise=0.5,call=0.5")], -7 / 36),
    ("kuhn_poker", [Lock("", "bet: J; check: rest")], None),
    ("kuhn_poker", [Lock("bet", {"Q": {"call": 1.0}, "K": {"fold": 0.25, "call": 0.75}}), Lock("", "bet: Q; check: K")], None),
    ("leduc_poker", [Lock("", "call=0.5,raise=0.5"), Lock("bet", "fold=0.4,call=0.5,raise=0.1")], None),
    ("liars_dice(dice=1,faces=3)", [Lock("", {"1": {"1x1": 1.0}}), Lock("1x1", "liar=0.5,1x2=0.5")], None),
    ("goofspiel(cards=3)", [Lock("", "bid 1=0.2,bid 2=0.3,bid 3=0.5")], None),
]


@pytest.mark.parametrize(("name", "locks", "known"), LOCKED)
def test_the_free_part_is_an_equilibrium_by_the_linear_program(name: str, locks: list[Lock], known: float | None) -> None:
    tree = compile_game(load_game(name))
    held = held_by(tree, locks)
    exact = value_by_lp(tree, held)
    if known is not None:
        assert exact == pytest.approx(known)
    by_lp = solve(name, solver="lp", locks=locks)
    assert by_lp.value == pytest.approx(exact, abs=1e-8)
    assert by_lp.exploitability == pytest.approx(0.0, abs=1e-8)
    assert abs(exact - solve(name, solver="lp").value) > 1e-3  # obeying the locks costs something
    for options in ({"solver": "dcfr"}, {"solver": "cfr+", "backend": "torch"}):
        result = solve(name, iterations=400, locks=locks, **options)
        assert result.exploitability < 2e-3
        assert result.value == pytest.approx(exact, abs=2 * result.nash_conv + 1e-9)
        np.testing.assert_array_equal(result.strategy.probabilities[held.entry], held.share)
        assert result.strategy.tree.held.entry.size == 0  # the strategy belongs to the game without locks


def test_exploitability_is_that_of_responses_which_keep_to_the_lock() -> None:
    name, locks = LOCKED[3][:2]
    tree = compile_game(load_game(name))
    result = solve(name, iterations=3, locks=locks)
    expected = responses_by_lp(tree, held_by(tree, locks), result.strategy.probabilities)
    np.testing.assert_allclose(result.quality.best_response_values, expected, atol=1e-7)
    free = responses_by_lp(tree, held_by(tree, locks[:1]), result.strategy.probabilities)
    assert free[1] > expected[1] + 1e-2  # this player gains from being free of the second lock


def test_evaluating_a_saved_solve_keeps_to_its_locks(tmp_path: Path) -> None:
    name, locks = LOCKED[3][:2]
    tree = compile_game(load_game(name))
    result = solve(name, iterations=3, locks=locks)
    result.save(tmp_path / "locked.tacit")
    free = responses_by_lp(tree, held_by(tree, locks), result.strategy.probabilities)
    whole = responses_by_lp(tree, NOTHING_HELD, result.strategy.probabilities)
    assert sum(whole) > sum(free) + 1e-2
    for what in (result, str(tmp_path / "locked.tacit")):
        found = tacit.evaluate(what).as_dict()
        assert found["exploitability"] == pytest.approx(sum(free) / 2, abs=1e-7)
        assert found["unlocked_exploitability"] == pytest.approx(sum(whole) / 2, abs=1e-7)
        np.testing.assert_allclose(found["best_response_values"], free, atol=1e-7)
    said = command("evaluate", str(tmp_path / "locked.tacit"), "--json")
    report = json.loads(said.stdout)
    assert report["locks"] == [{"at": lock.at, "play": lock.play} for lock in locks]
    assert report["exploitability"] == pytest.approx(sum(free) / 2, abs=1e-7)
    words = command("evaluate", str(tmp_path / "locked.tacit")).stdout
    assert "the free part: best responses keep to the locks" in words
    assert "bet; play fold=0.4,call=0.5,raise=0.1" in words


@pytest.mark.parametrize("solver", ["dcfr", "pcfr+"])
@pytest.mark.parametrize(
    "locks",
    [
        [Lock("", "check=1")],
        [Lock("", "bet to 300: AA,KK:0.5; check: rest"), Lock("check", {"JdTd": {"check": 0.25, "bet to 300": 0.75}})],
        [Lock("bet to 300", "fold: 66; call: AK,QJs")],
    ],
)
def test_a_locked_river_has_the_value_of_the_linear_program(locks: list[Lock], solver: str) -> None:
    tree = compile_game(load_game(RIVER))
    held = held_by(tree, [Lock(f"AhKdQc7s2d / {lock.at}", _by_hand(lock)) for lock in locks])
    exact = value_by_lp(tree, held)
    result = solve(RIVER, solver=solver, iterations=500, locks=locks)
    assert result.exploitability < 0.3  # in chips; the pot is 200
    assert result.value == pytest.approx(exact, abs=2 * result.nash_conv)
    assert abs(result.value - solve(RIVER, iterations=500).value) > 2 * result.nash_conv


def _by_hand(lock: Lock) -> Any:
    """Returns a lock's play in single hands, as the tree built from the rules names them."""
    hands = {"AA": "AdAc", "KK:0.5": "KsKh", "66": "6s6h", "AK": "AsKh", "QJs": "QhJh"}
    if lock.play == "bet to 300: AA,KK:0.5; check: rest":
        half = {"bet to 300": 0.5, "check": 0.5}
        return {"AdAc": {"bet to 300": 1.0}, "KsKh": half, "rest": {"check": 1.0}}
    if isinstance(lock.play, str) and ":" in lock.play:
        for word, hand in hands.items():
            lock = Lock(lock.at, lock.play.replace(word, hand))
    return lock.play


@pytest.mark.parametrize(
    ("lock", "on_rules"),
    [
        (Lock("", "bet to 300: AdAc; check: AsAc"), Lock("AhKhQh7c", "bet to 300: AdAc; check: AsAc")),
        (Lock("check / check / 2d", "check: AA"), Lock("AhKhQh7c / check / check 2d", "check: AdAc,AsAd,AsAc")),
    ],
)
def test_a_lock_that_tells_suits_apart_is_solved_without_taking_them_for_equal(lock: Lock, on_rules: Lock) -> None:
    assert len(compile_for_solving(load_game(TURN)).blocks.symmetries[0]) > 1
    tree = compile_game(load_game(TURN))
    exact = value_by_lp(tree, held_by(tree, [on_rules]))
    result = solve(TURN, iterations=400, locks=[lock])
    assert result.strategy.tree.blocks.symmetries[0] == (0,)
    assert result.exploitability < 0.2
    assert result.value == pytest.approx(exact, abs=2 * result.nash_conv)


def test_locks_that_do_not_tell_suits_apart_leave_the_tree_small() -> None:
    plain, locked = solve(TURN, iterations=1), solve(TURN, iterations=1, locks=[Lock("check", "check: KK; bet to 300: TT")])
    assert locked.strategy.tree.num_nodes == plain.strategy.tree.num_nodes


def test_a_saved_solve_remembers_its_locks(tmp_path: Path) -> None:
    locks = [Lock("", {"K": {"raise": 0.5, "call": 0.5}}), Lock("check", "call=1")]
    result = solve("kuhn_poker", solver="xfp(noise=0.1)", iterations=20, locks=locks, seed=3)
    result.save(tmp_path / "kuhn.tacit")
    again = load_result(tmp_path / "kuhn.tacit")
    assert (list(again.locks), again.seed) == (locks, 3)
    assert again.summary()["locks"] == [{"at": lock.at, "play": lock.play} for lock in locks]
    straight = solve("kuhn_poker", solver="xfp(noise=0.1)", iterations=50, locks=locks, seed=3)
    continued = solve("kuhn_poker", iterations=50, resume=again)
    np.testing.assert_allclose(continued.strategy.probabilities, straight.strategy.probabilities, atol=1e-12)
    for other in ([], [Lock("", "call=1")]):
        with pytest.raises(TacitError, match=r"other locks \(the start"):
            solve("kuhn_poker", iterations=60, resume=again, locks=other)
    with pytest.raises(TacitError, match="has the seed 3, not 4"):
        solve("kuhn_poker", iterations=60, resume=again, seed=4)
    with pytest.raises(TacitError, match="has 20 iterations already"):
        solve("kuhn_poker", iterations=20, resume=again)


def test_a_locked_river_goes_on_on_other_passes_with_the_lock(tmp_path: Path) -> None:
    locks = [Lock("", "bet to 300: AA; check: rest")]
    solve(RIVER, iterations=20, locks=locks).save(tmp_path / "river.tacit")
    again = load_result(tmp_path / "river.tacit")
    again.state["regret"][:] = 0.0  # passes that store a strategy need not store the lock in the regrets
    continued = solve(RIVER, iterations=40, resume=again)
    held = held_by(continued.strategy.tree, locks)
    np.testing.assert_array_equal(continued.strategy.probabilities[held.entry], held.share.astype(np.float32))


@pytest.mark.parametrize(
    ("game", "lock", "message"),
    [
        ("kuhn_poker", "jump: call=1", "no 'jump' after the start: choose one of check, bet"),
        ("kuhn_poker", "check / check: call=1", "nobody acts after"),
        ("kuhn_poker", "check: fold=1", "no action 'fold' there: choose one of"),
        ("kuhn_poker", "check: call=0.5,raise=0.4", "the shares of J sum to 0.9, not to 1"),
        ("kuhn_poker", "check: call=1.5", "the share '1.5' of 'call' must be a number from 0 to 1"),
        ("kuhn_poker", "check: call=x", "the share 'x' of 'call' must be a number from 0 to 1"),
        ("kuhn_poker", "check: call: A; raise: rest", "never holds A: it may hold J, Q, K"),
        ("kuhn_poker", "check: call: J; raise: J", "the shares of J sum to 2, not to 1"),
        ("kuhn_poker", "check: call: rest; raise: rest", "only one action can have the rest"),
        ("kuhn_poker", "check: call", "cannot read 'call'"),
        ("kuhn_poker", "call=1", "cannot read the lock 'call=1'"),
        ("kuhn_poker", "no.json", "no file of locks at no.json"),
        (RIVER, "check / check: check=1", "nobody acts after"),
        (RIVER, ": bet to 300: 72o; check: rest", "never holds 72o"),
        (RIVER, ": bet to 300: AX; check: rest", "is no rank"),
        (RIVER, ": bet to 300: AA:0.5", "the shares of AdAc sum to 0.5, not to 1"),
        (RIVER, ": bet to 250=1", "no action 'bet to 250' there: choose one of check, bet to 300"),
        ("openspiel:dark_hex(board_size=2)", ": 0=1", "the player to act is not public"),
    ],
)
def test_wrong_locks_are_told_in_one_line(game: str, lock: str, message: str) -> None:
    ran = command("solve", game, "--iterations", "2", "--lock", lock)
    assert ran.returncode == 2
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["kuhn_poker", "--lock", ": call=1", "--lock", ": raise: K"], "another lock fixes some of the same play"),
        (["kuhn_poker", "--lock", ": call=1", "--depth", "1"], "--lock cannot be used with --depth"),
        ([RIVER, "--lock", ": check=1", "--bits", "16"], "locks need regrets of 32 bits"),
        ([RIVER, "--lock", ": check=1", "--solver", "lp"], "lp solves only small games"),
    ],
)
def test_locks_that_cannot_be_are_told_in_one_line(options: list[str], message: str) -> None:
    ran = command("solve", *options)
    assert ran.returncode == 2
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_locks_on_the_command_line_are_those_of_python(tmp_path: Path) -> None:
    (tmp_path / "locks.json").write_text(json.dumps({"at": "check", "play": {"J": {"raise": 0.5, "call": 0.5}}}))
    ran = command("solve", "kuhn_poker", "--solver", "lp", "--lock", ": raise=0.5,call=0.5", "--lock", "locks.json", "--json",
                  "--export", "out.json", cwd=tmp_path)  # fmt: skip
    locks = [parse_lock(": raise=0.5,call=0.5"), *load_locks(tmp_path / "locks.json")]
    report = json.loads(ran.stdout)
    assert report["value"] == pytest.approx(solve("kuhn_poker", solver="lp", locks=locks).value)
    assert report["locks"] == json.loads((tmp_path / "out.json").read_text())["locks"]
    assert report["locks"][1] == {"at": "check", "play": {"J": {"raise": 0.5, "call": 0.5}}}
    told = command("solve", "kuhn_poker", "--iterations", "10", "--lock", ": raise=0.5,call=0.5")
    assert "raise=0.5,call=0.5" in told.stdout
    assert "best responses obey the locks" in " ".join(told.stdout.split())


@pytest.mark.parametrize("content", ["{", "[1]", '{"at": "check"}', '{"at": 1, "play": {}}'])
def test_a_file_that_has_no_locks_is_told_in_one_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "locks.json").write_text(content)
    with pytest.raises(TacitError, match=r"locks\.json"):
        load_locks(tmp_path / "locks.json")


def test_what_is_locked_is_played_from_the_first_iteration_on() -> None:
    tree, locked = lock_tree(compile_for_solving(load_game(RIVER)), [Lock("", "bet to 300: AA; check: KK")])
    passes = make_passes(locked)
    held = locked.held
    assert passes.lean
    np.testing.assert_array_equal(passes.to_numpy(passes.new_regrets())[held.entry], held.share)
    np.testing.assert_array_equal(locked.uniform_strategy()[held.entry], held.share)
    assert tree.uniform_strategy()[held.entry].max() < 1.0
    assert len(held.entry) == 2 * 2  # two hands with two actions each


def test_a_best_response_keeps_to_the_locks() -> None:
    name, locks = LOCKED[3][:2]
    result = solve(name, iterations=3, locks=locks)
    held = held_by(result.strategy.tree, locks)
    for player in (0, 1):
        response = result.best_response(player)
        assert response.value == pytest.approx(result.quality.best_response_values[player], abs=1e-9)
        mine = result.strategy.tree.entry_player[held.entry] == player
        np.testing.assert_array_equal(response.strategy.probabilities[held.entry[mine]], held.share[mine])


def test_a_poker_player_studies_a_turn_with_sizes_by_street_and_a_locked_node() -> None:
    """Uses public names only; a linear program over the tree from the rules checks the value."""
    spot = (
        "no_limit_holdem(board=AhKhQh7c,pot=200,stack=600,bets=0.5/1,bets1=1/0.5,raises=allin,"
        "range0=AdAc|JsTs|9h8h,range1=KsKd|JdTd|7s7d)"
    )
    result = tacit.solve(spot, iterations=600, locks=[tacit.Lock("check", "check: KK; bet to 300: JT,77")])
    tree = compile_game(load_game(spot))
    lock = Lock("AhKhQh7c / check", "call: KsKd; bet to 300: JdTd,7s7d")
    assert result.value == pytest.approx(value_by_lp(tree, held_by(tree, [lock])), abs=2 * result.nash_conv)
    assert result.exploitability < 0.3

    start, locked = result.show(), result.show("check")
    assert start.actions == ["check", "bet to 200"]  # half the pot of 200
    assert locked.actions == ["check", "bet to 300"]  # the other player bets the pot
    np.testing.assert_allclose(locked.strategy, [[1, 0], [0, 1], [0, 1]][:: 1 if locked.acting.names[0] == "KsKd" else -1])
    for player, sign in ((0, 1.0), (1, -1.0)):
        one = start.players[player]
        assert one.infostate_value is not None
        assert one.mean(one.infostate_value) == pytest.approx(sign * result.value, abs=1e-6)
    river = result.show("check / check / 2c")
    assert river.actions == ["check", "bet to 300"]  # the river's bet is the pot, the turn's is half of it
