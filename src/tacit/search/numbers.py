"""What a running batch of searches consists of, and the passes that change it; numba and Triton implement them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from tacit.search.batch import Batch


@dataclass
class Clock:
    """The present iteration and the weights of all of them.

    Attributes:
      iteration: from 1.
      steps: `[T, 5]` the `RegretStep` of each iteration; for fictitious play only the last column, the weight, counts.
      counter: `[1]` the iteration as a tensor on the device, for captured graphs.
    """

    iteration: int
    steps: Tensor
    counter: Tensor


@dataclass
class SearchNumbers:
    """The tensors of a batch of searches, in its layout (float32 unless said otherwise).

    Attributes:
      batch: the layout.
      strategy: current strategies, both players' entries, as are
      regret: cumulative regrets,
      average: sums of weight times own reach times strategy, and
      edge_value: scratch.
      reach: for each player its reach of all its rows under the current strategy.
      cfv: for each player scratch for values.
      root_sum: for each player sums of weight times counterfactual value; only the roots' are used.
      sample_iteration: `[B]` int64, in the batch's order: whose strategies each game samples.
    """

    batch: Batch
    strategy: Tensor
    regret: Tensor
    average: Tensor
    edge_value: Tensor
    reach: list[Tensor]
    cfv: list[Tensor]
    root_sum: list[Tensor]
    sample_iteration: Tensor


class SearchKernels(Protocol):
    """The passes over a batch of searches.

    Attributes:
      device: where the tensors lie.
      alignment: groups of games come in multiples of this.
    """

    device: str
    alignment: int

    def reach_down(self, batch: Batch, player: int, strategy: Tensor, reach: Tensor) -> None:
        """Fills a player's reach below the roots, which are set."""

    def leaf_beliefs(self, batch: Batch, player: int, reach: Tensor, beliefs: Tensor) -> None:
        """Writes a player's normalised reach at every leaf into its half of `beliefs` `[2 * H, leaves]`."""

    def update_regrets(self, s: SearchNumbers, player: int, values: Tensor, clock: Clock, weighted: bool = False) -> None:
        """Updates one player's regrets, average and strategy from the leaves' `values` `[2 * H, leaves]`.

        The values are infostate values, or with `weighted` counterfactual ones.
        """

    def best_response(self, s: SearchNumbers, player: int, faced: Tensor, values: Tensor, clock: Clock) -> None:
        """Replaces one player's strategy by a best response to the reach `faced`."""

    def add_to_average(self, s: SearchNumbers, player: int, clock: Clock) -> None:
        """Adds a player's strategy to its average."""

    def take_samples(self, s: SearchNumbers, clock: Clock, source: Tensor, target: Tensor) -> None:
        """Copies the entries of the games that sample this iteration."""
