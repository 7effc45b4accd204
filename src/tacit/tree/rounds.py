"""Where betting rounds begin: at public states that chance has moved to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.tree.public_tree import NO_PARENT, PublicTree

ROUND = "round"
"""The depth of a search to the end of the betting round."""


def begins_round(tree: PublicTree) -> NDArray[np.bool_]:
    """Returns `[N]` True at decisions before which chance moved, the first ones of a game aside.

    Without chance a pair of private states is as likely as the pair it comes from.
    """
    nodes = tree.require_nodes()
    node = np.repeat(np.arange(len(nodes)), np.diff(nodes.joint_start))
    below = nodes.parent[node] != NO_PARENT
    width = len(tree.rows[1])
    pair = nodes.joint_rows[0].astype(np.int64) * width + nodes.joint_rows[1]
    order = np.argsort(pair)
    above = [tree.rows[player].parent[nodes.joint_rows[player]].astype(np.int64) for player in (0, 1)]
    at = np.searchsorted(pair[order], np.where(below, above[0] * width + above[1], pair))
    before = nodes.joint_chance[order[at]]
    moved = below & (nodes.joint_chance < before * (1.0 - 1e-9))
    return np.bincount(node, moved, minlength=len(nodes)) > 0
