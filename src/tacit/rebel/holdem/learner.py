"""A network of round ends that learns from what searches found: its examples, its loss, its optimizer."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from tacit.cards.board_tensors import NUM_TEXTURE, BoardTable, FullBoards
from tacit.learning.optimizers import optimizer_state, restore_optimizer
from tacit.learning.replay import ReplayBuffer
from tacit.nets.checkpoint import prefixed, unprefixed
from tacit.nets.round_end_net import RoundEndNet
from tacit.rebel.holdem.config import HOST, HoldemConfig
from tacit.rebel.holdem.selfplay import RoundEndExamples
from tacit.rebel.holdem.stored import StoredExamples, restored, stored

HUBER_DELTA = 0.5
"""In units of what either player has put in: larger errors count linearly."""
MAX_GRADIENT = 5.0


class RoundEndLearner:
    """A network with its replay buffer and optimizer, Adam.

    Args:
      net: what learns.
      table: what is known of its boards.
      config: of the run.
      device: where everything lies but, if the settings say so, examples.
    """

    def __init__(self, net: RoundEndNet, table: BoardTable | FullBoards, config: HoldemConfig, device: str) -> None:
        self.net, self._config = net, config
        place = "cpu" if config.replay_device == HOST else device
        self.replay: ReplayBuffer[StoredExamples] = ReplayBuffer(StoredExamples, config.replay_size, place)
        self._keeps_odds = torch.device(device).type != "cuda"
        self._optimizer = torch.optim.Adam(net.parameters(), lr=config.learning_rate)
        self._device, self._table = device, table

    def learn(self, examples: RoundEndExamples, learning_rate: float, generator: torch.Generator) -> float:
        """Returns the mean loss of the steps that new examples are worth: each batch is drawn from all that are kept."""
        self.replay.add(stored(examples, self._keeps_odds))
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        steps = max(1, round(self._config.ratio * len(examples.kind) / self._config.batch_size))
        total = torch.zeros((), device=self._device)
        for batch in self.replay.batches(steps, self._config.batch_size, generator, self._device):
            self._optimizer.zero_grad(set_to_none=True)
            loss = self.loss(restored(batch, self._table))
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), MAX_GRADIENT)
            self._optimizer.step()
            total += loss.detach()
        return float(total) / steps

    def loss(self, batch: RoundEndExamples) -> Tensor:
        """Returns the mean Huber loss over hands that the card left, each weighted by how likely it can be held."""
        found, wanted, weight = self._compare(batch)
        error = functional.huber_loss(found, wanted, reduction="none", delta=HUBER_DELTA)
        return (error * weight).sum() / weight.sum()

    @torch.no_grad()
    def error(self, batch: RoundEndExamples) -> tuple[float, float]:
        """Returns the mean absolute error of values, weighted by beliefs, and that of a network that says 0.

        Both hold the noise of the one card that came.
        """
        found, wanted, weight = self._compare(batch)
        weight = weight * batch.beliefs.transpose(0, 1).float()[:, None]
        return tuple(float(((part - wanted).abs() * weight).sum() / weight.sum()) for part in (found, 0.0))  # type: ignore[return-value]

    def _compare(self, batch: RoundEndExamples) -> tuple[Tensor, Tensor, Tensor]:
        """Returns `[2, 1, B, H]` what the network says, what was found, and how much it counts."""
        beliefs, odds, met, beyond = (
            part.transpose(0, 1)[:, None].float() for part in (batch.beliefs, batch.odds, batch.met, batch.beyond)
        )
        with torch.autocast("cuda", torch.bfloat16, enabled=beliefs.device.type == "cuda"):
            texture = batch.public[:, :NUM_TEXTURE]
            hands = self.net.embed(self._table.features(batch.kind).float(), texture)
            found = self.net(hands, batch.public[None], beliefs / beliefs.shape[3], odds, met)
        known = ~beyond.isnan()
        return found.float(), beyond.nan_to_num(0.0), met * known

    def state(self) -> dict[str, Tensor]:
        """Returns all there is to restore but the examples: these are made again."""
        moments = optimizer_state(self._optimizer, compact=True)
        return {**prefixed("net", self.net.state_dict()), **prefixed("optimizer", moments)}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continues from a saved state."""
        self.net.load_state_dict(unprefixed("net", state))
        restore_optimizer(self._optimizer, unprefixed("optimizer", state))
