"""Matches and evaluations that processes can share: agents are given by name, deals by number (`arena/workers.py`)."""

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
    """A match of two agents.

    Attributes:
      game: The game, or its name; processes are sent names.
      agents: The two agents, or their names; processes are sent names.
      options: How the agents search, if they do.
      duplicate: Whether every deal is played in both seats.
      aivat: Whether results are estimates by AIVAT.
      seed: The seed for everything random.
    """

    game: AnyGame | str
    agents: tuple[Artifact | str, Artifact | str]
    options: SearchOptions
    duplicate: bool = True
    aivat: bool = False
    seed: int = 0

    def table(self, monitor: Monitor | None = None) -> Table:
        """Returns the function that plays deals; the monitor receives the progress of loading the agents."""
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
    """A local best response against a hold'em agent, with every deal in both seats.

    Attributes:
      game: The game's name, as the user gives it.
      agent: The name of the agent that is answered.
      options: How the agent searches.
      setting: The actions that the response may take (`arena/lbr.py`).
      aivat: Whether results are estimates by AIVAT, which knows the agent's strategy for every hand.
      seed: The seed for everything random.
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
        # The simple value function: others may take every worker minutes to build.
        estimator = hand_estimator(game, (None, policy), [check_down] * 2) if self.aivat else None
        return partial(play_numbered, game, agents, generators, self.seed, estimator=estimator)


@dataclass(frozen=True)
class PlaythroughPlan:
    """The searches of a network's playthroughs, as work for processes.

    Attributes:
      agent: The name of the artifact that plays.
      game: The game's name, as the user gives it.
      network: The name of the network: the artifact's own, or one that its run kept.
      epoch: The epoch of that network.
      solver: The search algorithm.
      iterations: The search iterations.
      device: Where it searches.
      safe: Whether it follows sampled iterations instead of averages.
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
          TacitError: the run has replaced the network since.
        """
        del number, life  # searches draw nothing
        artifact = artifacts.open(self.agent, self.game)
        assert isinstance(artifact, NetworkArtifact)
        trained = artifact.load(self.network)
        if trained.epoch != self.epoch:
            raise TacitError(
                f"{self.network} has been trained further: evaluate a network that its run kept, or wait for its end"
            )
        return PlayedSearches(artifact.search_of(trained, self.solver, self.iterations, self.device), self.safe)


def known_policy(artifact: Artifact, options: SearchOptions) -> HandPolicy:
    """Returns the strategy of an artifact's agent for every hand.

    Raises:
      TacitError: the strategy is not known, or an option has no effect on the agent.
    """
    policy = policy_of(artifact.agent(np.random.default_rng(0), options))
    if policy is None:
        raise TacitError(
            f"{artifact.name} draws iterations, so its strategy for every hand is not known: choose --safety unsafe"
        )
    return policy
