"""Helpers shared by the tests of growing trees and of subgame sources."""

from __future__ import annotations

import random
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from tacit.games.tic_tac_toe import TicTacToe
from tacit.tree.growing import GrowingTree
from tacit.tree.public_tree import PublicTree

Names = dict[tuple[Any, ...], int]


@dataclass(frozen=True)
class LateTicTacToe(TicTacToe):
    """Tic-tac-toe with four squares already taken: small, and full of transpositions."""

    name = "late_tic_tac_toe"

    def initial_state(self) -> tuple[int, ...]:
        return (0, 4, 2, 7)


def grow_at_random(growing: GrowingTree, seed: int, openings: int | None = None) -> GrowingTree:
    """Opens leaves in random order, one at a time: `openings` of them, or all."""
    generator = random.Random(seed)
    while growing.leaves and openings != 0:
        growing.open(generator.choice(sorted(growing.leaves)))
        openings = None if openings is None else openings - 1
    return growing


def entry_names(tree: PublicTree) -> Names:
    """Returns the entries of a tree, keyed by everything their player knows there and so independent of numbering."""
    nodes, names = tree.require_nodes(), {}
    for infostate in range(tree.num_infostates):
        player, row = int(tree.infostate_player[infostate]), int(tree.infostate_row[infostate])
        rows = tree.rows[player]
        moves = np.append(tree.entry_action, -1)
        public = tuple(nodes.token[node] for node in tree.node_path(tree.node_of_row(player, row)))
        private = tuple((int(moves[rows.entry[r]]), rows.token[r]) for r in tree.row_path(player, row))
        for entry in range(tree.entry_start[infostate], tree.entry_start[infostate + 1]):
            names[player, public, private, int(tree.entry_action[entry])] = entry
    assert len(names) == tree.num_entries
    return names


def assert_same_arrays(first: Any, second: Any, skip: tuple[str, ...] = (), where: str = "tree") -> None:
    """Asserts that all fields are equal: floats up to rounding, everything else exactly."""
    if is_dataclass(first):
        for field in fields(first):
            if field.name not in ("game", *skip):
                assert_same_arrays(getattr(first, field.name), getattr(second, field.name), skip, f"{where}.{field.name}")
    elif isinstance(first, tuple):
        assert len(first) == len(second)
        for number, pair in enumerate(zip(first, second, strict=True)):
            assert_same_arrays(*pair, skip, f"{where}[{number}]")
    elif isinstance(first, np.ndarray) and first.dtype == np.float64:
        np.testing.assert_allclose(first, second, rtol=1e-12, err_msg=where)
    else:
        np.testing.assert_array_equal(first, second, err_msg=where)
