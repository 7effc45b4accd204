"""The policy networks of a run, which learn from every search of self-play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

import numpy as np
import torch
from torch import Tensor

from tacit.cards.dealing import DealtBoards, Tables
from tacit.games.betting import NoLimitBetting
from tacit.kernels.street_passes import StreetPasses
from tacit.nets.checkpoint import prefixed, unprefixed
from tacit.nets.round_policies import RoundPolicies
from tacit.nets.round_policy_net import RoundPolicyNet
from tacit.rebel.holdem.config import HoldemConfig
from tacit.rebel.holdem.policy import DecisionExamples, PolicyLearner, decision_examples


class PolicyTraining:
    """The learners of policies, one for each number of cards on the board.

    Args:
      nets: the policy networks, by the number of cards on the board.
      rules: the rules of the game.
      tables: the tables of boards.
      config: the settings of the run.
      device: where they learn.
      generator: chooses decisions.

    Attributes:
      learners: The learners, by the number of cards on the board.
      proposals: The policies that searches start from.
    """

    def __init__(
        self,
        nets: Mapping[int, RoundPolicyNet],
        rules: NoLimitBetting,
        tables: Tables,
        config: HoldemConfig,
        device: str,
        generator: np.random.Generator,
    ) -> None:
        self.learners = {cards: PolicyLearner(net, tables[cards], config, device) for cards, net in nets.items()}
        self.proposals = RoundPolicies(nets)
        self._generator, self._most_actions = generator, 2 + rules.most_raises
        self._heard: dict[int, list[DecisionExamples]] = {}
        self._losses: list[float] = []

    def listen(self, passes: StreetPasses, dealt: DealtBoards, average: Tensor) -> None:
        """Keeps an example of each game of a search."""
        new = decision_examples(passes, dealt, average, self._most_actions, self._generator)
        self._heard.setdefault(passes.boards.board.shape[1], []).append(new)

    def take_heard(self) -> dict[str, Tensor]:
        """Returns the examples of all searches since the last call, by name, and forgets them."""
        taken: dict[str, Tensor] = {}
        for cards, parts in self._heard.items():
            columns = {field.name: [getattr(part, field.name) for part in parts] for field in fields(DecisionExamples)}
            taken |= prefixed(f"policy{cards}", {name: torch.cat(column) for name, column in columns.items()})
        self._heard.clear()
        return taken

    def learn(self, heard: dict[str, Tensor], learning_rate: float, generator: torch.Generator) -> None:
        """Learns from what `take_heard` returned, here or in a worker."""
        for cards, learner in self.learners.items():
            examples = unprefixed(f"policy{cards}", heard)
            if examples:
                self._losses.append(learner.learn(DecisionExamples(**examples), learning_rate, generator))

    def take_loss(self) -> float:
        """Returns the mean loss since the last call."""
        mean, self._losses = float(np.mean(self._losses)), []
        return mean

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Continues from a saved state."""
        for cards, learner in self.learners.items():
            learner.restore(unprefixed(f"policy{cards}", tensors))
