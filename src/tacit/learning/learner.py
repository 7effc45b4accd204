"""A network that learns from the results of searches: its examples, loss and optimizer. On a GPU a step is captured once."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from tacit.learning.examples import E, PolicyExamples, ValueExamples, unquantise
from tacit.learning.replay import ReplayBuffer
from tacit.learning.settings import NetworkSettings
from tacit.nets.checkpoint import prefixed, unprefixed
from tacit.nets.optimizers import optimizer_state, restore_optimizer
from tacit.nets.value_net import PolicyNet, PrivateValues
from tacit.search.decisions import DecisionTables
from tacit.tree.search_space import SearchSpace

HUBER_DELTA = 0.1
"""Larger errors, in units of the game's typical return, count linearly."""
MAX_GRADIENT = 5.0

N = TypeVar("N", bound=nn.Module)


class NetworkLearner(Generic[N, E]):
    """A network with its replay buffer and optimizer, Adam.

    Args:
      net: the network.
      kind: the class of its examples.
      loss: returns the loss of a batch of them.
      config: the settings of the run.
      device: where everything is stored.
    """

    def __init__(self, net: N, kind: type[E], loss: Callable[[E], Tensor], config: NetworkSettings, device: str) -> None:
        self.net, self._config = net, config
        self._error: Callable[[Any], Tensor] = loss
        self.replay: ReplayBuffer[E] = ReplayBuffer(kind, config.replay_size, device, 1e9 * config.replay_memory)
        self._rate = torch.tensor(0.0, device=device)
        on_gpu = self._on_gpu = torch.device(device).type == "cuda"
        self._optimizer = torch.optim.Adam(net.parameters(), lr=self._rate, capturable=on_gpu, foreach=on_gpu or None)
        self._graph: torch.cuda.CUDAGraph | None = None
        self._batch: Any = None
        self._loss = torch.zeros((), device=device)

    def learn(self, examples: E, learning_rate: float, generator: torch.Generator) -> float:
        """Returns the mean loss of the steps taken for new examples; each batch is drawn from all examples that are kept."""
        self.replay.add(examples)
        self._rate.fill_(learning_rate)  # in place: a captured step reads it
        steps = max(1, round(self._config.ratio * len(examples.public_class) / self._config.batch_size))
        total = torch.zeros((), device=examples.beliefs.device)
        for _ in range(steps):
            batch = self.replay.sample(self._config.batch_size, generator)
            total += self._replay_step(batch) if self._on_gpu else self._step(batch)
        return float(total) / steps

    @torch.no_grad()
    def loss(self, examples: E) -> float:
        """Returns the mean loss of examples, without learning from them."""
        return float(self._error(examples))

    @property
    def steps(self) -> int:
        """Training steps so far."""
        moments = self._optimizer.state_dict()["state"]
        return int(moments[0]["step"]) if moments else 0

    def state(self) -> dict[str, Tensor]:
        """Returns everything that `restore` needs."""
        parts = {
            "net": self.net.state_dict(), "optimizer": optimizer_state(self._optimizer), "replay": self.replay.state()
        }  # fmt: skip
        return {name: tensor for part, tensors in parts.items() for name, tensor in prefixed(part, tensors).items()}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continues from a saved state."""
        self.net.load_state_dict(unprefixed("net", state))
        restore_optimizer(self._optimizer, unprefixed("optimizer", state))
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate
        self._graph = None
        self.replay.restore(unprefixed("replay", state))

    def _step(self, batch: E) -> Tensor:
        """Returns the loss of a batch after one step on it."""
        self._optimizer.zero_grad(set_to_none=True)
        loss = self._error(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), MAX_GRADIENT)
        self._optimizer.step()
        return loss.detach()

    def _replay_step(self, batch: E) -> Tensor:
        """Returns the same, by replaying a captured step; the first call takes a normal step and captures the next."""
        if self._graph is not None:
            for kept, new in zip(vars(self._batch).values(), vars(batch).values(), strict=True):
                kept.copy_(new)
            self._graph.replay()
            return self._loss
        self._batch = copy.deepcopy(batch)
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            loss = self._step(self._batch)
        torch.cuda.current_stream().wait_stream(aside)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):  # capturing runs nothing
            self._loss = self._step(self._batch)
        return loss


def value_learner(
    net: PrivateValues, space: SearchSpace, config: NetworkSettings, device: str
) -> NetworkLearner[PrivateValues, ValueExamples]:
    """Returns a value network's learner: the mean Huber loss over the private states that have a value."""
    H = space.tables.num_private_states
    masks = [torch.arange(H) < torch.from_numpy(table.num_roots)[:, None] for table in space.tables.players]
    exists = torch.cat(masks, dim=1).to(device)  # [C, 2 * H]

    def loss(batch: ValueExamples) -> Tensor:
        counts = exists[batch.public_class] & ~batch.values.isnan()
        predicted, wanted = net(batch.public_class, batch.beliefs) / net.scale, batch.values.nan_to_num(0.0) / net.scale
        error = functional.huber_loss(predicted, wanted, reduction="none", delta=HUBER_DELTA)
        return (error * counts).sum() / counts.sum() / HUBER_DELTA

    return NetworkLearner(net, ValueExamples, loss, config, device)


def policy_learner(
    net: PolicyNet, decisions: DecisionTables, config: NetworkSettings, device: str
) -> NetworkLearner[PolicyNet, PolicyExamples]:
    """Returns a policy network's learner: the mean square error of probabilities."""

    def loss(batch: PolicyExamples) -> Tensor:
        legal = decisions.legal[batch.public_class]
        predicted: Tensor = net(batch.public_class, batch.beliefs, legal)
        return (predicted - unquantise(batch.policy)).square().sum() / legal.sum()

    return NetworkLearner(net, PolicyExamples, loss, config, device)
