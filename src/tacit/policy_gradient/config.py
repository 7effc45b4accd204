"""The settings of regret policy gradients, and the presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from tacit.nets.descent import OPTIMIZERS
from tacit.training.layers import Layers, units_of
from tacit.training.ranges import Choice, Count, CountOrZero, Positive, PositiveOrZero, Seed, Share
from tacit.training.settings import Settings

UPDATES = ("rpg", "qpg", "rmpg")


@dataclass(frozen=True)
class PolicyGradientConfig(Settings):
    """A run of regret policy gradients. The paper gives the ranges that it searched, not its settings; these are ours.

    Attributes:
      update: The objective that the policy descends. `rpg` is the sum of positive regrets, `qpg` the negative value, `rmpg` the
        negative mean of positive regrets under the policy.
      hidden: Units of the hidden layers, separated by dashes.
      games: Games in a round.
      critic_steps: Steps of descent on a player's action values in a round, all on the games of that round.
      critic_rounds: Rounds of learning action values before each step of the policies.
      critic_optimizer: The optimizer of the action values.
      optimizer: The optimizer of the policies.
      critic_learning_rate: The learning rate of the action values.
      learning_rate: The learning rate of the policies.
      clip: The largest norm of a gradient; longer gradients are shortened to it.
      entropy: The weight of the policies' entropy in their objective, at the start.
      entropy_floor: The share of that weight that is left at the end; it falls linearly.
      decay: The share of the policies' learning rate that is left at the end; it falls linearly.
      reward_unit: Winnings that count as 1, in the unit of the game's payoffs; 0 uses uniform play's mean absolute payoff.
      epoch_rounds: Rounds in an epoch.
      epochs: The length of the run.
      evaluate_every: Epochs between evaluations; 0 evaluates at the end only.
      seed: The seed of everything random.
    """

    system: ClassVar[str] = "rpg"
    fitted: ClassVar[Mapping[str, float]] = {"reward_unit": 0}

    update: Annotated[str, Choice(*UPDATES)] = "rpg"
    hidden: Layers = "128"
    games: Count = 256
    critic_steps: Count = 1
    critic_rounds: Count = 4
    critic_optimizer: Annotated[str, Choice(*OPTIMIZERS)] = "sgd"
    optimizer: Annotated[str, Choice(*OPTIMIZERS)] = "sgd"
    critic_learning_rate: Positive = 0.1
    learning_rate: Positive = 0.1
    clip: Positive = 1.0
    entropy: PositiveOrZero = 0.1
    entropy_floor: Share = 0.01
    decay: Share = 0.1
    reward_unit: PositiveOrZero = 0.0
    epoch_rounds: Count = 2_000
    epochs: Count = 100
    evaluate_every: CountOrZero = 2
    seed: Seed = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", str(self.hidden))  # a single layer may be given as a number
        super().__post_init__()

    def hidden_layers(self) -> list[int]:
        """Returns the units of each hidden layer."""
        return units_of(self.hidden)


_SMOKE: dict[str, Any] = {"hidden": "32", "games": 64, "epoch_rounds": 100, "epochs": 3, "evaluate_every": 1}

PRESETS = {"cpu": PolicyGradientConfig(), "smoke": PolicyGradientConfig(**_SMOKE)}
