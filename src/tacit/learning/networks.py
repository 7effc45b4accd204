"""The networks of a run: of the size of its game, with the encoder that its settings ask for."""

from __future__ import annotations

import torch

from tacit.learning.settings import NetworkSettings
from tacit.nets.encoders import ClassEncoder, FeatureEncoder, PublicEncoder, game_features, observation_features
from tacit.nets.value_net import PolicyNet, ValueNet
from tacit.tree.search_space import SearchSpace


def make_value_net(space: SearchSpace, config: NetworkSettings, scale: float = 1.0) -> ValueNet:
    """Returns a new value network; `scale` is the size of the game's returns."""
    deals = torch.from_numpy(space.tables.deals) if config.zero_sum else None
    return ValueNet(_encoder(space, config), space.tables.num_private_states, config.layers, scale, deals)


def make_policy_net(space: SearchSpace, config: NetworkSettings, num_actions: int) -> PolicyNet:
    """Returns a new policy network for up to `num_actions` actions."""
    return PolicyNet(_encoder(space, config), space.tables.num_private_states, num_actions, config.layers)


def _encoder(space: SearchSpace, config: NetworkSettings) -> PublicEncoder:
    """Returns an encoder: of classes, or of features, which are the game's own where it gives some."""
    if config.encoder == "classes":
        return ClassEncoder(space.num_classes, config.hidden)
    trees = [subgame.tree for subgame in space.subgames]
    actors = [int(tree.require_nodes().actor[0]) for tree in trees]
    seen = [tree.public_label(0).split() for tree in trees]
    own = [row for row in map(space.game.public_features, actors, seen) if row is not None]
    return FeatureEncoder(game_features(own) if len(own) == len(trees) else observation_features(actors, seen), config.hidden)
