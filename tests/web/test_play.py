"""Hands in a real browser: every kind of game by mouse and by keyboard, the mind panel, replays, phones and dark mode."""

from typing import Any

import pytest

from tests.web.conftest import WAIT

GAMES = [
    ("kuhn_poker", ".felt.poker"),
    ("leduc_poker", ".felt.poker"),
    ("pot_limit_leduc?opponent=always-call", ".felt.poker"),
    ("liars_dice(dice=1,faces=4)?opponent=random", ".felt.dice"),
    ("liars_dice(dice=2,faces=3)?opponent=random", ".felt.dice"),
    ("goofspiel(cards=4)", ".felt.bidsfelt"),
    ("tic_tac_toe", ".felt.boardfelt"),
    ("connect_four?opponent=random", ".felt.boardfelt"),
    ("turn_endgame_holdem?opponent=pot-odds", ".felt.poker"),
    ("limit_holdem?opponent=always-call", ".felt.poker"),
    ("no_limit_holdem?opponent=pot-odds", ".felt.poker"),
    ("coin_guess?opponent=random", ".felt.textfelt"),
    ("openspiel:kuhn_poker?opponent=random", ".felt.textfelt"),
]
READY = "button.choice:not(:disabled), .nextbtn:not(:disabled)"


def play_by(page: Any, move: Any) -> None:
    """Plays a hand to its end."""
    for _ in range(60):
        page.wait_for_selector(READY, timeout=WAIT)
        if page.query_selector(".nextbtn"):
            return
        before = page.locator(".log li").count()
        move(page)
        page.wait_for_selector(f".log li:nth-child({before + 1}), .nextbtn", timeout=WAIT)
    pytest.fail("the hand has no end")


def click(page: Any) -> None:
    page.locator("button.choice:not(:disabled)").last.click()


def press(page: Any) -> None:
    """Presses the key of the first move, or of check and call in poker."""
    page.keyboard.press("c" if page.query_selector(".felt.poker") else "1")


@pytest.mark.parametrize(("game", "felt"), GAMES)
def test_a_hand_by_clicks_and_one_by_keyboard(visit: Any, game: str, felt: str) -> None:
    if game.startswith("openspiel"):
        pytest.importorskip("pyspiel")
    page = visit().open(f"#/play/{game}")
    page.wait_for_selector(felt, timeout=WAIT)
    play_by(page, click)
    assert page.locator(".status .result").inner_text()
    page.wait_for_selector(".mind .stepper", timeout=WAIT)
    page.wait_for_selector(".score:has-text('after 1 hand')", timeout=WAIT)
    page.keyboard.press("Enter")
    # The next hand may be over at once: the opponent folds, or in coin_guess only one player moves.
    page.wait_for_selector("body:not(:has(.status .result)), .score:has-text('after 2 hands')", timeout=WAIT)
    play_by(page, press)
    page.wait_for_selector(".score:has-text('after 2 hands')", timeout=WAIT)


def test_the_mind_is_hidden_until_the_hand_ends_unless_training(visit: Any) -> None:
    page = visit().open("#/play/leduc_poker?seat=0")
    page.wait_for_selector(READY, timeout=WAIT)
    assert page.locator(".mind .bars").count() == 0
    page.locator("label.switch").click()
    page.wait_for_selector(".mind .bars .bar.mark")
    assert page.locator(".mind .bars .bar").count() == 6
    page.locator("label.switch").click()
    page.wait_for_selector(".mind .bars", state="detached")


def test_a_finished_hand_is_replayed_with_beliefs_and_what_moves_cost(visit: Any) -> None:
    page = visit().open("#/play/kuhn_poker?seat=0")
    play_by(page, lambda page: page.keyboard.press("r") if page.query_selector("[data-key=r]") else page.keyboard.press("c"))
    page.wait_for_selector(".mind .summary", timeout=WAIT)
    assert "against the equilibrium" in page.locator(".mind .summary").inner_text()
    back = page.get_by_label("step back")
    while back.is_enabled():
        back.click()
    page.wait_for_selector("text=Step 1 of")
    shares = page.locator(".mind .bars").first.locator(".value").all_inner_texts()
    assert shares == ["33%", "33%", "33%"]  # nothing is known before the first move
    assert "The equilibrium plays" in page.locator(".judgement").inner_text()
    assert page.locator(".felt .card.back").count() == 0  # the hand is over: all cards are shown
    page.get_by_label("step forward").click()
    page.wait_for_selector("text=Step 2 of")


def test_earlier_hands_can_be_opened_again(visit: Any) -> None:
    page = visit().open("#/play/kuhn_poker?seat=0&opponent=always-call")
    play_by(page, press)
    page.wait_for_selector(".mind .summary", timeout=WAIT)
    page.keyboard.press("Enter")
    page.wait_for_selector("button.choice:not(:disabled)")
    page.locator(".history summary").click()
    page.locator(".past button").first.click()
    page.wait_for_selector(".backbtn")
    assert page.locator(".status").inner_text() == "Replay"
    page.locator(".backbtn").click()
    page.wait_for_selector("button.choice:not(:disabled)")


def test_any_bet_can_be_typed_in_no_limit(visit: Any) -> None:
    page = visit().open("#/play/no_limit_holdem?seat=1&opponent=always-call")
    page.wait_for_selector(".bets", timeout=WAIT)
    page.get_by_label("Raise to: chips").fill("437")
    page.locator(".btn.bets").click()
    page.wait_for_selector(".log li.you:has-text('raise to 437')")


def test_a_game_is_chosen_from_the_dialog(visit: Any) -> None:
    page = visit().open("#/play/kuhn_poker")
    page.wait_for_selector(READY, timeout=WAIT)
    page.locator(".choosegame").click()
    page.get_by_role("button", name="Tic-tac-toe").click()
    page.wait_for_selector(".board.marks", timeout=WAIT)
    assert page.url.endswith("#/play/tic_tac_toe")
    page.locator(".choosegame").click()
    page.get_by_label("Any other game, by name").fill("checkers")
    page.get_by_role("button", name="Open", exact=True).click()
    page.wait_for_selector(".toast.bad:has-text(\"unknown game 'checkers'\")")


PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


SHOWN = ["leduc_poker", "liars_dice(dice=1,faces=6)?opponent=random", "no_limit_holdem?opponent=pot-odds&seat=1"]


@pytest.mark.parametrize("game", SHOWN)
def test_everything_fits_on_a_phone(visit: Any, game: str) -> None:
    page = visit(**PHONE).open(f"#/play/{game}")
    page.wait_for_selector(READY, timeout=WAIT)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("button.choice:not(:disabled)").last.tap()
    page.wait_for_selector(".log li.you")
    heights = page.evaluate("[...document.querySelectorAll('main button')].map(one => one.getBoundingClientRect().height)")
    assert min(height for height in heights if height) >= 36  # large enough for a thumb


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("game", [*SHOWN, "connect_four?opponent=random"])
def test_no_serious_problem_of_accessibility(visit: Any, scheme: str, game: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = visit(color_scheme=scheme).open(f"#/play/{game}")
    page.wait_for_selector(READY, timeout=WAIT)
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    _refuse_violations(axe, page)
    play_by(page, click)
    page.wait_for_selector(".mind .stepper", timeout=WAIT)
    page.get_by_label("step back").click()
    _refuse_violations(axe, page)
    page.locator(".choosegame").click()
    _refuse_violations(axe, page)


def _refuse_violations(axe: Any, page: Any) -> None:
    found = axe.Axe().run(page).response["violations"]
    bad = [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found if one["impact"] in ("serious", "critical")]
    assert bad == []
