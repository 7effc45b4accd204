"""Everything that can be set in a run of Student of Games or DeepStack, and the presets."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.base import CHANCE, TERMINAL
from tacit.learning.settings import ENCODERS, NetworkSettings
from tacit.search.config import CFR_AVE, CFR_D, MODIFIED_CFR_AVE, SearchConfig
from tacit.solvers.schedules import RegretSchedule, plain_schedule
from tacit.tree.subgame import ROUND, Depth

SIMULTANEOUS, ALTERNATING = UPDATES = ("simultaneous", "alternating")
DEPTH_WITHOUT_ROUNDS = 2
"""Actions that searches look ahead in games without betting rounds."""


@dataclass(frozen=True)
class SogConfig(NetworkSettings):
    """A run of Student of Games (Oscarsson et al., Table I).

    Attributes:
      solver: the search algorithm, one of the CFR family.
      iterations: iterations of searches in games and of solved queries; each updates both players.
      warm_up: the share of the iterations, from the start, whose strategies are left out of averages.
      updates: `simultaneous` as in the paper, or `alternating`, where player 1 answers player 0's new strategy.
      decomposition: at which beliefs leaves are valued: of the present strategies (`cfr-d`, as in the paper), or of their
        averages (`modified-cfr-ave`), which is several times less exploitable with as many iterations.
      depth: actions a search looks ahead, or `round` for the rest of the betting round (2 actions in a game without rounds).
      games: games of self-play that advance in step, and queries that are solved at once.
      mix: the share of uniform play in the moves of games.
      queries_per_search: queries of a search in a game that are solved, on average.
      recursive_queries: queries of a solved query that are solved in turn, on average.
      encoder: what networks see of a public state: its class, or `features` (the game's own, else made of observations).
      hidden: width of the network's hidden layers.
      layers: their number.
      learning_rate: of Adam at the start.
      halve_every: training steps after which the learning rate is halved; 0 decays it by a cosine over the run instead.
      batch_size: examples a training step.
      ratio: examples trained on for each new one.
      replay_size: examples kept.
      cycle_queries: queries solved in a cycle of self-play, solving and training.
      epochs: cycles of the run.
      evaluate_every: cycles between evaluations; 0 evaluates at the end only.
      seed: of everything random.
    """

    system: ClassVar[str] = "sog"
    words: ClassVar[Mapping[str, str]] = {"depth": ROUND}
    zero_sum: ClassVar[bool] = True

    solver: str = "cfr+"
    iterations: int = 200
    warm_up: float = 0.5
    updates: str = SIMULTANEOUS
    decomposition: str = CFR_D
    depth: int | str = ROUND
    games: int = 256
    mix: float = 0.1
    queries_per_search: float = 30.0
    recursive_queries: float = 3.0
    encoder: str = "features"
    hidden: int = 128
    layers: int = 4
    learning_rate: float = 1e-3
    halve_every: int = 3_000
    batch_size: int = 100
    ratio: float = 4.0
    replay_size: int = 15_000
    cycle_queries: int = 5_000
    epochs: int = 30
    evaluate_every: int = 5
    seed: int = 0

    def search(self) -> SearchConfig:
        warm_up, alternating = int(self.warm_up * self.iterations), self.updates == ALTERNATING
        return SearchConfig(
            self.solver, self.iterations, self.depth, self.decomposition, alternating=alternating, warm_up=warm_up
        )

    def depth_in(self, game: AnyGame) -> Depth:
        return self.depth if self.depth != ROUND or _has_rounds(game) else DEPTH_WITHOUT_ROUNDS

    def __post_init__(self) -> None:
        self.require_choice("encoder", ENCODERS)
        self.require_choice("updates", UPDATES)
        self.require_at_least(1, "games", "hidden", "layers", "batch_size", "replay_size", "cycle_queries", "epochs")
        self.require_at_least(0, "halve_every", "evaluate_every", "recursive_queries")
        self.require_seed()
        self.require_positive("learning_rate", "ratio", "queries_per_search")
        self.require_shares("mix", "warm_up")
        if not isinstance(plain_schedule(self.solver), RegretSchedule):
            raise TacitError(f"re-solving matches regrets: choose a solver of the CFR family, such as cfr+, not {self.solver}")
        if self.decomposition == CFR_AVE:
            raise TacitError(f"{CFR_AVE} needs exact values of leaves, which networks are not: choose {MODIFIED_CFR_AVE}")
        self.search()  # refuses what search does not know


@dataclass(frozen=True)
class DeepstackConfig(SogConfig):
    """A run of DeepStack: the same search, with networks that are trained on random situations.

    `mix`, `queries_per_search` and `recursive_queries` have no effect: there is no self-play.
    """

    system: ClassVar[str] = "deepstack"


_BETTER: dict[str, Any] = {
    "solver": "pcfr+", "warm_up": 0.0, "updates": ALTERNATING, "decomposition": MODIFIED_CFR_AVE, "halve_every": 0,
}  # fmt: skip
PRESETS: dict[str, SogConfig] = {
    "paper": SogConfig(),
    "cpu": SogConfig(
        **_BETTER, games=512, queries_per_search=8.0, recursive_queries=0.5, learning_rate=2e-3, batch_size=512, ratio=16.0,
        replay_size=200_000, cycle_queries=4_096, epochs=24, evaluate_every=4,
    ),
    "gpu": SogConfig(
        **_BETTER, games=8_192, queries_per_search=8.0, recursive_queries=0.5, hidden=256, learning_rate=2e-3,
        batch_size=4_096, ratio=32.0, replay_size=2_000_000, cycle_queries=65_536, epochs=40, evaluate_every=5,
    ),
    "smoke": SogConfig(
        **_BETTER, iterations=10, games=32, queries_per_search=4.0, recursive_queries=0.5, hidden=32, layers=2,
        learning_rate=2e-3, batch_size=64, replay_size=2_048, cycle_queries=128, epochs=3, evaluate_every=1,
    ),
}  # fmt: skip
DEEPSTACK_PRESETS = {
    name: DeepstackConfig(**{field.name: getattr(config, field.name) for field in fields(config)})
    for name, config in PRESETS.items()
}


def _has_rounds(game: AnyGame, games: int = 200) -> bool:
    """Returns whether chance moves after a decision in some of the games that are played at random, the same every time."""
    generator = random.Random(0)
    for _ in range(games):
        state, decided = game.initial_state(), False
        while (actor := game.actor(state)) != TERMINAL:
            if actor == CHANCE:
                if decided:
                    return True
                state = game.apply(state, generator.choice(game.chance_outcomes(state))[0])
            else:
                decided, state = True, game.apply(state, generator.choice(game.legal_actions(state)))
    return False
