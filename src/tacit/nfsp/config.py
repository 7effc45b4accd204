"""The settings of NFSP and DQN, and the presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from tacit.errors import TacitError
from tacit.nets.descent import OPTIMIZERS
from tacit.training.layers import Layers, units_of
from tacit.training.ranges import Choice, Count, CountOrZero, Number, Positive, PositiveOrZero, Seed, Share
from tacit.training.settings import Settings

DECAYING, APART = "decaying", "apart"
RESERVOIR, EXPONENTIAL, WINDOW = "reservoir", "exponential", "window"


@dataclass(frozen=True)
class NfspConfig(Settings):
    """The settings of every run; the defaults are the paper's for Leduc (section 4.1), except what it leaves open (`_PAPER`).

    Attributes:
      hidden: Units of the hidden layers, separated by dashes.
      layers: How often the hidden layers are repeated.
      anticipation: How often a player follows its best response (the paper's eta); 1 is DQN with a passive average.
      exploration: How often a best response moves at random in the first round.
      reward_unit: Winnings that count as a reward of 1, in the unit of the game's payoffs; in limit hold'em, in big blinds.
      games: Games that advance one decision in a round.
      updates: Steps of descent in a round, for each network of each player.
      batch_size: Examples in a step of descent, no more than either memory holds.
      optimizer: The optimizer of the action values.
      learning_rate: The learning rate of the action values.
      policy_learning_rate: The learning rate of the average policy.
      refit_every: Steps after which the target network is refitted, in limit hold'em at the end of that round.
      transitions: The size of a player's memory for reinforcement learning, a circular buffer; at least one batch.
      behaviour: The size of a player's memory for supervised learning; at least one batch.
      least_probability: The minimum probability of keeping a new item in an exponentially averaged reservoir.
      epoch_rounds: Rounds in an epoch.
      epochs: The length of the run.
      evaluate_every: Epochs between evaluations; 0 evaluates at the end only.
      seed: The seed of everything random.
    """

    hidden: Layers = "64"
    layers: Count = 1
    anticipation: Share = 0.1
    exploration: Share = 0.06
    reward_unit: Positive = 1.0
    games: Count = 128
    updates: Count = 2
    batch_size: Count = 128
    optimizer: Annotated[str, Choice(*OPTIMIZERS)] = "sgd"
    learning_rate: Positive = 0.1
    policy_learning_rate: Positive = 0.005
    refit_every: Count = 300
    transitions: Count = 200_000
    behaviour: Count = 2_000_000
    least_probability: Share = 0.25
    epoch_rounds: Count = 5_000
    epochs: Count = 200
    evaluate_every: CountOrZero = 5
    seed: Seed = 0

    def hidden_layers(self) -> list[int]:
        """Returns the units of each hidden layer."""
        return units_of(self.hidden) * self.layers

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", str(self.hidden))  # one layer may be given as a number
        super().__post_init__()
        self.require_at_least(self.batch_size, "transitions", "behaviour", reason="a batch")


@dataclass(frozen=True)
class TabularConfig(NfspConfig):
    """A run on a compiled game.

    Attributes:
      reward_unit: Winnings that count as a reward of 1, in the unit of the game's payoffs; 0 fits it to the game, so
        that uniform play wins or loses no more than it does in Leduc.
      explores: How best responses explore. `decaying` is the paper's way: exploration falls with the square root of rounds, and
        random moves are averaged and learnt from like others. `apart`: exploration stays constant, the average gets the best
        response in place of a random move, and the opponent learns nothing from the rest of that game. Two effects remain. A
        best response's moves after its own random move are averaged, so the average also weighs best responses at infostates
        that they would not reach. And opponents learn less from games against best responses than `anticipation` says, since
        only those are cut short: after k decisions of the best response, (1 - exploration)^k of these games are left.
      exploration_decay: The c in `exploration / (1 - c + c * sqrt(i))`, the `decaying` exploration of round i = 1, 2, ... It
        has halved in round (1 + 1 / c)^2.
      policy_optimizer: The optimizer of the average policy.
      slowdown: Rounds after which both learning rates have fallen by a factor of the square root of two; after five times as
        many it is the square root of six, and so on. 0 keeps the rates constant.
      decay: The share of the rounds, at the end, over which the average policy's learning rate falls linearly to zero.
        The rate of the action values must not fall so: a best response that no longer learns would still be averaged.
      share: The share of all transitions so far that are learnt from, counted from the latest, if the memory keeps them.
      memory: The kind of the memory for supervised learning: `reservoir`, `exponential` (an exponentially averaged one) or
        `window` (the latest items).
    """

    system: ClassVar[str] = "nfsp"
    fitted: ClassVar[Mapping[str, float]] = {"reward_unit": 0}

    reward_unit: PositiveOrZero = 1.0
    explores: Annotated[str, Choice(DECAYING, APART)] = DECAYING
    exploration_decay: Share = 1.0
    policy_optimizer: Annotated[str, Choice(*OPTIMIZERS)] = "sgd"
    slowdown: CountOrZero = 0
    decay: Share = 0.0
    share: Share = 1.0
    memory: Annotated[str, Choice(RESERVOIR, EXPONENTIAL, WINDOW)] = RESERVOIR


@dataclass(frozen=True)
class DqnConfig(TabularConfig):
    """A run of DQN: players always follow their best responses, and their average is only learnt passively (section 4.2)."""

    system: ClassVar[str] = "dqn"

    anticipation: Share = 1.0
    exploration: Share = 0.12
    transitions: Count = 2_000_000

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.anticipation != 1.0:
            raise TacitError("dqn always follows its best response, so anticipation must be 1: train nfsp to change it")


@dataclass(frozen=True)
class LimitConfig(NfspConfig):
    """A run on limit hold'em; the defaults are the paper's (section 4.3), with behaviour in an exponential reservoir.

    Where the paper is silent: exploration falls with the fourth root of the steps of descent ("more slowly than in Leduc",
    where it is the square root), and a reward of 1 is ten big blinds. In single big blinds SGD with a rate of 0.1 breaks down
    on the large pots of the first rounds.

    Attributes:
      exploration_power: Exploration falls with this power of the number of steps of descent.
      deals: Deals in an evaluation, each played in both seats against every bot.
    """

    system: ClassVar[str] = "nfsp-limit"

    hidden: Layers = "1024-512-1024-512"
    exploration: Share = 0.08
    reward_unit: Positive = 10.0
    games: Count = 256
    batch_size: Count = 256
    optimizer: Annotated[str, Choice("sgd", "adam")] = "sgd"
    policy_learning_rate: Positive = 0.01
    refit_every: Count = 1_000
    transitions: Count = 600_000
    behaviour: Count = 30_000_000
    epochs: Count = 1_000
    exploration_power: Share = 0.25
    deals: Annotated[int, Number(int, 2)] = 25_000

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(3 * self.games, "transitions", reason="for a round")


_PAPER: dict[str, Any] = {"exploration_decay": 0.01, "reward_unit": 26.0, "epochs": 320}
"""Settings that the paper leaves open for Leduc, taken from its author's program (github.com/Johannes-H/nfsp-leduc).

The paper lets exploration decay "proportionally to the inverse square root of the number of iterations" without a factor: here
a best response still moves at random once in 180 decisions after a million rounds. It does not define a reward of 1: here it is
the 26 chips between a player's largest win and largest loss in Leduc. Nor does it say how long it trains. The program differs
in other ways, too, which the paper rules out or does not mention; with all of them results were worse (docs/LOG.md)."""

_CPU: dict[str, Any] = {
    "hidden": "128", "anticipation": 0.2, "exploration": 0.25, "explores": APART, "games": 1_024, "updates": 4,
    "batch_size": 256, "learning_rate": 0.2, "policy_optimizer": "adam", "policy_learning_rate": 0.003, "slowdown": 5_000,
    "reward_unit": 0.0, "decay": 0.3, "refit_every": 20, "transitions": 1_000_000, "share": 0.02, "epoch_rounds": 500,
    "epochs": 250, "evaluate_every": 10,
}  # fmt: skip
"""Best responses must not lag behind the averages they answer, so they learn from the latest 2 % of all games, with frequent
refits and many games per round. Falling learning rates remove the noise, and constant exploration finds actions that averages
have given up (docs/LOG.md)."""

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
    # The paper's work in larger rounds, to keep a GPU busy: as many steps of descent per decision.
    "gpu": LimitConfig(games=4_096, updates=32, epoch_rounds=250, evaluate_every=10),
    "cpu": LimitConfig(**_LIMIT_CPU),
    "smoke": LimitConfig(**_LIMIT_SMOKE),
}
