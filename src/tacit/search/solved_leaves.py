"""An oracle that solves all leaves at once, by search to the end of the game: fast, and more exact with more iterations."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from tacit.leaves.evaluators import ZeroLeaves
from tacit.search.batch import Batch
from tacit.search.config import SearchConfig
from tacit.search.groups import GroupPasses
from tacit.search.search import BatchSearch
from tacit.tree.search_space import SearchSpace, search_space


class SolvedLeaves:
    """Leaf values of games solved to their end (see `LeafOracle`)."""

    counterfactual = False

    def __init__(self, space: SearchSpace, iterations: int = 200, solver: str = "dcfr") -> None:
        whole = search_space(space.tree, None)
        self._search = BatchSearch(whole, ZeroLeaves(), SearchConfig(solver, iterations, None))

    def evaluate(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        """Returns `[2 * H, L]` the mean values of the iterations, which hold for private states of zero belief, too."""
        classes, reaches = public_class.numpy(), _by_leaf(beliefs)
        return _by_column(self._search.run(classes, reaches).values)

    def evaluate_played(self, public_class: Tensor, beliefs: Tensor, played: Tensor) -> Tensor:
        """Returns `[2 * H, L]` the values, under reaches `played`, of the average strategies that were found from `beliefs`."""
        classes = public_class.numpy()
        result = self._search.run(classes, _by_leaf(beliefs))
        return _by_column(strategy_values(self._search, classes, _by_leaf(played), result.batch, result.average_strategy))


def strategy_values(search: BatchSearch, classes: np.ndarray, reaches: Tensor, batch: Batch, strategy: Tensor) -> Tensor:
    """Returns `[B, 2, H]` infostate values when both players follow a batch's strategies from the given reaches."""
    passes = GroupPasses(search.space, search.kernels, classes, reaches)
    assert np.array_equal(passes.batch.order, batch.order)
    below = [passes.reach(player, strategy) for player in (0, 1)]
    return passes.root_values([passes.values(player, strategy, below[1 - player]) for player in (0, 1)], 1.0)


def _by_leaf(beliefs: Tensor) -> Tensor:
    """Returns `[L, 2, H]` from `[2 * H, L]`."""
    return beliefs.T.reshape(beliefs.shape[1], 2, -1).contiguous()


def _by_column(values: Tensor) -> Tensor:
    """Returns `[2 * H, L]` from `[L, 2, H]`, zero where a private state is impossible."""
    return values.nan_to_num(0.0).flatten(1).T.contiguous()
