"""The value network of ReBeL (appendix G): an MLP from a public belief state to infostate values.

Input: the class of the public state (for Liar's Dice its last bid and acting player, as in the paper) and both players'
beliefs. Output: both players' values at once, so that one training example serves both.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class ValueNet(nn.Module):
    """Hidden layers of linear, LayerNorm and GeLU; near-zero values at the start.

    `scale` is the size of the game's returns: the layers work with values of order 1.
    """

    scale: Tensor

    def __init__(
        self, num_classes: int, num_private_states: int, hidden: int = 256, layers: int = 2, scale: float = 1.0
    ) -> None:
        super().__init__()
        self.num_classes, self.num_private_states = num_classes, num_private_states
        self.register_buffer("scale", torch.tensor(scale))
        size = 2 * num_private_states
        self.public = nn.Embedding(num_classes, hidden)  # a one-hot input through a linear layer
        self.private = nn.Linear(size, hidden)
        nn.init.normal_(self.public.weight, std=0.5)
        self.first = nn.Sequential(nn.LayerNorm(hidden), nn.GELU(approximate="tanh"))
        self.rest = nn.Sequential(
            *(
                nn.Sequential(nn.Linear(hidden, hidden), nn.LayerNorm(hidden), nn.GELU(approximate="tanh"))
                for _ in range(layers - 1)
            )
        )
        self.out = nn.Linear(hidden, size)
        with torch.no_grad():
            self.out.weight.mul_(0.01)
            self.out.bias.zero_()

    def forward(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        """Returns `[B, 2 * H]` infostate values from `[B]` classes and `[B, 2 * H]` beliefs."""
        hidden = self.first(self.private(beliefs * self.num_private_states) + self.public(public_class))
        return self.out(self.rest(hidden)) * self.scale  # type: ignore[no-any-return]

    @torch.inference_mode()
    def evaluate(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        """Returns `[2 * H, L]` values of leaves (see `LeafEvaluator`)."""
        values: Tensor = self(public_class, beliefs.T)
        return values.T.contiguous()
