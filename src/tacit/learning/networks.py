"""The networks of a run: sized for its game, with the encoder that its settings ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from tacit.errors import TacitError
from tacit.games.own import OwnName, in_one_line, load_own, make_own, parse_own
from tacit.learning.settings import NetworkSettings
from tacit.nets.encoders import ClassEncoder, FeatureEncoder, PublicEncoder, game_features, observation_features
from tacit.nets.value_net import OwnValueNet, PolicyNet, PrivateValues, ValueNet
from tacit.tree.search_space import SearchSpace


def make_value_net(space: SearchSpace, config: NetworkSettings, scale: float = 1.0) -> PrivateValues:
    """Returns a new value network; `scale` is the size of the game's returns.

    Raises:
      TacitError: the network is the user's own, and cannot be made or does not map beliefs to values.
    """
    deals, own = torch.from_numpy(space.tables.deals) if config.zero_sum else None, parse_own(config.network)
    if own is None:
        return ValueNet(_encoder(space, config), space.tables.num_private_states, config.layers, scale, deals)
    return OwnValueNet(_own_module(space, own), scale, deals)


def _own_module(space: SearchSpace, own: OwnName) -> nn.Module:
    """Returns the user's own module, after trying it out; the names of its parameters say what it is given."""
    size = space.tables.num_private_states
    given: dict[str, Callable[[], Any]] = {
        "space": lambda: space, "game": lambda: space.game, "num_classes": lambda: space.num_classes,
        "num_private_states": lambda: size, "features": lambda: public_features(space),
    }  # fmt: skip
    module = make_own(load_own(own.path, own.class_name), own, given, own.class_name)
    if not isinstance(module, nn.Module):
        raise TacitError(f"{own.path}: {own.class_name} is not a torch.nn.Module")
    classes, beliefs = torch.zeros(3, dtype=torch.int64), torch.full((3, 2 * size), 1.0 / size)
    try:
        with torch.no_grad():
            values = module(classes, beliefs)
    except Exception as error:
        raise TacitError(f"{own.path}: {own.class_name}.forward() raised {in_one_line(error)}") from error
    if not isinstance(values, torch.Tensor) or values.shape != beliefs.shape:
        got = list(values.shape) if isinstance(values, torch.Tensor) else type(values).__name__
        wanted = f"both players' values, {list(beliefs.shape)} for beliefs of that shape"
        raise TacitError(f"{own.path}: {own.class_name}.forward() returns {got}; it must return {wanted}")
    return module


def make_policy_net(space: SearchSpace, config: NetworkSettings, num_actions: int) -> PolicyNet:
    """Returns a new policy network for up to `num_actions` actions."""
    return PolicyNet(_encoder(space, config), space.tables.num_private_states, num_actions, config.layers)


def _encoder(space: SearchSpace, config: NetworkSettings) -> PublicEncoder:
    """Returns an encoder of classes, or of features: the game's own if it has some."""
    if config.encoder == "classes":
        return ClassEncoder(space.num_classes, config.hidden)
    return FeatureEncoder(public_features(space), config.hidden)


def public_features(space: SearchSpace) -> Tensor:
    """Returns `[C, F]` the features of each class of public states: the game's own, or its observations."""
    trees = [subgame.tree for subgame in space.subgames]
    actors = [int(tree.require_nodes().actor[0]) for tree in trees]
    seen = [tree.public_label(0).split() for tree in trees]
    own = [row for row in map(space.game.public_features, actors, seen) if row is not None]
    return game_features(own) if len(own) == len(trees) else observation_features(actors, seen)
