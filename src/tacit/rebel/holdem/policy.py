"""What policy networks of betting rounds learn from: average strategies of searches at random decisions, in few bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tacit.cards.board_tensors import NUM_TEXTURE, BoardTable, FullBoards
from tacit.cards.dealing import DealtBoards
from tacit.kernels.street_passes import StreetPasses
from tacit.learning.examples import quantise, unquantise
from tacit.nets.round_policies import decision_beliefs
from tacit.nets.round_policy_net import RoundPolicyNet, action_features, decision_features
from tacit.rebel.holdem.config import HoldemConfig
from tacit.rebel.holdem.learner import RoundLearner
from tacit.rebel.holdem.stored import kept_beliefs, restored_beliefs


@dataclass
class DecisionExamples:
    """Belief states at decisions inside betting rounds, and a search's average strategy there.

    Attributes:
      kind: `[B]` int32 the boards (see `DealtBoards`).
      decision: `[B, NUM_DECISION]` float16 the public features.
      beliefs: `[B, 2, H]` uint8 the acting player's, then the other's (see `kept_beliefs`).
      actions: `[B, A, NUM_ACTION]` float16 the features of actions; `A` is the most that a menu of the run has.
      legal: `[B, A]` which actions exist.
      policy: `[B, A, H]` uint8 probabilities (see `quantise`).
    """

    kind: Tensor
    decision: Tensor
    beliefs: Tensor
    actions: Tensor
    legal: Tensor
    policy: Tensor


def decision_examples(
    passes: StreetPasses, dealt: DealtBoards, average: Tensor, most_actions: int, generator: np.random.Generator
) -> DecisionExamples:
    """Returns one example from each game of a batch, all at the same random decision.

    Args:
      passes: the passes over the games that were searched.
      dealt: the boards of the games.
      average: the average strategies, by entry.
      most_actions: the most actions of any menu of the run.
      generator: chooses the decision.
    """
    street, boards = passes.street, passes.boards
    node = int(generator.choice(np.flatnonzero(np.array(street.num_actions))))
    first, count = street.first_entry[node], street.num_actions[node]
    reaches = [passes.reach(player, average) for player in (0, 1)]
    menu = torch.tensor(action_features(street.betting[node], street.entry_action[first : first + count], passes.stack))
    actions = torch.zeros(most_actions, menu.shape[1])
    actions[:count] = menu
    policy = torch.zeros(most_actions, *average.shape[1:], dtype=torch.uint8, device=average.device)
    policy[:count] = quantise(average[first : first + count])
    return DecisionExamples(
        kind=dealt.kind.int(),
        decision=decision_features(boards, [street.betting[node]], passes.stack)[0].half(),
        beliefs=kept_beliefs(decision_beliefs(passes, reaches, [node])[:, 0].transpose(0, 1)),
        actions=actions.half().to(average.device).expand(len(boards), -1, -1),
        legal=(torch.arange(most_actions, device=average.device) < count).expand(len(boards), -1),
        policy=policy.transpose(0, 1),
    )


class PolicyLearner(RoundLearner[RoundPolicyNet, DecisionExamples, DecisionExamples]):
    """Trains a policy network by the mean square error of probabilities.

    Args:
      net: the policy network.
      table: the table of its boards.
      config: the settings of the run.
      device: where it learns.
    """

    def __init__(self, net: RoundPolicyNet, table: BoardTable | FullBoards, config: HoldemConfig, device: str) -> None:
        super().__init__(net, DecisionExamples, table, config, device)

    def _keep(self, examples: DecisionExamples) -> DecisionExamples:
        return examples

    def _batch_loss(self, batch: DecisionExamples) -> Tensor:
        return self.loss(batch)

    def loss(self, batch: DecisionExamples) -> Tensor:
        """Returns the mean over hands of the square errors of all their actions."""
        beliefs = restored_beliefs(batch.beliefs).transpose(0, 1)[:, None]
        with torch.autocast("cuda", torch.bfloat16, enabled=beliefs.device.type == "cuda"):
            hands = self.net.embed(self.table.features(batch.kind.long()).float(), batch.decision[:, :NUM_TEXTURE].float())
            found = self.net(hands, batch.decision[None].float(), beliefs, batch.actions[None].float(), batch.legal[None])[0]
        error: Tensor = found.float() - unquantise(batch.policy)
        return error.square().sum(1).mean()
