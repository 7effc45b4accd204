"""The convolutional value-and-policy network for boards: a residual tower over planes, and two heads.

The value is for the player to act; the opponent's is its negative, so the output is zero-sum by construction.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tacit.games.boards import Boards, Positions

HEAD_CHANNELS, HEAD_WIDTH = 16, 64
LARGEST = 16_384
"""The most positions in one forward pass."""


class _Block(nn.Module):
    """A residual block that starts as the identity, so that no normalisation is needed."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        nn.init.kaiming_normal_(self.first.weight, nonlinearity="relu")
        nn.init.zeros_(self.second.weight)
        for layer in (self.first, self.second):
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]

    def forward(self, seen: Tensor) -> Tensor:
        added: Tensor = self.second(torch.relu(self.first(torch.relu(seen))))
        return seen + added


class BoardNet(nn.Module):
    """Maps planes to scores of all actions and the value for the player to act.

    Args:
      plane_shape: planes, rows and columns.
      num_actions: `A`.
      channels: the tower's channels.
      blocks: the number of residual blocks, two convolutions each.
    """

    def __init__(self, plane_shape: tuple[int, int, int], num_actions: int, channels: int = 64, blocks: int = 4) -> None:
        super().__init__()
        planes, rows, columns = plane_shape
        self.stem = nn.Conv2d(planes, channels, 3, padding=1)
        self.tower = nn.Sequential(*(_Block(channels) for _ in range(blocks)))
        self.squeeze = nn.Conv2d(channels, 2 * HEAD_CHANNELS, 1)
        size = HEAD_CHANNELS * rows * columns
        self.policy = nn.Linear(size, num_actions)
        self.value = nn.Sequential(nn.Linear(size, HEAD_WIDTH), nn.ReLU(), nn.Linear(HEAD_WIDTH, 1))
        with torch.no_grad():
            for head in (self.policy, self.value[2]):
                head.weight.mul_(0.01)  # type: ignore[operator]

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Returns `[n, A]` scores of actions, illegal ones included, and `[n]` values in [-1, 1]."""
        both = torch.relu(self.squeeze(torch.relu(self.tower(self.stem(planes)))))
        policy, value = both[:, :HEAD_CHANNELS], both[:, HEAD_CHANNELS:]
        return self.policy(policy.flatten(1)), torch.tanh(self.value(value.flatten(1)))[:, 0]


class NetBoards:
    """Evaluates positions by a network (see `BoardEvaluator`), in half precision on a GPU.

    Args:
      net: the network.
      boards: the rules.
    """

    def __init__(self, net: BoardNet, boards: Boards) -> None:
        self.net, self._boards = net, boards

    @torch.inference_mode()
    def evaluate(self, positions: Positions) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Returns `[n, A]` probabilities of actions, illegal ones included, and `[n]` values for the player to act."""
        device = self.net.policy.weight.device
        parts = [
            self._ask(torch.from_numpy(part).to(device)) for part in np.array_split(positions, -(-len(positions) // LARGEST))
        ]
        outputs = torch.cat(parts).cpu().numpy()
        return outputs[:, :-1], outputs[:, -1]

    def _ask(self, positions: Tensor) -> Tensor:
        """Returns `[n, A + 1]` policy and value in one tensor, so that one copy moves both off the device."""
        planes = self._boards.planes(positions)
        if planes.device.type == "cpu":
            scores, value = self.net(planes)
        else:
            with torch.autocast("cuda", torch.bfloat16):
                scores, value = self.net(planes.to(memory_format=torch.channels_last))
        return torch.cat([torch.softmax(scores.float(), 1), value.float()[:, None]], 1)
