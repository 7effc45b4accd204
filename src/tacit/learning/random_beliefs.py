"""Training states drawn at random instead of by self-play, as DeepStack did: to show what self-play is worth (Figure 2)."""

from __future__ import annotations

import numpy as np
import torch

from tacit.learning.examples import ValueExamples
from tacit.search.queries import Queries
from tacit.search.search import BatchSearch, SearchResult


class RandomBeliefs:
    """Searches from public states where a search can start, chosen uniformly, with uniformly random beliefs.

    Attributes:
      game_class: `[G]` the class of each next search, and
      reaches: `[G, 2, H]` its beliefs (see `SelfPlay`).
    """

    def __init__(self, search: BatchSearch, num_games: int, generator: np.random.Generator) -> None:
        self.search, self.generator = search, generator
        self._classes = search.space.start_classes()
        self._draw(num_games)

    def advance(self) -> tuple[ValueExamples, SearchResult]:
        """Returns one example from each search, and the searches; draws the next states."""
        count = len(self.game_class)
        result = self.search.run(self.game_class, self.reaches, np.ones(count, np.int64))
        classes = torch.from_numpy(self.game_class).to(self.reaches.device)
        examples = ValueExamples(classes, self.reaches.flatten(1), result.values.flatten(1))
        self._draw(count)
        return examples, result

    def _draw(self, count: int) -> None:
        states = random_situations(self.search, self._classes, count, self.generator)
        self.game_class, self.reaches = states.public_class.cpu().numpy(), states.reaches


def random_situations(search: BatchSearch, classes: np.ndarray, count: int, generator: np.random.Generator) -> Queries:
    """Returns public states of the given classes, chosen uniformly, with beliefs that are uniform over the simplex."""
    tables, device = search.space.tables, search.kernels.device
    chosen = generator.choice(classes, count)
    counts = np.stack([table.num_roots[chosen] for table in tables.players], axis=1)[:, :, None]
    weights = generator.exponential(size=(count, 2, tables.num_private_states))
    weights *= np.arange(tables.num_private_states) < counts
    beliefs = (weights / weights.sum(2, keepdims=True)).astype(np.float32)
    return Queries(torch.from_numpy(chosen.astype(np.int64)).to(device), torch.from_numpy(beliefs).to(device))
