"""Reports of a spot over many boards: figures match pairs of hands played out one by one, boards match counts."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit.solvers
from tacit.cards.boards import draw_boards, parse_open_board
from tacit.cards.deck import NUM_CARDS, parse_cards
from tacit.cards.hands import HANDS, NUM_HANDS
from tacit.cards.ranges import parse_range
from tacit.games.betting import FOLDED, SHOWDOWN
from tacit.games.holdem import Holdem, HoldemState
from tacit.solvers.board_report import board_play, find_lines, open_spot, weighted_mean
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.hand_tree import START, Spot
from tests.command import tacit as command

RANGES = "range0=AsQs|7d7c|KhJh:0.5|5h4h,range1=AhKd|9h8h:0.75|QdTc|6s5s"
RIVERS = f"no_limit_holdem(board=3s7hTdKs?,pot=400,stack=1200,bets=0.5|allin,raises=3x|allin,{RANGES})"
EVERYTHING = np.ones(NUM_HANDS), np.ones(NUM_HANDS)


def played_out(strategy: HandStrategy, state: HoldemState, spot: Spot, hands: tuple[int, int]) -> float:
    """Returns player 0's expected payoff on the river with two hands, by the rules of the game alone."""
    game, actor = strategy.tree.game, state.betting.actor
    assert isinstance(game, Holdem)
    if actor in (FOLDED, SHOWDOWN):
        return game.returns(state)[0]
    shares = strategy.played(spot)[:, hands[actor]]
    actions = game.legal_actions(state)
    return sum(
        share * played_out(strategy, game.apply(state, action), strategy.tree.after(spot, action), hands)
        for share, action in zip(shares.tolist(), actions, strict=True)
        if share > 0
    )


def test_frequencies_and_evs_are_those_of_hands_played_out() -> None:
    spot = open_spot(RIVERS, 1, 7)
    game = spot.game(spot.boards[0])
    result = tacit.solve(game, iterations=60)
    lines = ["", "check", "check / bet to 400"]
    play = board_play(spot.boards[0], result, lines)
    tree, strategy = result.strategy.tree, result.strategy
    assert isinstance(strategy, HandStrategy)
    strategy = HandStrategy(tree, tree.normalise(strategy.probabilities.astype(np.float64)))
    pairs = [
        (first, second, game.ranges[0][first] * game.ranges[1][second])
        for first in np.flatnonzero(game.ranges[0]).tolist()
        for second in np.flatnonzero(game.ranges[1]).tolist()
        if not {*HANDS[first]} & {*HANDS[second]}
    ]
    for number, words in enumerate(lines):
        taken, worth, reached = {}, {}, 0.0
        node = tree.find(words)
        for first, second, weight in pairs:
            state = HoldemState((*HANDS[first].tolist(), *HANDS[second].tolist()), game.known_board, game.rules.start(), "")
            above, chance = START, weight
            for actor, action in tree.path(node):
                chance *= strategy.played(above)[tree.actions(above.node).index(action), (first, second)[actor]]
                state, above = game.apply(state, action), tree.after(above, action)
            player, reached = state.betting.actor, reached + chance
            for name, action in zip(tree.action_names(node.node), tree.actions(node.node), strict=True):
                share = chance * strategy.played(node)[tree.actions(node.node).index(action), (first, second)[player]]
                payoff = played_out(strategy, game.apply(state, action), tree.after(node, action), (first, second))
                taken[name] = taken.get(name, 0.0) + share
                worth[name] = worth.get(name, 0.0) + share * (payoff if player == 0 else -payoff)
        line = play.lines[number]
        assert line.reached == pytest.approx(reached / sum(weight for *_, weight in pairs))
        for name, share in taken.items():
            assert line.frequency[name] == pytest.approx(share / reached)
            assert share == 0 or line.ev[name] == pytest.approx(worth[name] / share + 200)
    assert sum(play.ev) == pytest.approx(400)
    first = play.lines[0]
    assert sum(first.frequency[name] * first.ev[name] for name in first.ev) == pytest.approx(play.ev[0])
    assert list(find_lines(game).items()) == [("", 0), ("check", 1)]


def test_checking_down_is_worth_the_equity() -> None:
    text = f"no_limit_holdem(board=3s7hTd?,pot=400,stack=1200,bets=none,raises=none,{RANGES})"
    spot = open_spot(text, 2, 0)
    play = board_play(spot.boards[0], tacit.solve(spot.game(spot.boards[0]), iterations=1), [""])
    assert play.ev[0] == pytest.approx(400 * play.equity[0])
    assert play.lines[0].ev == pytest.approx({"check": play.ev[0]})


@pytest.mark.parametrize(
    ("board", "ranges", "different"),
    [
        ("3s7hTd?", ("random", "random"), 49),  # three suits are taken, so no renaming is left
        ("3s7sTs?", ("random", "random"), 10 + 13),  # ten spades, and one card of each rank in another suit
        ("3s7sTs?", ("random", "AhKh"), 10 + 26),
        ("???", ("random", "random"), 1_755),
    ],
)
def test_all_boards_are_there_once_up_to_suits(board: str, ranges: tuple[str, str], different: int) -> None:
    known, num_open = parse_open_board(board)
    weights = parse_range(ranges[0]), parse_range(ranges[1])
    boards, complete = draw_boards(known, num_open, weights, 2_000, 0)
    removed = 2 if ranges[1] != "random" and known else 0
    assert complete
    assert len(boards) == different - removed
    assert sum(one.count for one in boards) == math.comb(NUM_CARDS - len(known), num_open) - removed
    assert all(one.cards[: len(known)] == known for one in boards)
    if ranges == ("random", "random"):
        left = NUM_CARDS - len(known) - num_open
        assert [one.weight for one in boards] == pytest.approx(
            [one.count * math.comb(left, 2) * math.comb(left - 2, 2) for one in boards]
        )


def test_boards_are_as_likely_as_the_hands_they_leave() -> None:
    weights = parse_range("AA,KQs:0.5"), parse_range("KK,AKs,72o:0.25")
    boards, complete = draw_boards(parse_cards("3s7hTdKs"), 1, weights, 5, 1)
    assert not complete
    assert len(boards) == 5
    for one in boards:
        cards, total = {*one.cards}, 0.0
        for first in np.flatnonzero(weights[0]):
            for second in np.flatnonzero(weights[1]):
                if len({*HANDS[first], *HANDS[second], *cards}) == 4 + len(cards):
                    total += weights[0][first] * weights[1][second]
        assert one.weight == pytest.approx(one.count * total)


def test_more_boards_with_a_seed_are_the_same_and_more() -> None:
    few, many = (draw_boards((), 4, EVERYTHING, most, 3)[0] for most in (20, 60))
    assert [str(one) for one in few] == [str(one) for one in many][: len(few)]
    assert sum(one.count for one in many) == 60
    assert draw_boards((), 4, EVERYTHING, 20, 4)[0] != few


def test_impossible_boards_are_never_drawn() -> None:
    boards, complete = draw_boards(parse_cards("AsAhKd"), 1, (parse_range("AA"), parse_range("KcKs")), 100, 0)
    assert complete
    assert {str(one)[-2:] for one in boards}.isdisjoint({"Ac", "Ad", "Kc", "Ks", "As", "Ah", "Kd"})


def test_means_are_weighted() -> None:
    assert weighted_mean([1.0, 3.0], [3.0, 1.0])[0] == 1.5
    mean, error = weighted_mean([1.0, 2.0, 3.0, math.nan], [1.0, 1.0, 1.0, 9.0])
    assert mean == 2.0
    assert error == pytest.approx(1.96 * math.sqrt(2) / 3)


def report(*arguments: str) -> Any:
    return command("report", RIVERS, "--boards", "3", "--target", "2%pot", *arguments)


def test_a_report_goes_on_after_ctrl_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, picture, solved = tmp_path / "rivers.csv", tmp_path / "rivers.png", list[str]()
    solve = tacit.solvers.solve

    def stopping(game: Any, **options: Any) -> Any:
        solved.append(str(game))
        if len(solved) == 2:
            raise KeyboardInterrupt
        return solve(game, **options)

    monkeypatch.setattr(tacit.solvers, "solve", stopping)
    stopped = report("--csv", str(table))
    assert stopped.returncode == 130
    assert "by Ctrl-C after 1 of 3 boards; finished boards are kept in" in stopped.stderr
    assert "player 0 at the start" in stopped.stdout
    assert len(list(csv.DictReader(table.open()))) == 1
    done = json.loads(report("--csv", str(table), "--plot", str(picture), "--json").stdout)
    assert len(solved) == 4  # the first board is not solved again
    assert len({*solved}) == 3
    assert done["num_boards"] == 3
    assert done["kind"] == "sampled"
    assert done["worst_exploitability"] <= 8
    assert picture.stat().st_size > 5_000
    rows = list(csv.DictReader(table.open()))
    bets = [float(row["start: bet to 400 frequency"]) + float(row["start: bet to 1200 frequency"]) for row in rows]
    assert bets == sorted(bets, reverse=True)
    assert [float(row["ev 0"]) + float(row["ev 1"]) for row in rows] == pytest.approx([400] * 3)
    assert {row["board"]: float(row["ev 0"]) for row in rows} == {one["board"]: one["ev"][0] for one in done["boards"]}
    again = report("--csv", str(table))
    assert again.returncode == 0
    assert len(solved) == 4
    assert "mean" in again.stdout


def test_boards_that_iterations_stopped_before_the_target_are_counted() -> None:
    short = command("report", RIVERS, "--boards", "2", "--iterations", "1", "--target", "0.01%pot")
    assert "solved to 0.01%pot (2 stopped before, by --iterations)" in short.stdout
    told = json.loads(command("report", RIVERS, "--boards", "2", "--target", "5%pot", "--json").stdout)
    assert (told["boards_above_target"], told["boards_solved"]) == (0, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((RIVERS.replace("?", "2c"),), "leaves no card of the board open: write ? for each"),
        (("kuhn_poker",), "leaves no card of the board open"),
        (("kuhn_poker(board=?)",), "kuhn_poker has no parameter 'board'"),
        (("no_limit_holdem(board=3s7h??????)",), "board must have 0, 3, 4 or 5 cards, not 8"),
        (("no_limit_holdem(board=??,pot=400)",), "board must have 0, 3, 4 or 5 cards, not 2"),
        (("no_limit_holdem(board=3x?,pot=400)",), "is no card"),
        (("no_limit_holdem(board=????)",), "pot must be even"),
        (("no_limit_holdem(board=????,pot=400,rake=0.05)",), "general-sum"),
        (("no_limit_holdem(board=????,pot=400,range0=AsAh,range1=AsKs)",), "they share cards"),
        ((RIVERS, "--boards", "0"), "--boards"),
        ((RIVERS, "--target", "0"), "the target must be positive and finite, not 0"),
        ((RIVERS, "--target", "half"), "cannot read the target 'half'"),
        ((RIVERS, "--iterations", "0"), "--iterations"),
        ((RIVERS, "--solver", "gto"), "gto"),
        ((RIVERS, "--at", "bet 400"), "no 'bet 400' after the start: choose one of check, bet to 400, bet to 1200"),
        ((RIVERS, "--at", "check / check"), "nobody acts after 'check / check'"),
        ((RIVERS, "--plot", "picture.txt"), "the name must end in .png, .svg, .pdf"),
        ((RIVERS, "--csv", "same.png", "--plot", "same.png"), "are the same file"),
        ((RIVERS, "--csv", "no_report.csv"), "no_report.csv is no report about these lines: name another --csv file"),
        ((RIVERS, "--csv", "."), "it is a directory"),
    ],
)
def test_wrong_uses_are_refused_in_a_line(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "no_report.csv").write_text("a,b\n1,2\n")
    result = command("report", *arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_files_of_other_reports_are_not_overwritten(tmp_path: Path) -> None:
    table = tmp_path / "rivers.csv"
    assert report("--csv", str(table)).returncode == 0
    before = table.read_text()
    other = command("report", RIVERS.replace("stack=1200", "stack=1300"), "--boards", "3", "--csv", str(table))
    assert other.returncode == 2
    assert "is a report of no_limit_holdem(" in other.stderr
    fewer = command("report", RIVERS, "--boards", "1", "--csv", str(table))
    assert fewer.returncode == 2
    assert "that is not asked for: ask for more --boards" in fewer.stderr
    assert table.read_text() == before
