"""ReBeL's networks for hold'em: run folders, network files, and networks that are shipped."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.hand_planner import HandPlanner
from tacit.agents.hand_policy import HandPolicy
from tacit.agents.hand_search import HandSearch, RoundEnds
from tacit.agents.options import ALL_OPTIONS, SearchOptions
from tacit.agents.search import SearchAgent
from tacit.agents.warm import WarmStart
from tacit.artifacts.base import Artifact, Evaluation, Monitor
from tacit.artifacts.holdem import endgame_measures
from tacit.errors import TacitError
from tacit.games import AnyGame, load_game
from tacit.games.holdem import require_holdem
from tacit.rebel.holdem.config import HoldemConfig
from tacit.rebel.holdem.network_error import round_end_error
from tacit.rebel.holdem.train import trainable_rules
from tacit.rebel.holdem.trained import load_holdem
from tacit.training.folder import system_of

PLAY_ITERATIONS = 250
"""Default search iterations."""


class HoldemArtifact(Artifact):
    """Networks that value round ends, and the search that plays hold'em with them, on boards of the rounds they know."""

    search_options = ALL_OPTIONS

    def __init__(self, name: str, game: AnyGame | None = None, monitor: Monitor | None = None) -> None:
        self._trained = load_holdem(name)
        own = trainable_rules(load_game(self._trained.game))
        rules = trainable_rules(load_game(self._trained.game) if game is None else game)
        if rules.first_street < own.first_street:
            raise TacitError(f"{name} was trained on {self._trained.game}: it does not know the rounds before")
        super().__init__(name, load_game(self._trained.game) if game is None else game, monitor)

    def search(self, generator: np.random.Generator | None = None, options: SearchOptions | None = None) -> HandSearch:
        """Returns the search that uses its networks."""
        rules, trained = require_holdem(self.game, self.name), self._trained
        device = (options and options.device) or "cpu"
        leaves, policies = trained.leaves(rules, device), trained.policies(device)
        warm = WarmStart(policies, trained.config.warm_start) if policies is not None else None
        ends = RoundEnds(leaves, trained.config.decomposition, tuple(leaves.nets), warm=warm)
        given = {"solver": trained.config.solver, "iterations": PLAY_ITERATIONS, **(options.given() if options else {})}
        return HandSearch(rules, generator=generator, ends=ends, **given)

    def make_agent(self, generator: np.random.Generator, options: SearchOptions) -> Agent:
        return SearchAgent(HandPlanner(self.search(generator, options)), generator, self.name)

    def policy(self) -> HandPolicy:
        return self.search()

    def measures(self) -> dict[str, Callable[..., Evaluation]]:
        return {**endgame_measures(self), "network-error": self.network_error}

    def network_error(self, *, samples: int = 32, iterations: int = 200, device: str = "cpu", seed: int = 0) -> Evaluation:
        """Returns the mean absolute error of the turn's network against rivers solved with this many iterations."""
        rules = require_holdem(load_game(self._trained.game), self.name)
        error = round_end_error(
            self._trained.leaves(rules, device), trainable_rules(rules), samples, iterations, seed, device,
            lambda done: self.monitor.step("solving rivers", done, samples, "belief states"),
        )  # fmt: skip
        return self.evaluation(
            "network-error", error.absolute, "sampled", interval=error.interval, odds_alone=error.odds, samples=error.states,
            unit="what either player has put in",
        )  # fmt: skip


def find(name: str, game: AnyGame | None, monitor: Monitor | None) -> Artifact | None:
    """Returns the artifact of a folder or file, or None unless ReBeL trained it at hold'em."""
    return HoldemArtifact(name, game, monitor) if system_of(name) == HoldemConfig.system else None
