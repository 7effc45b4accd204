"""Self-play: many games that advance one decision at a time, and add to the players' memories."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.compiled import compiled, inner
from tacit.nets.player_networks import best_entry, policy
from tacit.nfsp.tabular.memory import GAME_OVER, add_behaviour, add_transition
from tacit.nfsp.tabular.networks import POLICY, Q
from tacit.random_numbers import below, uniform

NOTHING = -1
"""The last entry of a player that has not acted yet."""
PERSISTENT = ("state", "best_response", "last_entry", "explored", "finished")
"""The fields of `Games` that a checkpoint keeps; the others are recomputed."""


class Games(NamedTuple):
    """Games in play.

    Attributes:
      state: `[G]` the state of each game in the walk table.
      best_response: `[G, 2]` whether a player follows its best response in this game, else its average policy.
      last_entry: `[G, 2]` the entry that a player took at its last decision, or `NOTHING`.
      explored: `[G, 2]` whether a player made a random move, after which its opponent must not learn from this game.
      finished: `[1]` the number of games that have ended.
      advances: `[1]` how often all games have been advanced.
      policy: `[E]` the average policies, cached since several games are often at the same infostate in one advance.
      policy_at: `[S]` the advance in which an infostate's `policy` was computed.
      best: `[S]` the entry with the highest value, cached likewise.
      best_at: `[S]` the advance in which an infostate's `best` was computed.
    """

    state: NDArray[np.int64]
    best_response: NDArray[np.bool_]
    last_entry: NDArray[np.int32]
    explored: NDArray[np.bool_]
    finished: NDArray[np.int64]
    advances: NDArray[np.int64]
    policy: NDArray[np.float32]
    policy_at: NDArray[np.int64]
    best: NDArray[np.int32]
    best_at: NDArray[np.int64]


def make_games(count: int, num_infostates: int, num_entries: int) -> Games:
    """Returns games that have not begun; call `begin_games` next."""
    state, finished, advances = (np.zeros(size, np.int64) for size in (count, 1, 1))
    best_response, explored = (np.zeros((count, 2), np.bool_) for _ in range(2))
    policy_at, best_at = (np.zeros(num_infostates, np.int64) for _ in range(2))
    cached = np.zeros(num_entries, np.float32), policy_at, np.zeros(num_infostates, np.int32), best_at
    return Games(state, best_response, np.full((count, 2), NOTHING, np.int32), explored, finished, advances, *cached)


@compiled()
def begin_games(games, table, anticipation, streams, stream):  # type: ignore[no-untyped-def]
    """Starts all games over."""
    for game in range(len(games.state)):
        _begin(games, game, table, anticipation, streams, stream)


@compiled()
def advance_games(  # type: ignore[no-untyped-def]
    games, networks, transitions, behaviour, encodings, table, settings, exploration, streams, stream
):
    """Makes one decision in every game, and starts a new game in place of each that ends.

    A player's actions go to `transitions` once it sees what follows and, in games where it follows its best response, to
    `behaviour`. `settings` is a `RoundSettings`; `exploration` is how often a best response moves at random in this round.
    """
    shape, num_decisions = networks.shape, len(table.actor)
    games.advances[0] += 1
    now = games.advances[0]
    for game in range(len(games.state)):
        state = games.state[game]
        player, infostate = table.actor[state], table.infostate[state]
        before = games.last_entry[game, player]
        if before != NOTHING and not games.explored[game, 1 - player]:
            add_transition(transitions, player, before, np.float32(0.0), infostate)
        first = table.entry_start[infostate]
        params, scratch = networks.params[player], networks.scratch[0]
        if games.best_response[game, player]:
            if games.best_at[infostate] != now:
                games.best[infostate] = best_entry(params[Q], shape, scratch, encodings, table, infostate)[0]
                games.best_at[infostate] = now
            entry = meant = games.best[infostate]
            if uniform(streams, stream) < exploration:
                entry = first + below(streams, stream, table.entry_start[infostate + 1] - first)
                if settings.apart:
                    games.explored[game, player] = True
                else:
                    meant = entry
            add_behaviour(behaviour, player, meant, settings.window, settings.least_probability, streams, stream)
        else:
            last = table.entry_start[infostate + 1]
            if games.policy_at[infostate] != now:
                policy(params[POLICY], shape, scratch, encodings, table, infostate)
                games.policy[first:last] = scratch.outputs[: last - first]
                games.policy_at[infostate] = now
            entry, left = first, uniform(streams, stream) - games.policy[first]
            while left >= 0.0 and entry + 1 < last:
                entry += 1
                left -= games.policy[entry]
        games.last_entry[game, player] = entry
        edge = table.edge_start[state] + entry - first
        drawn, at = uniform(streams, stream), table.arrival_start[edge]
        while drawn >= table.upto[at]:
            at += 1
        state = table.arrival[at]
        games.state[game] = state
        if state >= num_decisions:
            won = np.float32(table.payoff[state - num_decisions] / settings.reward_unit)
            for who in range(2):
                if games.last_entry[game, who] != NOTHING and not games.explored[game, 1 - who]:
                    reward = won if who == 0 else -won
                    add_transition(transitions, who, games.last_entry[game, who], reward, GAME_OVER)
            games.finished[0] += 1
            _begin(games, game, table, settings.anticipation, streams, stream)


@inner()
def _begin(games, game, table, anticipation, streams, stream):  # type: ignore[no-untyped-def]
    drawn, at = uniform(streams, stream), 0
    while drawn >= table.first_upto[at]:
        at += 1
    games.state[game] = table.first_state[at]
    for player in range(2):
        games.best_response[game, player] = uniform(streams, stream) < anticipation
        games.last_entry[game, player] = NOTHING
        games.explored[game, player] = False
