"""How much work the searches of self-play are: what sizes of epochs and batches follow from, before anything is measured."""

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
    """Returns how many leaves an average search of self-play has, and how many rows, entries and meetings of rows.

    Games are played uniformly and start over when they end, at a leaf of the search from the beginning; beliefs at every class
    are taken as uniform. Nothing is drawn, so the sizes depend on the game and the depth alone.
    """
    space, tables = search.space, search.space.tables
    classes = space.start_classes()
    counts = np.stack([table.num_roots[classes] for table in tables.players], axis=1)[:, :, None]
    real = np.arange(tables.num_private_states) < counts
    reaches = torch.from_numpy((real / counts).astype(np.float32)).to(search.kernels.device)
    batch = make_batch(tables, classes, search.kernels.alignment)
    chances = leaf_chances(search, batch, uniform_strategy(space, batch, search.kernels.device), reaches).cpu().numpy()
    place = np.searchsorted(classes, np.arange(space.num_classes))  # of a class that searches start at
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
    """Returns the same of a search that starts at the class of some leaf, each class as likely as any other."""
    tables = search.space.tables
    classes = np.unique(tables.leaf_class)
    return float(np.diff(tables.leaf_start)[classes].mean()), float(_tree_sizes(tables)[classes].mean())


def _tree_sizes(tables: SearchTables) -> NDArray[np.int64]:
    """Returns `[C]` the rows, entries and meetings of each class's search tree."""
    sizes = np.diff(tables.entry_start).astype(np.int64)
    for table in tables.players:
        sizes += np.diff(table.row_start) + np.diff(table.meeting_start[table.row_start])
    return sizes
