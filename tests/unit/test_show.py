"""`tacit show`: points of saved solves in text, JSON, CSV and pictures, and wrong uses, each refused in one line."""

import csv
import json
from pathlib import Path

import pytest

import tacit
from tests.command import tacit as command

RIVER = (
    "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=10000,bets=1|allin,raises=1,range0=KK|QQ|A5s:0.5|87s,range1=AKs|TT|99|65s)"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two saved solves."""
    folder = tmp_path_factory.mktemp("solves")
    tacit.solve("kuhn_poker", iterations=200).save(folder / "kuhn.tacit")
    tacit.solve("leduc_poker", iterations=10).save(folder / "leduc.tacit")
    tacit.solve(RIVER, iterations=30).save(folder / "river.tacit")
    return folder


def test_small_games_are_shown_whole(folder: Path) -> None:
    shown = command("show", "kuhn.tacit", cwd=folder)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("kuhn.tacit: kuhn_poker, value -0.0555")
    for point in ("player 0 at the start", "player 1 after check", "player 1 after bet", "player 0 after check / bet"):
        assert f"{point}: probability" in shown.stdout
    assert "private  reach  weight" in shown.stdout


def test_larger_games_start_at_the_start_and_say_how_to_go_on(folder: Path) -> None:
    shown = command("show", "leduc.tacit", cwd=folder)
    assert shown.stdout.count("probability") == 1
    assert "next steps: check, bet  (" in shown.stdout
    assert "show leduc.tacit --at check)" in shown.stdout
    deeper = command("show", "leduc.tacit", "--at", "check / bet", cwd=folder)
    assert "player 0 after check / bet" in deeper.stdout


def test_json_is_the_point_or_the_whole_game(folder: Path) -> None:
    point = json.loads(command("show", "kuhn.tacit", "--at", "check / bet", "--json", cwd=folder).stdout)
    result = tacit.load_result(folder / "kuhn.tacit")
    view = result.show("check / bet")
    assert point["private"] == ["J", "Q", "K"]
    assert point["strategy"] == view.strategy.tolist()
    assert point["infostate_value"] == view.acting.infostate_value.tolist()  # type: ignore[union-attr]
    assert point["opponent"]["private"] == ["J", "Q", "K"]
    assert (point["agent"], point["player"], point["next_steps"]) == ("kuhn.tacit", 0, ["fold", "call"])
    whole = json.loads(command("show", "kuhn.tacit", "--json", cwd=folder).stdout)
    assert whole["exploitability"] == result.exploitability
    assert [one["public"] for one in whole["public_states"]] == ["", "check", "bet", "check / bet"]


def test_hands_of_holdem_have_values_and_equities(folder: Path) -> None:
    files = ("--csv", "hands.csv", "--grid", "grid.png")
    shown = command("show", "river.tacit", "--at", "check", *files, cwd=folder)
    assert shown.returncode == 0, shown.stderr
    assert "player 1 after check, board 3s7hTdKs2c: probability" in shown.stdout
    assert (folder / "grid.png").read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader((folder / "hands.csv").read_text().splitlines()))
    assert {row["private"] for row in rows} == {*tacit.load_result(folder / "river.tacit").show("check").acting.names}
    assert len({row["private"] for row in rows}) == 3 + 3 + 6 + 4  # AKs without Ks, TT without Td, 99, 65s
    top = next(row for row in rows if row["private"] == "ThTc")
    assert 0.0 < float(top["equity"]) < 1.0
    assert sum(float(row["weight"]) for row in rows if row["action"] == "check") == pytest.approx(1.0, abs=1e-5)
    solved = command("solve", RIVER, "--iterations", "30", "--at", "check", "--json", cwd=folder)
    point = json.loads(solved.stdout)["node"]
    assert point["private"][0] == rows[0]["private"]
    assert point["infostate_value"][0] == pytest.approx(float(rows[0]["infostate_value"]), rel=1e-4)


def test_phantom_games_are_listed(folder: Path) -> None:
    pytest.importorskip("pyspiel")
    tacit.solve("openspiel:dark_hex(board_size=2)", iterations=2).save(folder / "hex.tacit")
    shown = command("show", "hex.tacit", "--csv", "hex.csv", cwd=folder)
    assert shown.returncode == 0
    assert "no public states to show: --json or --csv FILE lists all infostates" in shown.stdout
    assert len((folder / "hex.csv").read_text().splitlines()) > 100
    refused = command("show", "hex.tacit", "--at", "x", cwd=folder)
    assert "the player to act is not public" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing.tacit",), "no agent 'nothing.tacit'"),
        (("random",), "random plays more than one game: name one"),
        (("kuhn.tacit", "--at", "dance"), "no 'dance' after the start: choose one of check, bet"),
        (("kuhn.tacit", "--at", "bet / call"), "nobody acts after 'bet / call'"),
        (("kuhn.tacit", "--at", "bet / call / bet"), "no 'bet' after bet / call: the game is over there"),
        (("kuhn.tacit", "--grid", "x.png"), "--grid is for hold'em, not for kuhn_poker"),
        (("river.tacit", "--at", "check / check", "--json"), "nobody acts after 'check / check'"),
        (("river.tacit", "--grid", "x.jpeg"), "the name must end in .png, .svg, .pdf"),
        (("kuhn.tacit", "--csv", "x.txt"), "the name must end in .csv"),
        (("kuhn.tacit", "--csv", "kuhn.tacit"), "--csv would replace kuhn.tacit itself"),
        (("kuhn.tacit", "--csv", "kuhn.tacit/x.csv"), "cannot write kuhn.tacit/x.csv"),
        (("kuhn.tacit", "--game", "leduc_poker"), "is a solve of kuhn_poker, not of leduc_poker"),
        (("kuhn.tacit", "--at"), "requires an argument"),
        ((), "Missing argument"),
    ],
)
def test_wrong_uses_are_refused_in_one_line(arguments: tuple[str, ...], message: str, folder: Path) -> None:
    refused = command("show", *arguments, cwd=folder)
    assert refused.returncode == 2
    assert message in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert not refused.stdout
