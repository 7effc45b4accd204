"""Everything that can be set in a run of Student of Games or DeepStack, and the presets."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.base import CHANCE, TERMINAL
from tacit.learning.settings import ENCODERS, NetworkSettings
from tacit.search.config import CFR_AVE, CFR_D, MODIFIED_CFR_AVE, SearchConfig
from tacit.solvers.schedules import RegretSchedule, plain_schedule
from tacit.tree.subgame import ROUND, Depth

SIMULTANEOUS, ALTERNATING = UPDATES = ("simultaneous", "alternating")
NO_POLICIES, GAME_POLICIES, ALL_POLICIES = POLICIES = ("none", "games", "all")
DEPTH_WITHOUT_ROUNDS = 2
"""Actions that searches look ahead in games without betting rounds."""


@dataclass(frozen=True)
class QueryConfig(NetworkSettings):
    """What runs of Student of Games and DeepStack share: a search, and a network that learns from solved queries.

    Attributes:
      solver: the search algorithm, one of the CFR family.
      iterations: iterations of searches in games and of solved queries; each updates both players.
      warm_up: the share of the iterations, from the start, whose strategies are left out of averages.
      updates: `simultaneous` as in the paper, or `alternating`, where player 1 answers player 0's new strategy.
      decomposition: at which beliefs leaves are valued: of the present strategies (`cfr-d`, as in the paper), or of their
        averages (`modified-cfr-ave`), which is several times less exploitable with as many iterations.
      depth: actions a search looks ahead, or `round` for the rest of the betting round (2 actions in a game without rounds).
      games: games of self-play that advance in step, or random situations drawn at a time, and queries that are solved at once.
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

    words: ClassVar[Mapping[str, str]] = {"depth": ROUND}
    zero_sum: ClassVar[bool] = True

    solver: str = "cfr+"
    iterations: int = 200
    warm_up: float = 0.5
    updates: str = SIMULTANEOUS
    decomposition: str = CFR_D
    depth: int | str = ROUND
    games: int = 256
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
        self.require_at_least(0, "halve_every", "evaluate_every")
        self.require_seed()
        self.require_positive("learning_rate", "ratio")
        self.require_shares("warm_up")
        if not isinstance(plain_schedule(self.solver), RegretSchedule):
            raise TacitError(f"re-solving matches regrets: choose a solver of the CFR family, such as cfr+, not {self.solver}")
        if self.decomposition == CFR_AVE:
            raise TacitError(f"{CFR_AVE} needs exact values of leaves, which networks are not: choose {MODIFIED_CFR_AVE}")
        self.search()  # refuses what search does not know


@dataclass(frozen=True)
class SogConfig(QueryConfig):
    """A run of Student of Games (Oscarsson et al., Table I), which asks the queries of its own self-play.

    Attributes:
      mix: the share of uniform play in the moves of games.
      queries_per_search: queries of a search in a game that are solved, on average.
      recursive_queries: queries of a solved query that are solved in turn, on average.
      inner_queries: queries of a search in a game at public states inside its tree, on average. Searches of fixed depth never
        ask them, growing trees do: with 0 these open whole searches of that depth at a time.
      policies: what a policy network learns from, which gives growing trees their priors: the searches of `games`, of games
        and of solved queries (`all`), or nothing (`none`, there is no such network).
    """

    system: ClassVar[str] = "sog"

    mix: float = 0.1
    queries_per_search: float = 30.0
    recursive_queries: float = 3.0
    inner_queries: float = 0.0
    policies: str = NO_POLICIES

    def __post_init__(self) -> None:
        self.require_positive("queries_per_search")
        self.require_at_least(0, "recursive_queries", "inner_queries")
        self.require_shares("mix")
        self.require_choice("policies", POLICIES)
        super().__post_init__()


@dataclass(frozen=True)
class DeepstackConfig(QueryConfig):
    """A run of DeepStack: the same search, with networks that are trained on random situations and not by self-play."""

    system: ClassVar[str] = "deepstack"


_BETTER: dict[str, Any] = {
    "solver": "pcfr+", "warm_up": 0.0, "updates": ALTERNATING, "decomposition": MODIFIED_CFR_AVE, "halve_every": 0,
    "learning_rate": 2e-3,
}  # fmt: skip
_SHARED: dict[str, dict[str, Any]] = {
    "paper": {},
    "cpu": dict(
        **_BETTER, games=512, batch_size=512, ratio=16.0, replay_size=200_000, cycle_queries=4_096, epochs=24,
        evaluate_every=4,
    ),
    "gpu": dict(
        **_BETTER, games=8_192, hidden=256, batch_size=4_096, ratio=32.0, replay_size=2_000_000, cycle_queries=65_536,
        epochs=40, evaluate_every=5,
    ),
    "smoke": dict(
        **_BETTER, iterations=10, games=32, hidden=32, layers=2, batch_size=64, replay_size=2_048, cycle_queries=128, epochs=3,
        evaluate_every=1,
    ),
}  # fmt: skip
_SELF_PLAY: dict[str, Any] = {"queries_per_search": 8.0, "recursive_queries": 0.5, "policies": ALL_POLICIES}
PRESETS = {
    "paper": SogConfig(),
    "cpu": SogConfig(**_SHARED["cpu"], **_SELF_PLAY),
    "gpu": SogConfig(**_SHARED["gpu"], **_SELF_PLAY),
    "smoke": SogConfig(**_SHARED["smoke"], **{**_SELF_PLAY, "queries_per_search": 4.0}),
}
DEEPSTACK_PRESETS = {name: DeepstackConfig(**settings) for name, settings in _SHARED.items()}


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
