"""`check_game`: checks that a game keeps the rules that everything else relies on, and explains each violation."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, NoReturn

from tacit.errors import TacitError
from tacit.games.answers import actions_problem, chance_problem, returns_problem, shown
from tacit.games.base import CHANCE, MAX_DEPTH, TERMINAL, Game, InfostateGame, Moves
from tacit.games.check_keys import key_problem
from tacit.games.own import in_one_line
from tacit.games.words import action_in_words, after, history_in_words

CHILDREN_PER_HISTORY = 100
"""A check ends early once it has made this many children per history that it may visit: in wide games they take the time."""


@dataclass(frozen=True)
class Violation:
    """A broken rule and the first history that shows it.

    Attributes:
      rule: The rule, in a word or two.
      message: What is wrong and what would be right.
      history: The actions and chance outcomes of the history.
      words: A description of each move in `history`.
    """

    rule: str
    message: str
    history: tuple[int, ...]
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.rule}: {self.message} ({after(self.words)})"


@dataclass
class GameReport:
    """The result of `check_game`.

    Attributes:
      game: The game's name.
      histories: How many histories were checked.
      complete: Whether these are all histories; otherwise they come from random playthroughs.
      violations: The first violation of each rule.
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
        scope, broken = "all" if self.complete else "a sample of", len(self.violations)
        head = f"{self.game}: {scope} {self.histories:,} histories checked, "
        rules = f"{broken} rule{'' if broken == 1 else 's'} broken"
        return head + ("no violation" if self.ok else "\n".join([rules, *map(str, self.violations)]))


def check_game(game: Game[Any], *, max_histories: int = 50_000, seed: int = 0) -> GameReport:
    """Returns the rules of the protocol that `game` breaks, each explained with a history that shows it.

    It checks the class itself, methods that raise exceptions, actors, legal actions (distinct, and equal within an
    infostate), chance (positive, summing to 1), zero-sum and finite returns, observations (strings, the same when asked again),
    that `apply` leaves states unchanged, bounded length, perfect recall if the game names its infostates itself, and, if all
    histories are walked, that public states with the same `public_key` play alike.

    Args:
      game: The game to check.
      max_histories: All histories are walked if there are at most this many; otherwise random ones up to this count.
      seed: The seed of the random playthroughs.
    """
    problem = class_problem(type(game))
    if problem is not None:
        return GameReport(type(game).__name__, violations=[Violation("class", problem, ())])
    checker = _Checker(game)
    checker.walk(max_histories)
    if not checker.report.complete:
        checker.sample(max_histories, random.Random(seed))
    elif checker.report.ok:
        checker.check_keys()
    return checker.report


def class_problem(game_class: type[Game[Any]]) -> str | None:
    """Returns why a class cannot be a game, whatever its rules are, or None."""
    name = game_class.__name__
    if missing := sorted(getattr(game_class, "__abstractmethods__", ())):
        return f"{name} lacks {', '.join(missing)}"
    if not is_dataclass(game_class):
        return f"{name} must be a dataclass: write @dataclass(frozen=True) above it"
    if shadowing := [field.name for field in fields(game_class) if field.name == "name" or hasattr(InfostateGame, field.name)]:
        return f"{name} has a parameter {shadowing[0]!r}, which is a word of the Game protocol: rename it"
    if not isinstance(getattr(game_class, "name", None), str):
        return f'{name} has no name: write name = "..." in it'
    return None


@contextmanager
def blame_rules(game: Game[Any]) -> Iterator[None]:
    """Turns an exception raised by rules from elsewhere (a user's file, OpenSpiel) into one line for their author."""
    try:
        yield
    except TacitError:
        raise
    except Exception as error:
        if type(game).__module__.startswith("tacit.") and not isinstance(game, InfostateGame):
            raise
        raise TacitError(f"{game} raised {in_one_line(error)}; tacit.check_game says after which moves") from error


@dataclass(frozen=True)
class _Past:
    """The past of a history. Each piece of knowledge is stored as a number, equal for equal knowledge only.

    Attributes:
      moves: All moves, chance included.
      views: For each player, what it knew at the latest decision (of either player) and did there.
      own_moves: For each player, its moves and what it knew when it made them.
      seen: What everyone, player 0 and player 1 have observed since the latest decision.
    """

    moves: tuple[int, ...] = ()
    views: tuple[int, ...] = (0, 0)
    own_moves: tuple[int, ...] = (0, 0)
    seen: tuple[tuple[str, ...], ...] = ((), (), ())


class _BrokenRule(Exception):  # noqa: N818
    """Raised after noting a violation that stops the walk along this history."""


class _Checker:
    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        self.report = GameReport(str(game))
        self._moves: tuple[int, ...] = ()  # the moves of the history being visited
        self._numbers: dict[Hashable, int] = {}
        self._legal: dict[int, tuple[tuple[int, ...], Moves]] = {}
        self._recall: dict[int, tuple[int, Moves]] = {}
        self._children = 0  # states that `apply` has made

    def walk(self, limit: int) -> None:
        """Visits all histories depth first, but stops after `limit` of them."""
        stack = self._start()
        while stack:
            if self._is_enough(limit):
                self.report.complete = False
                return
            stack.extend(self._visit(*stack.pop()))

    def sample(self, limit: int, generator: random.Random) -> None:
        """Plays random games until `limit` histories have been visited."""
        self.report.histories = self._children = 0
        while not self._is_enough(limit):
            children = self._start()
            while children:
                children = self._visit(*generator.choice(children))

    def _is_enough(self, limit: int) -> bool:
        """Returns whether `limit` histories were visited, or as many children made as take as long in a wide game."""
        return self.report.histories >= limit or self._children >= CHILDREN_PER_HISTORY * limit

    def check_keys(self) -> None:
        """Compares all public states that share a key."""
        try:
            problem = key_problem(self.game, self._after)
        except Exception as error:  # all other methods have passed their checks
            problem = f"public_key() raised {in_one_line(error)}", ()
        if problem is not None:
            self._moves = problem[1]
            self._note("public key", problem[0])

    def _start(self) -> list[tuple[Any, _Past]]:
        self._moves = ()
        with suppress(_BrokenRule):
            return [(self._ask("initial_state"), _Past())]
        return []

    def _visit(self, state: Any, past: _Past) -> list[tuple[Any, _Past]]:
        """Checks everything at a state and returns the states that follow, each with its past."""
        self.report.histories += 1
        self._moves = past.moves
        try:
            return self._follow(state, past)
        except _BrokenRule:
            return []
        except Exception as error:  # an answer that cannot even be compared or printed
            self._note("exceptions", f"an answer of {type(self.game).__name__} raised {in_one_line(error)}")
            return []

    def _follow(self, state: Any, past: _Past) -> list[tuple[Any, _Past]]:
        if len(past.moves) > MAX_DEPTH:
            self._stop("bounded length", f"a history has more than {MAX_DEPTH:,} moves")
        actor = self._ask("actor", state)
        if not isinstance(self.game, InfostateGame):
            past = replace(past, seen=self._observe(state, past))
        if actor == TERMINAL:
            self._check_returns(state)
            return []
        if actor == CHANCE:
            after = self._apply_all(state, self._check_chance(state))
            return [(below, replace(past, moves=(*past.moves, outcome))) for outcome, below in after]
        if actor not in (0, 1):
            self._stop("actor", f"actor() gives {shown(actor)}; it must be 0, 1, CHANCE (-1) or TERMINAL (-2)")
        views = self._views(state, past, actor)
        after = self._apply_all(state, self._check_actions(state, actor, views[actor]))
        return [(below, self._moved(past, views, actor, action)) for action, below in after]

    def _observe(self, state: Any, past: _Past) -> tuple[tuple[str, ...], ...]:
        """Returns what everyone and each player observed up to `state`; empty observations are left out."""
        new = [self._observation("public_observation", state)]
        new += [self._observation("private_observation", state, player) for player in (0, 1)]
        return tuple((*before, now) if now else before for before, now in zip(past.seen, new, strict=True))

    def _views(self, state: Any, past: _Past, actor: int) -> tuple[int, ...]:
        """Returns what each player knows at a decision: its action-observation history, or the infostate the game names."""
        if not isinstance(self.game, InfostateGame):
            return tuple(self._number(past.views[p], actor, past.seen[0], past.seen[1 + p]) for p in (0, 1))
        names = [self._observation("infostate", state, player) for player in (0, 1)]
        views = tuple(self._number(player, name) for player, name in enumerate(names))
        known, other = self._recall.setdefault(views[actor], (past.own_moves[actor], past.moves))
        if known != past.own_moves[actor]:
            forgets = f"player {actor} reaches infostate {names[actor]!r} by different own moves, so it has forgotten some"
            self._note("perfect recall", f"{forgets}; it also reaches it {self._after(other)}")
        return views

    def _moved(self, past: _Past, views: tuple[int, ...], actor: int, action: int) -> _Past:
        """Returns the past after a player's action, which that player remembers."""
        known, own = list(views), list(past.own_moves)
        known[actor] = self._number(views[actor], action)
        own[actor] = self._number(past.own_moves[actor], views[actor], action)
        return _Past((*past.moves, action), tuple(known), tuple(own))

    def _number(self, *what: Hashable) -> int:
        """Returns the number of a value, 1 or higher; equal values have the same number."""
        return self._numbers.setdefault(what, len(self._numbers) + 1)

    def _ask(self, method: str, *arguments: Any) -> Any:
        """Returns the answer of one of the game's methods. If it raises, that is a violation."""
        try:
            return getattr(self.game, method)(*arguments)
        except Exception as error:
            self._stop("exceptions", f"{type(self.game).__name__}.{method}() raised {in_one_line(error)}")

    def _observation(self, name: str, *arguments: Any) -> str:
        seen = self._ask(name, *arguments)
        if not isinstance(seen, str):
            self._note("observations", f"{name}() gives {shown(seen)}; it must be a string, empty when nothing is seen")
        elif self._ask(name, *arguments) != seen:
            self._note("observations", f"{name}() gives different answers for the same state")
        return seen if isinstance(seen, str) else shown(seen)

    def _check_returns(self, state: Any) -> None:
        problem = returns_problem(self._ask("returns", state))
        if problem is not None:
            self._note(*problem)

    def _check_chance(self, state: Any) -> list[int]:
        outcomes = self._ask("chance_outcomes", state)
        problem = chance_problem(outcomes)
        if problem is not None:
            self._stop("chance", problem)
        return [outcome for outcome, _ in outcomes]

    def _check_actions(self, state: Any, actor: int, view: int) -> list[int]:
        listed = self._ask("legal_actions", state)
        problem = actions_problem(listed)
        if problem is not None:
            self._stop("legal actions", problem)
        actions = tuple(listed)
        known, other = self._legal.setdefault(view, (actions, self._moves))
        if known != actions:
            here, there = (", ".join(action_in_words(self.game, state, action) for action in some) for some in (actions, known))
            alike = (
                f"player {actor} has the actions {here} here and {there} {self._after(other)}, and cannot tell the two apart"
            )
            self._note("legal actions", f"{alike}; what decides legality must be observed")
        return list(actions)

    def _apply_all(self, state: Any, moves: list[int]) -> list[tuple[int, Any]]:
        before = repr(state)
        self._children += len(moves)
        children = [(move, self._ask("apply", state, move)) for move in moves]
        if repr(state) != before:
            self._note("unchanged states", "apply() changes the state it is given; it must return a new one")
        return children

    def _note(self, rule: str, message: str) -> None:
        """Adds a violation to the report, unless the report has one of the same rule."""
        if all(violation.rule != rule for violation in self.report.violations):
            self.report.violations.append(Violation(rule, message, self._moves, history_in_words(self.game, self._moves)))

    def _after(self, moves: Moves) -> str:
        return after(history_in_words(self.game, moves))

    def _stop(self, rule: str, message: str) -> NoReturn:
        """Notes a violation and stops the walk along this history."""
        self._note(rule, message)
        raise _BrokenRule
