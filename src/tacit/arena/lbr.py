"""Local best response (Lisy and Bowling 2017): a player that exploits a known policy by looking one move ahead.

It tracks the opponent's range by Bayes' rule from the policy's strategy with every hand. At its own decisions it assumes that
both players check and call after its current move. With `wp` the share of the range that its hand beats when the board is
completed, and fold probabilities given by the policy,

    U(fold) = 0,    U(call) = wp * pot - (1 - wp) * asked,
    U(raise) = fp * pot + (1 - fp) * (wp' * (pot + added - asked) - (1 - wp') * added),

where `fp` is how often the range folds to the raise and `wp'` is `wp` for the part of the range that does not. Its winnings per
hand, averaged over both seats, are a **lower bound on exploitability** in the same game: a best response wins at least as much.
A negative figure proves nothing.

Settings say what it may do on each street. Those of DeepStack (Moravcik et al. 2017, the table of results of local best
response) are: fold and call everywhere; calls, then fold, call, pot and all-in from the turn on (ReBeL's setting, too); calls,
then 56 bets from the turn on; a call, 56 bets on the flop, then fold and call. The 56 bets are off the menu, which the rules
of no-limit allow; policies answer them exactly or translated (`agents/translation.py`).

Where we differ: the pot-size raise is the game's menu entry nearest to the pot, and all-in is available only if it is on the
menu. The paper does not print the 56 bets: ours are `0.05 * 1.15**k` pots, k from 0 to 54, and all-in, which others report from
the headers of the match logs that its authors released; we have not seen these logs. Any choice gives a lower bound.
"""

from __future__ import annotations

from tacit.agents.base import Sight
from tacit.agents.hand_policy import HandPolicy, fold_shares, nearest_to_pot
from tacit.cards.deck import parse_cards
from tacit.cards.equity import win_chances
from tacit.cards.hands import hand_index, possible_hands
from tacit.errors import TacitError
from tacit.games.betting import CALL, FOLD
from tacit.games.holdem import Holdem
from tacit.games.public_hand import PublicHand, read_action
from tacit.tree.public_tree import Floats

SETTINGS = {
    "rebel": "c/c/fcpa/fcpa",
    "fold-call": "fc/fc/fc/fc",
    "all-rounds": "fcpa/fcpa/fcpa/fcpa",
    "deepstack-fold-call": "fc/fc/fc/fc",
    "deepstack-fcpa": "c/c/fcpa/fcpa",
    "deepstack-56bets": "c/c/fcab/fcab",
    "deepstack-flop-56bets": "c/fcab/fc/fc",
}
"""The actions allowed before the flop, on the flop, turn and river: fold, call, pot, all-in, and b for many bet sizes."""
_LETTERS = "fcpab"
MANY_SIZES = tuple(0.05 * 1.15**k for k in range(55))
"""Bet sizes in pots after the call, from a twentieth of the pot to 95 pots."""


class LocalBestResponse:
    """An agent that plays the local best response to a policy."""

    name = "lbr"

    def __init__(self, game: Holdem, policy: HandPolicy, setting: str = "rebel") -> None:
        self._game, self._policy = game, policy
        self._allowed = parse_setting(setting)
        self.start(0)

    def start(self, player: int) -> None:
        self._player = player
        self._public, self._hand = PublicHand.start(self._game), 0
        self.beliefs: Floats = self._game.ranges[1 - player].copy()

    def observe(self, sight: Sight) -> None:
        for word in sight.private:
            self._hand = hand_index(*parse_cards(word))
            self._believe(self.beliefs * possible_hands(parse_cards(word)))
        for word in sight.public:
            action, before = read_action(word), self._public
            self._public = before.hear(word)
            if action is None:
                self._believe(self.beliefs * possible_hands(self._public.board))
            elif before.betting.actor != self._player:
                self._believe(self.beliefs * self._policy.probabilities(before)[before.actions.index(action)])

    def act(self) -> int:
        if self._allowed[self._public.betting.street] == "c":
            return CALL
        utilities = self.utilities()
        return max(utilities, key=utilities.__getitem__)  # the first of equals: the cheapest

    def view(self) -> None:
        return None

    def utilities(self) -> dict[int, float]:
        """Returns the value of each allowed action by the formulas above, in chips from here on."""
        public, betting = self._public, self._public.betting
        letters = self._allowed[betting.street]
        wins = win_chances(self._hand, public.board)
        pot, asked, share = betting.pot, betting.to_call, float(self.beliefs @ wins)
        utilities = {FOLD: 0.0} if "f" in letters and FOLD in public.actions else {}
        utilities[CALL] = share * pot - (1.0 - share) * asked
        raises = self._raises(letters)
        for action, folds in zip(raises, fold_shares(self._policy, public, raises), strict=True):
            folded, left = float(self.beliefs @ folds), self.beliefs * (1.0 - folds)
            added, stays = action - betting.spent[self._player], float(left.sum())
            won = float(left @ wins)  # the chance that the raise is called and wins
            utilities[action] = folded * pot + won * (pot + added - asked) - (stays - won) * added
        return utilities

    def _raises(self, letters: str) -> list[int]:
        """Returns the raises that a setting allows."""
        raises = [action for action in self._public.actions if action > CALL]
        limits = self._game.rules.all_raises(self._public.betting)
        if not raises or limits is None:
            return []
        chosen = {nearest_to_pot(self._public, raises)} if "p" in letters else set()
        chosen |= {action for action in raises if "a" in letters and action == self._game.rules.stack}
        if "b" in letters:
            facing, (least, most) = self._public.betting.facing, limits
            chosen |= {min(max(facing + round(2 * facing * size), least), most) for size in MANY_SIZES}
        return sorted(chosen)

    def _believe(self, weights: Floats) -> None:
        """Sets beliefs to normalised weights; after a move the policy never makes, only hands blocked by the board drop out."""
        total = weights.sum()
        if not total > 0:
            weights = self.beliefs * possible_hands(self._public.board)
            total = weights.sum()
        self.beliefs = weights / total


def parse_setting(text: str) -> tuple[str, str, str, str]:
    """Returns the actions allowed on each street, from a name in `SETTINGS` or a text like `c/c/fcpa/fcpa`.

    Raises:
      TacitError: it cannot be read.
    """
    streets = SETTINGS.get(text, text).split("/")
    if len(streets) != 4 or any("c" not in street or set(street) - set(_LETTERS) for street in streets):
        raise TacitError(
            f"cannot read the setting {text!r}: choose {', '.join(SETTINGS)}, or write what is allowed on the four streets "
            "like c/c/fcpa/fcpa, with c everywhere"
        )
    return streets[0], streets[1], streets[2], streets[3]
