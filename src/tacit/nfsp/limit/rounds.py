"""Rounds of self-play and learning on one device: on a GPU a round is one CUDA graph, from which nothing returns to Python.

A *round* advances every hand by one decision, then makes a few steps of descent with each network of each player. With 256
hands and two steps this is the paper's "2 stochastic gradient updates of mini-batch size 256 per network for every 256 steps in
the game". A memory that does not fill a batch yet is not learnt from.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from tacit.games.holdem import LimitHoldem
from tacit.games.limit_batch import NUM_ACTIONS, LimitRules
from tacit.nfsp.limit.config import LimitConfig
from tacit.nfsp.limit.memory import Behaviour, Transitions, draw, rows, unpack_legal
from tacit.nfsp.limit.networks import Adam, Layer, Layers, backward, best_value, choose, descend, forward, make_layers
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
        exploration = config.exploration * counters.rounds.float() ** -config.exploration_power
        self.selfplay.advance(self.layers, self.transitions, self.behaviour, exploration)
        for _ in range(config.updates):
            self._learn()

    def _learn(self) -> None:
        """Makes a step of descent with all four networks.

        The action values on the mean of `(reward + max Q'(following, legal action) - Q)^2`, the policies on that of
        `-log policy(action)`, each over a batch of its own.
        """
        memory, size, unpack = self.transitions, self.config.batch_size, self.selfplay.encoder.unpack
        row = draw(memory.offered, self.config.transitions, size, self.generator)
        other = draw(self.behaviour.offered, self.config.behaviour, size, self.generator)
        taken = torch.stack((rows(memory.action, row), rows(self.behaviour.action, other)), 1).long()[..., None]
        packed = torch.stack((rows(memory.bits, row), rows(self.behaviour.bits, other)), 1)
        values = forward(self.layers, unpack(packed.flatten(0, 1)))
        scores = values[-1].view(2, 2, size, NUM_ACTIONS)
        ahead = forward(self.target, unpack(rows(memory.following, row)))[-1]
        wanted = rows(memory.reward, row) + best_value(ahead, unpack_legal(rows(memory.legal, row)))
        off = scores[:, 0].gather(-1, taken[:, 0]) - wanted[..., None]
        legal = unpack_legal(rows(self.behaviour.legal, other))
        log_policy = scores[:, 1].masked_fill(~legal, -torch.inf).log_softmax(-1)
        chosen = torch.zeros_like(scores).scatter_(-1, taken, 1.0)
        errors = torch.stack((2.0 * off * chosen[:, 0], log_policy.exp() - chosen[:, 1]), 1)
        ready = torch.stack((memory.offered >= size, self.behaviour.offered >= size), 1)
        errors = torch.where(ready[..., None, None], errors / size, 0.0)  # no NaN of an empty memory
        self._descend(backward(self.layers, values, errors.flatten(0, 1)), ready)
        losses = torch.stack((off.square().mean((1, 2)), -log_policy.gather(-1, taken[:, 1]).mean((1, 2))), 1)
        self.counters.loss.add_(torch.where(ready, losses, 0.0))
        self.counters.steps.add_(ready)

    def _descend(self, gradients: Layers, ready: Tensor) -> None:
        """Makes the step and refits the targets that are due."""
        updates = self.counters.updates.add_(ready)
        if self.adam is None:
            descend(self.layers, gradients, self._rates)
        else:
            self.adam.descend(self.layers, gradients, self._rates, updates.clamp(min=1).float().view(-1, 1, 1))
        due = (ready[:, 0] & (updates[:, 0] % self.config.refit_every == 0))[:, None, None]
        for layer, target in zip(choose(self.layers, slice(0, None, 2)), self.target, strict=True):
            for new, old in zip(layer, target, strict=True):
                old.copy_(torch.where(due, new, old))
