"""Trained networks, read from a file, with their game and their search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from tacit.errors import TacitError
from tacit.games import AnyGame, recall_game
from tacit.learning.networks import make_policy_net, make_value_net
from tacit.learning.settings import NetworkSettings
from tacit.nets.checkpoint import load_tensors, unprefixed
from tacit.nets.forward import forward_pass
from tacit.nets.value_net import PolicyNet, PrivateValues
from tacit.search.growing.search import GrowingConfig, GrowingSearch
from tacit.search.search import BatchSearch
from tacit.solvers.warm import WARM_ITERATIONS
from tacit.training.headers import run_facts
from tacit.tree.search_space import SearchSpace, game_space
from tacit.tree.source import SubgameSource

S = TypeVar("S", bound=NetworkSettings)


@dataclass(frozen=True)
class Trained(Generic[S]):
    """The networks that a run trained.

    Attributes:
      name: the run folder, the file, or `pretrained:NAME`.
      game: the game they were trained on.
      config: the settings of their training.
      epoch: finished epochs.
      tensors: the networks' weights.
      source: the file of the game, if it is the user's own (`game_source`).
    """

    name: str
    game: str
    config: S
    epoch: int
    tensors: dict[str, Tensor]
    source: str | None = None

    def space(self, game: AnyGame | None = None) -> SearchSpace:
        """Returns the game, prepared for searches of the depth that the networks were trained for.

        Args:
          game: the game; needed if it is the user's own and its file is gone.

        Raises:
          TacitError: the networks were trained on another game.
        """
        if game is not None:
            self._require(game)
        rules = recall_game(self.game, self.source, self.name) if game is None else game
        return game_space(rules, self.config.depth_in(rules))

    def value_net(self, space: SearchSpace, device: str = "cpu") -> PrivateValues:
        """Returns the value network.

        Raises:
          TacitError: the network was trained on another game or depth.
        """
        self._require(space.game)
        depth = self.config.depth_in(space.game)
        fits = isinstance(space.depth, int) and isinstance(depth, int) and space.depth % depth == 0
        if space.depth not in (None, depth) and not fits:
            raise TacitError(f"{self.name} was trained with searches of depth {depth}: --depth must be a multiple of that")
        net = make_value_net(space, self.config)
        self._fill(net, {name: tensor for name, tensor in self.tensors.items() if not name.startswith("policy.")})
        return net.to(device).eval()

    def policy_net(self, space: SearchSpace, num_actions: int, device: str = "cpu") -> PolicyNet | None:
        """Returns the policy network, if one was trained."""
        weights = unprefixed("policy", self.tensors)
        if not weights:
            return None
        net = make_policy_net(space, self.config, num_actions)
        self._fill(net, weights)
        return net.to(device).eval()

    def search(self, space: SearchSpace, solver: str, iterations: int, device: str = "cpu") -> BatchSearch:
        """Returns the search of the trained networks.

        Args:
          space: the game.
          solver: the search algorithm, which need not be that of the training.
          iterations: search iterations.
          device: `cpu` or `cuda`.
        """
        config = replace(self.config, solver=solver, iterations=iterations).search_in(space.game)
        search = BatchSearch(space, forward_pass(self.value_net(space, device)), config, device)
        if self.config.warm_starts and iterations > WARM_ITERATIONS:
            search.policy = self.policy_net(space, search.decisions.num_actions, device)
        return search

    def growing_search(
        self, space: SearchSpace, steps: SubgameSource, config: GrowingConfig, known: NDArray[np.bool_]
    ) -> GrowingSearch:
        """Returns the search of the trained networks by growing trees, on the CPU; a policy network gives the priors.

        Args:
          space: the game, at the depth that the networks were trained for.
          steps: the same classes, as subgames of depth 1.
          config: how trees grow.
          known: `[C]` the classes whose values the network has learnt.
        """
        num_actions = int(space.tables.num_entry_actions.max())
        policy, evaluator = self.policy_net(space, num_actions), forward_pass(self.value_net(space))
        states = space.tables.num_private_states
        return GrowingSearch(steps, evaluator, config, policy, states, num_actions, None if known.all() else known)

    def _require(self, game: AnyGame) -> None:
        if str(game) != self.game:
            raise TacitError(f"{self.name} was trained on {self.game}, not on {game}")

    def _fill(self, net: nn.Module, weights: dict[str, Tensor]) -> None:
        try:
            net.load_state_dict(weights)
        except RuntimeError:
            raise TacitError(f"{self.name} does not fit {self.game}: it was made by another version") from None


def read_trained(file: Path, name: str, kind: type[S]) -> Trained[S]:
    """Returns the networks that a run trained.

    Args:
      file: the file of the networks.
      name: the user's name for it.
      kind: the class of the run's settings.

    Raises:
      TacitError: the file is missing or damaged.
    """
    tensors, header = load_tensors(file)
    facts = run_facts(header, kind, name)
    return Trained(name, facts.game, facts.config.found_near(file), facts.epoch, tensors, facts.source)
