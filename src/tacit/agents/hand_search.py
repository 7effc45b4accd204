"""Search in hold'em: solves the rest of a street or of the hand for all hands at once, and plays the solution.

Before the turn a search ends with the betting round; on the turn and river it goes to the end of the hand. At the end of a
round, hands are worth their equity (`CheckDownLeaves`), which ignores later bets, or the value that trained networks predict
(`nets/round_end_leaves.py`). With networks, every search except on the river ends with its round, or with the next one if
there is time, since networks err less near the end of the hand. Each search starts from the ranges that follow by Bayes' rule
from the solution before it. Within a round nothing is searched again unless somebody makes an off-tree bet: then a new search
starts at that decision, from the ranges there and with the bet added to the tree (as ReBeL adds off-tree actions). Solutions
are cached in case the same situation occurs again, as the start of a hand always does.

A search runs on any device (`kernels/hand_device.py`) for a number of iterations, or until the decision's time is up
(`budget.py`). Its result is a strategy of a hand tree, on every device.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.agents.budget import TimeBudget
from tacit.agents.options import RE_SOLVING, SAMPLED, UNSAFE
from tacit.agents.situation import Ranges, Situation, promised
from tacit.agents.warm import WarmStart
from tacit.cards.hands import NUM_HANDS, possible_hands
from tacit.errors import TacitError
from tacit.games.betting import BOARD_CARDS, DEAL, FLOP, FOLD, TURN, BettingRules
from tacit.games.holdem import Holdem
from tacit.games.menus import smaller_menus
from tacit.games.public_hand import CARD, PublicHand
from tacit.kernels.base import AnyTreePasses, LeafEvaluator
from tacit.kernels.board_passes import BoardPasses
from tacit.kernels.hand_device import HandDevice
from tacit.leaves.check_down import CheckDownLeaves
from tacit.solvers.driver import DriverOptions
from tacit.solvers.gadget import Gadget
from tacit.solvers.schedules import draw_iterations, plain_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.solvers.valuation import CFR_D
from tacit.tree.betting_street import Extra, betting_streets
from tacit.tree.hand_builder import build_hand_tree, num_hand_entries
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.hand_tree import START, HandTree
from tacit.tree.public_tree import Floats
from tacit.tree.subgame import ROUND, TWO_ROUNDS, Depth

KEPT_SOLUTIONS = dict(zip(BOARD_CARDS, (64, 32, 16, 8), strict=True))
"""How many solutions are cached, by the number of cards on the initial board: the fewer cards, the sooner it occurs again."""

FURTHER: dict[int, Depth] = {BOARD_CARDS[FLOP]: TWO_ROUNDS, BOARD_CARDS[TURN]: None}
"""The depth of a search that looks one round further, by the number of cards on the board."""
Path = tuple[tuple[int, int], ...]
_Key = tuple[Path, tuple[int, ...], int | None]
"""The path to a situation, the bets added to the tree there, and the searching player if the solution depends on it."""


@dataclass(frozen=True)
class RoundEnds:
    """How searches treat the end of a betting round.

    Attributes:
      leaves: the evaluator of round ends.
      decomposition: the beliefs at which round ends are valued (see `DriverOptions`).
      boards: the board sizes, in cards, at which a search ends with the round.
      looks_further: whether such a search goes one round further if the tree is small enough: on the turn to the end of the
        hand, on the flop to the end of the turn.
      warm: the warm start of searches by planes (`HandDevice`); None for a cold start.
    """

    leaves: LeafEvaluator
    decomposition: str
    boards: tuple[int, ...]
    looks_further: bool = True
    warm: WarmStart | None = None


class HandSearch:
    """A hold'em policy that searches on demand (see `HandPolicy`).

    Unless it samples, its strategy is a function of the public state, which local best response and AIVAT can query.

    Attributes:
      game: The rules.
      safety: One of `options.SAFETY`.
      searches: The number of searches so far.
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
        device: str = "cpu",
        time_per_decision: float | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Prepares to search.

        Args:
          game: the rules; a search considers some or all of the bets that they offer.
          solver: the algorithm of the searches.
          iterations: the maximum number of iterations of a search.
          safety: how a search deals with the searches below it (`solvers/safety.py`).
          generator: samples the iterations to play, with safety `sampled`.
          ends: how round ends are valued, on the same device; None for equities before the turn.
          device: where to search: `cpu` or `cuda`.
          time_per_decision: seconds after which the searches of a decision stop; None for no limit, so results can be repeated.
          clock: returns the time in seconds.

        Raises:
          TacitError: re-solving was asked for, but the leaf values say nothing about single cards; or there is no such device.
        """
        self.game, self.safety, self.searches = game, safety, 0
        self.ends = ends or RoundEnds(CheckDownLeaves(), CFR_D, BOARD_CARDS[:TURN], looks_further=False)
        if safety == RE_SOLVING and not isinstance(self.ends.leaves, CheckDownLeaves):
            raise TacitError(f"networks of round ends promise nothing for single cards: choose safety {SAMPLED} or {UNSAFE}")
        self._schedule, self._iterations = plain_schedule(solver), iterations
        self._generator = np.random.default_rng(0) if generator is None else generator
        self._device, self._budget = HandDevice(device, game.rules.stack), TimeBudget(time_per_decision, clock, device)
        self._solutions: dict[int, OrderedDict[_Key, HandStrategy]] = {cards: OrderedDict() for cards in KEPT_SOLUTIONS}

    def start_hand(self) -> None:
        """Forgets solutions that were sampled for one hand only."""
        if self.safety == SAMPLED:
            for kept in self._solutions.values():
                kept.clear()

    def probabilities(self, public: PublicHand) -> Floats:
        """Returns `[A, 1326]` (see `HandPolicy`)."""
        now = self.situation(public, public.betting.actor)
        weights, tree = np.zeros((len(public.actions), NUM_HANDS)), now.solution.tree
        for action, shares in zip(tree.actions(now.spot.node), now.solution.played(now.spot), strict=True):
            weights[public.actions.index(action)] = shares
        return weights

    def fold_shares(self, public: PublicHand, raises: Sequence[int]) -> Floats:
        """Returns `[raises, 1326]` how often each hand folds to each raise (see `FoldPolicy`).

        All off-tree raises are added at once, so they cost one search together instead of one each.
        """
        now, player = self.situation(public, 1 - public.betting.actor), 1 - public.betting.actor
        unknown = [action for action in raises if not now.solution.tree.knows(now.spot, action)]
        if unknown:
            now = self._solved(now.leave(), player, *unknown)
        tree, shares = now.solution.tree, np.zeros((len(raises), NUM_HANDS))
        for number, action in enumerate(raises):
            spot = tree.after(now.spot, action)
            shares[number] = now.solution.played(spot)[tree.actions(spot.node).index(FOLD)]
        return shares

    def values(self, now: Situation, player: int) -> Floats:
        """Returns `[H]` the values of a player's hands at a decision of a solution, by lane (`HandTree.hands`)."""
        return now.values(player, self._device.passes(now.solution.tree, keep=True), self.ends.leaves)

    def action_values(self, now: Situation) -> Floats:
        """Returns `[A, H]` the value of each action to the actor's hands at a decision of a solution, by lane."""
        return now.action_values(self._device.passes(now.solution.tree, keep=True), self.ends.leaves)

    def promised(self, now: Situation, player: int) -> Floats:
        """Returns `[1326]` the value that the solution before a new search promised each hand of a player, in chips."""
        assert now.left is not None
        return promised(now, player, self._device.passes(now.left.solution.tree, keep=True), self.ends.leaves)

    def situation(self, public: PublicHand, player: int = 0) -> Situation:
        """Returns a decision within its solution, after all of a player's searches on the path to it.

        Only re-solving depends on who searches, because the promised values are the opponent's.
        """
        self._budget.start_decision()
        now = Situation(self.game.rules.start(), self.game.known_board, self.game.ranges)
        for step in public.path:
            now = now.deal(step) if step[0] == CARD else self._act(now, step, player)
        return self._solved(now, player)

    def _act(self, now: Situation, step: tuple[int, int], player: int) -> Situation:
        """Returns the situation after an action."""
        action = step[1]
        if now.strategy is None:
            extra = () if self._offers(now, player, action) else (action,)
            now = self._solved(now, player, *extra, is_last=False)
        if not now.solution.tree.knows(now.spot, action):
            now = self._solved(now.leave(), player, action, is_last=False)
        betting = self.game.rules.apply(now.betting, action)
        if betting.actor == DEAL:
            betting = self.game.rules.deal(betting)
        return replace(now, betting=betting, path=(*now.path, step), spot=now.solution.tree.after(now.spot, action))

    def _offers(self, now: Situation, player: int, action: int) -> bool:
        """Returns whether a search that begins here would include an action, to avoid a search that has to be repeated."""
        kept = self._solutions[len(now.board)].get(self._key(now, player, ()))
        return action in (self._plan(now, ())[1].actions(now.betting) if kept is None else kept.tree.actions(START.node))

    def _key(self, now: Situation, player: int, extra: tuple[int, ...]) -> _Key:
        return now.path, extra, player if self.safety == RE_SOLVING else None

    def _solved(self, now: Situation, player: int, *extra: int, is_last: bool = True) -> Situation:
        """Returns a situation with a solution, from the cache if there is one.

        `extra` are actions that its tree must include; `is_last` says that no other search of the decision follows.
        """
        if now.strategy is not None:
            return now
        key, kept = self._key(now, player, extra), self._solutions[len(now.board)]
        if key not in kept:
            if self.safety == SAMPLED:
                self._forget_beside(now.path)
            kept[key] = self._search(now, player, extra, is_last)
            while len(kept) > KEPT_SOLUTIONS[len(now.board)]:
                kept.popitem(last=False)
        kept.move_to_end(key)
        return replace(now, strategy=kept[key])

    def _forget_beside(self, path: Path) -> None:
        """Forgets sampled solutions that are not on a path: they belong to another hand."""
        for kept in self._solutions.values():
            for other in [key for key in kept if path[: len(key[0])] != key[0]]:
                del kept[other]

    def _search(self, now: Situation, player: int, extra: tuple[int, ...], is_last: bool = True) -> HandStrategy:
        """Returns the solution of a search that begins at a situation."""
        self.searches += 1
        depth, rules = self._plan(now, extra)
        tree = build_hand_tree(self.game, rules, now.board, _with_traces(now), now.betting, _extra(now, extra), depth)
        passes, gadget = self._device.passes(tree), None
        if self.safety == RE_SOLVING and now.left is not None:
            gadget = self._gadget(now, tree, passes, 1 - player)
        options = DriverOptions(gadget=gadget)
        if passes.leaf_states is not None:
            options = DriverOptions(self.ends.leaves, self.ends.decomposition, gadget=gadget)
        driver, size = TabularDriver(passes, self._schedule, options), tree.num_entries
        if self.ends.warm is not None and isinstance(passes, BoardPasses):
            street = betting_streets(rules, len(now.board), now.betting, _extra(now, extra), depth)[0]
            self.ends.warm.start(driver, passes, street.betting)
        if self.safety != SAMPLED:
            self._budget.run(driver, max(1, self._iterations - driver.iteration), size, depth, is_last)
            return tree.strategy(driver.average_strategy())
        iterations = self._budget.num_iterations(size, depth, self._iterations)
        drawn = int(draw_iterations(self._schedule, iterations, self._generator.random(1))[0])
        count = drawn - driver.iteration - (not driver.responds)  # with regrets: what iteration `drawn` replaces
        if count > 0:
            self._budget.run(driver, count, size, depth, is_last)
        return tree.strategy(driver.average_strategy() if driver.responds else driver.current_strategy())

    def _plan(self, now: Situation, extra: tuple[int, ...]) -> tuple[Depth, BettingRules]:
        """Returns the depth of a search, and the game's rules with the largest bet menu that can be searched in time."""
        ranges, more = _with_traces(now), _extra(now, extra)
        depth, rules = self._depth(now, ranges), self.game.rules
        for rules in smaller_menus(self.game.rules):
            entries = num_hand_entries(rules, now.board, ranges, now.betting, depth, more)
            if entries <= self._budget.max_entries(depth, self._iterations):
                break
        return depth, rules

    def _depth(self, now: Situation, ranges: Ranges) -> Depth:
        """Returns the depth of a search: to the end of the hand if round ends have no value, or a round further if it fits."""
        if len(now.board) not in self.ends.boards:
            return None
        if not self.ends.looks_further or len(now.board) not in FURTHER:
            return ROUND
        depth = FURTHER[len(now.board)]
        if depth is not None and self._device.device != "cpu":
            return ROUND  # only on the CPU do networks value leaves of several boards
        room = self._budget.max_entries(depth, self._iterations)
        fits = num_hand_entries(self.game.rules, now.board, ranges, now.betting, depth) <= room
        return depth if fits else ROUND

    def _gadget(self, now: Situation, tree: HandTree, passes: AnyTreePasses, opponent: int) -> Gadget:
        """Returns the gadget that leaves the opponent the values promised by the solution before."""
        worth = self.promised(now, opponent)
        met = passes.node_likelihood(opponent, START.node, passes.reach(1 - opponent, passes.uniform()))
        return Gadget(opponent, passes.roots(worth[tree.hands(START)] * met))


def _with_traces(now: Situation) -> Ranges:
    """Returns both ranges with a trace of every possible hand.

    A player may hold a hand outside its range after all: a trace of it keeps the answers to it sensible.
    """
    possible = possible_hands(now.board)
    first, second = ((part + 1e-6 * (part.max() or 1.0)) * possible for part in now.ranges)
    return first, second


def _extra(now: Situation, actions: tuple[int, ...]) -> Extra:
    """Returns the actions that a tree must include at its root."""
    return {now.betting: actions} if actions else {}
