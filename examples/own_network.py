"""A value network of your own, trained by ReBeL (or Student of Games) from Python and from the command line.

`tacit` passes what `__init__` asks for by name: `num_classes`, `num_private_states`, `features` (`[C, F]` of each class of
public states), `game` or `space`. All other parameters are yours, and can be written after the name:

    python examples/own_network.py
    tacit train rebel kuhn_poker --run runs/own --preset smoke --set "network=examples/own_network.py:Net(width=32)"
"""

import tempfile

import torch
from torch import Tensor, nn

import tacit


class Net(nn.Module):
    """From `[B]` classes of public states and `[B, 2 * H]` beliefs to `[B, 2 * H]` values of both players' private states."""

    def __init__(self, num_classes: int, num_private_states: int, width: int = 64) -> None:
        super().__init__()
        self.public = nn.Embedding(num_classes, width)
        self.private = nn.Linear(2 * num_private_states, width)
        self.out = nn.Linear(width, 2 * num_private_states)
        nn.init.zeros_(self.out.weight)  # nothing is worth anything at the start

    def forward(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        hidden: Tensor = torch.relu(self.public(public_class) + self.private(beliefs))
        return torch.as_tensor(self.out(hidden))


def main() -> None:
    """Trains the network for a few seconds and looks at what search makes of it."""
    with tempfile.TemporaryDirectory() as folder:
        net = f"{__file__}:Net(width=32)"
        run = tacit.train(
            "rebel", "kuhn_poker", run=f"{folder}/run", preset="smoke", epochs=6, iterations=16, learning_rate=0.01, network=net
        )
        trained = tacit.evaluate(run, playthroughs=64)
    untrained = tacit.solve_by_search("kuhn_poker", depth=2, leaf="zero").exploitability
    print(f"{run!r}\nexploitability with it {trained.figure:.3f}, with zeros at leaves {untrained:.3f}")
    assert trained.figure < 0.5 * untrained


if __name__ == "__main__":
    main()
