"""`tacit play`: play against an agent in the terminal."""

from __future__ import annotations

import sys
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.common import (
    JsonOption,
    SearchDeviceOption,
    SearchExpansionsOption,
    SearchIterationsOption,
    SearchSafetyOption,
    SearchSolverOption,
    SearchTimeOption,
    print_json,
    progress_monitor,
    start,
)
from tacit.errors import StoppedError, TacitError

if TYPE_CHECKING:
    from numpy.random import Generator

    from tacit.agents.base import Agent, Sight
    from tacit.agents.table import Table
    from tacit.agents.view import View
    from tacit.games import AnyGame
    from tacit.games.chips import Chips

SEATS = {"0": (0,), "1": (1,), "random": (0, 1)}
WIDTH = 100
SECONDS = 3.0
"""Longest time a person's opponent takes for a decision, unless told another time or a number of iterations."""
MOST_SHOWN = 12
"""Most private states whose probabilities are listed."""


def play(
    game: Annotated[str, typer.Argument(help="The game, as in `tacit games`.")],
    agent: Annotated[
        str,
        typer.Option(
            help="Your opponent: pretrained:NAME, a run folder, a network, a file of `tacit solve --save`, a bot, or default "
            "(the best one available for the game, if need be a quick solve)."
        ),
    ] = "default",
    seat: Annotated[str, typer.Option(help="Your seat: 0 (first), 1 or random.")] = "random",
    games: Annotated[int | None, typer.Option(min=1, help="Number of games. [default: until you stop]")] = None,
    show_beliefs: Annotated[bool, typer.Option("--show-beliefs", help="Show what the agent believes about you.")] = False,
    solver: SearchSolverOption = None,
    iterations: SearchIterationsOption = None,
    safety: SearchSafetyOption = None,
    device: SearchDeviceOption = None,
    time_per_decision: SearchTimeOption = None,
    expansions: SearchExpansionsOption = None,
    as_json: JsonOption = False,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**32 - 1, help="Seed for the deals and the agent. [default: a new one]")
    ] = None,
) -> None:
    """Play against an agent in the terminal. Choose moves by number or name; q stops.

    In poker, bet sizes are your total on the current street (b 450, raise 900, all-in); no-limit takes any legal size.

    Examples:

      tacit play "liars_dice(dice=1,faces=4)" --show-beliefs

      tacit play kuhn_poker --seat 0 --games 10

      tacit play leduc_poker --agent always-call

      tacit play no_limit_holdem --agent always-call --seat 1

      tacit play openspiel:tic_tac_toe --agent random
    """
    import numpy as np

    from tacit import artifacts
    from tacit.agents.options import SearchOptions
    from tacit.games import load_game

    if seat not in SEATS:
        raise TacitError(f"unknown seat {seat!r}: choose 0, 1 or random")
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    start(seed)
    rules = load_game(game)
    chance, own, seats = (np.random.default_rng([seed, stream]) for stream in range(3))
    with progress_monitor() as monitor:
        artifact = artifacts.open(agent, rules, monitor)
        if time_per_decision is None and iterations is None and "time_per_decision" in artifact.search_options:
            time_per_decision = SECONDS
        opponent = artifact.agent(own, SearchOptions(solver, iterations, safety, device, time_per_decision, expansions))
    screen = _Screen(sys.stderr if as_json else sys.stdout)
    searches = getattr(opponent, "safety", None)
    screen.say(f"{rules} against {opponent.name}{f' (search: {searches})' if searches else ''}; q stops")
    results: list[dict[str, Any]] = []
    stopped = interrupted = False
    try:
        while games is None or len(results) < games:
            mine = int(seats.choice(SEATS[seat]))
            screen.say(f"\ngame {len(results) + 1}{f' of {games}' if games else ''}: you are player {mine}")
            payoff, asked = _play_one(screen, rules, opponent, mine, chance, show_beliefs)
            results.append({"seat": mine, "payoff": payoff})
            screen.say(f"score: {_score(results)}")
            if games is None and not asked:  # some seats never move: do not race through games for ever
                screen.ask({"next game": 0})
    except (_LeaveError, KeyboardInterrupt) as left:
        stopped, interrupted = True, isinstance(left, KeyboardInterrupt)
        screen.say(f"\ngoodbye; {_score(results)}")
    if as_json:
        total = sum(result["payoff"] for result in results)
        report = {
            "game": str(rules), "agent": opponent.name, "safety": searches, "games": len(results), "results": results,
            "total": total, "mean": total / len(results) if results else None, "stopped": stopped, "seed": seed,
        }  # fmt: skip
        print_json(report)
    if interrupted:
        raise StoppedError("by Ctrl-C")


def _play_one(
    screen: _Screen, rules: AnyGame, opponent: Agent, mine: int, chance: Generator, show_beliefs: bool
) -> tuple[float, bool]:
    """Plays a game; returns what the person in seat `mine` won, and whether they had anything to decide."""
    from tacit.agents.table import play_game
    from tacit.games.base import InfostateGame

    names_infostates = isinstance(rules, InfostateGame)
    person, its = _Person(screen, names_infostates, opponent if show_beliefs else None), _Account(names_infostates)

    def watch(table: Table) -> None:
        sight = table.sights[1 - mine]
        if sight is not None:
            its.see(sight)

    payoff = play_game(rules, [person, opponent] if mine == 0 else [opponent, person], chance, watch)[mine]
    person.draw()
    if show_beliefs:
        _show_beliefs(screen, opponent.view(), mine)
    screen.say(f"  {f'you win {payoff:g}' if payoff > 0 else f'you lose {-payoff:g}' if payoff < 0 else 'a draw'}")
    held = f"held {_squeeze(' '.join(its.private))}" if any(its.private) else "held nothing secret"
    screen.say(f"  it {held} and played {', '.join(its.moves) or 'nothing'}")
    return payoff, person.asked


class _LeaveError(Exception):
    """The person wants to stop."""


class _Screen:
    """Lines out, choices in."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(errors="replace")

    def say(self, text: str, end: str = "\n") -> None:
        self._stream.write(text + end)
        self._stream.flush()

    def ask(self, choices: dict[str, int], chips: Chips | None = None) -> int:
        """Asks until an action is chosen and returns it: one of `choices` or, in poker, any other legal size."""
        numbered = not any(name.strip().isdigit() for name in choices)  # else a number could mean two things
        actions = {_plain(name): action for name, action in choices.items()}
        if numbered:
            actions |= {str(i + 1): action for i, action in enumerate(choices.values())}
        for line in _lines([f"{i + 1}) {name}" if numbered else name for i, name in enumerate(choices)]):
            self.say(f"  {line}")
        if chips is not None and chips.free_sizes is not None:
            self.say("  or any size from {:,} to {:,}".format(*chips.free_sizes))
        while True:
            self.say("your move: ", end="")
            line = sys.stdin.readline()
            if not sys.stdin.isatty():  # a terminal shows what is typed; a script's output should too
                self.say(line.rstrip("\n"))
            word = _plain(line)
            if word in actions:
                return actions[word]
            if not line or word in ("q", "quit", "exit"):
                raise _LeaveError
            try:
                action = None if chips is None else chips.read(word)
            except TacitError as error:
                self.say(f"  {error}")
                continue
            if action is not None:
                return action
            self.say(f"  no move {word!r}: type {'a number or ' if numbered else ''}one of the names, or q to stop")


class _Account:
    """What one seat saw and did.

    Attributes:
      private: What only this seat saw; in a game that names infostates, the latest name, which contains everything.
      moves: The seat's moves, in words.
    """

    def __init__(self, names_infostates: bool) -> None:
        self.names_infostates = names_infostates
        self.private: list[str] = []
        self.moves: list[str] = []
        self._choices: dict[int, str] = {}
        self._chips: Chips | None = None

    def see(self, sight: Sight) -> None:
        """Adds a sight of the seat."""
        if sight.action is not None:
            self.moves.append(self._chips.name(sight.action) if self._chips else self._choices[sight.action])
        self.private = (list(sight.private) or self.private) if self.names_infostates else [*self.private, *sight.private]
        self._choices, self._chips = dict(zip(sight.legal_actions, sight.action_names, strict=True)), sight.chips


class _Person:
    """The person at the terminal as an agent for one game, who sees only what their seat sees.

    Attributes:
      asked: Whether there was anything to decide.
    """

    name = "you"

    def __init__(self, screen: _Screen, names_infostates: bool, shown: Agent | None) -> None:
        self._screen, self._own, self._shown = screen, _Account(names_infostates), shown
        self._public: list[str] = []
        self._now: Sight | None = None
        self.asked = False

    def start(self, player: int) -> None:
        self._player = player

    def observe(self, sight: Sight) -> None:
        if self._now is not None and self._now.actor == 1 - self._player:
            self._screen.say(f"  it moves{': ' if sight.told else ''}{', '.join(sight.told)}")
        self._public += sight.told
        self._own.see(sight)
        self._now = sight

    def act(self) -> int:
        assert self._now is not None
        self.asked = True
        if self._shown is not None:
            _show_beliefs(self._screen, self._shown.view(), self._player)
        if any(self._own.private):
            known = " ".join(self._own.private).strip().replace("\n", "\n    ")
            self._screen.say(f"  {'you know' if self._own.names_infostates else 'you hold'}: {known}")
        if self._now.drawing:
            self.draw()
        elif self._public:
            self._screen.say(f"  so far: {(', ' if self._now.chips else ' ').join(self._public)}")
        if self._own.moves and not self._now.drawing:
            self._screen.say(f"  your moves: {', '.join(self._own.moves)}")
        chips, legal, names = self._now.chips, self._now.legal_actions, self._now.action_names
        if chips is None:
            return self._screen.ask(dict(zip(names, legal, strict=True)))
        for line in chips.situation(self._player):
            self._screen.say(f"  {line}")
        return self._screen.ask({chips.name(action): action for action in legal}, chips)

    def draw(self) -> None:
        """Shows the public part of the game, if it can be drawn."""
        if self._now is not None and self._now.drawing:
            self._screen.say("\n" + indent(self._now.drawing, "    ") + "\n")

    def view(self) -> None:
        return None


def _show_beliefs(screen: _Screen, view: View | None, player: int) -> None:
    """Shows what an agent believes about a player's private state, likeliest first."""
    if view is None:
        screen.say("  it keeps no beliefs")
        return
    if view.in_short is not None:
        screen.say("  it believes you hold: " + "\n    ".join(_lines(view.in_short[player].split(","))))
        return
    believed = sorted(zip(view.beliefs[player], view.private_states[player], strict=True), key=lambda pair: -pair[0])
    if len(believed) > 1:
        shares = [f"{_squeeze(name) or '-'} {100 * share:.0f}%" for share, name in believed[:MOST_SHOWN]]
        left = [f"and {len(believed) - MOST_SHOWN} more"] if len(believed) > MOST_SHOWN else []
        screen.say("  it believes you hold: " + "\n    ".join(_lines([*shares, *left])))


def _score(results: list[dict[str, Any]]) -> str:
    total = sum(result["payoff"] for result in results)
    return f"you have {total:+g} after {len(results)} game{'' if len(results) == 1 else 's'}"


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def _plain(text: str) -> str:
    return _squeeze(text).casefold()


def _lines(words: list[str]) -> list[str]:
    """Returns words in lines of at most `WIDTH` characters."""
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 2 <= WIDTH:
            lines[-1] += f"  {word}"
        else:
            lines.append(word)
    return lines
