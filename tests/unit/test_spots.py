"""Spots of no-limit hold'em: menus by street, player and last bettor, against a second implementation of betting."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

import tacit
from tacit.cards.deck import NUM_CARDS, card_names, parse_cards
from tacit.errors import TacitError
from tacit.games import load_game
from tacit.games.betting import CALL, DEAL, FOLD, NOBODY, RIVER, Betting, NoLimitBetting
from tacit.games.holdem import Holdem, NoLimitHoldem
from tacit.games.holdem_size import DECISION, count_betting
from tacit.games.menus import MENU_PRESETS, smaller_menus
from tacit.games.sizes import ALL_IN, Geometric, Multiple, parse_menu
from tacit.rebel.holdem.situations import draw_rules
from tacit.tree.hand_builder import build_hand_tree, num_hand_entries
from tacit.tree.hand_tree import DEALS, DECIDES, START, HandTree, Spot
from tests.command import tacit as command

BOARDS = {1: "3s7hTd", 2: "3s7hTdKs", 3: "3s7hTdKs2c"}


def spot(text: str, street: int = 2) -> NoLimitHoldem:
    game = load_game(f"no_limit_holdem(board={BOARDS[street]},pot=400,stack=2000,{text})")
    assert isinstance(game, NoLimitHoldem)
    return game


class Table:
    """Betting from the flop on as a dealer sees it: chips in front of each player, chips behind, and a pot in the middle."""

    def __init__(self, street: int, menus: dict[str, list[list[str]]], allin: Fraction, merge: Fraction) -> None:
        self.street, self.menus, self.allin, self.merge = street, menus, allin, merge
        self.front, self.behind, self.middle = [0, 0], [1_800, 1_800], 400
        self.actor, self.checked, self.num_bets, self.last_raise = 0, False, 0, 100
        self.bet_last, self.bet_before = NOBODY, NOBODY

    def copy(self) -> Table:
        other = Table.__new__(Table)
        other.__dict__.update(self.__dict__)
        other.front, other.behind = [*self.front], [*self.behind]
        return other

    def menu(self) -> list[int]:
        """Returns the chips in front of the actor after each raise."""
        me, to_call = self.actor, max(self.front) - self.front[self.actor]
        if not self.behind[1 - me] or to_call >= self.behind[me]:
            return []
        is_donk = not self.num_bets and me == 0 and self.bet_before == 1 and "donks" in self.menus
        name = f"raises{me}" if self.num_bets else "donks" if is_donk else f"bets{me}"
        most, pot = self.front[me] + self.behind[me], self.middle + 2 * max(self.front)
        least, found = min(max(self.front) + self.last_raise, most), set()
        for size in self.menus[name][self.street]:
            if size == "allin":
                chips = Fraction(most)
            elif size.endswith("x"):
                chips = Fraction(size[:-1]) * max(self.front)
            elif size.endswith("geo"):
                streets = min(int(size[:-3] or 4), 4 - self.street)
                chips = Fraction(max(self.front) + pot * equal_share(pot, most - max(self.front), streets))
            else:
                chips = max(self.front) + Fraction(size) * pot
            bet = min(max(int(chips + Fraction(1, 2)), least), most)
            left, pot_then = most - bet, self.middle + 2 * bet
            found.add(most if left <= self.allin * pot_then else bet)
        kept: list[int] = []
        for bet in sorted(found, reverse=True):  # the pot with a bet, before it is called
            if not kept or self.middle + max(self.front) + kept[-1] > (1 + self.merge) * (self.middle + max(self.front) + bet):
                kept.append(bet)
        return kept[::-1]

    def after(self, action: str | int) -> Table | None:
        """Returns the table after an action; None if the hand is over."""
        new, me = self.copy(), self.actor
        if action == "fold":
            return None
        if isinstance(action, int):
            new.last_raise = max(self.last_raise, action - max(self.front))
            new.behind[me] -= action - self.front[me]
            new.front[me], new.num_bets, new.bet_last = action, self.num_bets + 1, me
        else:
            new.behind[me] -= max(self.front) - self.front[me]
            new.front[me] = max(self.front)
            if self.checked or self.num_bets:
                if self.street == RIVER or not new.behind[me]:
                    return None
                new.middle += sum(new.front)
                new.front, new.street, new.actor = [0, 0], self.street + 1, 0
                new.checked, new.num_bets, new.last_raise = False, 0, 100
                new.bet_before, new.bet_last = self.bet_last, NOBODY
                return new
        new.actor, new.checked = 1 - me, True
        return new

    def lines(self, before: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
        """Yields every sequence of actions that leads to a decision; raises are chips put in over the whole hand."""
        yield before
        facing = max(self.front) > self.front[self.actor]
        for action in (["fold"] if facing else []) + ["call", *self.menu()]:
            new = self.after(action)
            number = (
                {"fold": FOLD, "call": CALL}.get(str(action))
                if isinstance(action, str)
                else action + 2_000 - (self.front[self.actor] + self.behind[self.actor])
            )
            if new is not None:
                assert number is not None
                yield from new.lines((*before, number))


def equal_share(pot: int, left: int, streets: int) -> Fraction:
    """Returns the share of the pot that, bet on each street, puts in all chips; found by bisection."""
    low, high = Fraction(0), Fraction(left, pot)
    for _ in range(60):
        share, grown = (low + high) / 2, Fraction(pot)
        for _ in range(streets):
            grown *= 1 + 2 * share
        low, high = (share, high) if grown < pot + 2 * left else (low, share)
    return high


def tree_lines(tree: HandTree, spot: Spot = START, before: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Yields the same sequences from a built tree, on the first card that can come."""
    if tree.kind[spot.node] == DEALS:
        card = next(card for card in range(NUM_CARDS) if tree.knows(spot, card))
        yield from tree_lines(tree, tree.after(spot, card), before)
    elif tree.kind[spot.node] == DECIDES:
        yield before
        for action in tree.actions(spot.node):
            yield from tree_lines(tree, tree.after(spot, action), (*before, action))


CASES = {
    "bets=0.5|allin/0.75,raises=3x|allin": {
        "bets0": "0.5|allin/0.75", "bets1": "0.5|allin/0.75", "raises0": "3x|allin", "raises1": "3x|allin",
    },
    "bets=0.33|0.66,bets1=1/geo,raises=2.5x,raises0=none/allin,donks=0.25|1": {
        "bets0": "0.33|0.66", "bets1": "1/geo", "raises0": "none/allin", "raises1": "2.5x", "donks": "0.25|1",
    },
    "bets=geo|2geo|1,raises=,raises1=allin,donks=none,allin_threshold=0.5,merge_threshold=0.1": {
        "bets0": "geo|2geo|1", "bets1": "geo|2geo|1", "raises0": "geo|2geo|1", "raises1": "allin", "donks": "none",
    },
    "bets=0.4|0.5|0.6|0.9,raises=0.5|3x|allin,allin_threshold=0.3,merge_threshold=0.12": {
        "bets0": "0.4|0.5|0.6|0.9", "bets1": "0.4|0.5|0.6|0.9", "raises0": "0.5|3x|allin", "raises1": "0.5|3x|allin",
    },
}  # fmt: skip


@pytest.mark.parametrize("street", [1, 2, 3])
@pytest.mark.parametrize("text", CASES)
def test_trees_are_those_of_betting_written_a_second_time(text: str, street: int) -> None:
    menus = {}
    for name, menu in CASES[text].items():
        parts = [[] if part == "none" else part.split("|") for part in menu.split("/")]
        menus[name] = [parts[min(max(number - street, 0), len(parts) - 1)] for number in range(4)]
    if street == RIVER:
        text = ",".join(part.partition("/")[0] for part in text.split(","))
    thresholds = {key: Fraction(value) for key, _, value in (part.partition("=") for part in text.split(",")) if "thr" in key}
    table = Table(street, menus, thresholds.get("allin_threshold", Fraction(0)), thresholds.get("merge_threshold", Fraction(0)))
    game = spot(f"{text},range0=AA,range1=QQ", street)
    expected = sorted(table.lines())
    tree = build_hand_tree(game, game.rules, game.known_board, game.ranges) if street > 1 else None
    assert sorted(walk(game.rules, game.rules.start())) == expected
    if tree is not None:
        assert sorted(tree_lines(tree)) == expected
        assert num_hand_entries(game.rules, game.known_board, game.ranges) == tree.num_entries
    counts = count_betting(game.rules)
    assert counts is not None
    assert sum(number for (_, kind), number in counts.items() if kind == DECISION) == len(expected)
    assert len(expected) >= 7


def walk(rules: NoLimitBetting, betting: Betting, before: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    betting = rules.deal(betting) if betting.actor == DEAL else betting
    if betting.actor >= 0:
        yield before
        for action in rules.actions(betting):
            yield from walk(rules, rules.apply(betting, action), (*before, action))


@pytest.mark.parametrize(
    ("text", "street", "line", "actions"),
    [
        # 200 each in the pot of 400, stacks of 2,000: the pot can grow tenfold
        ("bets=geo,raises=allin", 3, (), (1, 2_000)),
        ("bets=geo,raises=allin", 2, (), (1, 632)),  # 200 * sqrt(10)
        ("bets=geo,raises=allin", 1, (), (1, 431)),  # 200 * 10 ** (1 / 3)
        ("bets=2geo,raises=allin", 1, (), (1, 632)),
        ("bets=1geo,raises=allin", 1, (), (1, 2_000)),
        ("bets=geo,raises=allin", 1, (431, CALL, 928, CALL), (1, 2_000)),
        ("bets=0.5,raises=3x", 2, (400,), (0, 1, 800)),  # a bet of 200, raised to 600
        ("bets=0.5,raises=3x", 2, (400, 800), (0, 1, 2_000)),  # 600, to 1,800
        ("bets=0.5,raises=1.1x", 2, (400,), (0, 1, 600)),  # at least the last raise again
        ("bets=0.5,bets1=1/allin,raises=2x", 2, (), (1, 400)),
        ("bets=0.5,bets1=1/allin,raises=2x", 2, (CALL,), (1, 600)),
        ("bets=0.5,bets1=1/allin,raises=2x", 2, (CALL, CALL, CALL), (1, 2_000)),
        ("bets=0.5,donks=0.25,raises=2x", 2, (CALL, 400, CALL), (1, 600)),  # into the last bettor, in a pot of 800
        ("bets=0.5,donks=0.25,raises=2x", 2, (400, CALL), (1, 800)),  # player 0 was the last bettor
        ("bets=0.5,donks=0.25,raises=2x", 2, (CALL, CALL), (1, 400)),  # nobody bet
        ("bets=0.5,donks=none,raises=2x", 2, (CALL, 400, CALL), (1,)),
        ("bets=0.5,donks=none,raises=2x", 2, (400, 800, CALL), (1,)),  # raised by player 1
        ("bets=0.5,donks=0.25,raises=2x", 1, (CALL, 400, CALL, CALL, CALL), (1, 800)),  # a street of checks in between
        ("bets=0.5|1,raises=allin,allin_threshold=1.16", 2, (), (1, 400, 600)),  # 600 leaves 1,400 for a pot of 1,200
        ("bets=0.5|1,raises=allin,allin_threshold=1.17", 2, (), (1, 400, 2_000)),
        ("bets=0.5|0.6|1,raises=allin,merge_threshold=0.07", 2, (), (1, 440, 600)),  # 640 is 6.7 % more than 600
        ("bets=0.5|0.6|1,raises=allin,merge_threshold=0.06", 2, (), (1, 400, 440, 600)),
    ],
)
def test_menus(text: str, street: int, line: tuple[int, ...], actions: tuple[int, ...]) -> None:
    rules = spot(text, street).rules
    betting = rules.start()
    for action in line:
        betting = rules.apply(betting, action)
        betting = rules.deal(betting) if betting.actor == DEAL else betting
    assert rules.actions(betting) == actions


def test_multiples_before_the_flop_count_the_big_blind() -> None:
    game = load_game("no_limit_holdem(bets=2.5x/0.5,raises=3x)")
    assert isinstance(game, Holdem)
    rules = game.rules
    assert rules.actions(rules.start()) == (0, 1, 250)
    assert rules.actions(rules.apply(rules.start(), CALL)) == (1, 250)
    assert rules.actions(rules.apply(rules.start(), 250)) == (0, 1, 750)


def test_states_remember_only_what_a_menu_looks_at() -> None:
    plain, leads, multiples = (spot(text).rules for text in ("bets=1", "bets=1,donks=1", "bets=1,raises=3x"))
    assert [rules.remembers for rules in (plain, leads, multiples)] == [False, True, True]
    after = [rules.apply(rules.apply(rules.apply(rules.start(), CALL), 600), CALL) for rules in (plain, leads)]
    assert [betting.aggressor for betting in after] == [NOBODY, 1]
    rivers = [rules.deal(betting) for rules, betting in zip((plain, leads), after, strict=True)]
    assert [(river.begun, river.aggressor) for river in rivers] == [(0, NOBODY), (600, 1)]


def test_names_of_games_from_before_stay_what_they_were() -> None:
    old = (
        "no_limit_holdem(stack=20000,small_blind=50,big_blind=100,board=,pot=0,"
        "bets=0.33|0.5|0.75|1|1.5|2|allin,raises=0.5|1|2|allin,range0=,range1=)"
    )
    assert str(load_game("no_limit_holdem")) == str(load_game(old)) == old
    assert load_game(old).rules.bets == (0.33, 0.5, 0.75, 1.0, 1.5, 2.0, ALL_IN)  # type: ignore[attr-defined]
    new = spot("bets=1/geo,raises0=3x,donks=none,merge_threshold=0.1")
    assert load_game(str(new)) == new
    assert str(new).endswith("bets=1/geo,raises=0.5|1|2|allin,range0=,range1=,raises0=3x,donks=none,merge_threshold=0.1)")


def test_menus_with_names_are_written_out() -> None:
    for name in MENU_PRESETS:
        for street in (1, 2, 3):
            game = spot(f"menu={name}", street)
            assert "menu" not in str(game)
            assert load_game(str(game)) == game
            assert len(game.rules.actions(game.rules.start())) >= 2
        load_game(f"no_limit_holdem(menu={name})")
    standard = spot("menu=standard")
    assert (standard.bets, standard.raises, standard.donks) == ("0.5|1/0.5|1|allin", "3x|allin", "0.33")
    assert spot("menu=standard,bets=1").bets == "1"
    assert spot("menu=pot") == spot("bets=1|allin,raises=1|allin")


def test_smaller_menus_and_training_keep_menus_by_street() -> None:
    rules = spot("bets=0.3|0.5|0.9|allin/geo|1,raises=3x|allin,donks=0.25|0.5/none").rules
    sizes = [list(menu.actions(menu.start())) for menu in smaller_menus(rules)]
    assert sizes[0] == [1, 320, 400, 560, 2_000]
    assert sizes[-1] == [1, 560, 2_000]
    for menu in smaller_menus(rules):
        assert isinstance(menu, NoLimitBetting)
        assert menu.remembers
        assert sum(1 for _ in walk(menu, menu.start())) > 10
    drawn = draw_rules(rules, 0.1, np.random.default_rng(0))
    assert drawn.bets != rules.bets
    assert drawn.raises == rules.raises
    assert rules.most_raises == 4


def test_sizes_are_read() -> None:
    assert set(parse_menu("allin|3x| 0.5 |2geo|GEO|.75")) == {0.5, Multiple(3.0), 0.75, Geometric(2), Geometric(4), ALL_IN}
    assert parse_menu("allin|5x|0.5") == (0.5, Multiple(5.0), ALL_IN)


WRONG = [
    ("bets=half", "'half' in 'half' is no bet: write sizes in pots, 3x, geo, 2geo and allin"),
    ("bets=0.5|none", "'none' in '0.5|none' is no bet: none stands alone"),
    ("bets=1x", "must be to more than 1x the last bet"),
    ("bets=3x", "3x in bets multiplies the last bet, and on the turn there is none yet"),
    ("donks=2x", "2x in donks multiplies the last bet, and on the turn there is none yet"),
    ("bets=5geo", "geo is over 1 to 4 streets"),
    ("bets=0geo", "geo is over 1 to 4 streets"),
    ("bets=0", "'0' in '0' is no bet"),
    ("bets=-0.5", "'-0.5' in '-0.5' is no bet"),
    ("bets=1/1/1", "'1/1/1' has menus for 3 streets, and 2 streets are left on the turn"),
    ("bets=1//1", "has menus for 3 streets"),
    ("bets=1/", "has an empty menu between slashes"),
    ("bets0=1/ ", "has an empty menu between slashes"),
    ("raises1=0.1|0.2|0.3|0.4|0.5|0.6|0.7|0.8", "has 8 bets; with fold and call there are at most 9 actions"),
    ("bets=", "bets is empty"),
    ("bets2=1", "no_limit_holdem has no parameter 'bets2'"),
    ("allin_threshold=-1", "allin_threshold must be a share of the pot, from 0 (none) up, not -1"),
    ("allin_threshold=nan", "allin_threshold must be a share of the pot"),
    ("allin_threshold=10%", "allin_threshold must be a number, not '10%'"),
    ("merge_threshold=inf", "merge_threshold must be a share of the pot"),
    ("merge_threshold=close", "merge_threshold must be a number, not 'close'"),
    ("menu=GTO", "there is no menu 'GTO': choose one of push, pot, simple, standard, geometric"),
    ("menu=standard|pot", "there is no menu 'standard|pot'"),
    ("menu=standard,bets=wide", "'wide' in 'wide' is no bet"),
    ("rake=0.05", "no_limit_holdem takes no rake: what the house takes makes the game general-sum"),
    ("rake", "no_limit_holdem takes no rake"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_wrong_menus_are_refused_in_a_line(text: str, message: str) -> None:
    with pytest.raises(TacitError) as caught:
        spot(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_command_line_refuses_rake() -> None:
    result = command("solve", "no_limit_holdem(board=3s7hTdKs,pot=400,rake=0.05)")
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "general-sum" in result.stderr


def test_checking_down_is_worth_the_equity_that_pokerkit_counts() -> None:
    kit = pytest.importorskip("pokerkit")
    board, first, second = parse_cards("3s7hTdKs"), ["AsQs", "7d7c", "KhJh"], ["AhKd", "9h8h", "TsTc"]
    shares, pairs = 0.0, 0
    for one in first:
        for other in second:
            cards = {*board, *parse_cards(one), *parse_cards(other)}
            if len(cards) < 8:
                continue
            rivers = [(*board, card) for card in range(NUM_CARDS) if card not in cards]
            hands = [[kit.StandardHighHand.from_game(hand, card_names(river)) for hand in (one, other)] for river in rivers]
            shares += sum((a > b) + 0.5 * (a == b) for a, b in hands) / len(rivers)
            pairs += 1
    ranges = f"range0={'|'.join(first)},range1={'|'.join(second)}"
    result = tacit.solve(spot(f"bets=none,raises=none,{ranges}"), iterations=1)
    assert pairs == 9
    assert result.value + 200 == pytest.approx(400 * shares / pairs, rel=1e-9)
    assert result.exploitability == pytest.approx(0.0, abs=1e-9)
