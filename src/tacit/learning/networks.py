"""The networks of a run: of the size of its game, with the encoder that its settings ask for."""

from __future__ import annotations

from tacit.learning.settings import NetworkSettings
from tacit.nets.encoders import ClassEncoder, FeatureEncoder, PublicEncoder, observation_features
from tacit.nets.value_net import PolicyNet, ValueNet
from tacit.tree.search_space import SearchSpace


def make_value_net(space: SearchSpace, config: NetworkSettings, scale: float = 1.0) -> ValueNet:
    """Returns a new value network; `scale` is the size of the game's returns."""
    return ValueNet(_encoder(space, config), space.tables.num_private_states, config.layers, scale)


def make_policy_net(space: SearchSpace, config: NetworkSettings, num_actions: int) -> PolicyNet:
    """Returns a new policy network for up to `num_actions` actions."""
    return PolicyNet(_encoder(space, config), space.tables.num_private_states, num_actions, config.layers)


def _encoder(space: SearchSpace, config: NetworkSettings) -> PublicEncoder:
    if config.encoder == "classes":
        return ClassEncoder(space.num_classes, config.hidden)
    trees = [subgame.tree for subgame in space.subgames]
    actors = [int(tree.require_nodes().actor[0]) for tree in trees]
    return FeatureEncoder(observation_features(actors, [tree.public_label(0).split() for tree in trees]), config.hidden)
