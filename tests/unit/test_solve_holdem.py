"""`tacit solve` for hold'em endgames: ranges, targets, grids, saved solves, and what is refused."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.cards.hands import possible_hands
from tacit.cards.ranges import parse_range
from tacit.errors import TacitError
from tacit.solvers import load_result
from tacit.tree.compiler import compile_for_solving, compile_game, solving_cost
from tacit.tree.hand_builder import BYTES_PER_NUMBER
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.hand_tree import START
from tests.command import tacit as command

FULL_RIVER = "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=10000,bets=1|allin,raises=1"
RIVER = f"{FULL_RIVER},range0=KK|QQ|A5s:0.5|87s,range1=AKs|TT|99|65s)"
TURN = RIVER.replace("Ks2c", "Ks")
NUTS = "no_limit_holdem(board=2c2d2h2sAs,pot=2000,stack=10000,bets=1)"


def test_a_river_is_solved_saved_and_continued(tmp_path: Path) -> None:
    result = tacit.solve(RIVER, solver="dcfr", iterations=60)
    assert isinstance(result.strategy, HandStrategy)
    result.save(tmp_path / "river.tacit")
    again = load_result(tmp_path / "river.tacit")
    assert again.exploitability == result.exploitability
    straight = tacit.solve(RIVER, solver="dcfr", iterations=90)
    continued = tacit.solve(RIVER, solver="dcfr", iterations=90, resume=again)
    np.testing.assert_allclose(continued.strategy.probabilities, straight.strategy.probabilities, atol=1e-5)
    assert continued.exploitability < result.exploitability
    assert continued.summary()["exploitability_mbb"] == pytest.approx(10.0 * continued.exploitability)
    assert continued.summary()["exploitability_percent_of_pot"] == pytest.approx(continued.exploitability / 20.0)


def test_the_game_of_ranges_is_the_tree_of_ranges() -> None:
    """The rules, dealt hand by hand and compiled generically, give the same value as the tree over hands."""
    exact = tacit.solve(Disguised(tacit.load_game(RIVER)), solver="lp")
    result = tacit.solve(RIVER, solver="pcfr+", iterations=2_000)
    assert result.exploitability < 0.5
    assert result.value == pytest.approx(exact.value, abs=0.5)  # chips, of a pot of 2,000


@dataclass(frozen=True)
class Disguised(tacit.Game[Any]):
    """Hold'em that is not recognised, so that it is compiled history by history."""

    name = "disguised"
    inner: Any

    def __str__(self) -> str:
        return self.name

    def initial_state(self) -> Any:
        return self.inner.initial_state()

    def actor(self, state: Any) -> int:
        return int(self.inner.actor(state))

    def legal_actions(self, state: Any) -> Sequence[int]:
        return list(self.inner.legal_actions(state))

    def apply(self, state: Any, action: int) -> Any:
        return self.inner.apply(state, action)

    def returns(self, state: Any) -> tuple[float, float]:
        first, second = self.inner.returns(state)
        return first, second

    def chance_outcomes(self, state: Any) -> Sequence[tuple[int, float]]:
        return list(self.inner.chance_outcomes(state))

    def public_observation(self, state: Any) -> str:
        return str(self.inner.public_observation(state))

    def private_observation(self, state: Any, player: int) -> str:
        return str(self.inner.private_observation(state, player))


def test_when_nobody_can_win_nobody_bets() -> None:
    """Four twos and an ace on the board: every hand ties, and nothing is gained or lost."""
    result = tacit.solve(NUTS, solver="dcfr", iterations=200)
    assert result.value == pytest.approx(0.0, abs=0.1)  # chips, of a pot of 2,000
    assert result.exploitability < 1.0


def test_ranges_flow_down_the_tree() -> None:
    strategy = tacit.solve(RIVER, solver="dcfr", iterations=200).strategy
    assert isinstance(strategy, HandStrategy)
    tree = strategy.tree
    start = parse_range("KK,QQ,A5s:0.5,87s")
    for hand in np.flatnonzero(strategy.range_at(START, 0)):
        assert strategy.range_at(START, 0)[hand] == start[hand]
    node = tree.find("bet to 3000 / call")
    kinds = tree.find("bet to 3000")
    bets = strategy.played(START)[tree.action_names(START.node).index("bet to 3000")]
    calls = strategy.played(kinds)[tree.action_names(kinds.node).index("call")]
    np.testing.assert_allclose(strategy.range_at(node, 0), strategy.range_at(START, 0) * bets)
    np.testing.assert_allclose(strategy.range_at(node, 1), strategy.range_at(START, 1) * calls)
    assert tree.label(node) == "bet to 3000 / call"
    with pytest.raises(TacitError, match="no 'bet to 5' after the start: choose one of check, bet to 3000"):
        tree.find("bet to 5")
    with pytest.raises(TacitError, match="the hand is over"):
        tree.find("check / check / check")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_limit_holdem(board=3s7hTdKs2c,pot=2000,range0=ZZ)", "ZZ"),
        ("no_limit_holdem(board=AsAhAdAcKs,pot=2000,range0=AA)", "no hand of the range can be held"),
        ("no_limit_holdem(range0=AA)", "ranges need a board"),
    ],
)
def test_ranges_that_cannot_be_are_refused(name: str, message: str) -> None:
    with pytest.raises(TacitError, match=message):
        tacit.load_game(name)


def test_what_does_not_fit_is_refused_before_it_is_built() -> None:
    with pytest.raises(TacitError, match="offer fewer bets, narrow the ranges, or start with more"):
        tacit.solve("no_limit_holdem(board=3s7hTd,pot=200)", iterations=1)
    with pytest.raises(TacitError, match="lp solves only small games"):
        tacit.solve(RIVER, solver="lp")
    with pytest.raises(TacitError, match="solved by numba"):
        tacit.solve(RIVER, backend="torch", iterations=1)
    with pytest.raises(TacitError):
        compile_game(tacit.load_game("no_limit_holdem"))


@pytest.mark.parametrize("hands", ["", ",range0=AA|QJs|7c6c,range1=KK-99|AQo"])
@pytest.mark.parametrize("board", ["3s7hTdKs2c", "3s7hTdKs"])
def test_what_a_tree_will_take_is_known_before_it_is_built(board: str, hands: str) -> None:
    game = tacit.load_game(f"no_limit_holdem(board={board},pot=2000,stack=3000,bets=0.5|1|allin,raises=1{hands})")
    tree = compile_for_solving(game)
    assert solving_cost(game).num_bytes == tree.num_entries * BYTES_PER_NUMBER
    held = (game.ranges[0] > 0) | (game.ranges[1] > 0)
    assert set(tree.blocks.hands(0)) == set(np.flatnonzero(held & possible_hands(game.known_board)))


def test_the_command_shows_the_grid_and_says_how_far_it_got(tmp_path: Path) -> None:
    river = f"{FULL_RIVER})"
    ranges = ("--range0", "KK,QQ,A5s:0.5,87s", "--range1", "AKs,TT,99,65s")
    arguments = ("solve", river, *ranges, "--target", "0.5%pot", "--at", "check", "--grid", "grid.png")
    shown = command(*arguments, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "% of the pot, exact" in shown.stdout
    assert "player 1 after check" in shown.stdout
    assert (tmp_path / "grid.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads(command(*arguments, "--json", cwd=tmp_path).stdout)
    assert found["exploitability_percent_of_pot"] <= 0.5
    assert found["kind"] == "exact"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("kuhn_poker", "--target", "1%pot"), "kuhn_poker has no %pot"),
        (("kuhn_poker", "--target", "soon"), "cannot read the target 'soon'"),
        (("kuhn_poker", "--range0", "AA"), "kuhn_poker has no ranges"),
        (("kuhn_poker", "--grid", "x.png"), "for hold'em, not for kuhn_poker"),
        # These iterations would take days: each case is refused before the first one.
        ((RIVER, "--iterations", "999999999", "--at", "dance"), "no 'dance' after the start"),
        ((RIVER, "--iterations", "999999999", "--at", "dance", "--json"), "no 'dance' after the start"),
        ((RIVER, "--iterations", "999999999", "--at", "check / check"), "nobody acts after 'check / check'"),
        ((RIVER, "--at", "check / check", "--grid", "nobody.png"), "nobody acts after 'check / check'"),
        ((TURN, "--iterations", "999999999", "--at", "check / check"), "nobody acts after 'check / check'"),
        ((RIVER, "--depth", "2", "--at", "check"), "--at cannot be used with --depth"),
        (("no_limit_holdem(board=3s3s7h,pot=200)",), "3s comes twice"),
    ],
)
def test_mistakes_get_one_line(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    refused = command("solve", *arguments, cwd=tmp_path)
    assert refused.returncode == 2
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr
