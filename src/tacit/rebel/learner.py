"""A network that learns from what searches found: its examples, its loss, its optimizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import torch
from torch import Tensor
from torch.nn import functional

from tacit.nets.checkpoint import prefixed, unprefixed
from tacit.nets.value_net import BeliefNet, PolicyNet, ValueNet
from tacit.rebel.config import RebelConfig
from tacit.rebel.examples import PolicyExamples, ValueExamples, unquantise
from tacit.rebel.fitter import Fitter
from tacit.rebel.replay import ReplayBuffer
from tacit.search.decisions import DecisionTables
from tacit.tree.search_space import SearchSpace

HUBER_DELTA = 0.1
"""In units of the game's typical return: larger errors count linearly."""

E = TypeVar("E", ValueExamples, PolicyExamples)
N = TypeVar("N", bound=BeliefNet)


class NetworkLearner(Generic[N, E]):
    """A network with its replay buffer and optimizer.

    Args:
      net: what learns.
      kind: of its examples.
      loss: of a batch of them.
      config: of the run.
      device: where everything lies.
    """

    def __init__(self, net: N, kind: type[E], loss: Callable[[E], Tensor], config: RebelConfig, device: str) -> None:
        self.net, self._config = net, config
        self.replay: ReplayBuffer[E] = ReplayBuffer(kind, config.replay_size, device)
        self._fitter = Fitter(net, loss, torch.device(device))

    def learn(self, examples: E, learning_rate: float, generator: torch.Generator) -> float:
        """Returns the mean loss of the steps that new examples are worth: each batch is drawn from all that are kept."""
        self.replay.add(examples)
        self._fitter.learning_rate = learning_rate
        steps = max(1, round(self._config.ratio * len(examples.public_class) / self._config.batch_size))
        total = torch.zeros((), device=examples.beliefs.device)
        for _ in range(steps):
            total += self._fitter.step(self.replay.sample(self._config.batch_size, generator))
        return float(total) / steps

    def state(self) -> dict[str, Tensor]:
        """Returns everything there is to restore."""
        parts = {"net": self.net.state_dict(), "optimizer": self._fitter.state(), "replay": self.replay.state()}
        return {name: tensor for part, tensors in parts.items() for name, tensor in prefixed(part, tensors).items()}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continues from a saved state."""
        self.net.load_state_dict(unprefixed("net", state))
        self._fitter.restore(unprefixed("optimizer", state))
        self.replay.restore(unprefixed("replay", state))


def value_learner(
    net: ValueNet, space: SearchSpace, config: RebelConfig, device: str
) -> NetworkLearner[ValueNet, ValueExamples]:
    """Returns a value network's learner: the mean Huber loss over the private states that have a value."""
    H = space.tables.num_private_states
    masks = [torch.arange(H) < torch.from_numpy(table.num_roots)[:, None] for table in space.tables.players]
    exists = torch.cat(masks, dim=1).to(device)  # [C, 2 * H]

    def loss(batch: ValueExamples) -> Tensor:
        counts = exists[batch.public_class] & ~batch.values.isnan()
        found, wanted = net(batch.public_class, batch.beliefs) / net.scale, batch.values.nan_to_num(0.0) / net.scale
        error = functional.huber_loss(found, wanted, reduction="none", delta=HUBER_DELTA)
        return (error * counts).sum() / counts.sum() / HUBER_DELTA

    return NetworkLearner(net, ValueExamples, loss, config, device)


def policy_learner(
    net: PolicyNet, decisions: DecisionTables, config: RebelConfig, device: str
) -> NetworkLearner[PolicyNet, PolicyExamples]:
    """Returns a policy network's learner: the mean square error of probabilities."""

    def loss(batch: PolicyExamples) -> Tensor:
        legal = decisions.legal[batch.public_class]
        found: Tensor = net(batch.public_class, batch.beliefs, legal)
        return (found - unquantise(batch.policy)).square().sum() / legal.sum()

    return NetworkLearner(net, PolicyExamples, loss, config, device)
