"""Ranges in the usual notation and the 13 x 13 grid: well-known counts, round trips of texts, pixels and letters."""

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import image
from rich.console import Console

from tacit.cards import NUM_HANDS, check_range, hand_index, parse_cards, parse_range, write_range
from tacit.cards.grid import CELLS, SIZE, cell_name, grid_of, overall_frequencies, reach_grid, strategy_grid
from tacit.cards.hands import possible_hands
from tacit.cli.strategy_grid import action_letters, strategy_text
from tacit.colors import CALL, FOLD, action_colors
from tacit.errors import TacitError
from tacit.grid_plots import ABSENT, EMPTY, draw_strategy_grid, strategy_figure

KINDS = [cell_name(row, column) for row, column in np.ndindex(SIZE, SIZE)]


def kinds_in(text: str) -> set[str]:
    """Returns the cells of a range whose hands all have weight 1; every other cell must be empty."""
    grid = grid_of(parse_range(text)).ravel()
    assert set(grid) <= {0.0, 1.0}
    return {KINDS[cell] for cell in np.flatnonzero(grid)}


@pytest.mark.parametrize(
    ("text", "combinations"),
    [
        ("AA", 6), ("AKs", 4), ("AKo", 12), ("AK", 16), ("AsKd", 1), ("22+", 78), ("random", 1_326), ("any", 1_326),
        ("A2s+", 48), ("ATs+", 16), ("ATo+", 48), ("AT+", 64), ("AA+", 6), ("QJo+", 36), ("TT-77", 24), ("A9s-A6s", 16),
        ("76s-54s", 12), ("J9o-86o", 48), ("K5-K2", 64), ("QQ+,AK", 34), ("random, 72o:0", 1_314), ("AKs,AsKs", 4),
        (" q q + ,\n A k S,", 22), ("54s-76s", 12), ("KAo", 12), ("kdAS", 1),
    ],
)  # fmt: skip
def test_ranges_have_as_many_hands_as_everybody_counts(text: str, combinations: int) -> None:
    weights = parse_range(text)
    assert weights.shape == (1_326,)
    assert weights.sum() == combinations
    assert set(weights) <= {0.0, 1.0}


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("TT+", "TT JJ QQ KK AA"), ("ATs+", "ATs AJs AQs AKs"), ("T8s+", "T8s T9s"), ("T9s+", "T9s JTs QJs KQs AKs"),
        ("QJo+", "QJo KQo AKo"), ("AK+", "AKs AKo"), ("TT-77", "TT 99 88 77"), ("A9s-A6s", "A9s A8s A7s A6s"),
        ("76s-54s", "76s 65s 54s"), ("J9o-86o", "J9o T8o 97o 86o"), ("T9-98", "T9s T9o 98s 98o"), ("33-22", "33 22"),
    ],
)  # fmt: skip
def test_plus_and_dash_name_kinds_of_hands(text: str, kinds: str) -> None:
    assert kinds_in(text) == set(kinds.split())


def test_the_last_of_overlapping_items_counts() -> None:
    weights = parse_range("QQ+:0.5, AA, AKs:.25, AsKs:1")
    assert grid_of(weights)[0, 0] == 1
    assert grid_of(weights)[1, 1] == 0.5
    assert weights[hand_index(*parse_cards("AsKs"))] == 1
    assert weights[hand_index(*parse_cards("AhKh"))] == 0.25
    assert weights.sum() == 6 + 12 * 0.5 + 1 + 3 * 0.25


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the range is empty: write AA, AKs"), (" , ", "the range is empty"), ("AA:0", "no hand with a weight above 0"),
        ("AXs", "'X' in 'AXs' is no rank: a hand has two of 23456789TJQKA"), ("AXs+", "'X' in 'AXs\\+' is no rank"),
        ("AAs", "a pair is never suited, write AA"), ("TTo+", "'TTo' in 'TTo\\+': a pair is always offsuit, write TT"),
        ("AsAs", "As comes twice"), ("AsKx", "'Kx' in 'AsKx' is no card"), ("A10s", "ten is written T"),
        ("AA:1.5", "the weight 1.5 in 'AA:1.5' is not between 0 and 1: .* as AA:0.5"), ("AA:-1", "not between 0 and 1"),
        ("AA:nan", "not between 0 and 1"), ("AA:half", "cannot read the weight 'half'"), ("AA:", "cannot read the weight ''"),
        ("AKx", "'x' in 'AKx' is neither s for suited nor o for offsuit"), ("AA KK", "cannot read 'AAKK': .* with commas"),
        ("A9s-A6o", "differ in suits"), ("A9s-K6s", "both ends must"), ("AA-AK", "both ends must"),
        ("AA-KK-QQ", "one hand on each"),
        ("TT-", "cannot read '' in 'TT-'"), ("AsKd+", "'AsKd' in 'AsKd\\+' is one hand"), ("ATs+-A2s", "cannot read 'ATs\\+'"),
    ],
)  # fmt: skip
def test_what_is_no_range_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(TacitError, match=message) as refused:
        parse_range(text)
    assert "\n" not in str(refused.value)


def test_a_range_with_no_hand_left_on_the_board_is_refused() -> None:
    weights = parse_range("AsKd, TdTc, 77:0.1")
    check_range(weights, parse_cards("3s7hTdKs"))
    check_range(weights, ())
    with pytest.raises(TacitError, match="no hand of the range can be held with 7s7hTdKdAd"):
        check_range(parse_range("AsKd, TdTc, 7h7c"), parse_cards("7s7hTdKdAd"))
    with pytest.raises(TacitError, match="no hand with a weight above 0"):
        check_range(np.zeros(NUM_HANDS), ())


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("AA,KK,QQ", "QQ+"), ("KK,QQ", "KK-QQ"), ("AKs,AQs,AJs", "AJs+"), ("AQs,AJs", "AQs-AJs"), ("AK,AQ", "AQ+"),
        ("AJ+,AKs:0.5", "AKs:0.5,AQs-AJs,AJo+"), ("54s,65s,76s", "76s-54s"), ("T9s+", "AKs-T9s"), ("random", "random"),
        ("any:0.25", "random:0.25"), ("22-AA:0.5,AA", "AA,KK-22:0.5"), ("AKs,AsKs:0", "AhKh,AdKd,AcKc"),
        ("A2s+,ATo+,KTs+,KQo,QTs+,T9s,98s,87s", "A2s+,KTs+,QTs+,T9s-87s,ATo+,KQo"), ("AA:0.33333", "AA:0.3333"),
        ("98,87,98s:0.5", "98s:0.5,87,98o"), ("AcAd:0.999999", "AdAc"), ("AA:0.00001,KK", "KK"),
    ],
)  # fmt: skip
def test_ranges_are_written_short(text: str, written: str) -> None:
    assert write_range(parse_range(text)) == written


def test_only_weights_from_0_to_1_can_be_written() -> None:
    assert write_range(np.zeros(NUM_HANDS)) == ""
    assert write_range(np.full(NUM_HANDS, 1 + 1e-9)) == "random"
    for wrong in (1.01, -0.01, np.nan):
        with pytest.raises(TacitError, match="must lie between 0 and 1"):
            write_range(np.full(NUM_HANDS, wrong))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    levels=st.sampled_from([(0, 1), (0, 0, 0, 0, 0, 0, 1), (0, 0.25, 0.5, 1), (1, 1, 1, 1, 0.5), None]),
    share_by_suit=st.sampled_from([0.0, 0.05, 1.0]),
)
def test_what_is_written_is_read_again(seed: int, levels: tuple[float, ...] | None, share_by_suit: float) -> None:
    random = np.random.default_rng(seed)

    def draw(size: int) -> np.ndarray:
        return random.random(size) if levels is None else random.choice(levels, size)

    by_cell, by_hand = draw(SIZE * SIZE)[CELLS], draw(NUM_HANDS)
    weights = np.where((random.random(SIZE * SIZE) < share_by_suit)[CELLS], by_hand, by_cell)
    text = write_range(weights)
    if not text:
        assert weights.max() < 1e-4
        return
    np.testing.assert_allclose(parse_range(text), weights, rtol=0, atol=0.5001e-4)
    assert write_range(parse_range(text)) == text
    items = text.split(",")  # items do not overlap, so their order does not matter
    assert sum(int((parse_range(item) > 0).sum()) for item in items) == (parse_range(text) > 0).sum()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(["", "+"])), min_size=1, max_size=8))
def test_another_reader_finds_the_same_hands(items: list[tuple[str, str]]) -> None:
    read = pytest.importorskip("pokerkit").parse_range
    text = ",".join(kind if "23456789TJQKA".find(kind[0]) - "23456789TJQKA".find(kind[1]) == 1 else kind + plus
                    for kind, plus in items)  # fmt: skip
    theirs = np.zeros(NUM_HANDS)
    for hand in read(text):
        theirs[hand_index(*parse_cards("".join(card.rank + card.suit for card in hand)))] = 1
    np.testing.assert_array_equal(parse_range(text), theirs)


def test_cells_hold_the_hands_they_are_named_after() -> None:
    assert KINDS[:3] == ["AA", "AKs", "AQs"]
    assert (KINDS[13], KINDS[14], KINDS[-1]) == ("AKo", "KK", "22")
    assert sorted(set(np.bincount(CELLS))) == [4, 6, 12]
    for cell, kind in enumerate(KINDS):
        np.testing.assert_array_equal(parse_range(kind), cell == CELLS)


def test_cells_show_means_of_the_hands_that_are_possible() -> None:
    weights = parse_range("AA:0.5, AsKs, AKo")
    grid = grid_of(weights)
    assert (grid[0, 0], grid[0, 1], grid[1, 0]) == (0.5, 0.25, 1.0)
    assert grid.sum() == 1.75
    possible = possible_hands(parse_cards("AhAdAc"))
    assert (grid_of(weights, possible)[0, 0], grid_of(weights, possible)[0, 1]) == (0.0, 1.0)


def test_reach_is_that_of_the_most_frequent_cell_and_noise_counts_as_none() -> None:
    reach = parse_range("AsAh, KK:0.5, QQ:0.25, JJ:0.002, TT:0.0004") * 1e-2
    everything = reach_grid(reach, possible_hands(()))
    np.testing.assert_allclose(everything.diagonal()[:6], [1 / 3, 1, 0.5, 0.004, 0, 0])
    board = parse_cards("AdAc2s")  # one pair of aces is left
    np.testing.assert_allclose(reach_grid(reach, possible_hands(board)).diagonal()[:5], [1, 0.5, 0.25, 0.002, 0])
    assert (reach_grid(0 * reach, possible_hands(())) == 0).all()


def test_strategies_of_cells_are_weighted_by_reach() -> None:
    strategy = np.tile([[0.0], [1.0]], (1, NUM_HANDS))
    strategy[:, hand_index(*parse_cards("AsKs"))] = 1, 0
    reach = parse_range("AsKs, AhKh:0.25, AdKd:0.25, QQ:0.5")
    for scale in (1.0, 1e-3):
        grid = strategy_grid(strategy, scale * reach)
        assert grid.shape == (2, 13, 13)
        np.testing.assert_allclose(grid[:, 0, 1], [2 / 3, 1 / 3])
        np.testing.assert_allclose(grid[:, 2, 2], [0, 1])
        np.testing.assert_array_equal(grid.sum(axis=0) > 0, grid_of(reach) > 0)
        np.testing.assert_allclose(overall_frequencies(strategy, scale * reach), [1 / 4.5, 3.5 / 4.5])
    assert overall_frequencies(strategy, 0 * reach).tolist() == [0, 0]


def test_actions_have_the_colours_of_solvers() -> None:
    assert action_colors(["Fold", "Call", "Raise 6"]) == [FOLD, CALL, "#de483a"]
    small, middle, large = action_colors(["check", "bet 1", "bet 2", "all-in"])[1:]
    assert (small, middle, large) == ("#f3a558", "#de483a", "#7e1630")
    assert action_colors(["fold", "call"]) == [FOLD, CALL]
    assert action_letters(["fold", "call", "raise 6", "raise 12", "all-in"]) == ["F", "C", "1", "2", "A"]


@pytest.fixture
def example() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Aces raise; kings fold a quarter, call a quarter and raise half; queens have half the weight and call."""
    strategy = np.tile([[0.0], [0.0], [1.0]], (1, NUM_HANDS))
    strategy[:, parse_range("KK") > 0] = np.array([[0.25], [0.25], [0.5]])
    strategy[:, parse_range("QQ") > 0] = np.array([[0.0], [1.0], [0.0]])
    return strategy, parse_range("KK+, QQ:0.5") / 10, ["fold", "call", "raise 6"]


def test_the_picture_shows_known_cells_in_their_colours(
    tmp_path: Path, example: tuple[np.ndarray, np.ndarray, list[str]]
) -> None:
    raised = action_colors(example[2])[2]
    draw_strategy_grid(tmp_path / "grid.png", *example, "Aces, kings and queens")
    assert (tmp_path / "grid.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    pixels = np.round(255 * image.imread(tmp_path / "grid.png")[..., :3]).astype(int)
    figure = strategy_figure(*example, "Aces, kings and queens")
    figure.tight_layout()
    to_pixels = figure.axes[0].transData
    scale = pixels.shape[1] / (figure.get_figwidth() * figure.dpi)

    def color(row: float, column: float) -> str:
        x, y = to_pixels.transform((column, row)) * scale
        return "#" + "".join(f"{part:02x}" for part in pixels[round(pixels.shape[0] - y), round(x)])

    assert {color(row, column) for row in (0.1, 0.9) for column in (0.1, 0.9)} == {raised}
    assert [color(1.9, 1 + share) for share in (0.1, 0.45, 0.55, 0.7, 0.8, 0.95)] == [raised, raised, CALL, CALL, FOLD, FOLD]
    assert [color(2 + share, 2.1) for share in (0.1, 0.4, 0.6, 0.9)] == [ABSENT, ABSENT, CALL, CALL]
    assert color(0.1, 1.1) == color(12.9, 12.9) == EMPTY
    # Of 6 + 6 + 3 hands, 9 raise, 4.5 call and 1.5 fold.
    assert [color(-1.3, 13 * share) for share in (0.01, 0.59, 0.61, 0.89, 0.91, 0.99)] == [
        raised,
        raised,
        CALL,
        CALL,
        FOLD,
        FOLD,
    ]


@pytest.mark.parametrize(("name", "begins"), [("grid.svg", b"<?xml"), ("grid.pdf", b"%PDF")])
def test_pictures_come_in_other_formats(
    tmp_path: Path, example: tuple[np.ndarray, np.ndarray, list[str]], name: str, begins: bytes
) -> None:
    draw_strategy_grid(tmp_path / name, *example, board=parse_cards("AsKd2c"))
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_the_terminal_shows_letters_without_colour_and_colours_with_it(
    example: tuple[np.ndarray, np.ndarray, list[str]],
) -> None:
    plain, colored = io.StringIO(), io.StringIO()
    Console(file=plain, width=80).print(strategy_text(*example))
    lines = [line.rstrip() for line in plain.getvalue().splitlines()]
    assert max(map(len, lines)) <= 78
    assert lines[0].split() == KINDS[:13]
    assert lines[1] == " R100"
    assert lines[3] == " " * 6 + " R 50"
    assert lines[5] == " " * 12 + " C100"
    assert lines[7] == ""
    assert lines[-3:] == [" R   60.0 %  raise 6", " C   30.0 %  call", " F   10.0 %  fold"]
    Console(file=colored, width=80, force_terminal=True, color_system="truecolor").print(strategy_text(*example))
    red, green, blue = (int(action_colors(example[2])[2][place : place + 2], 16) for place in (1, 3, 5))
    assert f"48;2;{red};{green};{blue}m AA  " in colored.getvalue()


def test_hands_that_hold_cards_of_the_board_are_left_out(example: tuple[np.ndarray, np.ndarray, list[str]]) -> None:
    strategy, _, names = example
    board = parse_cards("AsAdAc2h7d")
    text = strategy_text(strategy, np.ones(NUM_HANDS), names, board).plain.splitlines()
    assert text[0].startswith(" AA    AKs ")
    assert text[1].startswith("       R100 ")  # one ace is left: no pair of aces, and one suited ace-king
