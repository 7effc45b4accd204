"""What ReBeL trained: run folders, network files, and the networks that are shipped as `pretrained:NAME`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.options import SearchOptions
from tacit.agents.search import SearchAgent
from tacit.artifacts.base import Artifact, Evaluation, Watch, trained_game
from tacit.games import AnyGame
from tacit.nets.forward import forward_pass
from tacit.rebel.judge import EvaluationProtocol, judge, last_networks
from tacit.rebel.network_error import network_error
from tacit.rebel.trained import PRETRAINED, load_trained
from tacit.search.leaves import LeafEvaluator
from tacit.search.tables import SearchSpace

PLAY_ITERATIONS = 512
"""Search iterations of an agent, unless the user says otherwise."""


class RebelArtifact(Artifact):
    """Networks that search plays with."""

    search_options = ("solver", "iterations", "safe")

    def __init__(self, name: str, game: AnyGame | None = None, watch: Watch | None = None) -> None:
        self._trained = load_trained(name)
        super().__init__(name, trained_game(name, self._trained.game, game), watch)

    @cached_property
    def _space(self) -> SearchSpace:
        return self._trained.space(self.game)

    def make_agent(self, generator: np.random.Generator, options: SearchOptions) -> Agent:
        solver, iterations = options.solver or self._trained.config.solver, options.iterations or PLAY_ITERATIONS
        search = self._trained.search(self._space, solver, iterations)
        return SearchAgent(search, generator, safe=options.safe, name=self.name)

    def leaf(self, space: SearchSpace, device: str = "cpu") -> LeafEvaluator:
        return forward_pass(self._trained.value_net(space, device))

    def measures(self) -> dict[str, Callable[..., Evaluation]]:
        return {"exploitability": self.exploitability, "network-error": self.network_error}

    def exploitability(
        self,
        *,
        solver: str = "dcfr",
        iterations: int = 128,
        playthroughs: int = 64,
        last: int | None = None,
        device: str = "cpu",
        seed: int = 0,
    ) -> Evaluation:
        """Returns an upper bound on the exploitability of search with it (see `EvaluationProtocol`).

        With `last` it is the mean over so many networks that a run was evaluated with.
        """
        protocol = EvaluationProtocol(solver, iterations, playthroughs, seed)
        networks: Sequence[str | Path] = [self.name] if last is None else last_networks(self.name, last)
        judged = []
        for number, network in enumerate(networks, 1):

            def show(done: int, most: int, what: str = f"evaluating network {number} of {len(networks)}") -> None:
                self.watch.step(what, done, most, "searches", "at most: games that end early need fewer")

            judged.append(judge(network, protocol, device, show, self._space))
        known, quality = self.game.known_value(), [one.quality for one in judged]
        return self.evaluation(
            "exploitability", float(np.mean([one.exploitability for one in quality])), "upper bound",
            playthroughs=playthroughs, solver=solver, iterations=iterations,
            value=float(np.mean([one.value for one in quality])), known_value=known and known.value,
            checkpoints=[{"epoch": one.epoch, "exploitability": one.quality.exploitability} for one in judged],
        )  # fmt: skip

    def network_error(self, *, samples: int = 200, seed: int = 0) -> Evaluation:
        """Returns the mean absolute error of infostate values against exact ones, over belief states of self-play."""
        error = network_error(
            self.leaf(self._space),
            self._space,
            self._trained.config,
            samples,
            np.random.default_rng(seed),
            lambda done: self.watch.step("solving exactly", done, samples, "belief states"),
        )
        return self.evaluation(
            "network-error", error.absolute, "sampled", interval=error.interval, rms=error.rms, value_error=error.value,
            typical_return=error.typical_return, relative=error.absolute / error.typical_return, samples=error.samples,
        )  # fmt: skip


def find(name: str, game: AnyGame | None, watch: Watch | None) -> RebelArtifact | None:
    """Returns what was trained there. This kind is asked last: of anything else at a path, loading says what is wrong."""
    return RebelArtifact(name, game, watch) if name.startswith(PRETRAINED) or Path(name).exists() else None
