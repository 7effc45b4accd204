"""`check_game`: whether a game keeps the rules that everything else relies on, explained violation by violation."""

from __future__ import annotations

import math
import random
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from tacit.games.base import CHANCE, TERMINAL, Game, InfostateGame, actions_problem

MAX_DEPTH = 5_000


@dataclass(frozen=True)
class Violation:
    """A broken rule and the first history where it shows.

    Attributes:
      rule: which rule, in a word or two.
      message: what is wrong and what would be right.
      history: the actions and chance outcomes that lead there.
    """

    rule: str
    message: str
    history: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.rule}: {self.message} (after {list(self.history)})"


@dataclass
class GameReport:
    """What `check_game` found.

    Attributes:
      game: the game's name.
      histories: how many histories were looked at.
      complete: whether these are all; otherwise random playthroughs.
      violations: the first violation of each rule.
    """

    game: str
    histories: int = 0
    complete: bool = True
    violations: list[Violation] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """True when no rule was broken."""
        return not self.violations

    def __str__(self) -> str:
        scope = "all" if self.complete else "a sample of"
        head = f"{self.game}: {scope} {self.histories:,} histories checked, "
        return head + (
            "no violation" if self.ok else "\n".join([f"{len(self.violations)} rules broken", *map(str, self.violations)])
        )


def check_game(game: Game[Any], *, max_histories: int = 50_000, seed: int = 0) -> GameReport:
    """Returns which rules of the protocol `game` breaks, each explained with a history that shows it.

    Checked are: actors, legal actions (distinct, and equal within an infostate), chance (positive, summing to 1), zero-sum and
    finite returns, observations (strings, the same when asked again), states that `apply` leaves unchanged, bounded
    length, and perfect recall where the game names its infostates itself.

    Args:
      game: the game to check.
      max_histories: all histories are walked if there are no more than this; otherwise random playthroughs up to this count.
      seed: of the playthroughs.
    """
    checker = _Checker(game)
    checker.walk(max_histories)
    if not checker.report.complete:
        checker.sample(max_histories, random.Random(seed))
    return checker.report


@dataclass
class _Past:
    """How a history came about: its moves, and what each player has seen (on arrival: `views`) and done on the way."""

    moves: tuple[int, ...] = ()
    views: tuple[tuple[Hashable, ...], tuple[Hashable, ...]] = ((), ())
    own_moves: tuple[tuple[Hashable, ...], tuple[Hashable, ...]] = ((), ())


class _Checker:
    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        self.report = GameReport(str(game))
        self._legal: dict[Hashable, tuple[int, ...]] = {}
        self._recall: dict[Hashable, tuple[Hashable, ...]] = {}

    def walk(self, limit: int) -> None:
        """Visits all histories depth first, until there are too many."""
        stack = [(self.game.initial_state(), _Past())]
        while stack:
            if self.report.histories >= limit:
                self.report.complete = False
                return
            state, past = stack.pop()
            stack.extend((after, self._extend(past, state, move)) for move, after in self._visit(state, past))

    def sample(self, limit: int, generator: random.Random) -> None:
        """Plays random games until enough histories were seen."""
        self.report.histories = 0
        while self.report.histories < limit:
            state, past = self.game.initial_state(), _Past()
            while children := self._visit(state, past):
                move, after = generator.choice(children)
                past, state = self._extend(past, state, move), after

    def _extend(self, past: _Past, state: Any, move: int) -> _Past:
        actor = self.game.actor(state)
        own = tuple((*past.own_moves[p], (past.views[p], move)) if actor == p else past.own_moves[p] for p in (0, 1))
        return _Past((*past.moves, move), past.views, (own[0], own[1]))

    def _visit(self, state: Any, past: _Past) -> list[tuple[int, Any]]:
        """Returns the moves from a state and where they lead, after checking everything there."""
        self.report.histories += 1
        if len(past.moves) > MAX_DEPTH:
            self._note("bounded length", f"a history has more than {MAX_DEPTH:,} moves", past)
            return []
        actor = self.game.actor(state)
        past.views = self._observe(state, past, actor)
        if actor == TERMINAL:
            self._check_returns(state, past)
            return []
        if actor == CHANCE:
            return self._apply_all(state, self._check_chance(state, past), past)
        if actor not in (0, 1):
            self._note("actor", f"actor() gives {actor!r}; it must be 0, 1, CHANCE (-1) or TERMINAL (-2)", past)
            return []
        return self._apply_all(state, self._check_actions(state, past, actor), past)

    def _observe(self, state: Any, past: _Past, actor: int) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...]]:
        """Returns both players' action-observation histories (or the names the game gives them)."""
        if isinstance(self.game, InfostateGame):
            if actor not in (0, 1):
                return past.views
            names = [(self.game.infostate(state, player),) for player in (0, 1)]
            self._check_recall(names[actor][0], past, actor)
            return names[0], names[1]
        public = self._observation("public_observation", (state,), past)
        views = []
        for player in (0, 1):
            private = self._observation("private_observation", (state, player), past)
            done = past.own_moves[player][-1:]  # with the view it was made in, the last own move stands for all
            views.append((done, past.views[player], public, private, actor == player))
        return views[0], views[1]

    def _observation(self, name: str, arguments: tuple[Any, ...], past: _Past) -> str:
        observe = getattr(self.game, name)
        seen = observe(*arguments)
        if not isinstance(seen, str):
            self._note("observations", f"{name}() gives {seen!r}; it must be a string, empty when nothing is seen", past)
        elif observe(*arguments) != seen:
            self._note("observations", f"{name}() gives different answers for the same state", past)
        return str(seen)

    def _check_recall(self, name: Hashable, past: _Past, player: int) -> None:
        before = self._recall.setdefault((player, name), past.own_moves[player])
        if before != past.own_moves[player]:
            self._note(
                "perfect recall",
                f"player {player} is in infostate {name!r} after different own moves, so it has forgotten some",
                past,
            )

    def _check_returns(self, state: Any, past: _Past) -> None:
        returns = tuple(self.game.returns(state))
        if len(returns) != 2 or not all(math.isfinite(value) for value in returns):
            self._note("returns", f"returns() gives {returns}; it must be two finite numbers", past)
        elif abs(sum(returns)) > 1e-9:
            self._note("zero-sum", f"the returns {returns} sum to {sum(returns):g}, not to 0", past)

    def _check_chance(self, state: Any, past: _Past) -> list[int]:
        outcomes = list(self.game.chance_outcomes(state))
        total = sum(chance for _, chance in outcomes)
        if abs(total - 1.0) > 1e-9:
            self._note("chance", f"the probabilities of the chance outcomes sum to {total:g}, not to 1", past)
        if any(chance <= 0 for _, chance in outcomes):
            self._note("chance", "a chance outcome has no positive probability; leave it out", past)
        if len({outcome for outcome, _ in outcomes}) != len(outcomes):
            self._note("chance", "a chance outcome is listed twice", past)
        return [outcome for outcome, _ in outcomes]

    def _check_actions(self, state: Any, past: _Past, actor: int) -> list[int]:
        actions = tuple(self.game.legal_actions(state))
        problem = actions_problem(actions)
        if problem is not None:
            self._note("legal actions", problem, past)
        known = self._legal.setdefault((actor, past.views[actor]), actions)
        if known != actions:
            self._note(
                "legal actions",
                f"player {actor} cannot tell this history from another but has the actions {actions} here and {known} there; "
                "what decides legality must be observed",
                past,
            )
        return list(actions)

    def _apply_all(self, state: Any, moves: list[int], past: _Past) -> list[tuple[int, Any]]:
        before = repr(state)
        children = [(move, self.game.apply(state, move)) for move in moves]
        if repr(state) != before:
            self._note("unchanged states", "apply() changes the state it is given; it must return a new one", past)
        return children

    def _note(self, rule: str, message: str, past: _Past) -> None:
        if all(violation.rule != rule for violation in self.report.violations):
            self.report.violations.append(Violation(rule, message, past.moves))
