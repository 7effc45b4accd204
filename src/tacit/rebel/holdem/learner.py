"""Networks that learn from the results of searches of betting rounds: their examples, loss and optimizer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from tacit.cards.board_tensors import FULL_BOARD, BoardTable, FullBoards
from tacit.learning.replay import ReplayBuffer
from tacit.nets.appendix_g import AppendixGNet
from tacit.nets.captured import CapturedStep
from tacit.nets.checkpoint import prefixed, unprefixed
from tacit.nets.optimizers import optimizer_state, restore_optimizer
from tacit.nets.round_net import RoundNet
from tacit.rebel.holdem.config import HOST, HoldemConfig
from tacit.rebel.holdem.selfplay import RoundEndExamples
from tacit.rebel.holdem.stored import StoredExamples, restored, stored

HUBER_DELTA = 0.5
"""Larger errors, in units of what either player has put in, count linearly."""
MOST_HELD = 8.0
"""Hands that are held more often than this many times the mean are weighted as if held this often."""
MAX_GRADIENT = 5.0


class _Examples(Protocol):
    @property
    def kind(self) -> Tensor: ...


N = TypeVar("N", bound=nn.Module)
E = TypeVar("E", bound=_Examples)
K = TypeVar("K")


class RoundLearner(ABC, Generic[N, E, K]):
    """A network with its replay buffer and optimizer, Adam.

    Args:
      net: the network.
      kept: the class of examples as they are stored.
      table: the table of its boards.
      config: the settings of the run.
      device: where everything is stored, except examples if the settings say so.

    Attributes:
      net: The network.
      replay: The examples.
      table: The table of boards, which has at least those of the examples.
    """

    def __init__(self, net: N, kept: type[K], table: BoardTable | FullBoards, config: HoldemConfig, device: str) -> None:
        self.net, self._config = net, config
        place = "cpu" if config.replay_device == HOST else device
        self.replay: ReplayBuffer[K] = ReplayBuffer(kept, config.replay_size, place)
        self.table, self._device = table, device
        # Networks that know each hand by its index ask the host for the names of suits.
        on_gpu = torch.device(device).type == "cuda"
        self._captures = on_gpu and not isinstance(net, AppendixGNet)
        rate = torch.tensor(config.learning_rate, device=device)  # a tensor can change inside a captured step
        self._optimizer = torch.optim.Adam(net.parameters(), lr=rate, capturable=on_gpu)
        self._run_step: Callable[[K], Tensor] = CapturedStep(self._step) if self._captures else self._step

    @abstractmethod
    def _keep(self, examples: E) -> K:
        """Returns examples in the form in which they are stored."""

    @abstractmethod
    def _batch_loss(self, batch: K) -> Tensor:
        """Returns the mean loss of stored examples."""

    def learn(self, examples: E, learning_rate: float, generator: torch.Generator) -> float:
        """Returns the mean loss of the steps taken for new examples; each batch is drawn from all examples that are kept."""
        self.table.meet(examples.kind.long())
        self.replay.add(self._keep(examples))
        for group in self._optimizer.param_groups:
            group["lr"].fill_(learning_rate)
        steps = max(1, round(self._config.ratio * len(examples.kind) / self._config.batch_size))
        total = torch.zeros((), device=self._device)
        for batch in self.replay.batches(steps, self._config.batch_size, generator, self._device):
            total += self._run_step(batch)
        return float(total) / steps

    def _step(self, batch: K) -> Tensor:
        """Returns the loss of a batch after learning from it."""
        self._optimizer.zero_grad(set_to_none=True)
        loss = self._batch_loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), MAX_GRADIENT)
        self._optimizer.step()
        return loss.detach()

    def state(self) -> dict[str, Tensor]:
        """Returns everything that `restore` needs; the examples are left out and made again."""
        moments = optimizer_state(self._optimizer, compact=True)
        return {**prefixed("net", self.net.state_dict()), **prefixed("optimizer", moments)}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continues from a saved state."""
        self.net.load_state_dict(unprefixed("net", state))
        restore_optimizer(self._optimizer, unprefixed("optimizer", state))
        if self._captures:
            self._run_step = CapturedStep(self._step)  # the optimizer's state is new


class RoundEndLearner(RoundLearner[RoundNet, RoundEndExamples, StoredExamples]):
    """Trains a network of round ends."""

    def __init__(self, net: RoundNet, table: BoardTable | FullBoards, config: HoldemConfig, device: str) -> None:
        super().__init__(net, StoredExamples, table, config, device)
        # Margins of boards that no table keeps take long to count, except for full boards on a GPU.
        counts = isinstance(table, FullBoards) and table.num_cards < FULL_BOARD
        self._keeps_odds = torch.device(device).type != "cuda" or counts

    def _keep(self, examples: RoundEndExamples) -> StoredExamples:
        return stored(examples, self._keeps_odds)

    def _batch_loss(self, batch: StoredExamples) -> Tensor:
        return self.loss(restored(batch, self.table))

    def loss(self, batch: RoundEndExamples) -> Tensor:
        """Returns the mean Huber loss over hands that the card leaves, weighted by how likely each can be held, and is."""
        predicted, wanted, weight = self._compare(batch)
        held, share = batch.beliefs.transpose(0, 1)[:, None].float().clamp(max=MOST_HELD), self._config.belief_weight
        weight = weight * (1.0 - share + share * held)
        error = functional.huber_loss(predicted, wanted, reduction="none", delta=HUBER_DELTA)
        return (error * weight).sum() / weight.sum()

    @torch.no_grad()
    def error(self, batch: RoundEndExamples) -> tuple[float, float]:
        """Returns the mean absolute error of values, weighted by beliefs, and that of a network that always returns 0.

        Both include the noise of the one card that came.
        """
        self.table.meet(batch.kind.long())
        predicted, wanted, weight = self._compare(batch)
        weight = weight * batch.beliefs.transpose(0, 1).float()[:, None]
        return tuple(float(((part - wanted).abs() * weight).sum() / weight.sum()) for part in (predicted, 0.0))  # type: ignore[return-value]

    def _compare(self, batch: RoundEndExamples) -> tuple[Tensor, Tensor, Tensor]:
        """Returns `[2, 1, B, H]` the network's values, the values to learn, and their weights."""
        beliefs, odds, met, beyond = (
            part.transpose(0, 1)[:, None].float() for part in (batch.beliefs, batch.odds, batch.met, batch.beyond)
        )
        with torch.autocast("cuda", torch.bfloat16, enabled=beliefs.device.type == "cuda"):
            hands = self.net.know_kind(self.table, batch.kind, batch.public)
            told = odds if self.net.helps.odds else torch.zeros_like(odds)
            predicted = self.net(hands, batch.public[None], beliefs / beliefs.shape[3], told, met)
        known, wanted = ~beyond.isnan(), beyond if self.net.helps.odds else beyond + odds
        return predicted.float(), wanted.nan_to_num(0.0), met * known
