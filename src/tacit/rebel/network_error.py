"""How far a value network is from the truth, on public belief states that self-play reaches.

The truth is an equilibrium of the rest of the game, solved as a linear program (`leaves.evaluators.exact_values`). The value of
a public belief state is unique; the values of single private states need not be if several equilibria share it, so their error
has a floor that no network can beat. Both are reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from tacit.kernels.base import LeafEvaluator
from tacit.learning.returns import typical_return
from tacit.leaves.evaluators import exact_values
from tacit.rebel.config import RebelConfig
from tacit.rebel.selfplay import SelfPlay
from tacit.search.search import BatchSearch
from tacit.tally import errors_95
from tacit.tree.public_tree import Floats
from tacit.tree.search_space import SearchSpace

_POSSIBLE = 1e-9
"""Belief states less likely than this count as impossible."""


@dataclass(frozen=True)
class NetworkError:
    """Errors of a network in the game's units, each belief state counted once.

    Attributes:
      absolute: mean absolute error of infostate values, weighted by how likely the private states are.
      interval: a 95 % interval for it.
      rms: the root of the weighted mean square error.
      value: mean absolute error of the value of the public belief state, to player 0.
      typical_return: mean absolute return of uniform play, for comparison.
      samples: public belief states that count.
    """

    absolute: float
    interval: tuple[float, float]
    rms: float
    value: float
    typical_return: float
    samples: int


def network_error(
    evaluator: LeafEvaluator,
    space: SearchSpace,
    config: RebelConfig,
    samples: int,
    generator: np.random.Generator,
    on_sample: Callable[[int], None] = lambda _: None,
) -> NetworkError:
    """Returns how far a network is from exact values.

    Args:
      evaluator: the network's forward pass, on the CPU.
      space: its game.
      config: the settings of its training: the search and the exploration of self-play.
      samples: public belief states, from as many independent games of self-play; those at which the players' beliefs exclude
        each other, which exploration can lead to, have no values and do not count.
      generator: for self-play.
      on_sample: called with the number of belief states done.
    """
    classes, reaches = _sample_belief_states(evaluator, space, config, samples, generator)
    samples = len(classes)
    outputs = evaluator.evaluate(torch.from_numpy(classes), torch.from_numpy(reaches.reshape(samples, -1)).T)
    values = outputs.T.double().numpy().reshape(reaches.shape)
    absolute, square, value = np.zeros(samples), np.zeros(samples), np.zeros(samples)
    for sample, (public_class, reach) in enumerate(zip(classes, reaches.astype(np.float64), strict=True)):
        exact = exact_values(space, int(public_class), reach)
        for player, weight in enumerate(_beliefs(space, int(public_class), reach)):
            error = values[sample, player, : len(exact[player])] - exact[player]
            absolute[sample] += 0.5 * weight @ np.abs(error)
            square[sample] += 0.5 * weight @ error**2
            if player == 0:
                value[sample] = abs(weight @ error)
        on_sample(sample + 1)
    mean, spread = float(absolute.mean()), float(errors_95(samples) * absolute.std(ddof=1) / np.sqrt(samples))
    return NetworkError(
        absolute=mean,
        interval=(max(0.0, mean - spread), mean + spread),
        rms=float(np.sqrt(square.mean())),
        value=float(value.mean()),
        typical_return=typical_return(space),
        samples=samples,
    )


def _sample_belief_states(
    evaluator: LeafEvaluator, space: SearchSpace, config: RebelConfig, samples: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Returns `[S]` classes and `[S, 2, H]` reaches, each from a game of its own at a random moment of self-play."""
    play = SelfPlay(BatchSearch(space, evaluator, config.search()), samples, config.exploration, generator)
    step = config.depth if isinstance(config.depth, int) else 1
    longest = -(-len(space.tree.require_nodes().level_start) // step)  # searches from the root to the end
    moment = generator.integers(longest, 2 * longest, samples)  # late enough that games no longer start together
    classes, reaches = play.game_class.copy(), play.reaches.numpy().copy()
    for step in range(int(moment.max()) + 1):
        taken = moment == step
        classes[taken], reaches[taken] = play.game_class[taken], play.reaches.numpy()[taken]
        play.advance()
    deals = space.tables.deals[classes]
    possible = np.einsum("si,sij,sj->s", reaches[:, 0], deals, reaches[:, 1]) > _POSSIBLE
    return classes[possible], reaches[possible]


def _beliefs(space: SearchSpace, public_class: int, reach: Floats) -> tuple[Floats, Floats]:
    """Returns each player's probabilities of its private states at a public belief state."""
    counts = [int(table.num_roots[public_class]) for table in space.tables.players]
    joint = space.tables.deals[public_class].astype(np.float64) * np.outer(*reach)
    joint = joint[: counts[0], : counts[1]] / joint.sum()
    return joint.sum(axis=1), joint.sum(axis=0)
