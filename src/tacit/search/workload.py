"""How much work the searches of self-play take: epoch and batch sizes follow from it before anything is measured."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from tacit.search.batch import make_batch
from tacit.search.groups import uniform_strategy
from tacit.search.search import BatchSearch
from tacit.search.walk import leaf_chances
from tacit.tree.search_space import SearchTables


def mean_sizes(search: BatchSearch) -> tuple[float, float]:
    """Returns the mean number of leaves of a search in self-play, and the mean number of its rows, entries and meetings.

    Games are played uniformly; each starts at a leaf of the search from the beginning, and a new one follows when it ends.
    Beliefs at every class are assumed uniform. Nothing is drawn, so the sizes depend on the game and the depth alone.
    """
    space, tables = search.space, search.space.tables
    classes = space.start_classes()
    counts = np.stack([table.num_roots[classes] for table in tables.players], axis=1)[:, :, None]
    real = np.arange(tables.num_private_states) < counts
    reaches = torch.from_numpy((real / counts).astype(np.float32)).to(search.kernels.device)
    batch = make_batch(tables, classes, search.kernels.alignment)
    chances = leaf_chances(search, batch, uniform_strategy(space, batch, search.kernels.device), reaches).cpu().numpy()
    place = np.searchsorted(classes, np.arange(space.num_classes))  # the place in `classes` of a class that searches start at
    below = np.zeros((len(classes), len(classes)))
    for start, (public_class, chance) in enumerate(zip(classes, chances, strict=True)):
        leaves = tables.leaf_class[tables.leaf_start[public_class] : tables.leaf_start[public_class + 1]]
        np.add.at(below[start], place[leaves], chance[: len(leaves)])
    arriving: NDArray[np.float64] = space.root_chance @ below[place[space.root_class]]
    if arriving.sum() == 0.0:  # searches see the whole game
        arriving = np.bincount(place[space.root_class], space.root_chance, len(classes)).astype(np.float64)
    visits = arriving
    while arriving.sum() > 1e-9 * visits.sum():
        arriving = arriving @ below
        visits = visits + arriving
    num_leaves, num_rows = np.diff(tables.leaf_start)[classes], _tree_sizes(tables)[classes]
    return float(visits @ num_leaves / visits.sum()), float(visits @ num_rows / visits.sum())


def leaf_sizes(search: BatchSearch) -> tuple[float, float]:
    """Returns the same for a search that starts at the class of a leaf, all such classes being equally likely."""
    tables = search.space.tables
    classes = np.unique(tables.leaf_class)
    return float(np.diff(tables.leaf_start)[classes].mean()), float(_tree_sizes(tables)[classes].mean())


def _tree_sizes(tables: SearchTables) -> NDArray[np.int64]:
    """Returns `[C]` the rows, entries and meetings of each class's search tree."""
    sizes = np.diff(tables.entry_start).astype(np.int64)
    for table in tables.players:
        sizes += np.diff(table.row_start) + np.diff(table.meeting_start[table.row_start])
    return sizes
