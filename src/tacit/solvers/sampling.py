"""Monte Carlo CFR solvers: sampled games on one tree, with the interface of the other drivers.

| name | samples | good for |
|---|---|---|
| `external-mccfr` | the opponent and chance | most games: the fewest walks to a given exploitability |
| `chance-mccfr` | chance alone | games with many deals and few moves |
| `outcome-mccfr` | everything: one game at a time | games too wide for the others |
| `vr-mccfr` | everything, with baselines | the same games, with less variance |
"""

from __future__ import annotations

import numpy as np

from tacit.errors import TacitError
from tacit.kernels import AnyTreePasses
from tacit.kernels.numba_walks import CHANCE, EXTERNAL, OUTCOME, make_frames, make_sums, run_walks
from tacit.tree.public_tree import Floats, PublicTree
from tacit.tree.walks import make_walk_table

SAMPLERS = {
    "external-mccfr": (EXTERNAL, False),
    "chance-mccfr": (CHANCE, False),
    "outcome-mccfr": (OUTCOME, False),
    "vr-mccfr": (OUTCOME, True),
}
"""By solver name: the kind of sampling, and whether baselines stand in for actions not sampled."""


class SamplingDriver:
    """Iterates Monte Carlo CFR on a tree. `state()` is its complete state.

    Attributes:
      passes: The passes over the tree, for evaluation.
      iteration: The number of iterations so far; each updates both players.
      stride: The largest number of iterations in one call, about ten milliseconds' worth.

    Raises:
      TacitError: It is a tree of hold'em, or the player to act is not public.
    """

    stride = 4_096

    def __init__(self, passes: AnyTreePasses, solver: str, seed: int) -> None:
        tree = passes.tree
        if not isinstance(tree, PublicTree):
            raise TacitError(f"{solver} walks compiled games; for hold'em there is tacit train blueprint")
        self.passes, self.iteration = passes, 0
        self._kind, baselines = SAMPLERS[solver]
        self._seed = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
        self._table = make_walk_table(tree)
        depth = len(tree.require_nodes().level_start)
        self._frames, self._streams = make_frames(depth, len(self._table.actions)), np.zeros(1, np.uint64)
        self._sums = make_sums(tree.num_entries, tree.num_infostates, baselines)

    def run(self, iterations: int) -> None:
        """Runs iterations."""
        first = self.iteration + 1
        run_walks(self._kind, self._table, self._sums, self._frames, self._streams, self._seed, first, iterations)
        self.iteration += iterations

    def average_strategy(self) -> Floats:
        """Returns `[E]` the average strategy, which is the one that converges; uniform where no walk has been."""
        return self.passes.tree.normalise(self._sums.average)

    def state(self) -> dict[str, Floats]:
        """Returns the arrays `[E]` from which `restore` continues."""
        sums = self._sums
        state = {"average": sums.average.copy(), "regret": sums.regret.copy()}
        return {**state, "baseline": sums.baseline.copy()} if sums.uses_baseline else state

    def restore(self, state: dict[str, Floats], iteration: int) -> None:
        """Continues after `iteration` from a saved state."""
        self.iteration = iteration
        for name, numbers in state.items():
            getattr(self._sums, name)[:] = numbers
