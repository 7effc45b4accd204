"""Everything that can be set in a run of Student of Games or DeepStack, and the presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from tacit.games import AnyGame
from tacit.learning.settings import ENCODERS, MLP, REPLAY_MEMORY, Decomposition, NetworkSettings, SearchDepth, ValueNetwork
from tacit.search.config import CFR_D, MODIFIED_CFR_AVE, SearchConfig
from tacit.solvers.schedules import SCHEDULES, RegretSchedule
from tacit.training.ranges import Choice, Count, CountOrZero, Number, Positive, PositiveOrZero, Seed, Share
from tacit.tree.subgame import ROUND, Depth, usual_depth

SIMULTANEOUS, ALTERNATING = UPDATES = ("simultaneous", "alternating")
NO_POLICIES, GAME_POLICIES, ALL_POLICIES = POLICIES = ("none", "games", "all")
REGRET_MATCHING = tuple(name for name, schedule in SCHEDULES.items() if isinstance(schedule, RegretSchedule))
"""The solvers that re-solving can use."""
FIT_EVALUATIONS = -1
"""The value of `evaluate_every` that fits it to the game, because 0 means something else there."""


@dataclass(frozen=True)
class QueryConfig(NetworkSettings):
    """The settings shared by Student of Games and DeepStack: a search, and a network that learns from solved queries.

    Attributes:
      solver: The search algorithm, one of the CFR family.
      iterations: Iterations of searches in games and of solved queries; each updates both players.
      warm_up: The share of the iterations, counted from the first, that is left out of averages.
      updates: `simultaneous` as in the paper, or `alternating`, where player 1 answers player 0's new strategy.
      decomposition: The beliefs at which leaves are valued: those of the current strategies (`cfr-d`, as in the paper), or of
        their averages (`modified-cfr-ave`), which is several times less exploitable with as many iterations.
      depth: Actions a search looks ahead, or `round` for the rest of the betting round (2 actions in a game without rounds).
      games: Games of self-play that advance together (or random situations drawn at a time), and queries solved at once; 0 fits
        them to the game.
      encoder: What networks see of a public state: its class (`classes`), or `features` (the game's own, else made of
        observations).
      hidden: The width of the network's hidden layers.
      layers: The number of hidden layers.
      network: The value network: `mlp`, or one of your own as FILE.py:CLASS(key=value,...).
      learning_rate: The initial learning rate of Adam.
      halve_every: Training steps after which the learning rate is halved; 0 decays it by a cosine over the run instead.
      batch_size: Examples in a training step.
      ratio: Examples trained on for each new one.
      replay_size: Examples kept for training.
      replay_memory: Gigabytes of memory for the examples of each network; if they take more, older ones go to files of the run.
        On a GPU all stay in its memory.
      cycle_queries: Queries solved in a cycle of self-play, solving and training; 0 fits them to the game.
      epochs: The cycles of the run; 0 fits them to the game.
      evaluate_every: Cycles between evaluations; 0 evaluates at the end only, -1 fits them to the game.
      seed: The seed of everything random.
    """

    zero_sum: ClassVar[bool] = True
    fitted: ClassVar[Mapping[str, float]] = {"games": 0, "cycle_queries": 0, "epochs": 0, "evaluate_every": FIT_EVALUATIONS}

    solver: Annotated[str, Choice(*REGRET_MATCHING, reason="re-solving needs regret matching")] = "cfr+"
    iterations: Count = 200
    warm_up: Share = 0.5
    updates: Annotated[str, Choice(*UPDATES)] = SIMULTANEOUS
    decomposition: Decomposition = CFR_D
    depth: SearchDepth = ROUND
    games: CountOrZero = 256
    encoder: Annotated[str, Choice(*ENCODERS)] = "features"
    hidden: Count = 128
    layers: Count = 4
    network: ValueNetwork = MLP
    learning_rate: Positive = 1e-3
    halve_every: CountOrZero = 3_000
    batch_size: Count = 100
    ratio: Positive = 4.0
    replay_size: Count = 15_000
    replay_memory: Positive = REPLAY_MEMORY
    cycle_queries: CountOrZero = 5_000
    epochs: CountOrZero = 30
    evaluate_every: Annotated[int, Number(int, FIT_EVALUATIONS)] = 5
    seed: Seed = 0

    def search(self) -> SearchConfig:
        warm_up, alternating = int(self.warm_up * self.iterations), self.updates == ALTERNATING
        return SearchConfig(
            self.solver, self.iterations, self.depth, self.decomposition, alternating=alternating, warm_up=warm_up
        )

    def depth_in(self, game: AnyGame) -> Depth:
        return usual_depth(game) if self.depth == ROUND else self.depth

    def __post_init__(self) -> None:
        super().__post_init__()
        self.search()  # raises if the settings of search do not fit together


@dataclass(frozen=True)
class SogConfig(QueryConfig):
    """A run of Student of Games (Oscarsson et al., Table I), which solves queries from its own self-play.

    Attributes:
      mix: The share of uniform play in the moves of games.
      queries_per_search: Queries from each search in a game that are solved, on average.
      recursive_queries: Queries from each solved query that are solved in turn, on average.
      inner_queries: Queries from each search in a game at public states inside its tree, on average. Searches of fixed depth
        never ask them, but growing trees do: with 0 these open whole searches of that depth at a time.
      policies: What the policy network, which gives growing trees their priors, learns from: searches in games (`games`), those
        and searches of solved queries (`all`), or nothing (`none`: there is no such network).
    """

    system: ClassVar[str] = "sog"

    mix: Share = 0.1
    queries_per_search: Positive = 30.0
    recursive_queries: PositiveOrZero = 3.0
    inner_queries: PositiveOrZero = 0.0
    policies: Annotated[str, Choice(*POLICIES)] = NO_POLICIES


@dataclass(frozen=True)
class DeepstackConfig(QueryConfig):
    """A run of DeepStack: the same search, with networks trained on random situations instead of self-play."""

    system: ClassVar[str] = "deepstack"


_BETTER: dict[str, Any] = {
    "solver": "pcfr+", "warm_up": 0.0, "updates": ALTERNATING, "decomposition": MODIFIED_CFR_AVE, "halve_every": 0,
    "learning_rate": 2e-3,
}  # fmt: skip
_SHARED: dict[str, dict[str, Any]] = {
    "paper": {},
    "cpu": dict(
        **_BETTER, games=0, batch_size=512, ratio=16.0, replay_size=200_000, cycle_queries=0, epochs=0,
        evaluate_every=FIT_EVALUATIONS,
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
