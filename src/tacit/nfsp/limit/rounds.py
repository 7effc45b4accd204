"""Rounds of self-play and learning on one device: on a GPU a round is one CUDA graph, from which nothing returns to Python.

A *round* advances every hand by one decision, then makes a few steps of descent with each network of each player. With 256
hands and two steps this is the paper's "2 stochastic gradient updates of mini-batch size 256 per network for every 256 steps in
the game". A memory that does not fill a batch yet is not learnt from.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor

from tacit.games.holdem import LimitHoldem
from tacit.games.limit_batch import NUM_ACTIONS, LimitRules
from tacit.nfsp.limit.config import LimitConfig
from tacit.nfsp.limit.memory import Behaviour, Transitions, draw, rows, unpack_legal
from tacit.nfsp.limit.networks import Adam, Layer, Layers, best_value, choose, descend, forward, make_layers
from tacit.nfsp.limit.selfplay import SelfPlay

WARM_UP = 3
"""Rounds before a graph is captured, so that libraries have made what they make once."""


class Counters(NamedTuple):
    """Numbers that change on the device.

    Attributes:
      rounds: `[1]` int64, rounds played.
      updates: `[2, 2]` int64, steps that each player's networks have made.
      loss: `[2, 2]` float64 for each player and network, summed over the steps since somebody set it to zero.
      steps: `[2, 2]` int64, the number of these steps.
    """

    rounds: Tensor
    updates: Tensor
    loss: Tensor
    steps: Tensor


class Rounds:
    """Everything of a run that lives on the device."""

    def __init__(self, game: LimitHoldem, config: LimitConfig, device: str = "cpu") -> None:
        self.config, self.device = config, device
        self.generator = torch.Generator(device).manual_seed(config.seed)
        self.layers: Layers = make_layers(config.hidden_layers(), self.generator)
        self.target: Layers = [Layer(*(part[0::2].clone() for part in layer)) for layer in self.layers]
        self.transitions = Transitions.empty(config.transitions, device)
        self.behaviour = Behaviour.empty(config.behaviour, device)
        self.selfplay = SelfPlay(LimitRules.of(game, device), config, self.generator)
        rounds, updates, steps = (torch.zeros(shape, dtype=torch.int64, device=device) for shape in ((1,), (2, 2), (2, 2)))
        self.counters = Counters(rounds, updates, torch.zeros(2, 2, dtype=torch.float64, device=device), steps)
        rates = [config.learning_rate, config.policy_learning_rate]
        self._actions = torch.arange(NUM_ACTIONS, dtype=torch.uint8, device=device)
        self._rates = torch.tensor(2 * rates, device=device)[:, None, None]
        self.adam = Adam(self.layers) if config.optimizer == "adam" else None
        self._graph: torch.cuda.CUDAGraph | None = None

    def play(self, count: int) -> None:
        """Plays some rounds; returns at once on a GPU."""
        if self.device == "cpu":
            for _ in range(count):
                self.play_one()
            return
        if self._graph is None:
            with _tensor_cores():
                for _ in range(min(count, WARM_UP)):
                    self.play_one()
                count -= min(count, WARM_UP)
                torch.cuda.synchronize()
                self._graph = torch.cuda.CUDAGraph()
                self._graph.register_generator_state(self.generator)
                with torch.cuda.graph(self._graph):  # capturing runs nothing
                    self.play_one()
        for _ in range(count):
            self._graph.replay()

    def play_one(self) -> None:
        """Plays a round."""
        counters, config = self.counters, self.config
        counters.rounds.add_(1)
        steps = (counters.rounds - 1) * config.updates + 1  # 1 in the first round: exploration is then as it was set
        exploration = config.exploration * steps.float() ** -config.exploration_power
        self.selfplay.advance(self.layers, self.transitions, self.behaviour, exploration)
        self._learn()

    def _learn(self) -> None:
        """Makes the steps of descent of a round, with all four networks at once, and refits the targets that are due.

        The action values on the mean of `(reward + max Q'(following, legal action) - Q)^2`, the policies on that of
        `-log policy(action)`, each over batches of its own. The losses of the last step are noted.
        """
        counters, config = self.counters, self.config
        ready = torch.stack((self.transitions.offered, self.behaviour.offered), 1) >= config.batch_size
        scale = torch.where(ready, 1.0 / config.batch_size, 0.0).view(-1, 1, 1)
        refits = counters.updates[:, 0] // config.refit_every
        for inputs, chosen, wanted, closed in zip(*self._lessons(), strict=True):
            values = forward(self.layers, inputs)
            scores = values[-1].view(2, 2, -1, NUM_ACTIONS)
            off = (scores[:, 0] - wanted) * chosen[:, 0]
            log_policy = (scores[:, 1] + closed).log_softmax(-1)
            errors = torch.stack((2.0 * off, log_policy.exp() - chosen[:, 1]), 1).flatten(0, 1)
            self._descend(values, torch.where(scale > 0.0, errors * scale, 0.0), ready)  # no NaN of an empty memory
        losses = torch.stack((off.square(), -torch.where(chosen[:, 1] > 0.0, log_policy, 0.0)), 1).sum(-1).mean(-1)
        counters.loss.add_(torch.where(ready, losses, 0.0))
        counters.steps.add_(ready)
        due = (counters.updates[:, 0] // config.refit_every > refits)[:, None, None]
        for layer, target in zip(choose(self.layers, slice(0, None, 2)), self.target, strict=True):
            for new, old in zip(layer, target, strict=True):
                old.copy_(torch.where(due, new, old))

    def _lessons(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Returns what a round learns from, for each step of descent.

        Inputs `[U, 4, B, 288]` of the networks, 1 at chosen actions `[U, 2, 2, B, 3]`, wanted action values `[U, 2, B, 1]` and
        `-inf` at actions `[U, 2, B, 3]` that the policies cannot take. The target networks stand still in a round.
        """
        memory, behaviour, config = self.transitions, self.behaviour, self.config
        count, unpack = config.updates * config.batch_size, self.selfplay.encoder.unpack
        row = draw(memory.offered, config.transitions, count, self.generator)
        other = draw(behaviour.offered, config.behaviour, count, self.generator)
        ahead = forward(self.target, unpack(rows(memory.following, row)))[-1]
        wanted = rows(memory.reward, row) + best_value(ahead, unpack_legal(rows(memory.legal, row)))
        taken = torch.stack((rows(memory.action, row), rows(behaviour.action, other)), 1)
        chosen = (taken[..., None] == self._actions).float()
        legal = unpack_legal(rows(behaviour.legal, other))
        inputs = unpack(torch.stack((rows(memory.bits, row), rows(behaviour.bits, other)), 1)).flatten(0, 1)

        def by_step(of_round: Tensor) -> Tensor:
            """Returns `[U, ..., B, K]` of `[..., U * B, K]`."""
            *before, _, last = of_round.shape
            return of_round.view(*before, config.updates, config.batch_size, last).movedim(-3, 0)

        closed = torch.where(legal, 0.0, -torch.inf)
        return by_step(inputs).contiguous(), by_step(chosen), by_step(wanted[..., None]), by_step(closed)

    def _descend(self, values: list[Tensor], errors: Tensor, ready: Tensor) -> None:
        updates = self.counters.updates.add_(ready)
        if self.adam is None:
            descend(self.layers, values, errors, self._rates)
        else:
            self.adam.descend(self.layers, values, errors, self._rates, updates.clamp(min=1).float().view(-1, 1, 1))


@contextmanager
def _tensor_cores() -> Iterator[None]:
    """Products round their factors to 10 bits, as tensor cores want them, and add up in float32; weights stay as they are."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
