"""Liar's dice (ReBeL, appendix C.3): hidden rolls, rising bids, a call of liar."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb, factorial

from tacit.errors import TacitError
from tacit.games.base import CHANCE, TERMINAL, GameSize, KnownValue, Moves, SequenceGame

_VALUES = {
    (1, 4): KnownValue(1 / 16, "sequence-form LP"),
    (1, 5): KnownValue(1 / 125, "sequence-form LP"),
    (1, 6): KnownValue(-7 / 258, "sequence-form LP"),
    (2, 3): KnownValue(5 / 81, "sequence-form LP"),
}

MAX_BIDS = 10_000
"""Far more than can be solved. Beyond it even the size has too many digits."""


@dataclass(frozen=True)
class LiarsDice(SequenceGame):
    """Each player rolls `dice` dice of `faces` faces in secret; then they take turns to raise the bid or call liar.

    A bid names a quantity and a face. Bids rise by quantity, then by face; the highest face is wild and counts for every
    bid. When liar is called, the bidder wins 1 point if all dice together meet the bid, else the caller does.

    A state is (roll 0, roll 1, bid, bid, ...): rolls index the multisets in `rolls`, bids are quantity-major, and
    `liar` is the highest action.
    """

    dice: int = 1
    faces: int = 6

    name = "liars_dice"

    def __post_init__(self) -> None:
        if self.dice < 1 or self.faces < 2:
            raise TacitError(f"liars_dice: needs dice >= 1 and faces >= 2, not dice={self.dice}, faces={self.faces}")
        if self.num_bids > MAX_BIDS:
            raise TacitError(f"liars_dice: 2 * dice * faces bids are at most {MAX_BIDS:,}, not {self.num_bids:,}")

    @cached_property
    def rolls(self) -> tuple[tuple[int, ...], ...]:
        """The possible rolls as sorted faces, numbered from 0."""
        return tuple(combinations_with_replacement(range(self.faces), self.dice))

    @cached_property
    def roll_probabilities(self) -> tuple[float, ...]:
        """The probability of each roll. Rolls are multisets, so those with different faces are likelier."""
        orderings = []
        for roll in self.rolls:
            count = factorial(self.dice)
            for face in set(roll):
                count //= factorial(roll.count(face))
            orderings.append(count)
        return tuple(count / self.faces**self.dice for count in orderings)

    @property
    def num_bids(self) -> int:
        """The number of bids: 1 to 2 * `dice` dice of one face."""
        return 2 * self.dice * self.faces

    @property
    def liar(self) -> int:
        """The action that calls the last bid."""
        return self.num_bids

    def matches(self, roll: int, face: int) -> int:
        """Returns how many dice of a roll count for a face."""
        return sum(die in (face, self.faces - 1) for die in self.rolls[roll])

    def actor(self, state: Moves) -> int:
        if len(state) < 2:
            return CHANCE
        return TERMINAL if state[-1] == self.liar and len(state) > 2 else len(state) % 2

    def legal_actions(self, state: Moves) -> range:
        return range(self.num_bids) if len(state) == 2 else range(state[-1] + 1, self.liar + 1)

    def chance_outcomes(self, state: Moves) -> list[tuple[int, float]]:
        return list(enumerate(self.roll_probabilities))

    def public_observation(self, state: Moves) -> str:
        return self.action_name(state[-1]) if len(state) > 2 else ""

    def private_observation(self, state: Moves, player: int) -> str:
        return self.roll_name(state[player]) if len(state) == player + 1 else ""

    def public_key(self, state: Moves) -> int:
        return state[-1] if len(state) > 2 else -1  # the last bid

    def returns(self, state: Moves) -> tuple[float, float]:
        quantity, face = divmod(state[-2], self.faces)
        met = self.matches(state[0], face) + self.matches(state[1], face) > quantity
        bidder = (len(state) - 2) % 2
        payoff = 1.0 if (bidder == 0) == met else -1.0
        return payoff, -payoff

    def action_name(self, action: int) -> str:
        if action == self.liar:
            return "liar"
        quantity, face = divmod(action, self.faces)
        return f"{quantity + 1}x{face + 1}"

    def roll_name(self, roll: int) -> str:
        """Returns the faces of a roll, such as `26`."""
        return "".join(str(die + 1) for die in self.rolls[roll])

    def size(self) -> GameSize:
        decisions, rolls = 2**self.num_bids, comb(self.faces + self.dice - 1, self.dice)
        public_states = 2 * decisions - 1
        return GameSize(public_states * rolls**2, public_states, decisions * rolls)

    def known_value(self) -> KnownValue | None:
        return _VALUES.get((self.dice, self.faces))

    def openspiel_twin(self) -> str | None:
        # OpenSpiel rolls dice one by one, so only with one die do the chance moves correspond.
        return f"liars_dice(numdice=1,dice_sides={self.faces})" if self.dice == 1 else None
