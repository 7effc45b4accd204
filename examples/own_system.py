"""Your own system: a trainer on the library's search, with run folders, metrics, resuming and agents for free.

*Belief iteration* draws public states and beliefs at random, searches one action ahead from all of them at once, and teaches a
small network what the searches found. The next searches use this network at their leaves. Values near the end of the game
become right first, and correct values move up the tree.

    python examples/own_system.py
    tacit train examples/own_system.py:BELIEF_ITERATION kuhn_poker --run runs/belief --set width=64
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

import tacit
from tacit.games import AnyGame
from tacit.search import BatchSearch, SearchConfig, SearchSpace, game_space, random_situations
from tacit.training import Count, OwnValueNet, Positive, SearchMetrics, SearchSettings, SearchTrainer, System


@dataclass(frozen=True)
class BeliefSettings(SearchSettings):
    """The settings of a run.

    Attributes:
      situations: Public belief states that an epoch draws and searches.
      width: Hidden units of the network.
      learning_rate: The step size of Adam.
    """

    system: ClassVar[str] = "belief-iteration"
    situations: Count = 512
    width: Count = 32
    learning_rate: Positive = 0.01
    epochs: Count = 24


class Net(nn.Module):
    """Maps `[B]` classes of public states and `[B, 2 * H]` beliefs to `[B, 2 * H]` values of both players' private states."""

    def __init__(self, space: SearchSpace, width: int) -> None:
        super().__init__()
        size = 2 * space.tables.num_private_states
        self.public, self.private = nn.Embedding(space.num_classes, width), nn.Linear(size, width)
        self.values = nn.Sequential(nn.ReLU(), nn.Linear(width, size))

    def forward(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        values: Tensor = self.values(self.public(public_class) + self.private(beliefs))
        return values


class BeliefTrainer(SearchTrainer[BeliefSettings]):
    """A run: its network and its optimizer are checkpointed because they are attributes."""

    def __init__(self, game: AnyGame, config: BeliefSettings, device: str = "cpu") -> None:
        super().__init__(game, config)
        space = game_space(game, 1)
        self.net = OwnValueNet(Net(space, config.width)).to(device)
        self.optimizer = torch.optim.Adam(self.net.parameters(), config.learning_rate)
        self.search = BatchSearch(space, self.net, SearchConfig("dcfr", iterations=32, depth=1), device)

    def learn(self) -> float:
        states = random_situations(self.search, self.config.situations, self.generator)
        found = self.search.run(states.public_class.cpu().numpy(), states.reaches).values.flatten(1)
        for _ in range(100):
            loss = (self.net(states.public_class, states.reaches.flatten(1)) - found)[~found.isnan()].square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return float(loss.detach())


BELIEF_ITERATION: System[BeliefSettings, SearchMetrics] = System(BeliefSettings, BeliefTrainer)

if __name__ == "__main__":
    print(repr(tacit.train(BELIEF_ITERATION, "kuhn_poker")))
