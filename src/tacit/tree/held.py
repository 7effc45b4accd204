"""Strategies fixed at some infostates, where the player has nothing left to decide.

In a public tree a fixed decision becomes a chance event. The rows below it link to the row above as after a card, and payoffs
are multiplied by the probabilities of the fixed actions. So kernels, solvers, best responses and linear programs need not know
about it: the infostate stays in the tables, but nothing depends on its strategy.

A tree of hold'em has no place for a probability that differs from hand to hand, because its payoffs are numbers of chips. There
the passes restore the fixed strategy after each visit to the decision (`kernels/hand_blocks.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.tree.base import Floats

if TYPE_CHECKING:
    from tacit.tree.public_tree import PublicTree


class Held(NamedTuple):
    """The entries whose probabilities are fixed.

    Attributes:
      entry: `[n]` the fixed entries; an infostate has either all of its actions here or none.
      share: `[n]` the probability of each of these entries.
    """

    entry: NDArray[np.int64]
    share: Floats

    def put(self, strategy: Floats) -> Floats:
        """Returns a strategy `[E]` after writing the fixed entries into it."""
        strategy[self.entry] = self.share
        return strategy


NOTHING_HELD = Held(np.zeros(0, np.int64), np.zeros(0))


def hold_rows(tree: PublicTree, held: Held) -> PublicTree:
    """Returns a public tree in which chance plays the fixed entries.

    It has the same rows, infostates and entries, so strategies and regrets fit both trees. It has no public states: beliefs
    there would mix a player's own choices with fixed ones.
    """
    share = np.ones(tree.num_entries + 1)
    share[held.entry] = held.share
    fixed = np.zeros(tree.num_entries + 1, bool)
    fixed[held.entry] = True
    rows, chance = [], []
    for player_rows in tree.rows:
        fixed_reach = share[player_rows.entry]
        for start, end in zip(player_rows.level_start[1:-1], player_rows.level_start[2:], strict=True):
            fixed_reach[start:end] *= fixed_reach[player_rows.parent[start:end]]
        chance.append(fixed_reach)
        entry = np.where(fixed[player_rows.entry], tree.num_entries, player_rows.entry).astype(player_rows.entry.dtype)
        rows.append(replace(player_rows, entry=entry))
    likely = chance[0][tree.payoff_rows[0]] * chance[1][tree.payoff_rows[1]]
    return replace(
        tree,
        rows=(rows[0], rows[1]),
        payoff=tree.payoff * likely,
        payoff_chance=tree.payoff_chance * likely,
        nodes=None,
        held=held,
    )
