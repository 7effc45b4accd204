"""Evaluators of leaves that need no training: zero, random, and exact values by linear programs."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tacit.kernels import make_passes
from tacit.solvers.lp import solve_lp
from tacit.tree.beliefs import PublicBeliefState
from tacit.tree.public_tree import Floats
from tacit.tree.search_space import SearchSpace
from tacit.tree.subgame import extract_subgame

_DOUBT = 1e-3
"""Uniform belief added where two players' beliefs exclude each other."""


class ZeroLeaves:
    """Every leaf is worth 0 to both players."""

    counterfactual = False

    def evaluate(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        """Returns zeros `[2 * H, L]`, in the shape of the beliefs."""
        del public_class
        return torch.zeros_like(beliefs)


class RandomLeaves:
    """An untrained network: values are a fixed random function of class and beliefs, of the order of `scale`."""

    counterfactual = False

    def __init__(self, space: SearchSpace, seed: int = 0, width: int = 64, scale: float = 1.0) -> None:
        generator, features = torch.Generator().manual_seed(seed), 2 * space.tables.num_private_states
        self._first = torch.randn(width, features, generator=generator)
        self._shift = torch.randn(width, space.num_classes, generator=generator)
        self._last = torch.randn(features, width, generator=generator) * scale / float(width) ** 0.5

    def evaluate(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        if self._first.device != beliefs.device:  # once: a captured graph could not move them
            self._first, self._shift, self._last = (part.to(beliefs) for part in (self._first, self._shift, self._last))
        return torch.mm(self._last, torch.tanh(torch.mm(self._first, beliefs) + self._shift[:, public_class]))


class OracleLeaves:
    """Exact values: the game below every leaf is solved as a linear program. Slow; for tests and small games.

    A private state that the player's own beliefs exclude gets the value of a best response, which is what counterfactual
    regrets need.
    """

    counterfactual = False

    def __init__(self, space: SearchSpace) -> None:
        self._space = space
        self._latest: dict[tuple[int, bytes], Floats] = {}

    def evaluate(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        """Returns `[2 * H, L]`: exact values from the classes `[L]` of leaves and both players' beliefs `[2 * H, L]` there."""
        # Games that search the same subgame ask for the same values, and so does an iteration after a player who does not act.
        before, self._latest = self._latest, {}
        values = np.zeros(beliefs.shape, np.float32)
        for column, (c, believed) in enumerate(zip(public_class.tolist(), beliefs.T.double().numpy(), strict=True)):
            key = (c, believed.tobytes())
            if key not in self._latest:
                self._latest[key] = before[key] if key in before else self._solve(c, believed.reshape(2, -1))
            values[:, column] = self._latest[key]
        return torch.from_numpy(values)

    def _solve(self, public_class: int, beliefs: Floats) -> Floats:
        """Returns `[2H]` the exact values, player 0's first; zero beyond a player's private states."""
        values = np.zeros_like(beliefs)
        for player, exact in enumerate(exact_values(self._space, public_class, beliefs)):
            values[player, : len(exact)] = exact
        return values.ravel()


def exact_values(space: SearchSpace, public_class: int, beliefs: Floats) -> tuple[Floats, Floats]:
    """Returns both players' infostate values at an equilibrium of the game from a public belief state on.

    Args:
      space: the game.
      public_class: the class of the public state.
      beliefs: `[2, H]` both players' beliefs there.
    """
    node = int(space.classes.representative[public_class])
    starts = space.tree.require_nodes().row_start
    counts = [int(start[node + 1] - start[node]) for start in starts]
    first, second = beliefs[0, : counts[0]], beliefs[1, : counts[1]]
    pbs = PublicBeliefState(space.tree, node, (first, second))
    if pbs.probability <= 0.0:  # the beliefs exclude each other, yet possible private states need values
        pbs = PublicBeliefState(space.tree, node, (first + _DOUBT / counts[0], second + _DOUBT / counts[1]))
    subgame = extract_subgame(pbs)
    strategy, _ = solve_lp(subgame.tree)
    passes, joint = make_passes(subgame.tree), subgame.tree.require_nodes().joint(0)
    values = []
    for player in (0, 1):
        reach = passes.reach(1 - player, passes.entries(strategy))
        cfv = passes.best_response(player, reach)[0]
        likelihood = (joint if player == 0 else joint.T) @ pbs.reaches[1 - player]
        values.append(np.divide(cfv, likelihood, out=np.zeros_like(cfv), where=likelihood > 0))
    return values[0], values[1]
