"""Two-player Texas hold'em: no-limit, limit, and no-limit from the turn on (ReBeL, appendices C.1 and C.2).

Where we differ: the paper prints the bet sizes of the turn endgame only. Those of the full game, "based on conventional poker
wisdom" with at most eight (or nine) actions, are our choice. The paper does not say whether the stacks of the turn endgame
include the 1,000 chips that each player has in the pot; here they do, as everywhere in `betting`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from tacit.cards.deck import NUM_CARDS, card_name, card_names, parse_cards
from tacit.cards.hands import HANDS, NUM_HANDS, meetings, possible_hands
from tacit.cards.ranges import check_range, parse_range
from tacit.cards.strength import seven_card_strengths
from tacit.errors import TacitError
from tacit.games.base import CHANCE, TERMINAL, Game, GameSize, later
from tacit.games.betting import (
    BOARD_CARDS,
    CALL,
    DEAL,
    FOLD,
    FOLDED,
    NOBODY,
    PREFLOP,
    RIVER,
    SHOWDOWN,
    TURN,
    Betting,
    BettingRules,
    LimitBetting,
    NoLimitBetting,
)
from tacit.games.chips import STREETS, Chips
from tacit.games.holdem_size import holdem_size
from tacit.games.menus import menus_in_words, preset_parameters, read_menus


class HoldemState(NamedTuple):
    """A hand in progress.

    Attributes:
      hands: The private cards dealt so far, two of player 0 and then two of player 1.
      board: The public cards; a flop is sorted once it is complete.
      betting: The betting state. Its street may still be waiting for its cards.
      news: What everyone saw last: an action, or cards.
    """

    hands: tuple[int, ...]
    board: tuple[int, ...]
    betting: Betting
    news: str


class Holdem(Game[HoldemState]):
    """Two private cards each, five public ones (three, one, one), a street of betting before each deal and after the last.

    Cards are dealt one by one: chance outcome c is card c. Actions are those of `tacit.games.betting`.
    """

    tree_layout = "hands"
    refused_parameters: ClassVar[Mapping[str, str]] = {
        "rake": "what the house takes makes the game general-sum, and only zero-sum games are solved here"
    }

    board: str

    def __post_init__(self) -> None:
        try:
            if len(self.known_board) not in self._board_lengths:
                lengths = ", ".join(map(str, self._board_lengths[:-1])) + f" or {self._board_lengths[-1]}"
                raise TacitError(f"board must have {lengths} cards, not {len(self.known_board)}")
            self._fill_in()
            _ = self.rules
            if self._deals_hands and not self.known_board:
                raise TacitError("ranges need a board: before the flop every hand is possible")
            _ = self.ranges
        except TacitError as error:
            raise TacitError(f"{self.name}: {error}") from None

    _board_lengths: ClassVar[tuple[int, ...]] = BOARD_CARDS

    def _fill_in(self) -> None:
        """Sets the parameters that are given through others."""

    @property
    @abstractmethod
    def rules(self) -> BettingRules:
        """The betting rules."""

    range0: str = ""
    range1: str = ""

    @cached_property
    def written_ranges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For each player, `[1326]` the weight of every hand in its range, with no regard to the board."""
        texts = (text.replace("|", ",") for text in (self.range0, self.range1))
        first, second = (parse_range(text) if text else np.ones(NUM_HANDS) for text in texts)
        return first, second

    @cached_property
    def ranges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For each player, `[1326]` the weight of every hand when the betting starts; 0 if the board blocks it."""
        first, second = self.written_ranges
        for weights in (first, second):
            check_range(weights, self.known_board)
        possible = possible_hands(self.known_board)
        first, second = first * possible, second * possible
        if not (first * meetings(second)).max() > 1e-9:  # sums that leave out shared cards are not exactly zero
            raise TacitError("no hand of range0 can be dealt together with one of range1: they share cards")
        return first, second

    def in_units(self, amount: float) -> dict[str, float]:
        big_blinds, pot = amount / self.rules.big_blind, self.rules.pot
        return {"mbb": 1_000.0 * big_blinds, **({"percent_of_pot": 100.0 * amount / pot} if pot else {})}

    @cached_property
    def known_board(self) -> tuple[int, ...]:
        """The board cards known from the start."""
        return parse_cards(self.board)

    def initial_state(self) -> HoldemState:
        return HoldemState((), self.known_board, self.rules.start(), card_names(self.known_board))

    def actor(self, state: HoldemState) -> int:
        actor = state.betting.actor
        on_board = BOARD_CARDS[RIVER if actor == SHOWDOWN else state.betting.street]
        if len(state.hands) < 4 or len(state.board) < on_board:
            return CHANCE
        return TERMINAL if actor in (FOLDED, SHOWDOWN) else actor

    def legal_actions(self, state: HoldemState) -> tuple[int, ...]:
        return self.rules.actions(state.betting)

    def is_legal(self, state: HoldemState, action: int) -> bool:
        limits = self.rules.all_raises(state.betting)
        return action in self.legal_actions(state) or (limits is not None and limits[0] <= action <= limits[1])

    def chance_outcomes(self, state: HoldemState) -> list[tuple[int, float]]:
        if self._deals_hands and len(state.hands) < 4:
            return self._hand_outcomes(state.hands)
        gone = {*state.hands, *state.board}
        chance = 1.0 / (NUM_CARDS - len(gone))
        return [(card, chance) for card in range(NUM_CARDS) if card not in gone]

    def apply(self, state: HoldemState, action: int) -> HoldemState:
        if self.actor(state) == CHANCE:
            return self._deal(state, action)
        betting = self.rules.apply(state.betting, action)
        if betting.actor == DEAL:
            betting = self.rules.deal(betting)
        return HoldemState(state.hands, state.board, betting, self.action_name_at(state, action))

    def public_observation(self, state: HoldemState) -> str:
        return state.news

    def private_observation(self, state: HoldemState, player: int) -> str:
        betting = state.betting
        started = betting.acted or betting.street > self.rules.first_street or len(state.board) > len(self.known_board)
        if started or len(state.hands) < 4:
            return ""
        return card_names(sorted(state.hands[2 * player : 2 * player + 2], reverse=True))

    def returns(self, state: HoldemState) -> tuple[float, float]:
        spent, folder = state.betting.spent, state.betting.folder
        if folder != NOBODY:
            payoff = float(spent[1] if folder else -spent[0])
        else:
            # Both have put in the same, so the pot is even and can be split.
            first, second = seven_card_strengths(np.array([state.hands[:2] + state.board, state.hands[2:] + state.board]))
            payoff = float(spent[0] * (int(first > second) - int(first < second)))
        return payoff, -payoff

    def action_name(self, action: int) -> str:
        return {FOLD: "fold", CALL: "call"}.get(action, f"raise to {action}")

    def action_name_at(self, state: HoldemState, action: int) -> str:
        betting = state.betting
        if action == CALL and not betting.to_call:
            return "check"
        opens = action > CALL and betting.street > PREFLOP and not betting.num_raises
        return f"bet to {action}" if opens else self.action_name(action)

    def chips(self, state: HoldemState) -> Chips:
        betting, rules = state.betting, self.rules
        stack = rules.stack if not rules.fixed_raises else None  # in limit games nobody runs out of chips
        return Chips(betting.street, STREETS, betting.actor, betting.spent, stack, rules.all_raises(betting), None)

    def size(self) -> GameSize | None:
        if self._deals_hands:  # with ranges there is no closed form
            return None
        return holdem_size(self.rules, len(self.known_board))

    @property
    def _deals_hands(self) -> bool:
        """Whether each hand is dealt as one outcome, because ranges make some hands likelier than others."""
        return bool(self.range0 or self.range1)

    def _hand_outcomes(self, dealt: tuple[int, ...]) -> list[tuple[int, float]]:
        """Returns the probability of each hand of player 0, or of player 1 if player 0's is already dealt."""
        first, second = self.ranges
        weights = second * possible_hands(dealt) if dealt else first * meetings(second)
        possible = np.flatnonzero(weights > 0)
        return list(zip(possible.tolist(), (weights[possible] / weights.sum()).tolist(), strict=True))

    def _deal(self, state: HoldemState, card: int) -> HoldemState:
        if len(state.hands) < 4:
            dealt = HANDS[card].tolist() if self._deals_hands else [card]
            return HoldemState((*state.hands, *dealt), state.board, state.betting, "")
        board = (*state.board, card)
        if len(board) == 3:
            board = tuple(sorted(board, reverse=True))
        news = "" if len(board) < 3 else card_names(board) if len(board) == 3 else card_name(card)
        return HoldemState(state.hands, board, state.betting, news)


def require_holdem(game: Game[Any], who: str) -> Holdem:
    """Returns the game if it is hold'em; otherwise raises a `TacitError` that names `who`."""
    if not isinstance(game, Holdem):
        raise TacitError(f"{who} is for hold'em, not for {game}")
    return game


@dataclass(frozen=True)
class NoLimitHoldem(Holdem):
    """Player 1 (button) posts the small blind, player 0 the big blind; four streets, raises of any size up to the whole stack.

    Player 1 acts first before the flop, player 0 afterwards. A raise adds at least the big blind and at least as much as the
    previous raise on the same street; all-in is always allowed, and once both are all-in the rest of the board is dealt.
    Raises are named by the raiser's total chips put in over the whole hand. Payoffs are in chips.

    `bets` are the sizes offered for the first bet or raise of a street, `raises` those for later ones (empty: the same). A
    size below the smallest legal raise becomes that raise; one above the stack becomes all-in. With a `board` of 3, 4 or 5
    cards the hand starts there, with `pot` chips in the pot, half from each player's `stack`; `range0` and `range1` are then
    the hands the players can hold, all if empty: `AA|AKs|QJo:0.5` or `top 20%`.

    Sizes: `0.5` is half the pot after the call; `3x` raises to three times the last bet of the street (before the flop the
    big blind counts as the first bet); `geo` is the share of the pot that, bet and called on every street left, is all-in on
    the river; `2geo` is the same over two streets; `allin` is everything. A menu is written `0.5|1|allin`, or `none`. Menus
    that differ by street are written `0.33/0.75|1/allin`, from the first street of the game; the last one also holds for all
    later streets.

    `bets0`, `bets1`, `raises0` and `raises1` override `bets` and `raises` for one player. `donks` are the sizes of player 0's
    first bet on a street if player 1 bet last on the previous street (empty: as `bets`). They do not apply on the first street.

    A bet becomes all-in if, once it is called, at most `allin_threshold` of the pot is left to bet. Of two bets the smaller is
    dropped if the larger makes the pot larger by at most a share of `merge_threshold`. `menu` is the name of a preset for all
    of these parameters; any that are given beside it override the preset: MENUS.
    """

    stack: int = 20_000
    small_blind: int = 50
    big_blind: int = 100
    board: str = ""
    pot: int = 0
    bets: str = "0.33|0.5|0.75|1|1.5|2|allin"
    raises: str = "0.5|1|2|allin"
    range0: str = ""
    range1: str = ""
    bets0: str = later("")
    bets1: str = later("")
    raises0: str = later("")
    raises1: str = later("")
    donks: str = later("")
    allin_threshold: float = later(0.0)
    merge_threshold: float = later(0.0)
    menu: str = later("")

    name = "no_limit_holdem"

    @cached_property
    def rules(self) -> NoLimitBetting:
        street, stakes = BOARD_CARDS.index(len(self.known_board)), (self.stack, self.small_blind, self.big_blind)
        own = (self.bets0, self.bets1), (self.raises0, self.raises1)
        menus = read_menus(street, self.bets, self.raises, *own, self.donks)
        return NoLimitBetting(*stakes, street, self.pot, *menus, self.allin_threshold, self.merge_threshold)

    def _fill_in(self) -> None:
        """Writes out a preset menu: presets may change, but the games in old files must not."""
        if self.menu:
            defaults = {one.name: one.default for one in fields(self)}
            preset = preset_parameters(self.menu, BOARD_CARDS.index(len(self.known_board)))
            for key, value in {**preset, "menu": ""}.items():
                if key == "menu" or getattr(self, key) == defaults[key]:
                    object.__setattr__(self, key, value)


NoLimitHoldem.__doc__ = (NoLimitHoldem.__doc__ or "").replace("MENUS", menus_in_words())


@dataclass(frozen=True)
class LimitHoldem(Holdem):
    """Player 1 (button) posts the small blind, player 0 the big blind; four streets, raises of a fixed size.

    Player 1 acts first before the flop, player 0 afterwards. A raise adds the big blind on the first two streets, twice as much
    on the last two; there are at most three raises before the flop and four on each later street. Raises are named by the
    raiser's total chips put in over the whole hand. Payoffs are in chips. With a `board` of 3, 4 or 5 cards the hand starts
    there, with `pot` chips in the pot, half from each player.
    """

    small_blind: int = 5
    big_blind: int = 10
    board: str = ""
    pot: int = 0

    name = "limit_holdem"

    @cached_property
    def rules(self) -> LimitBetting:
        street = BOARD_CARDS.index(len(self.known_board))
        stack = LimitBetting.deepest(self.big_blind, street, self.pot)
        return LimitBetting(stack, self.small_blind, self.big_blind, street, self.pot)


def is_full_limit_holdem(game: object) -> TypeGuard[LimitHoldem]:
    """Returns whether a game is limit hold'em that starts from the blinds."""
    return isinstance(game, LimitHoldem) and not game.known_board


@dataclass(frozen=True)
class TurnEndgameHoldem(Holdem):
    """No-limit hold'em in which both put in half of `pot` and check until the turn; the betting starts there, player 0 first.

    `board` has the four board cards of the turn; if it is empty, they are dealt. The bet sizes are ReBeL's: first half the
    pot, the pot or all-in, then three quarters of the pot or all-in. See `no_limit_holdem` for the other rules.
    """

    stack: int = 20_000
    big_blind: int = 100
    board: str = "3s7hTdKs"
    pot: int = 2_000
    bets: str = "0.5|1|allin"
    raises: str = "0.75|allin"

    name = "turn_endgame_holdem"
    _board_lengths: ClassVar[tuple[int, ...]] = (0, BOARD_CARDS[TURN])

    @cached_property
    def rules(self) -> NoLimitBetting:
        stakes, menus = (self.stack, self.big_blind, self.big_blind), read_menus(TURN, self.bets, self.raises)
        return NoLimitBetting(*stakes, TURN, self.pot, *menus)
