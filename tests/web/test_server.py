"""The server through its messages: limits, mistakes, who may connect, and what survives a restart."""

import json
import os
import random
import signal
import time
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tacit.errors import TacitError
from tacit.games import load_game
from tacit.solvers import solve
from tacit.web.desk import Outlet
from tacit.web.guard import MessageRate
from tacit.web.play.desk import PlayDesk
from tacit.web.play.opponents import opponents_for
from tacit.web.store import Store
from tests.command import tacit
from tests.web.client import Tab
from tests.web.conftest import Server


@pytest.fixture(scope="module")
def tab(server: Server) -> Tab:
    return Tab(server)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "a message must be JSON"),
        ("[1]", 'a message must be an object with a "do"'),
        ('{"do": 3}', 'a message must be an object with a "do"'),
        ("[" * 5_000, "a message must be JSON"),
        ('{"do": "act", "desk": "kitchen"}', "no desk 'kitchen'"),
        ('{"do": "dance", "desk": "play"}', "the table does not know 'dance'"),
        ('{"do": "hello", "player": "x"}', "player must be 8 to 64 letters, digits, - or _"),
        ('{"do": "open", "desk": "play", "game": 7}', "game must be a text"),
        ('{"do": "open", "desk": "play", "game": "checkers"}', "unknown game 'checkers'"),
        ('{"do": "open", "desk": "play", "game": "kuhn_poker", "opponent": "nobody"}', "no agent 'nobody'"),
        ('{"do": "open", "desk": "play", "game": "kuhn_poker", "seat": "9"}', "unknown seat '9'"),
        ('{"do": "replay", "hand": 123456}', "you have played no hand 123456"),
        ('{"do": "' + "x" * 17_000 + '"}', "a message may have at most 16,384 bytes"),
    ],
)
def test_bad_messages_get_an_error_and_the_server_lives(tab: Tab, text: str, said: str) -> None:
    tab.socket.send(text)
    assert tab.wait("error")["message"].startswith(said)


def test_illegal_moves_change_nothing(tab: Tab) -> None:
    table = tab.open("kuhn_poker", seat="0")
    for wrong in ({"action": 99}, {"action": "bet"}, {"action": True}, {"say": "raise 17"}, {"say": "fly"}, {}):
        tab.send(do="act", **wrong)
        tab.wait("error")
    tab.send(do="act", say="check")
    after = tab.table()
    assert after["log"][0] == {"who": "you", "text": "check"}
    assert table["number"] == after["number"] == 1


def test_saved_solves_and_runs_are_opponents(server: Server, tab: Tab, tmp_path: Path) -> None:
    solve("kuhn_poker", solver="lp").save(tmp_path / "kuhn.tacit")
    tab.open("kuhn_poker", opponent=str(tmp_path / "kuhn.tacit"))
    opened = next(frame for frame in reversed(tab.frames) if frame["type"] == "opened")
    assert opened["opponent"].endswith("kuhn.tacit")
    game = load_game("kuhn_poker")
    for name, text in (("mine", '{"game": "kuhn_poker"}'), ("other", '{"game": "leduc_poker"}'), ("broken", "{")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(text)
    listed = [one["name"] for one in opponents_for(game, str(tmp_path))]
    assert listed[-1] == str(tmp_path / "mine")
    assert listed[:-1] == [one["name"] for one in opponents_for(game)] == ["default", "always-call", "always-fold", "random"]


def test_too_many_messages_are_refused(server: Server) -> None:
    tab = Tab(server, "in-a-hurry")
    for _ in range(200):
        tab.send(do="hands")
    assert tab.wait("error")["message"] == "too many messages: slow down"
    tab.close()


def test_a_rate_has_bursts_and_a_steady_pace() -> None:
    rate = MessageRate(2.0, 3)
    assert [rate.allows(10.0) for _ in range(4)] == [True, True, True, False]
    assert [rate.allows(10.5), rate.allows(10.5)] == [True, False]


def test_other_sites_are_refused(server: Server) -> None:
    for origin in ("http://evil.example", None):
        with pytest.raises(InvalidStatus):
            Tab(server, origin=origin)
    with pytest.raises(InvalidStatus):  # another site's host name that points to this machine
        Tab(server, headers={"Host": "evil.example"}, origin="http://evil.example")
    assert httpx.get(server.address, headers={"Host": "evil.example"}).status_code == 403
    assert httpx.post(f"{server.address}/api/catalog", headers={"Origin": "http://evil.example"}).status_code == 403
    answer = httpx.get(server.address)
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"].startswith("default-src 'self'")


def test_a_port_in_use_is_told_in_one_line(server: Server, tmp_path: Path) -> None:
    port = server.address.rpartition(":")[2]
    ended = tacit("serve", "--port", port, "--data", str(tmp_path))
    assert ended.returncode == 2
    assert ended.stderr == f"tacit: cannot listen on 127.0.0.1:{port}: Address already in use; try --port 0\n"


def test_no_file_outside_static_is_served(server: Server) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/../pyproject.toml"):
        assert httpx.get(server.address + path).status_code in (404, 400)


def test_a_search_can_be_cut_short(server: Server, tmp_path: Path) -> None:
    slow = Server(tmp_path, "--seconds", "30")
    try:
        tab = Tab(slow)
        tab.send(do="open", game="no_limit_holdem(stack=2000)", opponent="holdem-search", seat="0")  # the opponent acts first
        shown = tab.wait("thinking", seconds=120)
        assert 0 < shown["done"] <= 1
        began = time.monotonic()
        tab.send(do="now")
        assert tab.table()["turn"] in ("you", "over")  # it may have folded
        assert time.monotonic() - began < 15  # instead of the 30 seconds it was given
        tab.close()
    finally:
        slow.stop()


def test_scores_and_histories_survive_a_kill_and_a_token_is_asked_for(tmp_path: Path) -> None:
    first = Server(tmp_path, "--token", "secret-token")
    try:
        assert httpx.get(first.address).status_code == 403
        assert httpx.get(first.full_address).cookies["tacit_token"] == "secret-token"
        with pytest.raises(InvalidStatus):
            Tab(first)
        cookie = {"Cookie": "tacit_token=secret-token"}
        tab = Tab(first, headers=cookie)
        chooser, table = random.Random(0), tab.open("kuhn_poker")
        for hand in range(5):
            table = tab.play_hand(table, chooser)
            score = tab.wait("score")
            assert score["hands"] == hand + 1
            tab.send(do="next")
            table = tab.table()
    finally:
        first.kill()
    with pytest.raises(ConnectionClosed):
        tab.table()
    second = Server(tmp_path, "--token", "secret-token")
    try:
        tab = Tab(second, headers=cookie)
        tab.send(do="hands")
        hands = tab.wait("hands")["hands"]
        assert [hand["hand"] for hand in hands] == [5, 4, 3, 2, 1]
        assert sum(hand["payoff"] for hand in hands) == score["total"]
        tab.send(do="replay", hand=5)
        past = tab.wait("past")
        assert past["steps"][-1]["actor"] == "over"
        assert past["over"]["payoff"] == hands[0]["payoff"]
        other = Tab(second, "somebody-else", headers=cookie)
        other.send(do="replay", hand=5)
        assert other.wait("error")["message"] == "you have played no hand 5"
    finally:
        second.stop()


def test_code_is_run_for_this_machine_alone() -> None:
    out = Outlet(lambda what, frame: None)
    for message in ({"game": "mine.py:Game"}, {"game": "kuhn_poker", "opponent": "mine.py:Agent"}):
        for do in ("open", "load"):
            with pytest.raises(TacitError, match=r"opened only by a server that listens on 127\.0\.0\.1"):
                PlayDesk({"files": False}).handle({"do": do, **message}, out)


def test_a_worker_that_dies_is_replaced(server: Server) -> None:
    tab = Tab(server, "unlucky-one")
    tab.open("kuhn_poker")
    quick = int(Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()[1])
    assert b"spawn" in Path(f"/proc/{quick}/cmdline").read_bytes()
    os.kill(quick, signal.SIGKILL)
    assert "starts again" in tab.wait("lost")["message"]
    assert tab.open("kuhn_poker")["number"] == 1
    tab.close()


def test_a_store_keeps_what_was_added(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.sqlite3")
    for payoff, adjusted in ((1.0, 0.5), (-2.0, None)):
        record = {"game": "g", "opponent": "o", "seat": 0, "payoff": payoff, "adjusted": adjusted}
        store.add("me", record)
    store.add("you", {"game": "g", "opponent": "o", "seat": 0, "payoff": 9.0, "adjusted": 9.0})
    assert store.score("me", "g", "o") == {"hands": 2, "total": -1.0, "adjusted_hands": 1, "adjusted_total": 0.5}
    with pytest.raises(ValueError, match="JSON"):
        store.add("me", {"game": "g", "opponent": "o", "seat": 0, "payoff": float("nan")})
    assert json.loads(json.dumps(store.hands("me")[0]))["payoff"] == -2.0
    store.close()
