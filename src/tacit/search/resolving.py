"""The strategy of an agent that re-solves continually, in the whole game, so that it can be judged.

Where a search ends, the agent solves what follows from its own range, and grants its opponent what the previous search promised
it. An agent can also search anew at each of its decisions (`search/continual.py`). Nothing is sampled, so the agent's policy is
a strategy like any other, and all searches of a step of the game run as one batch.

A network must have been trained on what it is asked. Self-play with searches of two actions never shows it states where player
1 acts, but searches that start at every decision ask for these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from tacit.games.base import TERMINAL
from tacit.search.continual import Spots, resolve
from tacit.search.playthroughs import MAX_SEARCHES
from tacit.search.search import BatchSearch
from tacit.tree.public_tree import Floats


class _Nodes(NamedTuple):
    """Public states where the agent searches (see `Spots`), given as `[B]` nodes of the whole tree."""

    node: np.ndarray
    reach: Tensor
    promised: Tensor | None

    def spots(self, search: BatchSearch, which: slice) -> Spots:
        """Returns a slice of them, given by their classes."""
        classes = search.space.classes.of_node[self.node[which]].astype(np.int64)
        return Spots(classes, self.reach[which], None if self.promised is None else self.promised[which])


def resolving_strategy(
    search: BatchSearch, progress: Callable[[int], None] = lambda _: None, at_decisions: bool = False
) -> Floats:
    """Returns `[E]` the strategy of agents that re-solve continually, one in each seat.

    Args:
      search: their search; the game must be compiled, and the solver of the CFR family.
      progress: called with the number of searches done.
      at_decisions: whether they search at each of their decisions, not only at leaves.
    """
    strategy, size, done = search.space.tree.uniform_strategy(), MAX_SEARCHES[torch.device(search.kernels.device).type], 0
    for player in (0, 1):
        nodes: _Nodes | None = _start(search)
        while nodes is not None:
            below: list[_Nodes] = []
            for first in range(0, len(nodes.node), size):
                below += _write(search, player, nodes, slice(first, first + size), strategy, at_decisions)
                progress(done + min(first + size, len(nodes.node)))
            done += len(nodes.node)
            nodes = _joined(below) if below else None
    return strategy


def _start(search: BatchSearch) -> _Nodes:
    space, nodes = search.space, search.space.tree.require_nodes()
    node = np.flatnonzero(nodes.actor[: nodes.num_roots] != TERMINAL)
    return _Nodes(node, torch.from_numpy(space.root_reaches).to(search.kernels.device), None)


def _joined(nodes: list[_Nodes]) -> _Nodes:
    promised = [part.promised for part in nodes if part.promised is not None]
    return _Nodes(np.concatenate([part.node for part in nodes]), torch.cat([p.reach for p in nodes]), torch.cat(promised))


def _write(search: BatchSearch, player: int, nodes: _Nodes, which: slice, strategy: Floats, at_decisions: bool) -> list[_Nodes]:
    """Searches, writes the player's actions until its next search into `strategy`, and returns the nodes of that search."""
    below = []
    for resolved in resolve(search, player, nodes.spots(search, which), at_decisions)[1]:
        whole = [search.space.places_at(int(node)) for node in nodes.node[which][resolved.games]]
        played = resolved.played.double().cpu().numpy()
        for column, (_, entry_index) in enumerate(whole):
            strategy[entry_index[resolved.entries]] = played[:, column]
        for spot, node in enumerate(resolved.nodes):
            reach = resolved.reach.new_zeros(len(whole), 2, resolved.reach.shape[2])
            reach[:, player] = resolved.reach[spot]
            index = np.array([node_index[node] for node_index, _ in whole])
            below.append(_Nodes(index, reach, resolved.promised[spot]))
    return below
