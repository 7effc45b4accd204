"""Local best response (Lisy and Bowling 2017): a player who beats a known policy as well as looking one move ahead allows.

It keeps the range of hands that the other player can hold, by Bayes' rule from what that player does with every hand. At its
own decisions it assumes that both check and call from here on, after its own move now. With `wp` the share of the range that
its hand beats when the board is completed, and fold probabilities asked of the policy,

    U(fold) = 0,    U(call) = wp * pot - (1 - wp) * asked,
    U(raise) = fp * pot + (1 - fp) * (wp' * (pot + added - asked) - (1 - wp') * added),

where `fp` is how often the range folds to the raise and `wp'` the same as `wp` for the part that does not. What it wins per
hand, a mean over both seats, is a **lower bound on exploitability** in the same game: a best response wins at least as much. A
negative figure proves nothing.

Settings say what it may do on each street. Those of DeepStack (Moravcik et al. 2017, the table of results of local best
response) are: fold and call everywhere; calls, then fold, call, pot and all-in from the turn on (ReBeL's setting, too); calls,
then 56 bets from the turn on; a call, 56 bets on the flop, then fold and call. The many bets are off the menu, which the rules
of no-limit allow; policies answer them as they are, or translated (`agents/translation.py`).

Where we differ: the pot-size raise is the one of the game's menu nearest to the pot, and all-in is there where the menu has
it. The paper does not print the 56 bets: ours are `0.05 * 1.15**k` pots, k from 0 to 54, and all-in, which is what others
report from the headers of the match logs that its authors released; we have not seen these logs. Any choice gives
a lower bound.
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
"""What it may do before the flop, on the flop, on the turn and on the river: fold, call, pot, all-in, one of many bets."""
_LETTERS = "fcpab"
MANY_SIZES = tuple(0.05 * 1.15**k for k in range(55))
"""Bets in pots after the call: from a twentieth of the pot to 95 pots."""


class LocalBestResponse:
    """An agent that answers a policy."""

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
        """Returns what each action that the setting allows is worth by the formulas above, in chips from now on."""
        public, betting = self._public, self._public.betting
        letters = self._allowed[betting.street]
        wins = win_chances(self._hand, public.board)
        pot, asked, share = betting.pot, betting.to_call, float(self.beliefs @ wins)
        found = {FOLD: 0.0} if "f" in letters and FOLD in public.actions else {}
        found[CALL] = share * pot - (1.0 - share) * asked
        raises = self._raises(letters)
        for action, folds in zip(raises, fold_shares(self._policy, public, raises), strict=True):
            folded, left = float(self.beliefs @ folds), self.beliefs * (1.0 - folds)
            added, stays = action - betting.spent[self._player], float(left.sum())
            won = float(left @ wins)  # times how often it is called
            found[action] = folded * pot + won * (pot + added - asked) - (stays - won) * added
        return found

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
        """Takes weights as beliefs; what the policy never does leaves them as they were, but for the cards that lie."""
        total = weights.sum()
        if not total > 0:
            weights = self.beliefs * possible_hands(self._public.board)
            total = weights.sum()
        self.beliefs = weights / total


def parse_setting(text: str) -> tuple[str, str, str, str]:
    """Returns the actions allowed on each street, of a name in `SETTINGS` or a text like `c/c/fcpa/fcpa`.

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
