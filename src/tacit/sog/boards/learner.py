"""The network of a run on boards with its replay buffer and optimizer."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from tacit.games.boards import Boards
from tacit.learning.replay import ReplayBuffer
from tacit.nets.board_net import BoardNet
from tacit.nets.checkpoint import prefixed, unprefixed
from tacit.nets.optimizers import optimizer_state, restore_optimizer
from tacit.sog.boards.config import BoardConfig
from tacit.sog.boards.selfplay import BoardExamples

MAX_GRADIENT = 5.0


class BoardLearner:
    """Learns policies by cross entropy and values by squared error.

    Attributes:
      net: The network.
      replay: The examples that it learns from.
    """

    def __init__(self, net: BoardNet, boards: Boards, config: BoardConfig, device: str) -> None:
        self.net, self._boards, self._config, self._device = net, boards, config, device
        self.replay: ReplayBuffer[BoardExamples] = ReplayBuffer(
            BoardExamples, config.replay_size, device, 1e9 * config.replay_memory
        )
        self._optimizer = torch.optim.AdamW(net.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
        self._owed = 0.0

    def learn(self, examples: BoardExamples, learning_rate: float, generator: torch.Generator) -> Tensor | None:
        """Returns `[2]` the mean losses of policy and value over the steps due for new examples; None if none is due."""
        self.replay.add(examples)
        self._owed += self._config.ratio * len(examples.value) / self._config.batch_size
        steps, total = int(self._owed), torch.zeros(2, device=self._device)
        self._owed -= steps
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        for _ in range(steps):
            total += self._step(self.replay.sample(self._config.batch_size, generator))
        return total / steps if steps else None

    def state(self) -> dict[str, Tensor]:
        """Returns everything that `restore` needs."""
        parts = {
            "net": self.net.state_dict(), "optimizer": optimizer_state(self._optimizer), "replay": self.replay.state()
        }  # fmt: skip
        tensors = {name: tensor for part, state in parts.items() for name, tensor in prefixed(part, state).items()}
        return {**tensors, "owed": torch.tensor(self._owed, dtype=torch.float64)}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continues from a saved state."""
        self.net.load_state_dict(unprefixed("net", state))
        restore_optimizer(self._optimizer, unprefixed("optimizer", state))
        self.replay.restore(unprefixed("replay", state))
        self._owed = float(state["owed"])

    def _step(self, batch: BoardExamples) -> Tensor:
        """Returns `[2]` the losses of policy and value on a batch, after one step on it."""
        self._optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self._device, torch.bfloat16, enabled=self._device != "cpu"):
            scores, value = self.net(self._boards.planes(batch.position))
        policy_loss = functional.cross_entropy(scores.float(), batch.policy)
        value_loss = functional.mse_loss(value.float(), batch.value)
        (policy_loss + value_loss).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), MAX_GRADIENT)
        self._optimizer.step()
        return torch.stack([policy_loss, value_loss]).detach()
