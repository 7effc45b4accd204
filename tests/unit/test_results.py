"""Judging a player by hands it played elsewhere: AIVAT of results from Slumbot and the dealer, with mucked cards."""

import json
from pathlib import Path

import numpy as np
import pytest

from tacit.agents.hand_policy import HAND_POLICIES
from tacit.arena.aivat import estimate
from tacit.arena.aivat_cases import hand_line
from tacit.arena.hand_values import check_down
from tacit.arena.journal import read_journal
from tacit.arena.results import public_end, read_results
from tacit.cards import hand_index, parse_cards
from tacit.cli.main import main
from tacit.errors import TacitError
from tacit.games.holdem import NoLimitHoldem
from tests.slumbot_stand_in import stand_in
from tests.unit.test_arena import assert_refused

GAME = str(NoLimitHoldem())
# The button raises off the menu and bets the flop; the big blind folds, but its cards are known all the same.
DEALT = {"hand": 0, "payoffs": [-250.0, 250.0], "state": "STATE:0:r250c/cr601f:AsKd|7c2h/3s7hTd:-250|250:ours|theirs"}
AT_SLUMBOT = {
    "hand": 0, "client_pos": 0, "winnings": -250, "baseline_winnings": 0, "replayed": -250, "hole_cards": "AsKd",
    "bot_hole_cards": "7c2h", "board": "3s7hTd", "action": "b250c/kb351f", "actions": [250, 1, 1, 601, 0],
}  # fmt: skip


def write(path: Path, *lines: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_both_files_tell_the_same_hand(tmp_path: Path) -> None:
    dealt = write(tmp_path / "dealt.jsonl", {"game": GAME, "players": ["ours", "theirs"]}, DEALT)
    slumbot = write(tmp_path / "slumbot.jsonl", {"agent": "pot-odds", "game": GAME}, AT_SLUMBOT, {"abandoned": "x"})
    first, second = read_results(dealt, "ours"), read_results(slumbot, "pot-odds")
    assert first.hands == second.hands
    assert (first.player, second.player, first.hands[0].seat, first.hands[0].winnings) == ("ours", "pot-odds", 0, -250.0)
    end = public_end(first.game, first.hands[0].record)
    assert end.path == ((1, 250), (0, 1), *((-1, card) for card in parse_cards("Td7h3s")), (0, 1), (1, 601), (0, 0))
    assert end.betting.folder == 0
    other = read_results(dealt, "theirs").hands[0]
    assert (other.seat, other.winnings) == (1, 250.0)


def test_the_folded_hand_counts(tmp_path: Path) -> None:
    """The estimate depends on the other player's hand, though nobody showed it at the table."""
    path = write(tmp_path / "dealt.jsonl", {"game": GAME, "players": ["ours", "theirs"]}, DEALT)
    results = read_results(path, "ours")
    end = public_end(results.game, results.hands[0].record)
    policies = (HAND_POLICIES["pot-odds"], None)

    def worth(own: str, other: str) -> float:
        held = hand_index(*parse_cards(own)), hand_index(*parse_cards(other))
        return estimate(hand_line(end, held), policies, check_down)

    weak, strong = worth("AsKd", "7c2h"), worth("AsKd", "AcAd")
    assert abs(weak - strong) > 10.0
    other = worth("QcQs", "7c2h")
    assert weak == pytest.approx(other)  # the known player's own hand does not count


def test_results_that_cannot_be_judged(tmp_path: Path) -> None:
    head = {"game": GAME, "players": ["ours", "theirs"]}
    hidden = {**AT_SLUMBOT, "bot_hole_cards": ""}
    twice = {**DEALT, "state": DEALT["state"].replace("7c2h", "7cAs")}  # type: ignore[attr-defined]
    for lines, player, message in (
        ((head, DEALT), "nobody", "nobody was called 'nobody' .* choose one of ours, theirs"),
        (({"agent": "x", "game": GAME}, hidden), "x", "line 2 .* one player's cards are missing"),
        ((head, twice), "ours", "line 2 .* As is dealt twice"),
        ((head, {"hand": 0}), "ours", "line 2 .* is not a hand"),
        (({"game": GAME},), "ours", "holds no results"),
    ):
        with pytest.raises(TacitError, match=message):
            read_results(write(tmp_path / "bad.jsonl", *lines), player)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with stand_in(3) as (_, url), pytest.raises(SystemExit):
        main(["slumbot", "pot-odds", "--hands", "12", "--url", url, "--pause", "0"])
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main(["evaluate", "pot-odds", "--metric", "aivat", "--results", "slumbot.jsonl", "--json"])
    assert left.value.code in (0, None)
    report = json.loads(capsys.readouterr().out)
    won = [line["winnings"] for line in read_journal("slumbot.jsonl") if "winnings" in line]
    assert report["without_aivat"]["mbb_per_hand"] == pytest.approx(10 * np.mean(won))
    assert (report["hands"], report["kind"]) == (12, "sampled")
    assert report["interval"][0] < report["aivat"] < report["interval"][1]
    assert "too few hands" in report["verdict"]
    for arguments, message in (
        (("pot-odds",), "aivat needs the hands"),
        (("always-fold", "--results", "slumbot.jsonl"), "that its policy never makes"),
    ):
        assert_refused(["evaluate", *arguments, "--metric", "aivat"], message, capsys)
