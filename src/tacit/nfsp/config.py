"""Everything that can be set in a run of NFSP or DQN, and the presets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.errors import TacitError
from tacit.training.settings import Settings

DECAYING, APART = "decaying", "apart"
RESERVOIR, EXPONENTIAL, WINDOW = "reservoir", "exponential", "window"
OPTIMIZERS = ("sgd", "momentum", "adam")


@dataclass(frozen=True)
class NfspConfig(Settings):
    """What every run sets; the defaults are the paper's for Leduc (section 4.1), but for what it leaves open: see `_PAPER`.

    Attributes:
      hidden: units of the hidden layers, with dashes between them.
      layers: how often these layers are repeated.
      anticipation: how often a player follows its best response (the paper's eta); 1 is DQN with a passive average.
      exploration: how often a best response moves at random in the first round.
      reward_unit: winnings that count as a reward of 1, in the unit of the game's payoffs; in limit hold'em, in big blinds.
      games: games that advance one decision in a round.
      updates: steps of descent in a round, for each network of each player.
      batch_size: examples a step.
      optimizer: `sgd`, `adam` or, in compiled games, `momentum`.
      learning_rate: of the action values.
      policy_learning_rate: of the average policy.
      refit_every: steps after which the target network is refitted, in limit hold'em at the end of that round.
      transitions: size of a player's memory for reinforcement learning, a circle.
      behaviour: size of a player's memory for supervised learning.
      least_probability: of keeping a new item in an exponentially averaged reservoir.
      epoch_rounds: rounds an epoch.
      epochs: length of the run.
      evaluate_every: epochs between evaluations; 0 evaluates at the end only.
      seed: of everything random.
    """

    hidden: str = "64"
    layers: int = 1
    anticipation: float = 0.1
    exploration: float = 0.06
    reward_unit: float = 1.0
    games: int = 128
    updates: int = 2
    batch_size: int = 128
    optimizer: str = "sgd"
    learning_rate: float = 0.1
    policy_learning_rate: float = 0.005
    refit_every: int = 300
    transitions: int = 200_000
    behaviour: int = 2_000_000
    least_probability: float = 0.25
    epoch_rounds: int = 5_000
    epochs: int = 200
    evaluate_every: int = 5
    seed: int = 0

    def hidden_layers(self) -> list[int]:
        """Returns the units of each hidden layer."""
        return [int(units) for units in self.hidden.split("-")] * self.layers

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", str(self.hidden))  # one layer may be given as a number
        if not all(units.isdecimal() and int(units) > 0 for units in self.hidden.split("-")):
            raise TacitError(f"hidden is units with dashes between them, like 256-128, not {self.hidden!r}")
        self.require_choice("optimizer", OPTIMIZERS)
        self.require_at_least(1, "layers", "games", "updates", "batch_size", "refit_every", "epoch_rounds", "epochs")
        self.require_at_least(0, "evaluate_every")
        self.require_seed()
        self.require_positive("reward_unit", "learning_rate", "policy_learning_rate")
        self.require_shares("anticipation", "exploration", "least_probability")
        self.require_at_least(self.batch_size, "transitions", "behaviour", reason="a batch")


@dataclass(frozen=True)
class TabularConfig(NfspConfig):
    """A run on a compiled game.

    Attributes:
      explores: `decaying`, the paper's way: exploration falls with the square root of rounds, and random moves are averaged and
        learnt from like others. Or `apart`: it stays, the average gets the best response in place of a random move, and the
        opponent learns nothing from the rest of that game. Two effects remain. What a best response does after its own random
        move is averaged, so the average also weighs best responses at infostates that they would not reach. And opponents
        learn less from games against best responses than `anticipation` says, since only those are cut short: with k
        decisions of theirs before, (1 - exploration)^k of them are left.
      exploration_decay: c in `exploration / (1 - c + c * sqrt(i))`, the `decaying` exploration of round i = 1, 2, ... It has
        halved in round (1 + 1 / c)^2.
      policy_optimizer: of the average policy; `optimizer` is of the action values alone.
      slowdown: rounds after which both learning rates have fallen by the square root of two, of six after five times as
        many, and so on; 0 keeps them.
      decay: share of the rounds at the end over which the average policy's learning rate falls to zero in a straight line.
        (That of the action values must not: a best response that no longer learns would still be averaged.)
      share: of all transitions so far, how many of the latest ones are learnt from, if the memory keeps them.
      memory: kind of the memory for supervised learning: `reservoir`, `exponential` (an exponentially averaged one) or `window`
        (the latest items).
    """

    system: ClassVar[str] = "nfsp"

    explores: str = DECAYING
    exploration_decay: float = 1.0
    policy_optimizer: str = "sgd"
    slowdown: int = 0
    decay: float = 0.0
    share: float = 1.0
    memory: str = RESERVOIR

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_choice("policy_optimizer", OPTIMIZERS)
        self.require_choice("explores", (DECAYING, APART))
        self.require_choice("memory", (RESERVOIR, EXPONENTIAL, WINDOW))
        self.require_at_least(0, "slowdown")
        self.require_shares("exploration_decay", "decay", "share")


@dataclass(frozen=True)
class DqnConfig(TabularConfig):
    """A run of DQN: players follow their best responses always, and the average of what they did is learnt passively (4.2)."""

    system: ClassVar[str] = "dqn"

    anticipation: float = 1.0
    exploration: float = 0.12
    transitions: int = 2_000_000

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.anticipation != 1.0:
            raise TacitError("dqn follows its best response always: anticipation is 1; train nfsp to change it")


@dataclass(frozen=True)
class LimitConfig(NfspConfig):
    """A run on limit hold'em; the defaults are the paper's (section 4.3), behaviour is kept in an exponential reservoir.

    Where the paper is silent: exploration falls with the fourth root of the steps of descent ("more slowly than in Leduc",
    where it is the square root), and a reward of 1 is ten big blinds. In single big blinds SGD with a rate of 0.1 breaks down
    on the large pots of the first rounds.

    Attributes:
      exploration_power: exploration falls with this power of the number of steps of descent.
      deals: of an evaluation, each played in both seats against every bot.
    """

    system: ClassVar[str] = "nfsp-limit"

    hidden: str = "1024-512-1024-512"
    exploration: float = 0.08
    reward_unit: float = 10.0
    games: int = 256
    batch_size: int = 256
    policy_learning_rate: float = 0.01
    refit_every: int = 1_000
    transitions: int = 600_000
    behaviour: int = 30_000_000
    epochs: int = 1_000
    exploration_power: float = 0.25
    deals: int = 25_000

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_choice("optimizer", ("sgd", "adam"))
        self.require_shares("exploration_power")
        self.require_at_least(2, "deals", reason="for an interval")
        self.require_at_least(3 * self.games, "transitions", reason="for a round")


_PAPER: dict[str, Any] = {"exploration_decay": 0.01, "reward_unit": 26.0, "epochs": 320}
"""What the paper leaves open for Leduc, as the program that its author published has it (github.com/Johannes-H/nfsp-leduc).

The paper lets exploration decay "proportionally to the inverse square root of the number of iterations" without a factor: here
a best response still moves at random once in 180 decisions after a million rounds. It does not say what a reward of 1 is: here
the 26 chips between the most that a player of Leduc wins and loses. Nor does it say how long it trains. The program differs in
more, which the paper rules out or does not mention; with all of that it did worse (docs/LOG.md)."""

_CPU: dict[str, Any] = {
    "hidden": "128", "anticipation": 0.2, "exploration": 0.25, "explores": APART, "games": 1_024, "updates": 4,
    "batch_size": 256, "learning_rate": 0.2, "policy_optimizer": "adam", "policy_learning_rate": 0.003, "slowdown": 5_000,
    "decay": 0.3, "refit_every": 20, "transitions": 1_000_000, "share": 0.02, "epoch_rounds": 500, "epochs": 250,
    "evaluate_every": 10,
}  # fmt: skip
"""Best responses must not lag behind the averages they answer, so they are learnt from the latest 2 % of all games, with quick
refits and many games a round; learning rates that fall take out the noise, and exploration that stays finds what averages have
given up (docs/LOG.md)."""

_SMOKE: dict[str, Any] = {
    **_CPU, "hidden": "32", "transitions": 20_000, "behaviour": 100_000, "epoch_rounds": 200, "epochs": 5, "evaluate_every": 1,
    "games": 128, "batch_size": 128,
}  # fmt: skip

_LIMIT_CPU: dict[str, Any] = {
    "hidden": "64-64", "optimizer": "adam", "learning_rate": 0.002, "policy_learning_rate": 0.001, "batch_size": 128,
    "refit_every": 100, "transitions": 200_000, "behaviour": 1_000_000, "epoch_rounds": 500, "epochs": 200, "deals": 2_000,
}  # fmt: skip
_LIMIT_SMOKE = {**_LIMIT_CPU, "hidden": "64", "epoch_rounds": 100, "epochs": 5, "evaluate_every": 1, "deals": 500}

PRESETS = {"paper": TabularConfig(**_PAPER), "cpu": TabularConfig(**_CPU), "smoke": TabularConfig(**_SMOKE)}
DQN_PRESETS = {
    "paper": DqnConfig(**_PAPER),
    "cpu": DqnConfig(**{**_CPU, "anticipation": 1.0}),
    "smoke": DqnConfig(**{**_SMOKE, "anticipation": 1.0}),
}
LIMIT_PRESETS = {
    "paper": LimitConfig(),
    # The paper's work in larger rounds: as many steps of descent for a decision, and a GPU is busier.
    "gpu": LimitConfig(games=4_096, updates=32, epoch_rounds=250, evaluate_every=10),
    "cpu": LimitConfig(**_LIMIT_CPU),
    "smoke": LimitConfig(**_LIMIT_SMOKE),
}
