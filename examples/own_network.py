"""Your own value network, trained by ReBeL (or Student of Games) from Python and from the command line.

`tacit` passes what `__init__` asks for by name: `num_classes`, `num_private_states`, `features` (`[C, F]`, a row for each class
of public states), `game` or `space`. All other parameters are yours; set them in the network's name:

    tacit train rebel kuhn_poker --run runs/own --preset smoke --set "network=examples/own_network.py:Net(width=32)"
"""

from torch import Tensor, nn

import tacit


class Net(nn.Module):
    """Maps `[B]` classes of public states and `[B, 2 * H]` beliefs to `[B, 2 * H]` values of both players' private states."""

    def __init__(self, num_classes: int, num_private_states: int, width: int = 32) -> None:
        super().__init__()
        self.public, self.private = nn.Embedding(num_classes, width), nn.Linear(2 * num_private_states, width)
        self.values = nn.Sequential(nn.ReLU(), nn.Linear(width, 2 * num_private_states))

    def forward(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        values: Tensor = self.values(self.public(public_class) + self.private(beliefs))
        return values


if __name__ == "__main__":
    run = tacit.train("rebel", "kuhn_poker", preset="smoke", epochs=12, iterations=64, learning_rate=0.01, network=Net)
    print(f"exploitability after {run.epoch} epochs: {tacit.evaluate(run, playthroughs=64).figure:.3f}")
