"""The networks of ReBeL (appendix G): MLPs from a public belief state to infostate values and to a policy.

Inputs are an encoding of the public state's class (for Liar's Dice its last bid and acting player, as in the paper) and both
players' beliefs. The value network returns both players' values at once, so that one training example serves both.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tacit.nets.encoders import PublicEncoder
from tacit.nets.zero_sum import zero_sum


class BeliefNet(nn.Module):
    """Hidden layers of linear, LayerNorm and GeLU over a public belief state; outputs are near zero at initialisation.

    Args:
      public: maps a public state's class or features to the hidden width.
      private: maps both players' beliefs to the hidden width.
      outputs: the number of outputs.
      layers: the number of hidden layers.
    """

    def __init__(self, public: nn.Module, private: nn.Linear, outputs: int, layers: int) -> None:
        super().__init__()
        hidden, self.num_private_states = private.out_features, private.in_features // 2
        self.public, self.private = public, private
        if isinstance(public, PublicEncoder):
            public.initialise()
        self.first = nn.Sequential(nn.LayerNorm(hidden), nn.GELU(approximate="tanh"))
        self.rest = nn.Sequential(
            *(
                nn.Sequential(nn.Linear(hidden, hidden), nn.LayerNorm(hidden), nn.GELU(approximate="tanh"))
                for _ in range(layers - 1)
            )
        )
        self.out = nn.Linear(hidden, outputs)
        with torch.no_grad():
            self.out.weight.mul_(0.01)
            self.out.bias.zero_()

    def outputs(self, public: Tensor, beliefs: Tensor) -> Tensor:
        """Returns `[B, outputs]` from `[B]` classes (or whatever `public` takes) and `[B, 2 * H]` beliefs."""
        hidden = self.first(self.private(beliefs * self.num_private_states) + self.public(public))
        return self.out(self.rest(hidden))  # type: ignore[no-any-return]


class PrivateValues(nn.Module):
    """Values of both players' private states, made from the outputs of some layers.

    Attributes:
      scale: The size of the game's returns: outputs are values of order 1.
      deals: `[C, H, H]` chance weights at each class if the values are made zero-sum (`zero_sum.py`), else None. They come from
        the game and are not saved.
    """

    scale: Tensor
    deals: Tensor | None
    counterfactual = False

    def outputs(self, public: Tensor, beliefs: Tensor) -> Tensor:
        """Returns `[B, 2 * H]` values in units of `scale` from `[B]` classes and `[B, 2 * H]` beliefs."""
        raise NotImplementedError

    def keep_units(self, scale: float, deals: Tensor | None) -> None:
        """Registers `scale` and `deals`."""
        self.register_buffer("scale", torch.tensor(scale))
        self.register_buffer("deals", deals, persistent=False)

    def forward(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        """Returns `[B, 2 * H]` infostate values from `[B]` classes and `[B, 2 * H]` beliefs."""
        values = self.outputs(public_class, beliefs) * self.scale
        if self.deals is None:
            return values
        return zero_sum(values[:, None], beliefs[:, None], self.deals[public_class])[:, 0]

    @torch.inference_mode()
    def evaluate(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        """Returns `[2 * H, L]` values of leaves (see `LeafEvaluator`)."""
        values: Tensor = self(public_class, beliefs.T)
        return values.T.contiguous()

    def refresh(self) -> None:
        """Does nothing: the weights are the network's own (see `ForwardPass`)."""


class ValueNet(BeliefNet, PrivateValues):
    """The network of ReBeL."""

    public: PublicEncoder

    def __init__(
        self,
        encoder: PublicEncoder,
        num_private_states: int,
        layers: int = 2,
        scale: float = 1.0,
        deals: Tensor | None = None,
    ) -> None:
        private = nn.Linear(2 * num_private_states, encoder.width)
        super().__init__(encoder, private, 2 * num_private_states, layers)
        self.keep_units(scale, deals)


class OwnValueNet(PrivateValues):
    """A user's module that maps `[B]` classes and `[B, 2 * H]` beliefs to `[B, 2 * H]` values, in the form that search needs.

    Args:
      inner: the module.
      scale: the size of the game's returns; the module's values are of order 1.
      deals: `[C, H, H]` if values are to be zero-sum (see `PrivateValues`).
    """

    def __init__(self, inner: nn.Module, scale: float = 1.0, deals: Tensor | None = None) -> None:
        super().__init__()
        self.inner = inner
        self.keep_units(scale, deals)

    def outputs(self, public: Tensor, beliefs: Tensor) -> Tensor:
        values: Tensor = self.inner(public, beliefs)
        return values


class PolicyNet(BeliefNet):
    """Probabilities of the acting player's actions in each of its private states."""

    def __init__(self, encoder: PublicEncoder, num_private_states: int, num_actions: int, layers: int = 2) -> None:
        private = nn.Linear(2 * num_private_states, encoder.width)
        super().__init__(encoder, private, num_private_states * num_actions, layers)
        self.num_actions = num_actions

    def forward(self, public_class: Tensor, beliefs: Tensor, legal: Tensor) -> Tensor:
        """Returns `[B, H, A]` probabilities, zero where not `legal` `[B, H, A]`."""
        scores = self.outputs(public_class, beliefs).view(-1, self.num_private_states, self.num_actions)
        scores = scores.masked_fill(~legal, -1e9)
        return torch.softmax(scores, dim=2) * legal

    @torch.inference_mode()
    def propose(self, public_class: Tensor, beliefs: Tensor, legal: Tensor) -> Tensor:
        """Returns the same as `forward`, for a warm start (see `Policy`)."""
        probabilities: Tensor = self(public_class, beliefs, legal)
        return probabilities
