"""Training states drawn at random instead of by self-play, as in DeepStack: they show what self-play is worth (Figure 2)."""

from __future__ import annotations

import numpy as np
import torch

from tacit.learning.examples import ValueExamples
from tacit.search.queries import random_situations
from tacit.search.search import BatchSearch, SearchResult


class RandomBeliefs:
    """Searches from public states where a search can start, chosen uniformly, with uniformly random beliefs.

    Attributes:
      game_class: `[G]` the class of each next search.
      reaches: `[G, 2, H]` the beliefs of each next search (see `SelfPlay`).
    """

    def __init__(self, search: BatchSearch, num_games: int, generator: np.random.Generator) -> None:
        self.search, self.generator = search, generator
        self._classes = search.space.start_classes()
        self._draw(num_games)

    def advance(self) -> tuple[ValueExamples, SearchResult]:
        """Returns one example from each search, and the searches' result; draws the next states."""
        count = len(self.game_class)
        result = self.search.run(self.game_class, self.reaches)
        classes = torch.from_numpy(self.game_class).to(self.reaches.device)
        examples = ValueExamples(classes, self.reaches.flatten(1), result.values.flatten(1))
        self._draw(count)
        return examples, result

    def _draw(self, count: int) -> None:
        states = random_situations(self.search, count, self.generator, self._classes)
        self.game_class, self.reaches = states.public_class.cpu().numpy(), states.reaches
