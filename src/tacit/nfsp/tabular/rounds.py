"""Rounds of self-play and learning in one compiled call.

A *round* advances every game by one decision, then makes a few steps of descent with each network of each player. With 128
games and two steps this is the paper's "2 stochastic gradient updates of mini-batch size 128 per network for every 128 steps in
the game", where a step is a decision of either player. A round is also our reading of the paper's iteration, with which
exploration decays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.compiled import compiled
from tacit.nfsp.tabular.learn import learn_policy, learn_values
from tacit.nfsp.tabular.selfplay import advance_games

STREAMS = 3
"""The number of random streams: for self-play, player 0's learning and player 1's."""


class RoundSettings(NamedTuple):
    """The settings that kernels need (see `TabularConfig`)."""

    anticipation: float
    exploration: float
    exploration_decay: float
    reward_unit: float
    apart: bool
    window: bool
    least_probability: float
    batch_size: int
    updates: int
    share: float
    refit_every: int
    optimizer: int
    policy_optimizer: int


@compiled()
def play_rounds(  # type: ignore[no-untyped-def]
    count, done, rates, settings, games, networks, transitions, behaviour, batches, encodings, table, streams
):
    """Plays `count` rounds after the first `done` ones; a network learns only once its memory fills a batch.

    `rates` `[count, 2]` are the learning rates of the action values and of the policies.
    """
    for index in range(count):
        decay = 0.0 if settings.apart else settings.exploration_decay
        exploration = settings.exploration / (1.0 - decay + decay * np.sqrt(done + index + 1.0))
        advance_games(games, networks, transitions, behaviour, encodings, table, settings, exploration, streams, 0)
        for player in range(2):
            shared = batches, encodings, table, settings
            for _ in range(settings.updates):
                if behaviour.offered[player] >= settings.batch_size:
                    learn_policy(networks, player, behaviour, *shared, rates[index, 1], streams, player + 1)
                if transitions.offered[player] >= settings.batch_size:
                    learn_values(networks, player, transitions, *shared, rates[index, 0], streams, player + 1)
