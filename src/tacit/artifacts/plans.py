"""Matches that any process can play a part of (`arena/workers.py`): agents by name, deals by number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from tacit import artifacts
from tacit.agents.hand_policy import HandAgent, HandPolicy, policy_of
from tacit.agents.options import SearchOptions
from tacit.arena.aivat_cases import make_estimator
from tacit.arena.lbr import LocalBestResponse
from tacit.arena.match import Deal, play_numbered
from tacit.artifacts.base import Artifact, Monitor
from tacit.errors import TacitError
from tacit.games import AnyGame, load_game
from tacit.games.holdem import require_holdem


@dataclass(frozen=True)
class MatchPlan:
    """Two agents against each other.

    Attributes:
      game: The game, or its name; processes are sent names.
      agents: The two who play, likewise.
      options: How agents search that do.
      duplicate: Whether every deal is played in both seats.
      aivat: Whether results are estimates by AIVAT.
      seed: Of everything random.
    """

    game: AnyGame | str
    agents: tuple[Artifact | str, Artifact | str]
    options: SearchOptions
    duplicate: bool = True
    aivat: bool = False
    seed: int = 0

    def deals(self, numbers: Iterable[int], monitor: Monitor | None = None) -> Iterator[Deal]:
        """Yields the deals of some numbers; a monitor hears how agents are loaded."""
        game = load_game(self.game) if isinstance(self.game, str) else self.game
        agents, generators = [], [np.random.default_rng() for _ in range(3)]
        for name, generator in zip(self.agents, generators[1:], strict=True):
            artifact = artifacts.open(name, game, monitor)
            agents.append(artifact.agent(generator, self.options.only(artifact.search_options)))
        prepare = partial((monitor or Monitor()).step, "AIVAT", unit="histories", note="compiling the game")
        estimator = None
        if self.aivat:
            prepare(0)
            estimator = make_estimator(game, agents, prepare)
        yield from play_numbered(game, agents, generators, self.seed, numbers, duplicate=self.duplicate, estimator=estimator)


@dataclass(frozen=True)
class LbrPlan:
    """A local best response against what plays hold'em, every deal in both seats.

    Attributes:
      game: As a user names it.
      agent: Likewise: who is answered.
      options: How it searches.
      setting: What the answer may do (`arena/lbr.py`).
      seed: Of everything random.
    """

    game: str
    agent: str
    options: SearchOptions
    setting: str
    seed: int = 0

    def deals(self, numbers: Iterable[int]) -> Iterator[Deal]:
        """Yields the deals of some numbers."""
        game = require_holdem(load_game(self.game), "lbr")
        policy, generators = (
            known_policy(artifacts.open(self.agent, game), self.options),
            [np.random.default_rng() for _ in "cd"],
        )
        agents = LocalBestResponse(game, policy, self.setting), HandAgent(game, policy, generators[1], self.agent)
        yield from play_numbered(game, agents, generators, self.seed, numbers)


def known_policy(artifact: Artifact, options: SearchOptions) -> HandPolicy:
    """Returns what an artifact's agent does with every hand.

    Raises:
      TacitError: that is not known, or an option has no effect on it.
    """
    policy = policy_of(artifact.agent(np.random.default_rng(0), options))
    if policy is None:
        raise TacitError(f"what {artifact.name} does with every hand is not known where it draws: choose --safety unsafe")
    return policy
