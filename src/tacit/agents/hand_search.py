"""Search in hold'em: solves what is left of a street or of the hand, for all hands at once, and plays the solution.

Before the turn a search ends with the betting round, and from then on it goes to the end of the hand. Where a round ends,
hands are worth their equity (`CheckDownLeaves`), which foresees no later bet, or what networks say that were trained to
(`nets/round_end_leaves.py`): then every search but the river's ends with its round. The ranges that a search starts from
follow by Bayes' rule from the solution before it. Nothing is searched again within a solution, unless somebody makes a bet
that it does not know: then search starts anew at that decision, with the ranges that came there and the bet added to the tree
(as ReBeL adds off-tree actions). Solutions are kept for when the same situation comes up again, as the start of a hand always
does.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace

import numpy as np

from tacit.agents.options import RE_SOLVING, SAMPLED, UNSAFE
from tacit.agents.situation import Ranges, Situation, promised
from tacit.agents.warm import WarmStart
from tacit.cards.hands import NUM_HANDS, possible_hands
from tacit.errors import TacitError
from tacit.games.betting import BOARD_CARDS, DEAL, TURN, BettingRules
from tacit.games.holdem import Holdem
from tacit.games.menus import smaller_menus
from tacit.games.public_hand import CARD, PublicHand
from tacit.kernels.base import LeafEvaluator
from tacit.kernels.numba_hands import HandPasses
from tacit.leaves.check_down import CheckDownLeaves
from tacit.solvers.driver import DriverOptions
from tacit.solvers.gadget import Gadget
from tacit.solvers.schedules import draw_iterations, plain_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.solvers.valuation import CFR_D
from tacit.tree.betting_street import betting_streets
from tacit.tree.hand_builder import build_hand_tree, num_hand_entries
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.hand_tree import START
from tacit.tree.public_tree import Floats
from tacit.tree.subgame import ROUND, Depth

MAX_ENTRIES: dict[Depth, int] = {None: 5_000_000, ROUND: 400_000}
"""Numbers of a strategy that are solved in about two seconds, by depth; with more, the menu is cut down."""
KEPT_SOLUTIONS = 16

_Key = tuple[tuple[tuple[int, int], ...], tuple[int, ...], int | None]
"""How a situation was reached, the bets that were added there, and who searches where that matters."""


@dataclass(frozen=True)
class RoundEnds:
    """What is done where a betting round ends.

    Attributes:
      leaves: values them.
      decomposition: at which beliefs (see `DriverOptions`).
      boards: the numbers of cards on the boards that are searched to the round's end and no further.
      solves_turns: whether on the turn the rest of the hand is solved all the same where that is small enough.
      warm: what searches that end with their round start from, if anything.
    """

    leaves: LeafEvaluator
    decomposition: str
    boards: tuple[int, ...]
    solves_turns: bool = True
    warm: WarmStart | None = None


class HandSearch:
    """Searches hold'em when it is asked (see `HandPolicy`).

    Unless it samples, what it plays is a function of the public state, which local best response and AIVAT can ask for.

    Attributes:
      game: The rules.
      safety: One of `options.SAFETY`.
      searches: How many there were.
    """

    def __init__(
        self,
        game: Holdem,
        *,
        solver: str = "dcfr",
        iterations: int = 100,
        safety: str = UNSAFE,
        generator: np.random.Generator | None = None,
        ends: RoundEnds | None = None,
    ) -> None:
        """Prepares to search.

        Args:
          game: the rules; of the bets that they offer, a search considers some or all.
          solver: the algorithm of a search, and
          iterations: its length.
          safety: what a search does about those below it (`agents/search.py`).
          generator: picks the iterations that are played, if it samples.
          ends: what the ends of rounds are worth; None for equities before the turn.

        Raises:
          TacitError: it should re-solve, and the ends' worth says nothing of single cards.
        """
        self.game, self.safety, self.searches = game, safety, 0
        self.ends = ends or RoundEnds(CheckDownLeaves(), CFR_D, BOARD_CARDS[:TURN])
        if safety == RE_SOLVING and not isinstance(self.ends.leaves, CheckDownLeaves):
            raise TacitError(f"networks of round ends promise nothing for single cards: choose safety {SAMPLED} or {UNSAFE}")
        self._schedule, self._iterations = plain_schedule(solver), iterations
        self._generator = np.random.default_rng(0) if generator is None else generator
        self._solutions: OrderedDict[_Key, HandStrategy] = OrderedDict()

    def start_hand(self) -> None:
        """Forgets what was drawn for one hand only."""
        if self.safety == SAMPLED:
            self._solutions.clear()

    def probabilities(self, public: PublicHand) -> Floats:
        now = self.situation(public, public.betting.actor)
        played, tree = np.zeros((len(public.actions), NUM_HANDS)), now.solution.tree
        for action, shares in zip(tree.actions(now.spot.node), now.solution.played(now.spot), strict=True):
            played[public.actions.index(action)] = shares
        return played

    def situation(self, public: PublicHand, player: int = 0) -> Situation:
        """Returns a decision in its solution, after all the searches of a player on the way there.

        Only re-solving depends on who searches: it is the other who was promised something.
        """
        now = Situation(self.game.rules.start(), self.game.known_board, self.game.ranges)
        for step in public.path:
            now = now.deal(step) if step[0] == CARD else self._act(now, step, player)
        return self._solved(now, player)

    def _act(self, now: Situation, step: tuple[int, int], player: int) -> Situation:
        """Returns what follows an action."""
        now, action = self._solved(now, player), step[1]
        if not now.solution.tree.knows(now.spot, action):
            now = self._solved(now.leave(), player, action)
        betting = self.game.rules.apply(now.betting, action)
        if betting.actor == DEAL:
            betting = self.game.rules.deal(betting)
        return replace(now, betting=betting, path=(*now.path, step), spot=now.solution.tree.after(now.spot, action))

    def _solved(self, now: Situation, player: int, *extra: int) -> Situation:
        """Returns a situation with a solution, an earlier one if the same was asked before.

        `extra` are actions that it must know.
        """
        if now.strategy is not None:
            return now
        key = now.path, extra, player if self.safety == RE_SOLVING else None
        if key not in self._solutions:
            if self.safety == SAMPLED:  # what was drawn beside the path is another hand's
                for other in [kept for kept in self._solutions if now.path[: len(kept[0])] != kept[0]]:
                    del self._solutions[other]
            self._solutions[key] = self._search(now, player, extra)
            while len(self._solutions) > KEPT_SOLUTIONS:
                self._solutions.popitem(last=False)
        self._solutions.move_to_end(key)
        return replace(now, strategy=self._solutions[key])

    def _search(self, now: Situation, player: int, extra: tuple[int, ...]) -> HandStrategy:
        """Solves from a situation on."""
        self.searches += 1
        possible = possible_hands(now.board)
        # A hand nobody would hold here may be held all the same: a trace of every one keeps answers to it sensible.
        first, second = ((part + 1e-6 * (part.max() or 1.0)) * possible for part in now.ranges)
        depth = self._depth(now, (first, second))
        rules = self._rules(now, (first, second), depth)
        more = {now.betting: extra} if extra else {}
        tree = build_hand_tree(self.game, rules, now.board, (first, second), now.betting, more, depth)
        passes, gadget = HandPasses(tree), None
        if self.safety == RE_SOLVING and now.left is not None:
            gadget = self._gadget(now, passes, 1 - player)
        driver = TabularDriver(passes, self._schedule, DriverOptions(self.ends.leaves, self.ends.decomposition, gadget=gadget))
        if self.ends.warm is not None and depth == ROUND:
            street = betting_streets(rules, len(now.board), now.betting, more, depth)[0]
            self.ends.warm.start(driver, street, now.board, rules.stack)
        if self.safety != SAMPLED:
            driver.run(max(0, self._iterations - driver.iteration))
            return tree.strategy(driver.average_strategy())
        drawn = draw_iterations(self._schedule, self._iterations, self._generator.random(1))
        last = int(drawn[0]) - (not driver.responds)  # of regrets the strategy that this iteration replaces
        driver.run(max(0, last - driver.iteration))
        return tree.strategy(driver.average_strategy() if driver.responds else driver.current_strategy())

    def _depth(self, now: Situation, ranges: Ranges) -> Depth:
        """Returns how far a search goes: to the end of the hand where no round end is valued, or where that is near enough."""
        if len(now.board) not in self.ends.boards:
            return None
        may_solve = self.ends.solves_turns and len(now.board) == BOARD_CARDS[TURN]
        if may_solve and num_hand_entries(self.game.rules, now.board, ranges, now.betting) <= MAX_ENTRIES[None]:
            return None
        return ROUND

    def _gadget(self, now: Situation, passes: HandPasses, opponent: int) -> Gadget:
        """Returns the constraint that leaves the opponent what the solution before promised."""
        worth = promised(now, opponent, self.ends.leaves)[passes.tree.hands(START)]
        met = passes.node_likelihood(opponent, 0, passes.reach(1 - opponent, passes.uniform()))
        return Gadget(opponent, (worth * met).astype(passes.dtype))

    def _rules(self, now: Situation, ranges: Ranges, depth: Depth) -> BettingRules:
        """Returns the game's rules with as many bets as can be searched in time."""
        rules = self.game.rules
        for rules in smaller_menus(self.game.rules):
            if num_hand_entries(rules, now.board, ranges, now.betting, depth) <= MAX_ENTRIES[depth]:
                break
        return rules
