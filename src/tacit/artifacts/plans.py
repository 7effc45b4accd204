"""Matches and evaluations that any process can do a part of: agents by name, deals by number (`arena/workers.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from tacit import artifacts
from tacit.agents.hand_policy import HandAgent, HandPolicy, policy_of
from tacit.agents.options import SearchOptions
from tacit.arena.aivat_cases import hand_estimator, make_estimator
from tacit.arena.hand_values import check_down
from tacit.arena.lbr import LocalBestResponse
from tacit.arena.match import play_numbered
from tacit.arena.workers import DealPlan, Table
from tacit.artifacts.base import Artifact, Monitor
from tacit.artifacts.networks import NetworkArtifact
from tacit.errors import TacitError
from tacit.games import AnyGame, load_game
from tacit.games.holdem import require_holdem
from tacit.search.playthroughs import PlayedSearches


@dataclass(frozen=True)
class MatchPlan(DealPlan):
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

    def table(self, monitor: Monitor | None = None) -> Table:
        """Returns what plays deals; a monitor hears how agents are loaded."""
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
        return partial(
            play_numbered, game, agents, generators, self.seed, duplicate=self.duplicate, estimator=estimator
        )  # fmt: skip


@dataclass(frozen=True)
class LbrPlan(DealPlan):
    """A local best response against what plays hold'em, every deal in both seats.

    Attributes:
      game: As a user names it.
      agent: Likewise: who is answered.
      options: How it searches.
      setting: What the answer may do (`arena/lbr.py`).
      aivat: Whether results are estimates by AIVAT, which knows what the agent does with every hand.
      seed: Of everything random.
    """

    game: str
    agent: str
    options: SearchOptions
    setting: str
    aivat: bool = False
    seed: int = 0

    def table(self) -> Table:
        game = require_holdem(load_game(self.game), "lbr")
        policy, generators = (
            known_policy(artifacts.open(self.agent, game), self.options),
            [np.random.default_rng() for _ in "cd"],
        )
        agents = LocalBestResponse(game, policy, self.setting), HandAgent(game, policy, generators[1], self.agent)
        # The simple value function: others may take minutes to make, in every worker.
        estimator = hand_estimator(game, (None, policy), [check_down] * 2) if self.aivat else None
        return partial(play_numbered, game, agents, generators, self.seed, estimator=estimator)


@dataclass(frozen=True)
class PlaythroughPlan:
    """The searches of playthroughs by a network, as work for processes.

    Attributes:
      agent: The name of what plays.
      game: As a user names it.
      network: The name of its network: its own, or one that a run kept.
      epoch: The epoch of that.
      solver: The search algorithm.
      iterations: The search iterations.
      device: Where it searches.
      safe: Whether it follows sampled iterations, not averages.
    """

    agent: str
    game: str
    network: str
    epoch: int
    solver: str
    iterations: int
    device: str
    safe: bool

    def open(self, number: int, life: int) -> PlayedSearches:
        """Returns the searches.

        Raises:
          TacitError: the run has another network now.
        """
        del number, life  # searches draw nothing
        artifact = artifacts.open(self.agent, self.game)
        assert isinstance(artifact, NetworkArtifact)
        trained = artifact.load(self.network)
        if trained.epoch != self.epoch:
            raise TacitError(f"{self.network} was trained on meanwhile: evaluate one of its kept networks, or wait for its end")
        return PlayedSearches(artifact.search_of(trained, self.solver, self.iterations, self.device), self.safe)


def known_policy(artifact: Artifact, options: SearchOptions) -> HandPolicy:
    """Returns what an artifact's agent does with every hand.

    Raises:
      TacitError: that is not known, or an option has no effect on it.
    """
    policy = policy_of(artifact.agent(np.random.default_rng(0), options))
    if policy is None:
        raise TacitError(f"what {artifact.name} does with every hand is not known where it draws: choose --safety unsafe")
    return policy
