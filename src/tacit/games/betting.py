"""The betting of a two-player poker hand, without cards: who acts, which actions are legal, how many chips are in.

Player 0 is the big blind and acts first from the flop on; player 1 is the button and small blind and acts first before the flop
(positions as in the computer poker competition's protocol). Chips are whole. Both players have the same stack: if the stacks
differ, the smaller one counts, since nobody can lose more.

Actions are `FOLD`, `CALL` (a check if there is nothing to call) and raises. Action N, 2 or higher, raises to N chips put in
**over the whole hand**, blinds and earlier streets included. No-limit players may raise to any number in a range; `actions`
lists a menu of a few of them, and `apply` accepts the others as well.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from tacit.errors import TacitError
from tacit.games.sizes import ALL_IN, MAX_SIZES, NUM_STREETS, Menu, Multiple, Sizes, all_sizes, raised_by, sizes_at

FOLD, CALL = 0, 1
"""Any higher action is a raise to that number of chips."""
DEAL, FOLDED, SHOWDOWN = -1, -2, -3
"""Actors that are not players: board cards come next; somebody folded; the board is completed and the hands are compared."""
NOBODY = -1
"""Stands for a folder or aggressor where there is none."""

PREFLOP, FLOP, TURN, RIVER = range(4)
BOARD_CARDS = (0, 3, 4, 5)
"""Cards on the board on each street."""
MAX_ACTIONS = MAX_SIZES + 2
"""The raises of a menu, fold and call."""
MAX_CHIPS = 2**31 - 1
"""The largest stack. Raises are actions, which are stored as 32-bit integers."""
_BET, _DONK, _RAISE = range(3)
"""The situations with bet sizes of their own."""
MAX_RAISES = (3, 4, 4, 4)
"""The most raises on each street of limit betting."""


@dataclass(frozen=True, slots=True)
class Betting:
    """A state of the betting.

    Attributes:
      street: `PREFLOP`, `FLOP`, `TURN` or `RIVER`.
      actor: 0 or 1, `DEAL`, `FOLDED` or `SHOWDOWN`. A showdown before the river means that both players are all-in.
      spent: The chips each player has put in over the whole hand.
      raise_size: The least that a raise must add to the amount to call.
      num_raises: The number of bets and raises on this street, without blinds.
      acted: Whether anybody has acted on this street. A call ends the street only if somebody has.
      folder: The player who folded, or `NOBODY`.
      begun: The chips each player had put in when this street began; 0 unless the rules remember it (`BettingRules.remembers`).
      aggressor: The player who bet or raised last on the previous street, or on this street if a card is due. `NOBODY` if
        there is none, or if the rules do not remember it.
    """

    street: int
    actor: int
    spent: tuple[int, int]
    raise_size: int
    num_raises: int = 0
    acted: bool = False
    folder: int = NOBODY
    begun: int = 0
    aggressor: int = NOBODY

    @property
    def pot(self) -> int:
        """The chips of both players."""
        return self.spent[0] + self.spent[1]

    @property
    def facing(self) -> int:
        """The chips a player must have put in over the whole hand to stay in."""
        return max(self.spent)

    @property
    def to_call(self) -> int:
        """The chips the actor must add to stay in: 0 if a check is possible."""
        return self.facing - min(self.spent)


@dataclass(frozen=True)
class BettingRules(ABC):
    """The betting rules of a hand that starts from the blinds, or on a later street with chips already in the pot.

    Attributes:
      stack: The chips each player has at the start of the hand, including the player's half of `pot`.
      small_blind: The blind of player 1.
      big_blind: The blind of player 0, and the smallest bet.
      first_street: The street on which the betting starts.
      pot: The chips already in the pot on `first_street`, half from each player; 0 before the flop.
    """

    stack: int
    small_blind: int
    big_blind: int
    first_street: int = PREFLOP
    pot: int = 0
    fixed_raises: ClassVar[bool] = False
    """Whether the only raise of a state has a fixed size, as in limit games."""

    def __post_init__(self) -> None:
        if not 1 <= self.small_blind <= self.big_blind:
            raise TacitError(f"blinds must be 1 <= small_blind <= big_blind, not {self.small_blind} and {self.big_blind}")
        if not self.small_blind < self.stack <= MAX_CHIPS or self.stack < self.big_blind:
            raise TacitError(f"stack must be from the big blind, {self.big_blind}, to {MAX_CHIPS:,}, not {self.stack}")
        if self.first_street == PREFLOP:
            if self.pot:
                raise TacitError(f"pot must be 0 before the flop, where only the blinds are in, not {self.pot}")
        elif self.pot < 2 or self.pot % 2 or self.pot >= 2 * self.stack:
            raise TacitError(f"pot must be even, at least 2 and below both stacks together, {2 * self.stack}, not {self.pot}")

    def start(self) -> Betting:
        """Returns the state before the first action."""
        if self.first_street == PREFLOP:
            return Betting(PREFLOP, 1, (self.big_blind, self.small_blind), self.raise_size(PREFLOP))
        return self._street(self.first_street, self.pot // 2, NOBODY)

    def actions(self, betting: Betting) -> tuple[int, ...]:
        """Returns the actor's actions in ascending order: `FOLD` if there is a bet to call, `CALL`, the raises of the menu."""
        limits = self.all_raises(betting)
        passive = (FOLD, CALL) if betting.to_call else (CALL,)
        return passive if limits is None else (*passive, *self.menu(betting, *limits))

    def all_raises(self, betting: Betting) -> tuple[int, int] | None:
        """Returns the smallest and the largest raise that the rules allow, or None; going all-in is always allowed."""
        if betting.actor < 0:
            raise TacitError("nobody is to act: the street or the hand is over")
        if betting.facing >= self.stack:
            return None
        return min(betting.facing + betting.raise_size, self.stack), self.stack

    def apply(self, betting: Betting, action: int) -> Betting:
        """Returns the state after an action, one of the menu or any raise in the limits of `all_raises`.

        Raises:
          TacitError: the action is not allowed.
        """
        limits = self.all_raises(betting)
        player, facing, spent = betting.actor, betting.facing, betting.spent
        if action == FOLD and betting.to_call:
            return Betting(betting.street, FOLDED, spent, betting.raise_size, betting.num_raises, True, player)
        if action == CALL:
            over = betting.acted or facing >= self.stack
            actor = 1 - player if not over else self._after_street(betting.street, facing)
            memory = betting.begun, betting.aggressor
            if over:  # how this street began no longer matters; after a card, who bet last does
                memory = 0, 1 - player if actor == DEAL and betting.num_raises and self.remembers else NOBODY
            spent = facing, facing
            return Betting(betting.street, actor, spent, betting.raise_size, betting.num_raises, True, NOBODY, *memory)
        if action < 2 or limits is None or not limits[0] <= action <= limits[1]:
            raise TacitError(self._refusal(betting, action, limits))
        spent = (action, spent[1]) if player == 0 else (spent[0], action)
        return Betting(
            betting.street, 1 - player, spent, max(betting.raise_size, action - facing), betting.num_raises + 1, True, NOBODY,
            betting.begun, betting.aggressor,
        )  # fmt: skip

    def deal(self, betting: Betting) -> Betting:
        """Returns the start of the next street; only after `DEAL`."""
        if betting.actor != DEAL:
            raise TacitError("no cards are to be dealt: the street or the hand is not over, or the hand is")
        return self._street(betting.street + 1, betting.facing, betting.aggressor)

    @property
    def remembers(self) -> bool:
        """Whether states keep the chips put in before a street and the last bettor: only if a menu depends on them.

        Otherwise betting sequences that differ only in these lead to equal states, which are counted once.
        """
        return False

    @abstractmethod
    def raise_size(self, street: int) -> int:
        """Returns the least that the first raise of a street must add."""

    @abstractmethod
    def menu(self, betting: Betting, smallest: int, largest: int) -> tuple[int, ...]:
        """Returns the raises to offer, in ascending order and within the limits of the rules."""

    def _street(self, street: int, begun: int, aggressor: int) -> Betting:
        """Returns the start of a street after the first."""
        memory = (NOBODY, begun, aggressor) if self.remembers else ()
        return Betting(street, 0, (begun, begun), self.raise_size(street), 0, False, *memory)

    def _after_street(self, street: int, facing: int) -> int:
        return SHOWDOWN if street == RIVER or facing >= self.stack else DEAL

    def _refusal(self, betting: Betting, action: int, limits: tuple[int, int] | None) -> str:
        if action == FOLD:
            return "a fold is only allowed against a bet: check"
        allowed = "no raise is allowed here" if limits is None else f"raises are from {limits[0]} to {limits[1]} here"
        return f"{action} is not a legal action of player {betting.actor}: {allowed}"


@dataclass(frozen=True)
class NoLimitBetting(BettingRules):
    """Raises of any size from the previous one (at least the big blind) to all-in; the menu offers a few sizes.

    Attributes:
      bets: The sizes of the first bet or raise of a street (see `sizes`).
      raises: The sizes of later raises of a street; if empty, those of `bets`.
      donks: The sizes of player 0's first bet on a street if player 1 bet last on the previous street; None: those of `bets`.
      allin_threshold: A raise becomes all-in if, once it is called, at most this share of the pot is left to bet.
      merge_threshold: Of two raises the smaller is dropped if the larger makes the pot larger by at most this share.
      max_raises: After this many bets and raises on a street the only raise offered is all-in; None for no limit.
    """

    bets: Menu = (ALL_IN,)
    raises: Menu = ()
    donks: Menu | None = None
    allin_threshold: float = 0.0
    merge_threshold: float = 0.0
    max_raises: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, share in (("allin_threshold", self.allin_threshold), ("merge_threshold", self.merge_threshold)):
            if not 0.0 <= share < math.inf:
                raise TacitError(f"{name} must be a share of the pot, from 0 (none) up, not {share:g}")

    def raise_size(self, street: int) -> int:
        return self.big_blind

    @cached_property
    def remembers(self) -> bool:
        return self.donks is not None or any(isinstance(size, Multiple) for sizes in self._all_sizes for size in sizes)

    @property
    def most_raises(self) -> int:
        """The largest number of raises that any state offers."""
        return max(map(len, self._all_sizes))

    @property
    def later_raises(self) -> Menu:
        """The sizes of raises after the first: `raises`, or `bets` if that is empty."""
        return self.raises or self.bets

    def menu(self, betting: Betting, smallest: int, largest: int) -> tuple[int, ...]:
        if self.max_raises is not None and betting.num_raises >= self.max_raises:
            return (largest,)
        facing, pot, totals = betting.facing, 2 * betting.facing, set()
        leads_into = betting.aggressor == 1 and betting.actor == 0
        for size in self._offers[betting.street][betting.actor][
            _RAISE if betting.num_raises else _DONK if leads_into else _BET
        ]:
            if isinstance(size, float):
                added = size * pot
            else:
                added = raised_by(size, facing, betting.begun, self.stack, RIVER + 1 - betting.street)
            # Sizes are compared before they are rounded, because infinity cannot be.
            totals.add(largest if added >= largest - facing else max(facing + math.floor(added + 0.5), smallest))
        if self.allin_threshold:
            totals = {largest if largest - total <= self.allin_threshold * 2 * total else total for total in totals}
        raises = sorted(totals)
        return tuple(self._merged(raises, facing) if self.merge_threshold else raises)

    @cached_property
    def _offers(self) -> list[list[tuple[Sizes, Sizes, Sizes]]]:
        """`[4][2][3]` the sizes offered on each street to each player: `_BET`, `_DONK` and `_RAISE`."""
        donks = self.bets if self.donks is None else self.donks
        menus = (self.bets, donks, self.later_raises)

        def offered(street: int, player: int) -> tuple[Sizes, Sizes, Sizes]:
            bet, donk, raised = (sizes_at(menu, street, player) for menu in menus)
            return bet, donk, raised

        return [[offered(street, player) for player in (0, 1)] for street in range(NUM_STREETS)]

    def _merged(self, raises: list[int], facing: int) -> list[int]:
        """Returns the raises, in ascending order, without those too close to a larger one that is kept."""
        kept = raises[-1:]
        for total in reversed(raises[:-1]):
            if kept[0] + facing > (1.0 + self.merge_threshold) * (total + facing):
                kept.insert(0, total)
        return kept

    @property
    def _all_sizes(self) -> list[Sizes]:
        return [sizes for menu in (self.bets, self.raises, self.donks or ()) for sizes in all_sizes(menu)]


@dataclass(frozen=True)
class LimitBetting(BettingRules):
    """Raises of one size: the big blind on the first two streets, twice that later; at most 3, 4, 4 and 4 of them.

    The big blind is the first bet before the flop, so every street has at most four bets. With a stack of `deepest`, which
    covers all of them, nobody is all-in before the last raise.
    """

    fixed_raises = True

    @staticmethod
    def deepest(big_blind: int, first_street: int = PREFLOP, pot: int = 0) -> int:
        """Returns the most chips that a player can put in."""
        begun = pot // 2 if first_street else big_blind
        return begun + sum(_limit_raise(big_blind, street) * MAX_RAISES[street] for street in range(first_street, 4))

    def raise_size(self, street: int) -> int:
        return _limit_raise(self.big_blind, street)

    def all_raises(self, betting: Betting) -> tuple[int, int] | None:
        limits = super().all_raises(betting)
        if limits is None or betting.num_raises >= MAX_RAISES[betting.street]:
            return None
        return limits[0], limits[0]

    def menu(self, betting: Betting, smallest: int, largest: int) -> tuple[int, ...]:
        return (smallest,)


def _limit_raise(big_blind: int, street: int) -> int:
    return big_blind if street < TURN else 2 * big_blind
