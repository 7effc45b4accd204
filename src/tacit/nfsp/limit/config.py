"""Everything that can be set in a run of NFSP on limit hold'em, and the presets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tacit.errors import TacitError
from tacit.training.settings import Settings

OPTIMIZERS = ("sgd", "adam")


@dataclass(frozen=True)
class LimitConfig(Settings):
    """A run of NFSP on limit hold'em; the defaults are the paper's (section 4.3).

    Where the paper is silent: exploration falls with the fourth root of the steps of descent ("more slowly than in Leduc",
    where it is the square root), and a reward of 1 is ten big blinds. In single big blinds SGD with a rate of 0.1 breaks down
    on the large pots of the first rounds.

    Attributes:
      hidden: units of the hidden layers, with dashes between them.
      anticipation: how often a player follows its best response (the paper's eta).
      exploration: how often a best response moves at random in the first round.
      exploration_power: it falls with this power of the number of steps of descent.
      games: hands that advance one decision in a round.
      updates: steps of descent in a round, for each network of each player.
      batch_size: examples a step.
      optimizer: `sgd` or `adam`.
      learning_rate: of the action values.
      policy_learning_rate: of the average policy.
      refit_every: steps after which the target network is refitted, at the end of a round.
      transitions: size of a player's memory for reinforcement learning, a circle.
      behaviour: size of a player's memory for supervised learning, an exponentially averaged reservoir.
      least_probability: of keeping a new item there.
      reward_unit: big blinds that count as a reward of 1.
      epoch_rounds: rounds an epoch.
      epochs: length of the run.
      evaluate_every: epochs between evaluations; 0 evaluates at the end only.
      deals: of an evaluation, each played in both seats against every bot.
      seed: of everything random.
    """

    hidden: str = "1024-512-1024-512"
    anticipation: float = 0.1
    exploration: float = 0.08
    exploration_power: float = 0.25
    games: int = 256
    updates: int = 2
    batch_size: int = 256
    optimizer: str = "sgd"
    learning_rate: float = 0.1
    policy_learning_rate: float = 0.01
    refit_every: int = 1_000
    transitions: int = 600_000
    behaviour: int = 30_000_000
    least_probability: float = 0.25
    reward_unit: float = 10.0
    epoch_rounds: int = 5_000
    epochs: int = 1_000
    evaluate_every: int = 5
    deals: int = 25_000
    seed: int = 0

    def hidden_layers(self) -> list[int]:
        """Returns the units of each hidden layer."""
        return [int(units) for units in self.hidden.split("-")]

    def __post_init__(self) -> None:
        if not all(units.isdigit() and int(units) > 0 for units in self.hidden.split("-")):
            raise TacitError(f"hidden is units with dashes between them, like 256-128, not {self.hidden!r}")
        self.require_choice("optimizer", OPTIMIZERS)
        self.require_at_least(1, "games", "updates", "batch_size", "refit_every", "epoch_rounds", "epochs")
        self.require_shares("anticipation", "exploration", "exploration_power", "least_probability")
        self.require_at_least(0, "evaluate_every")
        self.require_seed()
        self.require_positive("learning_rate", "policy_learning_rate", "reward_unit")
        self.require_at_least(2, "deals", reason="for an interval")
        self.require_at_least(max(self.batch_size, 3 * self.games), "transitions", reason="for a round and a batch")
        self.require_at_least(self.batch_size, "behaviour", reason="a batch")


_CPU: dict[str, Any] = {
    "hidden": "64-64", "optimizer": "adam", "learning_rate": 0.002, "policy_learning_rate": 0.001, "batch_size": 128,
    "refit_every": 100, "transitions": 200_000, "behaviour": 1_000_000, "epoch_rounds": 500, "epochs": 200, "deals": 2_000,
}  # fmt: skip
_SMOKE: dict[str, Any] = {**_CPU, "hidden": "64", "epoch_rounds": 100, "epochs": 5, "evaluate_every": 1, "deals": 500}

PRESETS = {
    "paper": LimitConfig(),
    # The paper's work in larger rounds: as many steps of descent for a decision, and a GPU is busier.
    "gpu": replace(LimitConfig(), games=4_096, updates=32, epoch_rounds=250, evaluate_every=10),
    "cpu": replace(LimitConfig(), **_CPU),
    "smoke": replace(LimitConfig(), **_SMOKE),
}
