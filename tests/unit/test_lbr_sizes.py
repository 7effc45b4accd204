"""Local best response with many bets: exact by enumeration on a river, and below a best response with the same bets."""

import math
from collections.abc import Iterator

import numpy as np
import pytest

from tacit.agents.base import Sight
from tacit.agents.hand_policy import HAND_POLICIES, HandPolicy, SolvedPolicy, played
from tacit.agents.table import Table
from tacit.arena.lbr import MANY_SIZES, LocalBestResponse, parse_setting
from tacit.cards.hands import HANDS, NUM_HANDS, hand_name, possible_hands
from tacit.cards.run_outs import leads
from tacit.errors import TacitError
from tacit.evaluation import best_response
from tacit.games.betting import CALL, FOLD, FOLDED, SHOWDOWN, Betting
from tacit.games.holdem import Holdem
from tacit.games.public_hand import PublicHand
from tacit.kernels.numba_hands import HandPasses
from tacit.solvers import solve
from tacit.tree.hand_builder import build_hand_tree
from tacit.tree.hand_strategy import HandStrategy
from tests.unit.test_lbr import deals, holdem, tally_of

RIVER = (
    "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=4000,bets=0.5|1|allin,raises=allin,"
    "range0=QhQd|AhKh|6s5s|7c7d|9h8h,range1=JhJd|KhQh|AcTc|5d4d|Ad3d)"
)
MANY = "deepstack-56bets"


class Values:
    """What local best response wins from a policy on a river, over all hands and all answers."""

    def __init__(self, game: Holdem, policy: HandPolicy, setting: str) -> None:
        self._game, self._policy = game, policy
        self._lbr = LocalBestResponse(game, policy, setting)
        self.mean = 0.5 * (self._seat(0) + self._seat(1))

    def _seat(self, seat: int) -> float:
        own, other = self._game.ranges[seat], self._game.ranges[1 - seat]
        start, total, weight = PublicHand.start(self._game).dealt(self._game.known_board), 0.0, 0.0
        for hand in np.flatnonzero(own).tolist():
            met = other * possible_hands(HANDS[hand].tolist())
            weight += met.sum()
            total += self._below(seat, hand, start, met)
        return total / weight

    def _below(self, seat: int, hand: int, public: PublicHand, reach: np.ndarray) -> float:
        """Returns the value to LBR, times the weights `[1326]` with which the other player's hands reach this state."""
        betting = public.betting
        if betting.actor == FOLDED:
            return (betting.spent[1 - seat] if betting.folder != seat else -betting.spent[seat]) * float(reach.sum())
        if betting.actor == SHOWDOWN:
            return betting.facing * float(leads(public.board, reach)[hand])
        if betting.actor == seat:
            return self._below(seat, hand, public.after(self._act(seat, hand, public)), reach)
        shares = played(self._policy, public)
        ways = zip(public.actions, shares, strict=True)
        return sum(self._below(seat, hand, public.after(action), reach * share) for action, share in ways if share @ reach)

    def _act(self, seat: int, hand: int, public: PublicHand) -> int:
        self._lbr.start(seat)
        self._lbr.observe(Sight(0, None, (self._game.board,), (hand_name(hand),), (), ()))
        for _, action in public.path:
            self._lbr.observe(Sight(0, None, ({FOLD: "fold", CALL: "call"}.get(action, f"raise to {action}"),), (), (), ()))
        return self._lbr.act()


def bettings(game: Holdem, seat: int, betting: Betting) -> Iterator[Betting]:
    """Yields the states where `seat` decides; `seat` may bet as LBR does, the other player only from the menu."""
    if betting.actor not in (0, 1):
        return
    many = betting.actor == seat
    if many:
        yield betting
    for action in {*game.rules.actions(betting), *(many_raises(game, betting) if many else ())}:
        yield from bettings(game, seat, game.rules.apply(betting, action))


def many_raises(game: Holdem, betting: Betting) -> tuple[int, ...]:
    limits = game.rules.all_raises(betting)
    if limits is None:
        return ()
    return tuple(min(max(betting.facing + round(2 * betting.facing * size), limits[0]), limits[1]) for size in MANY_SIZES)


def best_response_value(game: Holdem, policy: HandPolicy, seat: int) -> float:
    """Returns what a best response wins that may use LBR's bets and the whole menu."""
    extra = {state: many_raises(game, state) for state in bettings(game, seat, game.rules.start())}
    tree = build_hand_tree(game, game.rules, game.known_board, game.ranges, extra=extra)
    strategy = tree.uniform_strategy()
    states = [PublicHand.start(game).dealt(game.known_board)]
    for node in range(1, len(tree)):
        above = int(tree.parent[node])
        action = tree.actions(above)[int(np.flatnonzero(tree.children(above) == node)[0])]
        states.append(states[above].after(action))
    for node in tree.decisions:
        if tree.actor[node] != seat:
            tree.decision(strategy, int(node))[:] = played(policy, states[node])[:, tree.blocks.hands(0)]
    return best_response(HandPasses(tree, np.float64), strategy, seat).value


@pytest.mark.parametrize("bot", ["pot-odds", "random", "solved"])
def test_its_exact_share_on_a_river(bot: str) -> None:
    game = holdem(RIVER)
    policy = HAND_POLICIES.get(bot)
    if policy is None:
        strategy = solve(game, iterations=100).strategy
        assert isinstance(strategy, HandStrategy)
        policy = SolvedPolicy(strategy)
    few, many = (Values(game, policy, setting).mean for setting in ("rebel", MANY))
    most = 0.5 * sum(best_response_value(game, policy, seat) for seat in (0, 1))
    assert many <= most + 1e-6
    if bot == "pot-odds":
        assert many > few + 1.0  # some bets are just large enough to be folded to, or just small enough to be called
    tally = tally_of(deals(game, policy, 300, MANY))
    assert tally.deviation is not None
    assert tally.mean == pytest.approx(many, abs=4 * tally.deviation / math.sqrt(tally.count) + 1e-9)


@pytest.mark.parametrize("setting", [MANY, "deepstack-flop-56bets", "deepstack-fcpa"])
def test_always_fold_loses_what_folding_costs(setting: str) -> None:
    """It is 750 mbb a game in three of DeepStack's settings, as published, and 250 on average if LBR never bets."""
    game = holdem("no_limit_holdem")
    for deal in deals(game, HAND_POLICIES["always-fold"], 15, setting):
        assert game.in_units(deal.result)["mbb"] == 750.0


def test_the_bets_are_those_of_the_setting() -> None:
    assert len(MANY_SIZES) == 55  # besides all-in
    assert MANY_SIZES[0] == 0.05
    assert MANY_SIZES[-1] == pytest.approx(94.766, abs=1e-3)
    assert parse_setting(MANY) == ("c", "c", "fcab", "fcab")
    assert parse_setting("deepstack-flop-56bets") == ("c", "fcab", "fc", "fc")


def test_a_table_takes_any_raise_that_the_rules_allow() -> None:
    table = Table(holdem("no_limit_holdem"), np.random.default_rng(0))
    table.play(237)
    assert table.sights[0] is not None
    assert table.sights[0].public == ("raise to 237",)
    for wrong in (373, 20_001, 2):
        with pytest.raises(TacitError, match="is not a legal action"):
            table.play(wrong)
    table.play(374)


def test_bets_that_a_solve_does_not_know_are_translated() -> None:
    """Pseudo-harmonic: between half the pot and the pot, the threshold is at 5/7 of the pot."""
    game = holdem(RIVER)
    strategy = solve(game, iterations=20).strategy
    assert isinstance(strategy, HandStrategy)
    policy = SolvedPolicy(strategy)
    start = PublicHand.start(game).dealt(game.known_board)
    half, pot, stack = (policy.probabilities(start.after(action)) for action in (2_000, 3_000, 4_000))
    np.testing.assert_array_equal(policy.probabilities(start.after(1_100)), half)
    np.testing.assert_array_equal(policy.probabilities(start.after(2_420)), half)
    np.testing.assert_array_equal(policy.probabilities(start.after(2_440)), pot)
    # A bet treated as all-in leaves only fold and call, even if the rules would allow a raise.
    nearly = policy.probabilities(start.after(3_950))
    np.testing.assert_array_equal(nearly[:2], stack)
    assert not nearly[2:].any()
    assert pot.shape == nearly.shape == (3, NUM_HANDS)
