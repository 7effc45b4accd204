"""Growing-tree CFR on boards, SoG(s, c) (Student of Games): many positions searched at once.

A search starts from its root alone. It opens c positions, runs one update of regrets over the whole tree, and repeats this
until s positions are open. A walk goes down half by PUCT with the network's policy as prior, half by the current strategy, and
opens the first position on its way that is not in the tree. The average strategy is what is played in the end.

Beliefs are trivial here, so the network's answer for a position never changes: it is asked once, when the position is opened.
The c positions of a phase are evaluated together, for all trees at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TacitError
from tacit.games.base import TERMINAL
from tacit.games.boards import Boards, Positions
from tacit.search.boards.forest import BoardForest, Findings, make_forest

Floats = NDArray[np.float32]


class BoardEvaluator(Protocol):
    """Anything that values positions and says which actions are likely there."""

    def evaluate(self, positions: Positions) -> tuple[Floats, Floats]:
        """Returns `[n, A]` positive weights of the actions and `[n]` values for the player to act of positions `[n, W]`."""
        ...


class UniformBoards:
    """An evaluator that knows nothing: all actions are equally likely, all positions worth 0."""

    def __init__(self, boards: Boards) -> None:
        self._num_actions = boards.num_actions

    def evaluate(self, positions: Positions) -> tuple[Floats, Floats]:
        """Returns uniform policies `[B, A]` and zeros `[B]`."""
        count = len(positions)
        return np.full((count, self._num_actions), 1.0 / self._num_actions, np.float32), np.zeros(count, np.float32)


@dataclass(frozen=True)
class BoardSearchConfig:
    """SoG(s, c).

    Attributes:
      expansions: s, the walks that open positions.
      per_update: c, the walks before each update of regrets.
      exploration: the factor of the prior in PUCT.
      doubt: the share of uniform play in the prior; networks are overconfident in positions they have never seen.
    """

    expansions: int = 200
    per_update: int = 4
    exploration: float = 1.5
    doubt: float = 0.1

    def __post_init__(self) -> None:
        if self.expansions < 1 or self.per_update < 1:
            raise TacitError("a growing search needs at least 1 expansion, and at least 1 per regret update")
        if not 0.0 < self.exploration < math.inf:
            raise TacitError(f"exploration must be positive, not {self.exploration}")
        if not 0.0 <= self.doubt <= 1.0:
            raise TacitError(f"doubt must be between 0 and 1, not {self.doubt}")


class BoardResult(NamedTuple):
    """The result of a batch of searches.

    Attributes:
      policy: `[B, A]` the average strategies at the roots.
      values: `[B]` the values of the roots for player 0.
      forest: The trees.
    """

    policy: Floats
    values: Floats
    forest: BoardForest


class BoardSearch:
    """Searches positions of one game.

    Attributes:
      boards: The rules.
      evaluator: Values positions and proposes actions.
      config: How far to search.
    """

    def __init__(self, boards: Boards, evaluator: BoardEvaluator, config: BoardSearchConfig) -> None:
        self.boards, self.evaluator, self.config = boards, evaluator, config

    def run(self, roots: Positions, generator: np.random.Generator) -> BoardResult:
        """Returns the result of searching from every position `[B, W]`, none of which is over."""
        config = self.config
        seeds = generator.integers(0, 2**64, len(roots), np.uint64)
        forest = make_forest(roots, self.boards.num_actions, config.expansions + 1, seeds)
        self._look(forest, np.stack([np.arange(len(roots)), np.zeros(len(roots), np.int64)]))
        for iteration in range(1, -(-config.expansions // config.per_update) + 1):
            walks = min(config.per_update, config.expansions - (iteration - 1) * config.per_update)
            self._look(forest, forest.expand(walks, config.exploration))
            forest.update(iteration)
        return BoardResult(forest.policy(), forest.value[:, 0].copy(), forest)

    def _look(self, forest: BoardForest, added: NDArray[np.int64]) -> None:
        """Asks the rules and the network about pending nodes `[2, n]`."""
        positions = forest.positions(added, self.boards)
        actor, worth = self.boards.outcomes(positions)
        playing = np.flatnonzero(actor != TERMINAL)
        legal = np.zeros((len(actor), self.boards.num_actions), np.bool_)
        policy = np.zeros(legal.shape, np.float32)
        if len(playing):
            asked = positions[playing]
            policy[playing], value = self.evaluator.evaluate(asked)
            legal[playing] = self.boards.legal(asked)
            worth[playing] = np.where(actor[playing] == 0, value, -value)
        forest.settle(added, Findings(positions, actor, legal, policy, worth), self.config.doubt)
