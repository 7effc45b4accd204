"""`tacit acpc`: real matches between processes, and what is left if one of them dies."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

from tacit.agents.bots import RandomBot
from tacit.arena.acpc import Client, read_state
from tacit.arena.hand_history import write_hand
from tacit.arena.hands import HandRecord, replay
from tacit.arena.journal import read_journal
from tacit.arena.lines import Lines
from tacit.cli.main import main
from tacit.games.holdem import LimitHoldem, NoLimitHoldem
from tests.unit.test_acpc_sockets import in_thread

ROOT = Path(__file__).parents[2]
NO_LIMIT, LIMIT = NoLimitHoldem(), LimitHoldem()


def tacit(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tacit", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd, env=environment)


def start_dealer(folder: Path, *arguments: str) -> tuple[subprocess.Popen[str], str]:
    dealer = tacit("acpc", "dealer", "--port", "0", "--out", "match.jsonl", *arguments, cwd=folder)
    assert dealer.stderr is not None
    found = re.search(r"at 127\.0\.0\.1:(\d+); waiting", dealer.stderr.readline())
    assert found is not None
    return dealer, found[1]


@pytest.mark.parametrize("game", ["no_limit_holdem", pytest.param("limit_holdem", marks=pytest.mark.slow)])
def test_two_clients_play_200_hands(tmp_path: Path, game: str) -> None:
    options = ("--hands", "200", "--names", "a,b", "--seed", "5", "--phh", "hands.phhs", "--json")
    dealer, port = start_dealer(tmp_path, "--game", game, *options)
    clients = [
        tacit("acpc", "client", "random", "127.0.0.1", port, "--game", game, "--seed", str(seed), "--json", cwd=tmp_path)
        for seed in (1, 2)
    ]
    printed, notes = dealer.communicate(timeout=60)
    assert dealer.returncode == 0, notes
    totals = [json.loads(client.communicate(timeout=30)[0])["total"] for client in clients]
    assert all(client.returncode == 0 for client in clients)
    result, (head, *hands, end) = json.loads(printed), read_journal(tmp_path / "match.jsonl")
    assert result["hands"] == len(hands) == 200
    assert end == {"finished": True, "hands": 200, "totals": result["totals"]}
    assert head["players"] == ["a", "b"]
    assert sum(result["totals"]) == 0
    assert sorted(totals) == sorted(result["totals"])
    assert np.sum([hand["payoffs"] for hand in hands], axis=0).tolist() == result["totals"]
    rules = NO_LIMIT if game == "no_limit_holdem" else LIMIT
    histories = tomllib.loads((tmp_path / "hands.phhs").read_text())
    for number, (hand, history) in enumerate(zip(hands, histories.values(), strict=True)):
        _, text_number, betting, cards, payoffs, names = hand["state"].split(":")
        assert (int(text_number), sum(hand["payoffs"])) == (number, 0)
        assert names == ("a|b" if number % 2 == 0 else "b|a")
        state = read_state(rules.rules, f"MATCHSTATE:0:0:{betting}:{cards}")
        record = HandRecord((*state.hands[0], *state.hands[1]), state.board, state.actions)
        returns = rules.returns(replay(rules, record))
        assert history == tomllib.loads(write_hand(rules, record, number, names.split("|")))
        assert payoffs == f"{returns[0]:.0f}|{-returns[0]:.0f}".replace("-0", "0")
        assert hand["payoffs"] == list(returns if number % 2 == 0 else returns[::-1])
    kit = pytest.importorskip("pokerkit")
    blinds = (rules.rules.small_blind, rules.rules.big_blind)
    if game == "no_limit_holdem":
        theirs = kit.NoLimitTexasHoldem((), True, 0, blinds, 100)
    else:
        theirs = kit.FixedLimitTexasHoldem((), True, 0, blinds, 10, 20)
    text = "\n".join(hand["state"] for hand in hands)
    read = list(kit.HandHistory.from_acpc_protocol(theirs, rules.rules.stack, text, error_status=True))
    assert len(read) == 200
    for history, hand in zip(read, hands, strict=True):
        *_, last = history
        assert "|".join(str(payoff) for payoff in last.payoffs) == hand["state"].split(":")[4]


def test_a_client_that_dies_leaves_saved_results(tmp_path: Path) -> None:
    dealer, port = start_dealer(tmp_path, "--hands", "1000000")
    clients = [tacit("acpc", "client", "random", "127.0.0.1", port, cwd=tmp_path) for _ in (0, 1)]
    file = tmp_path / "match.jsonl"
    deadline = time.monotonic() + 60
    while file.read_bytes().count(b"\n") < 20 and time.monotonic() < deadline:
        time.sleep(0.05)
    clients[0].send_signal(signal.SIGKILL)
    _, notes = dealer.communicate(timeout=30)
    assert dealer.returncode == 2
    last = notes.splitlines()[-1]
    head, *hands, end = read_journal(file)
    assert re.fullmatch(
        rf"tacit: player\d \S.* in hand {len(hands)}; {len(hands)} of 1000000 hands are in match.jsonl", last
    ), last
    assert len(notes.splitlines()) == 3  # two players connected, one left
    assert len(hands) >= 19
    assert end["finished"] is False
    assert end["totals"] == np.sum([hand["payoffs"] for hand in hands], axis=0).tolist()
    assert [hand["hand"] for hand in hands] == list(range(len(hands)))
    _, complaint = clients[1].communicate(timeout=30)
    clients[0].communicate(timeout=30)
    assert head["hands"] == 1_000_000
    if clients[1].returncode:  # the dealer may hang up between two hands, which looks like the end of the match
        assert clients[1].returncode == 2
        assert len(complaint.splitlines()) == 1
        assert "in the middle of hand" in complaint


def test_ctrl_c_ends_a_match_with_its_results(tmp_path: Path) -> None:
    dealer, port = start_dealer(tmp_path, "--hands", "1000000")
    with (
        socket.create_connection(("127.0.0.1", int(port))) as first,
        socket.create_connection(("127.0.0.1", int(port))) as second,
    ):
        clients = [Client(NO_LIMIT, RandomBot(np.random.default_rng(seed)), pytest.fail) for seed in (0, 1)]
        threads = [
            in_thread(lambda client=client, end=end: client.play(Lines(end, "the dealer"), 30.0))[0]
            for client, end in zip(clients, (first, second), strict=True)
        ]
        deadline = time.monotonic() + 60
        while (tmp_path / "match.jsonl").read_bytes().count(b"\n") < 5 and time.monotonic() < deadline:
            time.sleep(0.02)
        dealer.send_signal(signal.SIGINT)
        _, notes = dealer.communicate(timeout=30)
        for thread in threads:
            thread.join(10)
    assert dealer.returncode == 130
    _, *hands, end = read_journal(tmp_path / "match.jsonl")
    assert notes.splitlines()[-1] == f"tacit: stopped by Ctrl-C; {len(hands)} of 1000000 hands are in match.jsonl"
    assert (end["finished"], end["hands"]) == (False, len(hands))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("client", "random", "127.0.0.1", "1", "--connect-timeout", "0"), "no dealer at 127.0.0.1:1"),
        (("client", "random", "no.such.host.invalid", "20000"), "no dealer at no.such.host.invalid"),
        (("client", "nobody", "127.0.0.1", "1"), "no agent 'nobody'"),
        (("client", "random", "127.0.0.1", "1", "--game", "kuhn_poker"), "is not hold'em"),
        (("dealer", "--game", "turn_endgame_holdem"), "is not hold'em"),
        (("dealer", "--names", "one"), "takes two different names"),
        (("dealer", "--names", "a,a"), "takes two different names"),
        (("dealer", "--host", "203.0.113.1"), "cannot listen at"),
        (("dealer", "--port", "0", "--out", "there.jsonl"), "there.jsonl exists"),
        (("dealer", "--port", "0", "--phh", "there.jsonl"), "must end in .phhs"),
        (("dealer", "--port", "0", "--start-timeout", "0.2"), "only 0 of 2 players"),
        (("dealer", "--hands", "0"), "--hands"),
        (("dealer", "--timeout", "nan"), "--timeout"),
        (("client", "random", "127.0.0.1", "1", "--connect-timeout", "nan"), "--connect-timeout"),
    ],
)
def test_mistakes_get_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.jsonl").write_text("{}\n")
    with pytest.raises(SystemExit) as left:
        main(["acpc", *arguments])
    printed, notes = capsys.readouterr()
    assert left.value.code == 2
    assert printed == ""
    last = notes.splitlines()[-1]
    assert last.startswith("tacit: ")
    assert message in last
    assert len(notes.splitlines()) == (2 if "waiting" in notes else 1)
