"""A system of your own: its own trainer on the library's search, with run folders, metrics and resuming for free.

*Belief iteration* draws public states and beliefs at random, searches one action ahead from all of them at once, and teaches a
small network what the searches found; the next searches use it at their leaves. Values near the end of the game are right
first, and truth moves up.

    python examples/own_system.py
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

import tacit
from tacit.games import AnyGame
from tacit.search import BatchSearch, SearchConfig, SearchSpace, game_space, playthrough_quality
from tacit.training import Count, CountOrZero, Metrics, Positive, Seed, Settings, System, Trainer


@dataclass(frozen=True)
class BeliefConfig(Settings):
    """What can be set, and what it may be: `tacit.train(BELIEF_ITERATION, ..., width=32)`."""

    system: ClassVar[str] = "belief-iteration"
    situations: Count = 512
    width: Count = 32
    learning_rate: Positive = 0.01
    epochs: Count = 12
    evaluate_every: CountOrZero = 0
    seed: Seed = 0


@dataclass(frozen=True)
class BeliefProgress(Metrics):
    """A line of `metrics.jsonl`."""

    epoch: int
    seconds: float
    loss: float
    exploitability: float | None = None


class Values(nn.Module):
    """Values of both players' private states; search asks `evaluate` at its leaves."""

    counterfactual = False

    def __init__(self, space: SearchSpace, width: int) -> None:
        super().__init__()
        size = 2 * space.tables.num_private_states
        self.public = nn.Embedding(space.num_classes, width)
        self.private, self.out = nn.Linear(size, width), nn.Linear(width, size)

    def forward(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        return torch.as_tensor(self.out(torch.relu(self.public(public_class) + self.private(beliefs))))

    @torch.no_grad()
    def evaluate(self, states: Tensor, beliefs: Tensor) -> Tensor:
        values: Tensor = self(states, beliefs.T)
        return values.T.contiguous()


class BeliefTrainer(Trainer[BeliefConfig, BeliefProgress]):
    """A run in memory."""

    def __init__(self, game: AnyGame, config: BeliefConfig, device: str = "cpu") -> None:
        super().__init__(game, config)
        torch.manual_seed(config.seed)
        self.space = game_space(game, 1)
        self.net = Values(self.space, config.width)
        self.search = BatchSearch(self.space, self.net, SearchConfig("dcfr", iterations=32, depth=1), device)

    def run_epoch(self, clock: Callable[[], float]) -> BeliefProgress:
        start, tables = clock(), self.space.tables
        generator = np.random.default_rng([self.config.seed, self.epoch])  # so a run that goes on draws what it would have
        classes = generator.integers(0, self.space.num_classes, self.config.situations)
        exists = [np.arange(tables.num_private_states) < player.num_roots[classes, None] for player in tables.players]
        weights = torch.from_numpy(generator.exponential(size=(len(classes), 2, tables.num_private_states))).float()
        weights = weights * torch.from_numpy(np.stack(exists, axis=1))
        beliefs = weights / weights.sum(2, keepdim=True)
        found = self.search.run(classes, beliefs, np.ones(len(classes), np.int64)).values.flatten(1)
        optimizer, public = torch.optim.Adam(self.net.parameters(), self.config.learning_rate), torch.from_numpy(classes)
        for _ in range(100):
            loss = (self.net(public, beliefs.flatten(1)) - found)[~found.isnan()].square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        self.epoch, self.seconds = self.epoch + 1, self.seconds + clock() - start
        return BeliefProgress(self.epoch, self.seconds, float(loss.detach()))

    def judged(self, metrics: BeliefProgress, on_search: Callable[[int], None]) -> BeliefProgress:
        quality = playthrough_quality(self.search, 64, np.random.default_rng(0), on_search)
        return replace(metrics, exploitability=quality.exploitability)

    def at_rest(self) -> BeliefProgress:
        return BeliefProgress(self.epoch, self.seconds, float("nan"))

    def weights(self) -> dict[str, Tensor]:
        return dict(self.net.state_dict())

    def tensors(self) -> dict[str, Tensor]:
        return self.weights()

    def restore(self, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
        super().restore(tensors, header)
        self.net.load_state_dict(tensors)


BELIEF_ITERATION = System(BeliefConfig, {"cpu": BeliefConfig()}, BeliefProgress, BeliefTrainer)


def main() -> None:
    """Trains half a run, goes on with it, and compares with a whole one."""
    with tempfile.TemporaryDirectory() as folder:
        half = tacit.train(BELIEF_ITERATION, "kuhn_poker", run=f"{folder}/run", epochs=6)
        whole = tacit.train(BELIEF_ITERATION, "kuhn_poker", run=f"{folder}/run", epochs=12, resume=True)
        again = tacit.train(BELIEF_ITERATION, "kuhn_poker", run=f"{folder}/again", epochs=12)
    print(f"{half!r}\n{whole!r}")
    assert whole.exploitability is not None
    assert whole.exploitability < 0.1  # uniform play has 0.46
    assert whole.exploitability == again.exploitability


if __name__ == "__main__":
    main()
