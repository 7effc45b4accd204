"""Play that is fixed at some infostates: a tree in which their player has nothing left to decide there.

In a public tree a fixed decision is an event of chance. The rows below it hang on the row above as those below a card do, and
what the game pays is multiplied by the probabilities of the fixed actions. So no kernel, solver, best response or linear
program needs to know of it: the infostate stays in the tables, and nothing depends on what is played there.

A tree of hold'em has no place for a probability that differs from hand to hand: what it pays is a number of chips. There the
passes put the fixed play back whenever they have visited the decision (`kernels/hand_blocks.py`).
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
      entry: `[n]` numbers of entries; with one action of an infostate all of its actions are there.
      share: `[n]` their probabilities.
    """

    entry: NDArray[np.int64]
    share: Floats

    def put(self, strategy: Floats) -> Floats:
        """Returns a strategy `[E]` after its fixed entries were written into it."""
        strategy[self.entry] = self.share
        return strategy


NOTHING_HELD = Held(np.zeros(0, np.int64), np.zeros(0))


def hold_rows(tree: PublicTree, held: Held) -> PublicTree:
    """Returns a public tree in which chance plays what is held.

    It has the same rows, infostates and entries, so strategies and regrets of one are those of the other. It has no public
    states: beliefs there would mix what a player did with what was fixed.
    """
    share = np.ones(tree.num_entries + 1)
    share[held.entry] = held.share
    fixed = np.zeros(tree.num_entries + 1, bool)
    fixed[held.entry] = True
    rows, chance = [], []
    for player_rows in tree.rows:
        played = share[player_rows.entry]
        for start, end in zip(player_rows.level_start[1:-1], player_rows.level_start[2:], strict=True):
            played[start:end] *= played[player_rows.parent[start:end]]
        chance.append(played)
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
