"""What an engine of NFSP is: the networks, memories and games of two players, and the kernels that play and learn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

from torch import Tensor

from tacit.nfsp.progress import NfspProgress


class Engine(ABC):
    """Two players that learn from games against each other; a trainer turns it into a run.

    Attributes:
      progress: the class of an epoch's progress.
      loss: `[2, 2]` float64, for each player's action values and policy, summed over the steps of descent since it was zeroed.
      steps: `[2, 2]` int64, the number of these steps.
      finished: `[1]` int64, games that ended so far.
    """

    progress: type[NfspProgress]
    loss: Tensor
    steps: Tensor
    finished: Tensor

    @abstractmethod
    def play(self, done: int, count: int) -> None:
        """Plays `count` rounds of self-play and learning after the `done` ones before."""

    @abstractmethod
    def judged(self, on_match: Callable[[int], None]) -> dict[str, float]:
        """Returns how good the strategies are, by fields of the engine's progress; `on_match` hears of finished matches."""

    @abstractmethod
    def weights(self) -> dict[str, Tensor]:
        """Returns both players' networks, all that playing needs."""

    @abstractmethod
    def kept(self, saved: Mapping[str, Tensor] | None = None) -> dict[str, Tensor]:
        """Returns the tensors that change, by name; of memories only the rows filled now, or in the `saved` state."""

    def state(self) -> dict[str, Tensor]:
        """Returns copies of all tensors that `restore` needs."""
        return {name: tensor.clone() for name, tensor in self.kept().items()}

    def restore(self, saved: Mapping[str, Tensor]) -> None:
        """Goes on from a `state`."""
        for name, tensor in self.kept(saved).items():
            tensor.copy_(saved[name])


def filled_rows(
    memory: str, columns: Mapping[str, Tensor], offered: Tensor, capacity: int, saved: Mapping[str, Tensor] | None
) -> dict[str, Tensor]:
    """Returns a memory's tensors by name: `offered` `[2]` and the filled rows of its columns `[2, at least capacity, ...]`.

    Rows are filled as `offered` says or, if it is given, the `saved` state.
    """
    count = int((offered if saved is None else saved[f"{memory}.offered"]).max())
    rows = {f"{memory}.{name}": column[:, : min(count, capacity)] for name, column in columns.items()}
    return {f"{memory}.offered": offered, **rows}
