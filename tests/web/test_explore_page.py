"""The Explore and Runs pages in a real Chromium, compared with the library and the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_plus

import pytest

import tacit
from tests.command import tacit as command
from tests.web.client import Tab
from tests.web.conftest import WAIT, Server, Visit
from tests.web.test_run_list import add_epoch, write_run

SOLVED = ".toggle:has-text('Solved')"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs and a saved solve."""
    path = tmp_path_factory.mktemp("explore")
    write_run(path / "runs" / "dice", 6)
    (path / "runs" / "dice" / "checkpoints" / "network.safetensors").write_bytes(b"")
    write_run(path / "runs" / "other", 3, seed=4)
    tacit.solve("kuhn_poker", iterations=100).save(path / "kuhn.tacit")
    return path


@pytest.fixture(scope="module")
def own_server(folder: Path) -> Iterator[Server]:
    running = Server(folder / "data", str(folder / "kuhn.tacit"), "--runs", str(folder / "runs"), "--workers", "2")
    yield running
    running.stop()


@pytest.fixture
def see(chromium: Any, own_server: Server) -> Iterator[Any]:
    """Opens visits whose console and requests are checked at the end of the test."""
    visits: list[Visit] = []

    def make(**options: Any) -> Visit:
        visits.append(Visit(chromium, own_server, **options))
        return visits[-1]

    yield make
    for one in visits:
        one.close()


def number(page: Any, selector: str) -> float:
    return float(page.locator(selector).first.get_attribute("data-value"))


def shown_strategy(page: Any) -> dict[str, list[float]]:
    """Returns the strategy shown in the table, by private state."""
    rows = page.locator("tr[data-private]")
    return {
        rows.nth(row).get_attribute("data-private"): [
            float(cell.get_attribute("data-value")) for cell in rows.nth(row).locator("[data-value]").all()
        ]
        for row in range(rows.count())
    }


def test_leduc_is_solved_to_the_exploitability_of_the_library(see: Any) -> None:
    page = see().open("#/explore/leduc_poker?stop=500")
    page.wait_for_selector(SOLVED, timeout=WAIT)
    expected = tacit.solve("leduc_poker", iterations=500)
    assert number(page, ".exploitability") == expected.exploitability
    assert number(page, ".gamevalue") == expected.value
    assert page.locator(".solver .curve circle").count() == len(expected.curve)


def test_walking_shows_the_strategy_of_the_library_and_the_address_keeps_it(see: Any) -> None:
    page = see().open("#/explore/leduc_poker?stop=200")
    page.wait_for_selector(SOLVED, timeout=WAIT)
    page.click("button.action:has-text('check')")
    page.wait_for_selector(".crumb.p0")
    page.click("button.action:has-text('check')")
    page.click("button.step[aria-label='check Ks']")
    page.wait_for_selector(".crumb:has-text('K♠')")
    page.wait_for_selector("button.action[data-action='1']")
    page.keyboard.press("2")  # bets
    page.wait_for_selector(".crumb:has-text('bet')")
    line = unquote_plus(page.url).partition("line=")[2]
    assert line == "check / check Ks / bet"
    expected = {one.private: list(one.probabilities.values()) for one in tacit.solve("leduc_poker", iterations=200).show(line)}
    seen = shown_strategy(page)
    assert list(seen) == list(expected)
    assert all(seen[name] == pytest.approx(expected[name], abs=1e-6) for name in expected)
    page.reload()
    page.wait_for_selector(SOLVED, timeout=WAIT)
    page.wait_for_selector(".crumb:has-text('bet')")
    assert shown_strategy(page) == seen
    page.keyboard.press("Backspace")
    page.wait_for_selector(".crumb[aria-current]:has-text('K♠')")
    page.go_back()
    page.wait_for_selector(".crumb[aria-current]:has-text('bet')")


def test_a_solve_can_be_paused_and_goes_on(see: Any) -> None:
    page = see().open("#/explore/leduc_poker?stop=1000000")
    page.wait_for_selector(".states", timeout=WAIT)
    page.click(".toggle:has-text('Pause')")
    page.wait_for_selector(".toggle:has-text('Continue')")
    page.wait_for_timeout(1200)
    points = page.locator(".solver .curve circle").count()
    page.wait_for_timeout(1200)
    assert page.locator(".solver .curve circle").count() == points
    page.click(".toggle")
    page.wait_for_selector(f".solver .curve circle:nth-of-type({points + 1})", timeout=WAIT)


def test_a_river_solved_from_painted_ranges_is_that_of_the_command_line(see: Any) -> None:
    page = see(viewport={"width": 1200, "height": 1500}).open("#/explore/holdem")
    page.wait_for_selector(".painter", timeout=WAIT)
    page.get_by_label("Board as text").fill("")
    for card in ("king of spades", "7 of hearts", "ten of diamonds", "3 of spades", "2 of clubs"):
        page.locator(".boardpicker").get_by_role("button", name=card).click()
    first, second = page.locator(".painter").nth(0), page.locator(".painter").nth(1)
    first.get_by_role("button", name="Clear").click()
    drag(page, first, "AA", "QQ")  # by mouse: AA, KK, QQ and the cells the line crosses
    first.get_by_role("button", name="50%").click()
    first.locator("[data-hand=T9s]").click()
    second.get_by_role("button", name="Clear").click()
    cell = second.locator("[data-hand=AKo]")
    cell.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Shift+ArrowDown")  # AQo by keyboard
    page.get_by_label("Pot", exact=True).fill("2000")
    page.get_by_label("Stack behind, each").fill("3000")
    page.get_by_label("Bet sizes").select_option("pot")
    page.get_by_label("Stop at").fill("60")
    page.wait_for_selector(".solvebtn:not([disabled])")
    page.wait_for_timeout(800)
    page.click(".solvebtn")
    page.wait_for_selector(SOLVED, timeout=WAIT)
    game = unquote_plus(page.url).partition("#/explore/")[2].partition("?")[0]
    ranges = tacit.load_game(game).parameters
    assert set(ranges["range0"].split("|")) >= {"QQ+", "T9s:0.5"}
    assert ranges["range1"] == "AQo+"
    answer = command("solve", game, "--iterations", "60", "--at", "check", "--json")
    said = json.loads(answer.stdout)
    assert number(page, ".exploitability") == said["exploitability"]
    page.wait_for_selector("button.action[data-action='0']")  # keys have no effect before the actions appear
    page.keyboard.press("1")
    page.wait_for_selector(".crumb.p0")
    combo = page.locator(".combos li").first
    hand = combo.get_attribute("data-private")
    told = combo.locator(".mixbar").get_attribute("aria-label")
    row = said["node"]["private"].index(hand)
    for action, share in zip(said["node"]["actions"], said["node"]["strategy"][row], strict=True):
        percents = re.search(rf"{action} <?([\d.]+)%", told)
        assert percents is not None
        assert float(percents[1]) == pytest.approx(100 * share, abs=0.51)


def drag(page: Any, painter: Any, start: str, end: str) -> None:
    """Drags from one cell to another with the mouse."""
    boxes = [painter.locator(f"[data-hand={name}]").bounding_box() for name in (start, end)]
    (x0, y0), (x1, y1) = ((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes)
    page.mouse.move(x0, y0)
    page.mouse.down()
    page.mouse.move(x1, y1, steps=8)
    page.mouse.up()


def test_ranges_are_painted_by_touch_on_a_phone(see: Any) -> None:
    page = see(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, color_scheme="dark").open(
        "#/explore/holdem"
    )
    page.wait_for_selector(".painter", timeout=WAIT)
    painter = page.locator(".painter").first
    painter.get_by_role("button", name="Clear").tap()
    painter.locator("[data-hand=AKs]").tap()
    page.wait_for_selector(".painter [data-hand=AKs][aria-selected=true]")
    assert painter.locator("textarea").input_value() == "AKs"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_range_that_cannot_be_read_says_why(see: Any) -> None:
    page = see().open("#/explore/holdem")
    page.wait_for_selector(".painter", timeout=WAIT)
    page.locator(".painter textarea").first.fill("top 10%")
    page.wait_for_selector(".painter [data-hand='72o'].empty")
    page.locator(".painter textarea").first.fill("AXs")
    page.wait_for_selector(".problem:has-text('no rank')")
    page.wait_for_selector(".size.bad")
    assert page.locator(".solvebtn").is_disabled()


def test_what_is_too_large_is_told_in_one_line(see: Any) -> None:
    page = see().open("#/explore/no_limit_holdem")
    page.wait_for_selector("[role=alert]:has-text('too large to solve here')", timeout=WAIT)


def test_a_long_solve_holds_nobody_up(own_server: Server) -> None:
    """Both tabs share a worker: `own_server` has only one for solves."""
    long, short = Tab(own_server, "somebody-long"), Tab(own_server, "somebody-short")
    long.send(desk="explore", do="open", game="leduc_poker", stop="1000000")
    long.wait("opened", seconds=WAIT / 1000)
    short.send(desk="explore", do="open", game="kuhn_poker", stop="100")
    over, slices = False, 0
    while not over:
        long.send(desk="explore", do="solve")
        short.send(desk="explore", do="solve")
        over, slices = short.wait("slice", seconds=WAIT / 1000)["over"], slices + 1
        assert not long.wait("slice", seconds=WAIT / 1000)["over"]
    assert slices < 10
    long.close()
    short.close()


def test_a_saved_solve_opens(see: Any) -> None:
    page = see().open("#/explore")
    page.click("a.tile:has-text('kuhn.tacit')", timeout=WAIT)
    page.wait_for_selector(".states")
    expected = tacit.solve("kuhn_poker", iterations=100)
    assert number(page, ".exploitability") == expected.exploitability
    seen = shown_strategy(page)
    assert seen["K"] == pytest.approx(list(expected.strategy[0, "", "K"].probabilities.values()), abs=1e-6)


def test_the_curve_of_a_run_grows_while_it_trains(see: Any, folder: Path) -> None:
    page = see().open("#/runs?run=dice")
    page.wait_for_selector(".runcard", timeout=WAIT)
    curve = ".runmain .curve circle"
    page.wait_for_selector(f"{curve}:nth-of-type(6)")
    assert page.locator(curve).count() == 6
    assert page.locator(".plot .mark text").text_content() == "ReBeL, Table 2: 0.017"
    add_epoch(folder / "runs" / "dice", 7)
    page.wait_for_selector(f"{curve}:nth-of-type(7)", timeout=WAIT)
    page.wait_for_selector(".runcard:has-text('7 / 40')")
    page.get_by_role("checkbox", name="other").check()
    page.wait_for_selector(".runlegend:has-text('other')")
    assert page.locator(".runmain .curve path").count() == 2
    assert "run=other" in page.url
    resume = page.locator(".runcard code").first.inner_text()
    assert resume.startswith("tacit train rebel 'liars_dice(dice=1,faces=4)' --run ")
    play = page.get_by_role("link", name="Play against dice").get_attribute("href")
    assert unquote_plus(play).endswith(f"liars_dice(dice=1,faces=4)?opponent={folder / 'runs' / 'dice'}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(see: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = see(color_scheme=scheme, bypass_csp=True).open("#/explore/holdem")
    page.wait_for_selector(".painter", timeout=WAIT)
    river = "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=3000,menu=pot,range0=AA|KK|QQ,range1=AKs|AQo)"
    for route in ("#/explore", f"#/explore/{quote(river)}?stop=5", "#/explore/kuhn_poker?stop=20", "#/runs?run=dice"):
        refuse_violations(axe, page)
        page.goto(f"{page.url.partition('#')[0]}{route}")
        page.wait_for_selector(".explorestart, .hands, .states, .runcard", timeout=WAIT)
    refuse_violations(axe, page)


def refuse_violations(axe: Any, page: Any) -> None:
    found = axe.Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")] == []


def test_every_control_has_a_name(see: Any) -> None:
    page = see().open("#/explore/holdem")
    page.wait_for_selector(".painter", timeout=WAIT)
    for route in ("#/explore", "#/explore/kuhn_poker?stop=20", "#/runs?run=dice"):
        check_names(page)
        page.goto(f"{page.url.partition('#')[0]}{route}")
        page.wait_for_selector(".explorestart, .states, .runcard", timeout=WAIT)
    check_names(page)


def test_a_missing_file_is_told_in_one_line() -> None:
    answer = command("serve", "nowhere.tacit")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert "no file or folder at nowhere.tacit" in answer.stderr


def check_names(page: Any) -> None:
    """Fails if a control has no accessible name."""
    nameless = page.evaluate("""() => {
      const controls = [...document.querySelectorAll("button, a, input, select, textarea, [tabindex]")];
      const named = (one) => one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.length;
      return controls.filter((one) => one.id !== "page" && !named(one)).map((one) => one.outerHTML.slice(0, 120));
    }""")
    assert nameless == []
