"""Objects that draw themselves in notebooks: what they show, that nothing escapes the HTML, and that it stays small."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit import html
from tacit.arena.match import MatchResult
from tacit.artifacts.base import Evaluation
from tacit.cards.grid import SIZE
from tacit.colors import CALL, FOLD, action_colors, colors_for
from tacit.games.base import TERMINAL, Moves, SequenceGame
from tacit.solvers.result import Point
from tacit.tree import pictures
from tacit.tree.node_view import Belief, PlayerView
from tacit.tree.pictures import MAX_NODES, MAX_ROWS

EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)> & "\'><b>'
RIVER = "no_limit_holdem(board=3s7hTdKs2c,pot=2000,bets=0.5|1,raises=allin,range0=AA|K7s|QJo,range1=TT|55|A3s)"
VOID = {"circle", "rect", "path", "polyline", "img", "br"}


class Checked(HTMLParser):
    """Parses HTML with properly paired tags, and keeps its tags, attributes and text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def shown(thing: Any) -> Checked:
    """Returns a thing's HTML, parsed; it must be well-formed, without scripts, global styles or external resources."""
    source = thing._repr_html_()
    assert len(source) < 100_000
    page = Checked(source)
    assert not {"script", "style", "link", "img", "iframe", "foreignobject", "b"} & set(page.tags)
    assert not any(name.startswith("on") or name in ("href", "src") for name, _ in page.attributes)
    assert not re.search(r"url\(|https?://(?!www\.w3\.org/2000/svg)", source)
    return page


@dataclass(frozen=True)
class Rude(SequenceGame):
    """A <i>game</i> whose names are HTML."""

    word: str = EVIL

    name = "rude"

    def actor(self, state: Moves) -> int:
        return TERMINAL if len(state) == 2 else len(state)

    def legal_actions(self, state: Moves) -> Moves:
        return (0, 1)

    def public_observation(self, state: Moves) -> str:
        return f"{self.word}{state[-1]}" if state else ""

    def returns(self, state: Moves) -> tuple[float, float]:
        return (1.0, -1.0) if state[0] == state[1] else (-1.0, 1.0)

    def action_name(self, action: int) -> str:
        return f"{self.word}{action}"

    def drawing(self, state: Moves) -> str:
        return self.word


@pytest.fixture(scope="module")
def leduc() -> tacit.SolveResult:
    return tacit.solve("leduc_poker", iterations=100)


@pytest.fixture(scope="module")
def river() -> tacit.SolveResult:
    return tacit.solve(RIVER, iterations=50)


def test_a_game_says_what_it_is() -> None:
    page = shown(tacit.load_game("liars_dice(dice=1,faces=4)"))
    for words in ("liars_dice", "faces 4", "1,024", "0.0625 for player 0"):
        assert words in page.text
    assert "a b c" in shown(tacit.load_game("tic_tac_toe")).text
    assert "openspiel:kuhn_poker" in shown(tacit.load_game("openspiel:kuhn_poker")).text
    big = shown(tacit.load_game("no_limit_holdem")).text
    assert "stack 20,000" in big
    assert "range0" not in big  # empty parameters are left out


def test_a_solve_shows_its_figures_and_its_curve(leduc: tacit.SolveResult) -> None:
    page = shown(leduc)
    for words in ("leduc_poker", "dcfr", "iterations 100", f"{leduc.value:.4g}", f"{leduc.exploitability:.4g} (exact)"):
        assert words in page.text
    (line,) = (value for name, value in page.attributes if name == "points")
    assert line is not None
    spots = [tuple(map(float, spot.split(","))) for spot in line.split()]
    assert [x for x, _ in spots] == sorted(x for x, _ in spots)
    assert spots[-1][1] > spots[0][1] + 50  # lower is better, and y counts from the top
    assert "polyline" not in shown(tacit.solve("kuhn_poker", solver="lp")).tags
    long = shown(replace(leduc, curve=[Point(number, 0.0, 1.0 / number) for number in range(1, 100_000)]))
    (line,) = (value for name, value in long.attributes if name == "points")
    assert line is not None
    assert len(line.split()) <= html.MAX_POINTS + 1
    assert "99,999 iterations" in long.text  # the last point is kept


def test_a_strategy_shows_bars_of_what_is_played(leduc: tacit.SolveResult) -> None:
    page = shown(leduc.strategy)
    assert page.tags.count("svg") == MAX_ROWS
    assert f"and {len(leduc.strategy) - MAX_ROWS:,} more infostates" in page.text
    first = next(iter(leduc.strategy))
    assert f"call {100 * first['call']:.1f} %" in page.text
    widths = [float(value or 0) for name, value in page.attributes if name == "width"]
    assert any(width == pytest.approx(220 * first["call"], abs=0.06) for width in widths)


def test_a_public_state_shows_weights_values_and_play(leduc: tacit.SolveResult) -> None:
    view = leduc.show("check / bet")
    page = shown(view)
    assert view.heading in page.text
    for decision in view:
        assert decision.private in page.text
        assert decision.infostate_value is not None
        assert html.short_number(decision.infostate_value) in page.text
    assert "value" not in shown(leduc.strategy.at("check / bet")).text  # no values without passes
    belief = leduc.beliefs("check / bet")[0]
    for name in belief.names:  # next to a bar of that length
        assert f"{name} {100 * belief[name]:.1f} % {html.short_number(belief[name], 3)}" in shown(belief).text


def test_long_lists_keep_what_is_likeliest(leduc: tacit.SolveResult) -> None:
    count = MAX_ROWS + 10
    names, reach = [f"h{number}" for number in range(count)], np.arange(1.0, count + 1)
    held = PlayerView(names, np.arange(count), reach, reach, reach / reach.sum())
    view = replace(leduc.show(), strategy=np.full((count, 2), 0.5), players=(held, held))
    kept = [name for name in names if f"{name} " in f"{shown(view).text} "]
    assert kept == names[10:]
    assert "10 more private states" in shown(view).text
    believed = shown(Belief(0, names, held.weight)).text
    assert [name for name in names if f"{name} " in believed] == names[10:]
    assert "10 less likely ones" in believed


def test_hands_are_shown_on_the_grid(river: tacit.SolveResult) -> None:
    for thing in (river.show(), river.strategy, river.show("check")):
        page = shown(thing)
        assert page.tags.count("text") == SIZE * SIZE
        assert {"AA", "AKs", "72o"} <= {word.strip() for word in page.words}
    page = shown(river.show())
    aces = [decision for decision in river.show() if re.fullmatch("A.A.", decision.private)]
    told = next(word for word in page.words if word.startswith("AA, "))
    for name in aces[0].probabilities:
        mean = sum(one[name] * (one.reach or 0.0) for one in aces) / sum(one.reach or 0.0 for one in aces)
        assert mean < 0.002 or f"{name} {100 * mean:.0f} %" in told
    assert {word.partition(",")[0] for word in page.words if "check" in word and "," in word} == {"AA", "K7s", "QJo"}
    view = river.show()
    aces_alone = np.array([bool(re.fullmatch("A.A.", name)) for name in view.acting.names], float)
    seldom = replace(view, players=(replace(view.acting, reach=aces_alone), view.players[1]))
    assert {word.partition(",")[0] for word in shown(seldom).words if "check" in word and "," in word} == {"AA"}
    assert shown(river.strategy.tree).tags.count("circle") == river.strategy.tree.num_nodes == 27
    assert "percent of pot" in shown(river).text


def test_trees_are_drawn_from_the_start_and_cut() -> None:
    kuhn = shown(tacit.compile_game(tacit.load_game("kuhn_poker")))
    assert kuhn.tags.count("circle") == 9
    assert "public states 9" in kuhn.text
    assert "more" not in kuhn.text
    dice = shown(tacit.compile_game(tacit.load_game("liars_dice(dice=1,faces=4)")))
    assert dice.tags.count("circle") == MAX_NODES
    assert "… 5 more" in dice.text  # eight opening bids, three of them drawn
    hidden = tacit.compile_game(tacit.load_game("openspiel:dark_hex(board_size=2)"))  # it is not public who acts
    assert hidden.nodes is None
    assert "svg" not in shown(hidden).tags


def test_results_are_shown() -> None:
    match = tacit.match("always-call", "random", "kuhn_poker", hands=100, seed=1)
    page = shown(match)
    assert match.mean is not None
    for words in ("A: always-call v B: random", f"A wins a hand {match.mean:.4g}", match.verdict, "in both seats"):
        assert words in page.text
    assert page.tags.count("circle") == 1
    evaluation = tacit.evaluate(tacit.open("random", "kuhn_poker").strategy())
    assert "0.4583" in shown(evaluation).text
    assert "worth to it" in shown(tacit.solve("kuhn_poker", iterations=5).best_response(1)).text


def test_a_run_is_shown(tmp_path: Path) -> None:
    run = tacit.train("nfsp", "kuhn_poker", run=tmp_path / "run", preset="smoke", epochs=2)
    page = shown(run)
    assert run.exploitability is not None
    for words in ("nfsp on kuhn_poker", "2 of 2", html.short_number(run.exploitability), "run"):
        assert words in page.text
    assert "epochs" in page.text


def rude_solve() -> tacit.SolveResult:
    return tacit.solve(Rude(), iterations=3)


@pytest.mark.parametrize(
    "make",
    [
        Rude,
        rude_solve,
        lambda: rude_solve().strategy,
        lambda: rude_solve().show(),
        lambda: rude_solve().strategy.tree,
        lambda: rude_solve().beliefs()[0],
        lambda: MatchResult(EVIL, (EVIL, EVIL), 2, 1.0, (0.5, 1.5), 1.0, EVIL, EVIL, True, True, 0, 1.0),
        lambda: Evaluation(EVIL, EVIL, EVIL, EVIL, EVIL, {}, (0.0, 1.0)),
    ],
)
def test_names_cannot_break_out(make: Callable[[], Any]) -> None:
    page = shown(make())
    assert 'alert("x")' in page.text or "belief" in page.text


def test_a_step_with_a_slash_is_left_out_of_a_drawn_tree() -> None:
    assert shown(tacit.compile_game(Rude("a/b"))).tags.count("circle") == 1
    assert shown(tacit.compile_game(Rude("ab"))).tags.count("circle") == 7


def test_large_trees_are_not_named(leduc: tacit.SolveResult, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MAX_NAMED", 100)
    for thing in (leduc.strategy, leduc.strategy.tree):
        page = shown(thing)
        assert "svg" not in page.tags
        assert "public states 460" in page.text


def test_drawing_runs_no_pass(leduc: tacit.SolveResult, river: tacit.SolveResult, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values, reaches and equities cost time: drawing shows them if they are known, and never computes them."""
    things = [
        leduc,
        leduc.strategy,
        leduc.show(),
        leduc.strategy.tree,
        river,
        river.strategy,
        river.show(),
        river.strategy.tree,
    ]

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("drawing computes")

    for target in ("tacit.kernels.make_passes", "tacit.evaluation.node_views.make_passes", "tacit.tree.strategy.belief_state",
                   "tacit.tree.hand_strategy.run_out_margins", "tacit.tree.hand_strategy.HandStrategy.view"):  # fmt: skip
        monkeypatch.setattr(target, refuse)
    for thing in things:
        assert shown(thing).text


def test_pieces() -> None:
    assert html.short_number(float("nan")) == html.short_number(None) == "-"
    assert html.short_number(1234.5) == "1,234"
    assert html.safe_text("x" * 500) == "x" * (html.MAX_TEXT - 1) + "…"
    assert html.log_curve([(1, 1.0)], "x", "y") == html.log_curve([(1, 0.0), (2, 0.0)], "x", "y") == ""
    assert html.facts({"a": None, "b": ""}).count("<span") == 0
    bar = html.stacked_bar([0.25, float("nan"), 0.75], ["a", "b", "c"], ["#000", "#111", "#222"], 100)
    assert 'width="25.0"' in bar
    assert 'x="25.0" width="75.0"' in bar
    assert 'aria-label="a 25.0 %, c 75.0 %"' in bar
    assert np.isfinite([float(x) for x in re.findall(r'cx="([-\d.]+)"', html.interval_bar(0.0, (0.0, 0.0)))]).all()


def test_colours_tell_actions_apart() -> None:
    assert colors_for(["fold", "call", "raise"]) == action_colors(["fold", "call", "raise"])
    assert colors_for(["fold", "call"]) == [FOLD, CALL]
    dice = colors_for([f"1x{face}" for face in range(1, 7)])
    assert len(set(dice)) == 6
