"""The explorer without a browser: a sliced solve equals `tacit.solve`, and the frames report what the library reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.cards.ranges import parse_range
from tacit.errors import TacitError
from tacit.web.desk import Outlet, make_desk
from tacit.web.explore import desk as desk_module
from tacit.web.explore.live_solve import LiveSolve
from tacit.web.explore.node_data import node_data
from tests.random_games import RandomGame

Frames = list[dict[str, Any]]
RIVER = "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=3000,bets=1,raises=none,range0=AA|KQs|54s,range1=QQ|AKo:0.5|JTs)"


class Tab:
    """One explorer, with the frames it sent."""

    def __init__(self, **context: Any) -> None:
        self.frames: Frames = []
        self.desk = make_desk("explore", context)
        self.out = Outlet(lambda _what, frame: self.frames.append(frame))

    def say(self, do: str, **fields: Any) -> Frames:
        """Returns the frames that answer a message."""
        before = len(self.frames)
        self.desk.handle({"desk": "explore", "do": do, **fields}, self.out)
        return self.frames[before:]

    def solve(self, **fields: Any) -> dict[str, Any]:
        """Opens a game or file and solves it to the end; returns the `solved` frame."""
        self.say("open", **fields)
        while not (answer := self.say("solve"))[-1]["over"]:
            assert answer[-1]["type"] == "slice"
        return next(frame for frame in self.frames if frame["type"] == "solved")

    def node(self, line: str) -> dict[str, Any]:
        return self.say("view", line=line)[-1]


@pytest.mark.parametrize("stop", ["300", "0.003"])
def test_a_solve_in_many_slices_is_that_of_the_library(monkeypatch: pytest.MonkeyPatch, stop: str) -> None:
    monkeypatch.setattr(desk_module, "SLICE", 0.002)
    tab = Tab()
    solved = tab.solve(game="leduc_poker", solver="cfr+", stop=stop)
    slices = sum(frame["type"] == "slice" for frame in tab.frames)
    how: dict[str, Any] = {"iterations": 300} if stop.isdecimal() else {"target": 0.003}
    expected = tacit.solve("leduc_poker", solver="cfr+", **how)
    assert slices > 1
    assert solved["summary"]["exploitability"] == expected.exploitability
    assert solved["summary"]["iterations"] == expected.iterations
    points = [(frame["iteration"], frame["exploitability"]) for frame in tab.frames if frame["type"] == "point"]
    assert points == [(point.iteration, point.exploitability) for point in expected.curve]


def test_a_node_has_what_the_library_shows() -> None:
    tab = Tab()
    tab.solve(game="leduc_poker", stop="200")
    view = tacit.solve("leduc_poker", iterations=200).show("check / bet")
    node = tab.node("check / bet")
    acting = node["players"][node["actor"]]
    assert (node["actor"], node["actions"], acting["names"]) == (view.actor, view.actions, view.acting.names)
    assert np.allclose(node["strategy"], view.strategy, rtol=1e-6)
    for name, numbers in (
        ("reach", view.acting.reach),
        ("weight", view.acting.weight),
        ("values", view.acting.infostate_value),
    ):
        assert np.allclose(acting[name], numbers, rtol=1e-6), name
    assert node["probability"] == pytest.approx(view.probability, rel=1e-6)
    assert node["path"] == [{"step": "check", "actor": 0}, {"step": "bet", "actor": 1}]


def test_steps_belong_to_the_actions_that_lead_there() -> None:
    tab = Tab()
    tab.solve(game="leduc_poker", stop="2")
    node = tab.node("check")
    cards = [f"check {card}" for card in ("Js", "Jh", "Qs", "Qh", "Ks", "Kh")]
    assert [(one["step"], one["action"]) for one in node["next"]] == [*((card, 0) for card in cards), ("bet", 1)]
    assert (node["actions"], node["labels"]) == (["call", "raise"], ["check", "bet"])
    ends = {one["step"]: one["kind"] for one in tab.node("check / bet")["next"]}
    assert ends["fold"] == "ends"
    assert ends["raise"] == "acts"


def test_hidden_moves_belong_to_no_action() -> None:
    tab = Tab()
    tab.solve(game="goofspiel(cards=3)", stop="2")
    assert [one["action"] for one in tab.node("")["next"]] == [None]


def test_a_river_is_dealt_by_choosing_a_card() -> None:
    tab = Tab()
    tab.solve(game="no_limit_holdem(board=3s7hTdKs,pot=2000,stack=3000,menu=push,range0=AA|KK,range1=QQ|JJ)", stop="3")
    dealt = tab.node("check / check")
    assert dealt["kind"] == "deals"
    assert len(dealt["next"]) == 48
    assert tab.node("check / check / 2c")["board"] == "3s7hTdKs2c"


def test_a_game_that_starts_with_a_public_deal_lets_one_choose() -> None:
    result = tacit.solve(RandomGame(seed=5, roots=2), iterations=2)
    start = node_data(result.views, "")
    assert start["kind"] == "deals"
    first = start["next"][0]["step"]
    assert node_data(result.views, first)["path"] == [{"step": first, "actor": -1}]


def test_holdem_lists_every_hand_with_values() -> None:
    tab = Tab()
    tab.solve(game=RIVER, stop="50")
    node, view = tab.node(""), tacit.solve(RIVER, iterations=50).show("")
    assert node["grid"]
    assert node["players"][0]["names"] == view.acting.names
    assert np.allclose(node["players"][0]["equity"], np.asarray(view.acting.equity), rtol=1e-6)
    assert np.allclose(node["strategy"], view.strategy, atol=1e-6)


def test_a_pause_keeps_what_was_reached_and_goes_on() -> None:
    tab = Tab()
    tab.say("open", game="leduc_poker", stop="100000")
    tab.out.cut()
    assert tab.say("solve")[-1] == {"type": "slice", "over": False}
    tab.out.restart()
    tab.say("solve")
    first = tab.node("")["iterations"]
    assert tab.node("")["iterations"] == first
    tab.say("solve")
    assert tab.node("")["iterations"] > first
    tab.desk.close()


def test_the_thread_of_a_closed_solve_ends() -> None:
    solve = LiveSolve(tacit.load_game("leduc_poker"), {"solver": "dcfr", "iterations": 100_000})
    solve.run(0.05)
    assert not solve.is_over
    solve.close()
    solve._thread.join(10)
    assert not solve._thread.is_alive()
    assert solve.result is None


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"game": "no_limit_holdem"}, "too large to solve here"),
        ({"game": "leduc_poker", "solver": "dfcr"}, "dfcr"),
        ({"game": "leduc_poker", "stop": "soon"}, "or iterations such as 1000"),
        ({"game": "leduc_poker", "stop": "0.5%pot"}, "leduc_poker has no %pot"),
        ({"game": "leduc_poker", "stop": "99999999"}, "iterations"),
        ({"game": "chess"}, "unknown game"),
        ({"file": "nothing.tacit"}, "no saved solve"),
        ({"game": 7}, "game must be a text"),
    ],
)
def test_what_cannot_be_solved_is_told_in_one_line(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(TacitError, match=words) as told:
        Tab().say("open", **fields)
    assert "\n" not in str(told.value)


def test_a_server_for_others_runs_no_code_of_files() -> None:
    for do in ("open", "size"):
        with pytest.raises(TacitError, match=r"127\.0\.0\.1"):
            Tab(files=False).say(do, game="examples/own_game.py:Game")


def test_a_target_may_be_a_share_of_the_pot() -> None:
    tab = Tab()
    solved = tab.solve(game=RIVER, stop="1%pot")
    assert 0 < solved["units"]["percent_of_pot"] <= 1.0
    assert solved["summary"]["iterations"] == tacit.solve(RIVER, target=20.0).iterations


def test_saved_solves_are_listed_and_opened(tmp_path: Path) -> None:
    result = tacit.solve("kuhn_poker", iterations=50)
    result.save(tmp_path / "kuhn.tacit")
    (tmp_path / "notes.txt").write_text("no solve")
    outside = tmp_path.parent / "outside.tacit"
    result.save(outside)
    tab = Tab(solves=[str(tmp_path)])
    assert tab.say("offers")[0]["saved"] == [{"file": "kuhn.tacit", "game": "kuhn_poker"}]
    opened, *points, solved = tab.say("open", file="kuhn.tacit")
    assert opened["game"] == "kuhn_poker"
    assert len(points) == len(result.curve)
    assert solved["summary"]["exploitability"] == result.exploitability
    assert np.allclose(tab.node("")["strategy"], result.show().strategy, rtol=1e-6)
    with pytest.raises(TacitError, match="no saved solve"):
        tab.say("open", file="../outside.tacit")


def test_ranges_go_from_text_to_cells_and_back() -> None:
    tab = Tab()
    typed = tab.say("range", side=0, text="QQ+, AKs:0.5")[0]
    assert (typed["cells"][0], typed["cells"][1], typed["hands"]) == (1.0, 0.5, 20.0)
    painted = tab.say("range", side=1, cells=typed["cells"])[0]
    assert painted["text"] == typed["text"]
    assert np.array_equal(parse_range(painted["text"]), parse_range("QQ+,AKs:0.5"))
    assert tab.say("range", side=0, text="AsKs")[0]["mixed"] == [1]
    assert "no rank" in tab.say("range", side=0, text="XX")[0]["problem"]
    assert "169 cells" in tab.say("range", side=0, cells=[1.0])[0]["problem"]


def test_a_size_tells_whether_it_fits() -> None:
    tab = Tab()
    assert tab.say("size", game="leduc_poker")[0]["fits"]
    assert not tab.say("size", game="no_limit_holdem(board=3s7hTd,pot=2000,menu=standard)")[0]["fits"]
