"""An evaluator of classes of public states, asked about the leaves of one class's subgame."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tacit.search.search import BatchSearch
from tacit.tree.public_tree import Ints


class ClassLeaves:
    """Values the leaves of a subgame, named by their nodes, by what a search values classes with.

    Args:
      search: whose evaluator is asked.
      node_class: `[N]` the class of each node of the subgame.
    """

    counterfactual = False

    def __init__(self, search: BatchSearch, node_class: Ints) -> None:
        self._search, self._node_class = search, node_class

    def evaluate(self, states: np.ndarray, beliefs: Tensor) -> Tensor:
        """Returns `[2 * h, L]` (see `LeafEvaluator`), h the most private states at these leaves."""
        half, most = beliefs.shape[0] // 2, self._search.space.tables.num_private_states
        device, block = self._search.kernels.device, self._search.kernels.alignment  # leaves come in blocks of one class
        padded = torch.zeros(2, most, beliefs.shape[1])
        padded[:, :half] = beliefs.view(2, half, -1)
        classes = torch.from_numpy(self._node_class[states].astype(np.int64)).repeat_interleave(block)
        columns = padded.flatten(0, 1).repeat_interleave(block, 1)
        values = self._search.evaluator.evaluate(classes.to(device), columns.to(device))[:, ::block].cpu()
        return values.view(2, most, -1)[:, :half].flatten(0, 1)
