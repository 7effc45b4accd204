"""Self-play by ReBeL's Algorithms 1 and 2: thousands of games advance together, one search each at a time.

Every search yields a training example, the root's public belief state with its values. Then each game moves to a leaf of its
subgame, sampled with the strategies of a random iteration while one random player explores, and the beliefs there
are those of that iteration without exploration. All iterations after a warm start are equally likely, as in the paper's
section 5 and Algorithm 1; Algorithm 2 prefers later ones, as play does. In fictitious play the explorer plays its response of
that iteration, the other player its average (ReBeL, footnote 6).

A search from the start of the game is the same for every game, so a few of them serve all: each new game starts at a leaf of
one of these, chosen at random, and hardly any place in the batch is spent on repeating that search.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tacit.learning.examples import ValueExamples
from tacit.search.search import BatchSearch, SearchResult
from tacit.search.walk import GAME_OVER, explore, leaf_chances, leaf_states, sample_leaves

OPENINGS = 32
"""One search in this many starts at the beginning of the game."""


class SelfPlay:
    """Games of self-play between searches.

    Attributes:
      game_class: `[G]` the class of each game's public state.
      reaches: `[G, 2, H]` the players' reaches there, scaled to sum to 1.
      started: games that began in the last step.
    """

    def __init__(self, search: BatchSearch, num_games: int, exploration: float, generator: np.random.Generator) -> None:
        self.search = search
        self.exploration = exploration
        self.generator = generator
        space = search.space
        self._root_chances = space.root_chance / space.root_chance.sum()
        self._root_reaches = torch.from_numpy(space.root_reaches).to(search.kernels.device)
        self._num_openings = -(-num_games // OPENINGS)
        self.game_class, self.reaches = self._openings(num_games)
        self.started = num_games

    def advance(self) -> tuple[ValueExamples, SearchResult]:
        """Returns one example from each search, and the searches' result; games move on, and new ones replace ended ones."""
        opening_class, opening_reaches = self._openings(self._num_openings)
        classes = np.concatenate([opening_class, self.game_class])
        reaches = torch.cat([opening_reaches, self.reaches])
        sample = self.generator.integers(self.search.warm_iterations + 1, self.search.config.iterations + 1, len(classes))
        result = self.search.run(classes, reaches, sample)
        self._move_on(result, reaches)
        return ValueExamples(torch.from_numpy(classes).to(reaches.device), reaches.flatten(1), result.values.flatten(1)), result

    def _move_on(self, result: SearchResult, reaches: Tensor) -> None:
        """Moves every game to a leaf of its subgame or, if it is over, to a leaf of an opening."""
        search, batch, games, device = self.search, result.batch, len(self.game_class), reaches.device

        def random(values: np.ndarray) -> Tensor:
            return torch.from_numpy(values).to(device)

        explorer = random(self.generator.integers(0, 2, len(reaches)))
        others, believed = result.to_play(safe=True)
        explored = explore(search, batch, result.sampled_strategy, others, explorer, self.exploration)
        chances = leaf_chances(search, batch, explored, reaches)
        leaf = sample_leaves(chances[self._num_openings :], random(self.generator.random(games, np.float32)))
        over = leaf == GAME_OVER
        opening = random(self.generator.integers(0, self._num_openings, games))
        going_on = chances[opening] / chances[opening].sum(1, keepdim=True)  # a new game that does not end at once
        first_leaf = sample_leaves(going_on.nan_to_num(0.0), random(self.generator.random(games, np.float32)))
        leaf = torch.where(over, first_leaf, leaf)
        game = torch.where(over, opening, torch.arange(games, device=device) + self._num_openings)
        new_class, new_reaches = leaf_states(search, batch, believed, reaches, leaf, game)
        # If a search sees the whole game, it has no leaves, and games start from the beginning itself.
        stuck = leaf == GAME_OVER
        self.started = int(over.sum())
        opening_class, opening_reaches = self._openings(games)
        self.game_class = np.where(stuck.cpu().numpy(), opening_class, new_class.cpu().numpy())
        self.reaches = new_reaches.where(~stuck[:, None, None], opening_reaches)

    def _openings(self, count: int) -> tuple[np.ndarray, Tensor]:
        """Returns `[count]` classes and `[count, 2, H]` reaches at the start, drawn if the game opens with public chance."""
        root = self.generator.choice(len(self._root_chances), count, p=self._root_chances)
        return self.search.space.root_class[root], self._root_reaches[torch.from_numpy(root).to(self._root_reaches.device)]
