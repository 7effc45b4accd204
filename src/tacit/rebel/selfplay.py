"""Self-play by ReBeL's Algorithms 1 and 2: thousands of games advance in step, one search each at a time.

Every search yields a training example, the root's public belief state with its values. Then each game moves to a leaf of its
subgame, sampled with the strategies of a random iteration while one random player explores, and the beliefs there
are those of that iteration without exploration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tacit.games.base import TERMINAL
from tacit.search.search import BatchSearch, SearchResult
from tacit.search.walk import GAME_OVER, explore, leaf_states, sample_leaves


@dataclass
class Examples:
    """Training examples for a value network.

    Attributes:
      public_class: `[B]`.
      beliefs: `[B, 2 * H]` both players' normalised reaches.
      values: `[B, 2 * H]` both players' infostate values.
    """

    public_class: Tensor
    beliefs: Tensor
    values: Tensor


class SelfPlay:
    """Games of self-play between searches.

    Attributes:
      game_class: `[G]` the class of each game's public state.
      reaches: `[G, 2, H]` the players' reaches there, scaled to sum to 1.
    """

    def __init__(self, search: BatchSearch, num_games: int, exploration: float, generator: np.random.Generator) -> None:
        self.search = search
        self.exploration = exploration
        self.generator = generator
        space = search.space
        nodes = space.tree.require_nodes()
        roots = [root for root in range(nodes.num_roots) if nodes.actor[root] != TERMINAL]
        chances = np.array([nodes.joint(root).sum() for root in roots])
        self._root_chances = chances / chances.sum()
        self._root_class = space.classes.of_node[roots].astype(np.int64)
        counts = np.stack([table.num_roots[self._root_class] for table in space.tables.players], axis=1)[:, :, None]
        possible = np.arange(space.tables.num_private_states) < counts
        self._root_reaches = torch.from_numpy((possible / counts).astype(np.float32)).to(search.kernels.device)
        first = self._draw_roots(num_games)
        self.game_class = self._root_class[first]
        self.reaches = self._root_reaches[torch.from_numpy(first).to(search.kernels.device)]

    def advance(self) -> Examples:
        """Returns one example from each game after searching and moving on; finished games start anew."""
        count, iterations = len(self.game_class), self.search.config.iterations
        sample = self.generator.integers(1, iterations + 1, count)
        result = self.search.run(self.game_class, self.reaches, sample)
        examples = Examples(torch.from_numpy(self.game_class.copy()), self.reaches.flatten(1).clone(), result.values.flatten(1))
        self._move_on(result)
        return examples

    def _move_on(self, result: SearchResult) -> None:
        space, kernels, batch = self.search.space, self.search.kernels, result.batch
        device, count = self.reaches.device, len(self.game_class)
        explorer = torch.from_numpy(self.generator.integers(0, 2, count)).to(device)
        draws = torch.from_numpy(self.generator.random(count, np.float32)).to(device)
        explored = explore(space, batch, result.sampled_strategy, explorer, self.exploration)
        leaf = sample_leaves(space, kernels, batch, explored, self.reaches, draws)
        new_class, new_reaches = leaf_states(space, kernels, batch, result.belief_strategy, self.reaches, leaf)
        over = leaf == GAME_OVER
        first = self._draw_roots(count)
        self.game_class = np.where(over.cpu().numpy(), self._root_class[first], new_class.cpu().numpy())
        self.reaches = new_reaches.where(~over[:, None, None], self._root_reaches[torch.from_numpy(first).to(device)])

    def _draw_roots(self, count: int) -> np.ndarray:
        """Returns `[count]` which root each new game starts from: several where the game opens with a public chance event."""
        return self.generator.choice(len(self._root_chances), count, p=self._root_chances)
