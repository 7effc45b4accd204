"""The average of all iterations' strategies, which Deep CFR plays: learnt by a network or summed exactly.

| system | average |
|---|---|
| Deep CFR (Brown et al. 2019) | a policy network learns it from samples of the strategies |
| Single Deep CFR (Steinberger 2019) | that of the advantage networks themselves, each weighted by its iteration and by reach |

Where we differ: Single Deep CFR keeps the networks of all iterations and draws one of them for each game it plays. In a game
that compiles this amounts to a table, which is summed here without keeping any network.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tacit.deep_cfr.config import DeepCfrConfig
from tacit.deep_cfr.learn import POLICY, BatchSums, learn, make_batch_sums
from tacit.deep_cfr.memory import Samples, make_samples
from tacit.kernels import make_passes
from tacit.nets.encoded_game import EncodedGame
from tacit.nets.player_networks import Networks, strategy_table
from tacit.nets.sparse_mlp import make_scratch
from tacit.tree.public_tree import Floats


class Average(ABC):
    """The average of the strategies of all iterations so far.

    Attributes:
      samples: The memory in which walks store the opponent's strategy; of size 1 if no network learns from it.
    """

    samples: Samples

    @abstractmethod
    def add(self, player: int, iteration: int, strategy: Floats) -> None:
        """Adds a player's part of an iteration's strategy `[E]`."""

    @abstractmethod
    def learn(self, player: int, iteration: int, left: float) -> None:
        """Learns a player's average from `samples`; `left` is the share of the run that remains."""

    @abstractmethod
    def strategy(self) -> Floats:
        """Returns `[E]`, the average strategy of both players."""

    @abstractmethod
    def weights(self) -> dict[str, Tensor]:
        """Returns the tensors that define the average; they share its memory."""


class ExactAverage(Average):
    """The sum of all strategies, weighted by iteration and own reach: Single Deep CFR.

    Attributes:
      total: `[E]`, the sum.
    """

    def __init__(self, encoded: EncodedGame) -> None:
        self._tree, self._passes = encoded.tree, make_passes(encoded.tree)
        self._mine = [encoded.tree.entry_player == player for player in (0, 1)]
        self._rows = encoded.tree.infostate_row[encoded.tree.entry_infostate]
        self.samples = make_samples(1, encoded.num_outputs)
        self.total = np.zeros(encoded.tree.num_entries)

    def add(self, player: int, iteration: int, strategy: Floats) -> None:
        passes, mine = self._passes, self._mine[player]
        reach = passes.rows_to_numpy(player, passes.reach(player, passes.entries(strategy)))
        self.total[mine] += iteration * reach[self._rows[mine]] * strategy[mine]

    def learn(self, player: int, iteration: int, left: float) -> None:
        """Does nothing: the sum is exact."""

    def strategy(self) -> Floats:
        return self._tree.normalise(self.total)

    def weights(self) -> dict[str, Tensor]:
        return {"total": torch.from_numpy(self.total)}


class LearntAverage(Average):
    """A policy network for each player: Deep CFR."""

    def __init__(self, encoded: EncodedGame, networks: Networks, config: DeepCfrConfig, streams: Any) -> None:
        self._encoded, self._networks, self._config, self._streams = encoded, networks, config, streams
        tree = encoded.tree
        self.samples = make_samples(config.policy_memory, encoded.num_outputs)
        self._batch: BatchSums = make_batch_sums(tree.num_infostates, tree.num_entries)
        self._gradient = np.zeros(networks.params.shape[2], np.float32)
        self._scratch = make_scratch(encoded.num_features, config.hidden_layers(), encoded.num_outputs)

    def add(self, player: int, iteration: int, strategy: Floats) -> None:
        """Does nothing: walks store samples."""

    def learn(self, player: int, iteration: int, left: float) -> None:
        config, encoded = self._config, self._encoded
        rate = left * config.policy_learning_rate
        learn(
            POLICY, player, config.policy_steps, config.batch_size, rate, config.clip, iteration, self._networks,
            self._gradient, self._scratch, self.samples, self._batch, encoded.encodings, encoded.table, self._streams,
            3 + player,
        )  # fmt: skip

    def strategy(self) -> Floats:
        encoded = self._encoded
        arguments = encoded.encodings, encoded.table, encoded.tree.infostate_player
        return np.asarray(strategy_table(self._networks, POLICY, False, *arguments))

    def weights(self) -> dict[str, Tensor]:
        return {"params": torch.from_numpy(self._networks.params)}
