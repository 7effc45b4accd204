"""Matches between two agents, every deal played twice with the seats swapped.

Duplicate deals remove most of the luck of the cards: both agents play both sides of each deal, and the mean of the two hands
counts. Chance is a stream of numbers that the first hand draws and the second hand reuses: the n-th chance move of either hand
uses the n-th number. In poker, chance moves do not depend on what the players do, so the cards are the same. In other games
the outcomes stay as alike as the rules allow, and each hand by itself still follows the game's chance probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.table import play_game
from tacit.games import AnyGame
from tacit.html import card, facts, interval_bar
from tacit.tally import Tally

Sights = Sequence[tuple[Any, Any]]
"""Each player's sight (`agents.base.Sight`) at every state of a game."""
Estimator = Callable[[Sights, int], float]
"""Returns the estimated outcome of a game for the first agent, from all sights and its seat."""


class RecordedDraws:
    """Numbers from a generator, which can be replayed from the first one on."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._numbers: list[float] = []
        self._next = 0

    def random(self) -> float:
        """Returns the next number, a recorded one if there is one left."""
        if self._next == len(self._numbers):
            self._numbers.append(self._generator.random())
        self._next += 1
        return self._numbers[self._next - 1]

    def rewind(self) -> None:
        """Goes back to the first number."""
        self._next = 0


class Deal(NamedTuple):
    """One deal and its outcome for the first agent.

    Attributes:
      number: the number of the deal, from 0.
      seats: the first agent's seat in each hand played with the deal: one hand, or one in either seat.
      payoffs: the first agent's winnings in each hand.
      estimates: estimates of the winnings with less luck (`arena/aivat.py`); without an estimator, the payoffs.
    """

    number: int
    seats: tuple[int, ...]
    payoffs: tuple[float, ...]
    estimates: tuple[float, ...]

    @property
    def result(self) -> float:
        """The first agent's mean winnings per hand, by the estimates."""
        return sum(self.estimates) / len(self.estimates)


@dataclass(frozen=True, repr=False)
class MatchResult:
    """The winner of a match, the margin, and its uncertainty.

    Attributes:
      game: The game's name with its parameters.
      agents: The names of A and B.
      hands: The number of hands played.
      mean: A's mean winnings per hand, in `unit`; None if no hand was played.
      interval: The 95 % interval of the mean; None if too few hands were played.
      deviation: The standard deviation of a deal, or of a single hand without duplicates.
      unit: `mbb` (thousandths of a big blind), or `payoff` in games without big blinds.
      verdict: The winner, or how many more hands it takes to tell.
      duplicate: Whether every deal was played in both seats.
      aivat: Whether the mean is an estimate by AIVAT.
      seed: The seed of everything random.
      seconds: The duration of the match.
      interrupted: Whether the user stopped it early.
      without_aivat: With AIVAT, the mean, interval and deviation of the real winnings; else None.
    """

    game: str
    agents: tuple[str, str]
    hands: int
    mean: float | None
    interval: tuple[float, float] | None
    deviation: float | None
    unit: str
    verdict: str
    duplicate: bool
    aivat: bool
    seed: int
    seconds: float
    interrupted: bool = False
    without_aivat: dict[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Returns the result ready for JSON, with the mean under `mbb_per_hand` if its unit is `mbb`."""
        raw = {} if self.without_aivat is None else {"without_aivat": self.without_aivat}
        return {
            "game": self.game, "agents": list(self.agents), "hands": self.hands,
            "mbb_per_hand" if self.unit == "mbb" else "mean": self.mean, "interval": self.interval,
            "deviation": self.deviation, "unit": self.unit, "kind": "sampled", "verdict": self.verdict,
            "duplicate": self.duplicate, "aivat": self.aivat, "seed": self.seed, "seconds": self.seconds,
            "interrupted": self.interrupted, **raw,
        }  # fmt: skip

    def _repr_html_(self) -> str:
        in_unit = ", in thousandths of a big blind" if self.unit == "mbb" else ""
        figures = {
            "game": self.game, "hands": self.hands, f"A wins a hand{in_unit}": self.mean,
            "95 % interval": self.interval and f"{self.interval[0]:+.4g} to {self.interval[1]:+.4g}", "verdict": self.verdict,
            "deals": "in both seats" if self.duplicate else "once", "seconds": self.seconds,
        }  # fmt: skip
        drawn = "" if self.mean is None or self.interval is None else interval_bar(self.mean, self.interval)
        note = "luck taken out by AIVAT" if self.aivat else ""
        return card(f"A: {self.agents[0]} v B: {self.agents[1]}", facts(figures), drawn, note=note)

    def __repr__(self) -> str:
        unit, around = " mbb" if self.unit == "mbb" else "", ""
        if self.interval is not None:
            around = f" (95 % interval {self.interval[0]:+.4g} to {self.interval[1]:+.4g})"
        won = "" if self.mean is None else f"{self.mean:+.4g}{unit} a hand{around}, "
        return f"<MatchResult {self.agents[0]} v {self.agents[1]} on {self.game}: {won}{self.hands:,} hands, {self.verdict}>"


def play_deals(
    game: AnyGame,
    agents: Sequence[Agent],
    generator: np.random.Generator,
    *,
    duplicate: bool = True,
    estimator: Estimator | None = None,
) -> Iterator[Deal]:
    """Yields one deal after another, endlessly.

    Args:
      game: the rules.
      agents: the two players; without duplicates the first one's seat alternates.
      generator: the generator for chance.
      duplicate: whether each deal is played in both seats.
      estimator: estimates the outcome of a hand (see `arena/aivat_cases.py`); None for its payoff.
    """
    for number in count():
        yield _play_deal(game, agents, generator, number, duplicate, estimator)


def play_numbered(
    game: AnyGame,
    agents: Sequence[Agent],
    generators: Sequence[np.random.Generator],
    seed: int,
    numbers: Iterable[int],
    *,
    duplicate: bool = True,
    estimator: Estimator | None = None,
) -> Iterator[Deal]:
    """Yields the deals with given numbers. Each has its own random numbers, so any process may play it.

    Args:
      game: the rules.
      agents: the two players (see `play_deals`).
      generators: the generator for chance, then those of the agents; every deal reseeds all of them.
      seed: the seed shared by all deals.
      numbers: the numbers of the deals, from 0.
      duplicate: whether each deal is played in both seats.
      estimator: estimates the outcome of a hand; None for its payoff.
    """
    for number in numbers:
        for stream, generator in enumerate(generators):
            generator.bit_generator.state = np.random.default_rng([seed, stream, number]).bit_generator.state
        yield _play_deal(game, agents, generators[0], number, duplicate, estimator)


def _play_deal(
    game: AnyGame, agents: Sequence[Agent], generator: np.random.Generator, number: int, duplicate: bool, estimator: Any
) -> Deal:
    """Returns one deal after playing it."""
    draws, payoffs, estimates = RecordedDraws(generator), [], []
    seats = (0, 1) if duplicate else (number % 2,)
    for seat in seats:
        draws.rewind()
        sights: list[tuple[Any, Any]] = []
        players = agents if seat == 0 else agents[::-1]
        returns = play_game(game, players, draws, lambda table, sights=sights: sights.append(table.sights))  # type: ignore[misc]
        payoffs.append(returns[seat])
        estimates.append(returns[seat] if estimator is None else estimator(sights, seat))
    return Deal(number, seats, tuple(payoffs), tuple(estimates))


def figures(game: AnyGame, tally: Tally) -> dict[str, Any]:
    """Returns the mean per hand, its interval and the deviation of a deal, in mbb if the game has big blinds."""
    in_mbb = game.in_units(1.0).get("mbb")
    scale, mean = (in_mbb, "mbb_per_hand") if in_mbb else (1.0, "mean")
    return {
        mean: scale * tally.mean if tally.count else None,
        "interval": None if tally.interval is None else tuple(scale * end for end in tally.interval),
        "deviation": None if tally.deviation is None else scale * tally.deviation,
    }
