"""Until a hand is over, the browser receives nothing that depends on what only the opponent knows.

Every hand is played twice: as dealt, and in a world that looks the same to the person but has something hidden changed:
another card or roll of the opponent's, or another of its hidden moves. Until the end all frames must be equal, byte for
byte, also in training mode: an agent's view does not depend on its own hand.
"""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tacit.agents.base import Agent, Sight
from tacit.agents.table import Table
from tacit.artifacts import load_agent
from tacit.games import AnyGame, load_game
from tacit.games.base import CHANCE, TERMINAL
from tacit.web.desk import Outlet
from tacit.web.play.desk import PlayDesk
from tacit.web.play.scenes import make_stage

pytest.importorskip("fastapi", reason="the browser app needs the extra web")

Moves = list[tuple[int, int]]
"""A history: who moved (including chance), and the move."""
RIVER = "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=3000,bets=1|allin,range0=AA|KQs|87s,range1=QQ|JTs|AKo)"


class Numbers:
    """A generator that returns given numbers."""

    def __init__(self, numbers: list[float]) -> None:
        self._numbers = iter(numbers)

    def random(self) -> float:
        return next(self._numbers)


class Scripted:
    """Plays given moves; observes and thinks as a real agent does."""

    def __init__(self, real: Agent, script: list[int]) -> None:
        self.name, self._real, self._script = real.name, real, iter(script)

    def start(self, player: int) -> None:
        self._real.start(player)

    def observe(self, sight: Sight) -> None:
        self._real.observe(sight)

    def act(self) -> int:
        return next(self._script)

    def view(self) -> Any:
        return self._real.view()


def moves_at(game: AnyGame, state: Any) -> list[int]:
    """Returns the possible moves of chance or of the player to act."""
    if game.actor(state) == CHANCE:
        return [outcome for outcome, _ in game.chance_outcomes(state)]
    return list(game.legal_actions(state))


def random_history(game: AnyGame, generator: np.random.Generator) -> Moves:
    state, moves = game.initial_state(), []
    while (actor := game.actor(state)) != TERMINAL:
        options = moves_at(game, state)
        weights = [share for _, share in game.chance_outcomes(state)] if actor == CHANCE else None
        move = int(generator.choice(options, p=weights))
        moves.append((actor, move))
        state = game.apply(state, move)
    return moves


def is_possible(game: AnyGame, moves: Moves) -> bool:
    state = game.initial_state()
    for actor, move in moves:
        if game.actor(state) != actor:
            return False
        if move not in moves_at(game, state):
            return False
        state = game.apply(state, move)
    return game.actor(state) == TERMINAL


def numbers_of(game: AnyGame, moves: Moves) -> list[float]:
    """Returns the random numbers with which chance makes its moves in a history."""
    state, numbers = game.initial_state(), []
    for actor, move in moves:
        if actor == CHANCE:
            outcomes, shares = zip(*game.chance_outcomes(state), strict=True)
            place = outcomes.index(move)
            numbers.append(sum(shares[:place]) + shares[place] / 2)
        state = game.apply(state, move)
    return numbers


def sights_before_the_end(game: AnyGame, moves: Moves, seat: int) -> list[Sight | None]:
    table, seen = Table(game, Numbers(numbers_of(game, moves))), []
    for actor, move in moves:
        if actor != CHANCE:
            seen.append(table.sights[seat])
            table.play(move)
    return seen


def other_world(game: AnyGame, moves: Moves, seat: int, generator: np.random.Generator) -> Moves | None:
    """Returns a history that the person in `seat` cannot tell from `moves` before the end; None if there is none."""
    seen = sights_before_the_end(game, moves, seat)
    state, changes = game.initial_state(), []
    for place, (actor, move) in enumerate(moves):
        if actor != seat:
            options = moves_at(game, state)
            changes += [(place, (actor, int(other))) for other in options if other != move]
        state = game.apply(state, move)
    for number in generator.permutation(len(changes))[:200]:
        place, changed = changes[number]
        other = [*moves[:place], changed, *moves[place + 1 :]]
        if is_possible(game, other) and sights_before_the_end(game, other, seat) == seen:
            return other
    return None


def frames_before_the_end(game: AnyGame, agent: Agent, moves: Moves, seat: int, training: bool) -> list[str]:
    """Returns the frames that the desk sends before the person could know how the hand ended."""
    frames: list[dict[str, Any]] = []
    out = Outlet(lambda what, frame: frames.append({"what": what, **frame}))
    desk = PlayDesk({"seed": 0, "seconds": 0.2})
    desk._game, desk._stage, desk._seats, desk._training = game, make_stage(game), (seat,), training
    desk._agent = Scripted(agent, [move for actor, move in moves if actor == 1 - seat])
    desk._luck = _NoLuck()  # type: ignore[assignment]
    desk._generator = _Chance(numbers_of(game, moves), seat)  # type: ignore[assignment]
    desk.handle({"do": "next"}, out) if desk._hand else desk._deal(out)
    for actor, move in moves:
        if actor == seat:
            desk.handle({"do": "act", "action": move}, out)
    over = next(place for place, frame in enumerate(frames) if frame.get("turn") == "over")
    early = frames[:over]
    assert {frame["type"] for frame in early} <= {"table", "thinking"} | ({"mind"} if training else set())
    assert all(frame["over"] is None for frame in early if frame["type"] == "table")
    return [json.dumps(frame) for frame in early if frame["type"] != "thinking"]  # these report how much time has passed


class _NoLuck:
    reason = "not asked"

    def adjusted(self, sights: object, seat: int) -> None:
        return None


class _Chance(Numbers):
    """A desk's generator that deals by given numbers and always chooses the same seat."""

    def __init__(self, numbers: list[float], seat: int) -> None:
        super().__init__(numbers)
        self._seat = seat

    def choice(self, seats: object) -> int:
        return self._seat


def hands(game: AnyGame, count: int) -> Iterator[tuple[Moves, Moves, int]]:
    """Yields pairs of worlds that look alike to the person, with the person's seat."""
    generator, tried = np.random.default_rng(0), 0
    while count:
        seat, moves = int(generator.integers(2)), random_history(game, generator)
        other = other_world(game, moves, seat, generator)
        tried += 1
        assert tried < 5_000
        if other is not None:
            yield moves, other, seat
            count -= 1


@pytest.mark.parametrize(
    ("name", "agent", "count"),
    [
        ("kuhn_poker", "default", 150),
        ("leduc_poker", "default", 150),
        ("pot_limit_leduc", "always-call", 100),
        ("liars_dice(dice=1,faces=4)", "random", 150),
        ("liars_dice(dice=2,faces=3)", "random", 100),
        ("liars_dice(dice=1,faces=4)", "pretrained:liars_dice_1x4f", 5),
        ("goofspiel(cards=4)", "default", 150),
        ("modified_rps", "default", 70),
        ("limit_holdem", "pot-odds", 60),
        ("no_limit_holdem", "random", 60),
        (RIVER, "holdem-search", 5),
    ],
)
def test_frames_do_not_depend_on_what_is_hidden(name: str, agent: str, count: int) -> None:
    game = load_game(name)
    player = load_agent(agent, game, np.random.default_rng(0))
    is_fixed = not agent.startswith("pretrained")  # one that samples iterations samples others the second time
    differ = 0
    for number, (moves, other, seat) in enumerate(hands(game, count)):
        training = is_fixed and number % 2 == 1
        first, second = (frames_before_the_end(game, player, world, seat, training) for world in (moves, other))
        assert first == second
        differ += moves != other
    assert differ == count


def test_a_leak_is_noticed() -> None:
    """The worlds really differ in what the opponent holds: a frame that showed it would fail the test above."""
    game = load_game("leduc_poker")
    for moves, other, seat in hands(game, 20):
        theirs = [sights_before_the_end(game, world, 1 - seat) for world in (moves, other)]
        assert theirs[0] != theirs[1]
