"""Rounds of self-play and learning in one compiled call.

A round plays games with the current policies. Each player's action values `q` learn the winnings after each action, and every
few rounds each policy `pi` makes a step at the infostates that it reached. With `v = sum_a pi(a) q(a)`, a step descends

    RPG     sum_a max(0, q(a) - v)               whose gradient by a logit is  -n pi(a) (q(a) - v)
    QPG     -v                                                                   -pi(a) (q(a) - v)
    RMPG    -sum_a pi(a) max(0, q(a) - v)                                        -pi(a) (r(a) - sum_b pi(b) r(b))

where `n` counts the actions whose `q` is above `v`. `q` is held fixed in all lines, and `r = max(0, q - v)` in the last one.
The entropy of the policy is added with a small weight that falls over the run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.compiled import compiled
from tacit.kernels.numba_walks import arrive, draw
from tacit.nets.descent import clip_norm, descend
from tacit.nets.player_networks import policy
from tacit.nets.sparse_mlp import backward, forward, output
from tacit.random_numbers import uniform
from tacit.tree.public_tree import Floats

Q, POLICY = range(2)
"""The index of each of a player's networks."""
RPG, QPG, RMPG = range(3)
"""Positions in `UPDATES` of `config.py`."""


class GradientSettings(NamedTuple):
    """The settings that kernels need (see `PolicyGradientConfig`)."""

    update: int
    games: int
    critic_steps: int
    critic_rounds: int
    critic_optimizer: int
    optimizer: int
    critic_learning_rate: float
    clip: float
    reward_unit: float


class RoundBuffers(NamedTuple):
    """The outcomes of a round's games, and the policies at the infostates visited.

    Attributes:
      taken: `[E]`, how often an entry was taken.
      won: `[E]`, player 0's total winnings over these games.
      infostates: `[2, S]`, each player's visited infostates, at the front.
      distinct: `[2]`, the number of each player's visited infostates.
      visited: `[S]`, whether a game visited an infostate.
      strategy: `[E]`, the probabilities of the policies, valid where `asked` is the policy's current step.
      asked: `[S]`, the number of the policy's step for which `strategy` was computed.
      path: `[D]`, the entries of the game being played.
    """

    taken: NDArray[np.float32]
    won: NDArray[np.float32]
    infostates: NDArray[np.int32]
    distinct: NDArray[np.int64]
    visited: NDArray[np.bool_]
    strategy: Floats
    asked: NDArray[np.int64]
    path: NDArray[np.int64]


def make_round_buffers(num_infostates: int, num_entries: int, depth: int) -> RoundBuffers:
    """Returns empty buffers for the games of a round."""
    taken, won = (np.zeros(num_entries, np.float32) for _ in range(2))
    infostates, visited = np.zeros((2, num_infostates), np.int32), np.zeros(num_infostates, np.bool_)
    asked = np.full(num_infostates, -1, np.int64)
    distinct, path = np.zeros(2, np.int64), np.zeros(depth, np.int64)
    return RoundBuffers(taken, won, infostates, distinct, visited, np.zeros(num_entries), asked, path)


@compiled()
def play_rounds(count, done, rates, settings, networks, played, encodings, table, streams):  # type: ignore[no-untyped-def]
    """Plays `count` rounds after the first `done` ones.

    Args:
      count: The number of rounds.
      done: The number of rounds before.
      rates: `[count, 2]`, the policies' learning rate and the weight of their entropy in each round.
      settings: `GradientSettings`.
      networks: `Networks`.
      played: `RoundBuffers`.
      encodings: The encodings of all infostates.
      table: `WalkTable`.
      streams: `[1]`, the random stream.
    """
    for index in range(count):
        _play_games(settings, networks, played, encodings, table, streams)
        acts = (done + index + 1) % settings.critic_rounds == 0
        for player in range(2):
            for _ in range(settings.critic_steps):
                _learn_values(player, settings, networks, played, encodings, table)
            if acts:
                _step_policy(player, settings, networks, played, encodings, table, rates[index, 0], rates[index, 1])
        _forget(played, table)


@compiled()
def _play_games(settings, networks, played, encodings, table, streams):  # type: ignore[no-untyped-def]
    """Plays the games of a round, and sums the winnings after each entry."""
    num_decisions, shape, scratch = len(table.actor), networks.shape, networks.scratch[0]
    for _ in range(settings.games):
        length, state = 0, arrive(table.first_upto, table.first_state, 0, streams, 0)
        while state < num_decisions:
            infostate, player = table.infostate[state], table.actor[state]
            first, last = table.entry_start[infostate], table.entry_start[infostate + 1]
            if played.asked[infostate] != networks.updates[player, POLICY]:
                played.asked[infostate] = networks.updates[player, POLICY]
                policy(networks.params[player, POLICY], shape, scratch, encodings, table, infostate)
                for entry in range(first, last):
                    played.strategy[entry] = scratch.outputs[entry - first]
            if not played.visited[infostate]:
                played.visited[infostate] = True
                played.infostates[player, played.distinct[player]] = infostate
                played.distinct[player] += 1
            action = draw(played.strategy, first, last, 0.0, uniform(streams, 0))
            played.path[length] = first + action
            length += 1
            state = arrive(table.upto, table.arrival, table.arrival_start[table.edge_start[state] + action], streams, 0)
            if state >= num_decisions:
                break
        won = np.float32(table.payoff[state - num_decisions] / settings.reward_unit)
        for entry in played.path[:length]:
            played.taken[entry] += np.float32(1.0)
            played.won[entry] += won


@compiled()
def _learn_values(player, settings, networks, played, encodings, table):  # type: ignore[no-untyped-def]
    """Makes a step on the mean of `(won - q(action))^2` over the player's decisions in this round."""
    params, shape, scratch = networks.params[player, Q], networks.shape, networks.scratch[player]
    gradient, two = networks.gradient[player], np.float32(2.0)
    total = np.float32(0.0)
    for i in range(played.distinct[player]):
        infostate = played.infostates[player, i]
        for entry in range(table.entry_start[infostate], table.entry_start[infostate + 1]):
            total += played.taken[entry]
    sign = np.float32(1.0 if player == 0 else -1.0)
    for i in range(played.distinct[player]):
        infostate = played.infostates[player, i]
        first, last = table.entry_start[infostate], table.entry_start[infostate + 1]
        forward(params, shape, encodings, infostate, scratch)
        for entry in range(first, last):
            action, count = table.entry_action[entry], played.taken[entry]
            scratch.output_errors[action] = 0.0
            if count > 0.0:
                value = output(params, shape, scratch, action)
                error = count * value - sign * played.won[entry]
                networks.loss[player, Q] += error * error / (count * total)
                scratch.output_errors[action] = two * error / total
        backward(params, shape, scratch, table.entry_action[first:last], gradient)
    if total > 0.0:
        clip_norm(gradient, settings.clip)
        rate = settings.critic_learning_rate
        descend(settings.critic_optimizer, params, gradient, networks.moments[player, Q], rate, networks.updates[player, Q])
        networks.updates[player, Q] += 1
        networks.steps[player, Q] += 1


@compiled()
def _step_policy(player, settings, networks, played, encodings, table, rate, entropy):  # type: ignore[no-untyped-def]
    """Makes a step of the player's policy, averaged over its decisions in this round."""
    params, shape, scratch = networks.params[player, POLICY], networks.shape, networks.scratch[player]
    values, gradient, total = scratch.output_errors, networks.gradient[player], np.float32(0.0)
    for i in range(played.distinct[player]):
        infostate = played.infostates[player, i]
        for entry in range(table.entry_start[infostate], table.entry_start[infostate + 1]):
            total += played.taken[entry]
    if total == 0.0:
        return
    for i in range(played.distinct[player]):
        infostate = played.infostates[player, i]
        first, last = table.entry_start[infostate], table.entry_start[infostate + 1]
        weight = np.float32(0.0)
        for entry in range(first, last):
            weight += played.taken[entry]
        forward(networks.params[player, Q], shape, encodings, infostate, scratch)
        for entry in range(first, last):
            values[table.entry_action[entry]] = output(networks.params[player, Q], shape, scratch, table.entry_action[entry])
        policy(params, shape, scratch, encodings, table, infostate)
        logit_gradients(settings.update, np.float32(entropy), scratch.outputs, values, table.entry_action, first, last)
        for entry in range(first, last):
            values[table.entry_action[entry]] *= weight / total
        backward(params, shape, scratch, table.entry_action[first:last], gradient)
    clip_norm(gradient, settings.clip)
    descend(settings.optimizer, params, gradient, networks.moments[player, POLICY], rate, networks.updates[player, POLICY])
    networks.updates[player, POLICY] += 1


@compiled()
def logit_gradients(update, entropy, policies, values, entry_action, first, last):  # type: ignore[no-untyped-def]
    """Replaces an infostate's action values by the gradients of its policy's objective with respect to the logits.

    Args:
      update: `RPG`, `QPG` or `RMPG`.
      entropy: The weight of the entropy.
      policies: The probabilities of the infostate's actions, in the order of its entries.
      values: The action values, by the number of the action's output.
      entry_action: `[E]`, the output of each entry.
      first: The infostate's first entry.
      last: The entry after its last.
    """
    zero, value, negative_entropy = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for entry in range(first, last):
        probability = policies[entry - first]
        value += probability * values[entry_action[entry]]
        negative_entropy += probability * np.log(max(probability, np.float32(1e-30)))
    better, regret = zero, zero
    for entry in range(first, last):
        advantage = values[entry_action[entry]] - value
        better += np.float32(1.0 if advantage > 0.0 else 0.0)
        regret += policies[entry - first] * max(advantage, zero)
    factor = better if update == RPG else np.float32(1.0)
    for entry in range(first, last):
        probability, advantage = policies[entry - first], values[entry_action[entry]] - value
        gain = max(advantage, zero) - regret if update == RMPG else factor * advantage
        surprise = np.log(max(probability, np.float32(1e-30))) - negative_entropy
        values[entry_action[entry]] = -probability * gain + entropy * probability * surprise


@compiled()
def _forget(played, table):  # type: ignore[no-untyped-def]
    """Clears the outcomes of a round's games."""
    for player in range(2):
        for i in range(played.distinct[player]):
            infostate = played.infostates[player, i]
            first, last = table.entry_start[infostate], table.entry_start[infostate + 1]
            played.taken[first:last], played.won[first:last], played.visited[infostate] = 0.0, 0.0, False
        played.distinct[player] = 0
