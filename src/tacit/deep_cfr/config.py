"""The settings of Deep CFR and Single Deep CFR, and the presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.training.layers import Layers, units_of
from tacit.training.ranges import Count, CountOrZero, Flag, Positive, PositiveOrZero, Seed
from tacit.training.settings import Settings


@dataclass(frozen=True)
class SdCfrConfig(Settings):
    """A run of Single Deep CFR. The defaults are those of the Deep CFR paper (section 5), scaled to games that compile.

    Attributes:
      hidden: Units of the hidden layers, separated by dashes.
      traversals: Games that each player samples in an iteration.
      advantage_steps: Steps of descent on a player's advantage network in an iteration.
      batch_size: Examples in a step of descent.
      learning_rate: The learning rate of the advantage networks, which learn by Adam.
      clip: The largest norm of a gradient; longer gradients are shortened to it.
      restart: Whether advantage networks start from new random weights in every iteration, as in the paper. Otherwise they
        continue from the last ones, and need far fewer steps.
      advantage_memory: The size of a player's memory of advantages, a reservoir.
      reward_unit: Winnings that count as 1, in the unit of the game's payoffs; 0 uses uniform play's mean absolute payoff.
      epoch_iterations: Iterations in an epoch.
      epochs: The length of the run.
      evaluate_every: Epochs between evaluations; 0 evaluates at the end only.
      seed: The seed of everything random.
    """

    system: ClassVar[str] = "sd-cfr"
    fitted: ClassVar[Mapping[str, float]] = {"reward_unit": 0}

    hidden: Layers = "64-64-64"
    traversals: Count = 1_000
    advantage_steps: Count = 750
    batch_size: Count = 2_048
    learning_rate: Positive = 0.001
    clip: Positive = 1.0
    restart: Flag = True
    advantage_memory: Count = 1_000_000
    reward_unit: PositiveOrZero = 0.0
    epoch_iterations: Count = 10
    epochs: Count = 100
    evaluate_every: CountOrZero = 1
    seed: Seed = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", str(self.hidden))  # a single layer may be given as a number
        super().__post_init__()

    def hidden_layers(self) -> list[int]:
        """Returns the units of each hidden layer."""
        return units_of(self.hidden)


@dataclass(frozen=True)
class DeepCfrConfig(SdCfrConfig):
    """A run of Deep CFR, which learns the average policy with a network of its own.

    Attributes:
      policy_steps: Steps of descent on a player's average policy in an iteration.
      policy_learning_rate: The learning rate of the average policies. It falls linearly to zero over the run.
      policy_memory: The size of a player's memory of strategies, a reservoir.
    """

    system: ClassVar[str] = "deep-cfr"

    policy_steps: Count = 750
    policy_learning_rate: Positive = 0.001
    policy_memory: Count = 1_000_000


_PAPER: dict[str, Any] = {
    "traversals": 10_000, "advantage_steps": 4_000, "batch_size": 10_000, "advantage_memory": 40_000_000, "epoch_iterations": 1,
    "epochs": 450,
}  # fmt: skip
_PAPER_POLICY: dict[str, Any] = {"policy_steps": 4_000, "policy_memory": 40_000_000}
_CPU: dict[str, Any] = {"restart": False, "advantage_steps": 200}
_CPU_POLICY: dict[str, Any] = {"policy_steps": 200}
_SMOKE: dict[str, Any] = {
    **_CPU, "hidden": "32-32", "traversals": 100, "advantage_steps": 20, "batch_size": 256, "advantage_memory": 50_000,
    "epoch_iterations": 5, "epochs": 3,
}  # fmt: skip
_SMOKE_POLICY: dict[str, Any] = {"policy_steps": 20, "policy_memory": 50_000}

PRESETS = {
    "paper": DeepCfrConfig(**_PAPER, **_PAPER_POLICY),
    "cpu": DeepCfrConfig(**_CPU, **_CPU_POLICY),
    "smoke": DeepCfrConfig(**_SMOKE, **_SMOKE_POLICY),
}
SD_PRESETS = {"paper": SdCfrConfig(**_PAPER), "cpu": SdCfrConfig(**_CPU), "smoke": SdCfrConfig(**_SMOKE)}
