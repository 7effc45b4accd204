"""Everything that can be set in a run of NFSP or DQN, and the presets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tacit.errors import TacitError
from tacit.nfsp.optimizer import OPTIMIZERS
from tacit.nfsp.rounds import RoundSettings
from tacit.training.settings import Settings

DECAYING, APART = "decaying", "apart"
MEMORIES = ("reservoir", "exponential", "window")


@dataclass(frozen=True)
class NfspConfig(Settings):
    """A run of NFSP; the defaults are the paper's (section 4.1).

    Attributes:
      hidden: units of a hidden layer.
      layers: hidden layers.
      anticipation: how often a player follows its best response (the paper's eta); 1 is DQN with a passive average.
      exploration: how often a best response moves at random in the first round.
      explores: `decaying`, the paper's way: it falls with the square root of rounds, and random moves are averaged and learnt
        from like others; or `apart`: it stays, the average gets the best response in place of a random move, and the opponent
        learns nothing from the rest of that game. Two effects remain. What a best response does after its own random move
        is averaged, so the average also weighs best responses at infostates that they would not reach. And opponents
        learn less from games against best responses than `anticipation` says, since only those are cut short: with k
        decisions of theirs before, (1 - exploration)^k of them are left.
      games: games that advance one decision in a round.
      updates: steps of descent in a round, for each network of each player.
      batch_size: examples a step.
      optimizer: of the action values: `sgd`, `momentum` or `adam`.
      learning_rate: of the action values.
      policy_optimizer: of the average policy.
      policy_learning_rate: of the average policy.
      slowdown: rounds after which both learning rates have fallen by the square root of two, of six after five times as
        many, and so on; 0 keeps them.
      decay: share of the rounds at the end over which the average policy's learning rate falls to zero in a straight line.
        (That of the action values must not: a best response that no longer learns would still be averaged.)
      refit_every: steps after which the target network is refitted.
      transitions: size of the memory for reinforcement learning, a circle.
      share: of all transitions so far, how many of the latest ones are learnt from, if the memory keeps them.
      behaviour: size of the memory for supervised learning.
      memory: its kind: `reservoir`, `exponential` (an exponentially averaged one) or `window` (the latest items).
      least_probability: of keeping a new item in the `exponential` one.
      epoch_rounds: rounds an epoch.
      epochs: length of the run.
      evaluate_every: epochs between evaluations; 0 evaluates at the end only.
      seed: of everything random.
    """

    hidden: int = 64
    layers: int = 1
    anticipation: float = 0.1
    exploration: float = 0.06
    explores: str = DECAYING
    games: int = 128
    updates: int = 2
    batch_size: int = 128
    optimizer: str = "sgd"
    learning_rate: float = 0.1
    policy_optimizer: str = "sgd"
    policy_learning_rate: float = 0.005
    slowdown: int = 0
    decay: float = 0.0
    refit_every: int = 300
    transitions: int = 200_000
    share: float = 1.0
    behaviour: int = 2_000_000
    memory: str = "reservoir"
    least_probability: float = 0.25
    epoch_rounds: int = 5_000
    epochs: int = 200
    evaluate_every: int = 5
    seed: int = 0

    def round_settings(self) -> RoundSettings:
        """Returns what kernels need."""
        return RoundSettings(
            self.anticipation,
            self.exploration,
            self.explores == APART,
            self.memory == "window",
            self.least_probability if self.memory == "exponential" else 0.0,
            self.batch_size,
            self.updates,
            self.share,
            self.refit_every,
            OPTIMIZERS.index(self.optimizer),
            OPTIMIZERS.index(self.policy_optimizer),
        )

    def hidden_layers(self) -> list[int]:
        """Returns the units of each hidden layer."""
        return [self.hidden] * self.layers

    def __post_init__(self) -> None:
        self.require_choice("optimizer", OPTIMIZERS)
        self.require_choice("policy_optimizer", OPTIMIZERS)
        self.require_choice("explores", (DECAYING, APART))
        self.require_choice("memory", MEMORIES)
        self.require_at_least(1, "hidden", "layers", "games", "updates", "batch_size", "refit_every", "epoch_rounds", "epochs")
        self.require_at_least(0, "slowdown", "evaluate_every")
        self.require_seed()
        self.require_positive("learning_rate", "policy_learning_rate")
        self.require_shares("anticipation", "exploration", "decay", "least_probability", "share")
        self.require_at_least(self.batch_size, "transitions", "behaviour", reason="a batch")


@dataclass(frozen=True)
class DqnConfig(NfspConfig):
    """A run of DQN: players follow their best responses always, and the average of what they did is learnt passively (4.2)."""

    anticipation: float = 1.0
    exploration: float = 0.12
    transitions: int = 2_000_000

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.anticipation != 1.0:
            raise TacitError("dqn follows its best response always: anticipation is 1; train nfsp to change it")


_CPU: dict[str, Any] = {
    "hidden": 128, "anticipation": 0.2, "exploration": 0.25, "explores": APART, "games": 1_024, "updates": 4, "batch_size": 256,
    "learning_rate": 0.2, "policy_optimizer": "adam", "policy_learning_rate": 0.003, "slowdown": 5_000, "decay": 0.3,
    "refit_every": 20, "transitions": 1_000_000, "share": 0.02, "epoch_rounds": 500, "epochs": 250, "evaluate_every": 10,
}  # fmt: skip
"""Best responses must not lag behind the averages they answer, so they are learnt from the latest 2 % of all games, with quick
refits and many games a round; learning rates that fall take out the noise, and exploration that stays finds what averages have
given up (docs/LOG.md)."""

_SMOKE: dict[str, Any] = {
    "hidden": 32, "transitions": 20_000, "behaviour": 100_000, "epoch_rounds": 200, "epochs": 5, "evaluate_every": 1,
    "games": 128, "batch_size": 128,
}  # fmt: skip
_DQN_CPU = {**_CPU, "anticipation": 1.0}

PRESETS = {
    "paper": NfspConfig(),
    "cpu": replace(NfspConfig(), **_CPU),
    "smoke": replace(NfspConfig(), **{**_CPU, **_SMOKE}),
}
DQN_PRESETS = {
    "paper": DqnConfig(),
    "cpu": replace(DqnConfig(), **_DQN_CPU),
    "smoke": replace(DqnConfig(), **{**_DQN_CPU, **_SMOKE}),
}
