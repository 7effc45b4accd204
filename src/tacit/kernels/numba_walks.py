"""Monte Carlo CFR on walks (Lanctot et al. 2009): one iteration updates both players from a few sampled games.

There are three ways to sample. `v` is a state's value for the *traverser*, the player whose regrets are updated; `sigma` is the
strategy of regret matching.

| kind | at the traverser | at the opponent | chance |
|---|---|---|---|
| `EXTERNAL` | every action | one, by `sigma` | one |
| `CHANCE` | every action | every action | one |
| `OUTCOME` | one, by `sigma` with exploration | one, by `sigma` | one |

In external and outcome sampling the opponent reaches a state as often as its own strategy does, so its reach is sampled and
need not be computed. For the same reason averages are updated at the opponent's states; in chance sampling they are updated at
the traverser's, weighted by its reach.

Outcome sampling can use *baselines* (VR-MCCFR, Schmid et al. 2019): an entry's baseline is a running mean of its sampled
values. It stands in for actions that were not sampled, and only the difference from it is divided by a probability,

    u(a) = b(a) + [a was sampled] * (v(a) - b(a)) / probability(a),    v = sum of sigma(a) * u(a),

which has the same mean whatever the baselines are, and less variance the better they are.

Where we differ: iteration t counts t times in regrets and averages (Linear CFR, Brown & Sandholm 2019). Each iteration has its
own random numbers, made from the seed and its number, so a solve that stops and continues equals one that does not stop.

Walks use an explicit stack of frames: numba crashes when it loads a compiled recursive function from its cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.compiled import compiled
from tacit.random_numbers import uniform
from tacit.tree.public_tree import Floats
from tacit.tree.walks import Longs

EXTERNAL, OUTCOME, CHANCE = range(3)
EXPLORATION = 0.6
"""The share of the traverser's moves that are random in outcome sampling."""
_DECAY = 0.1
"""How far a baseline moves towards a sampled value."""
_APART = np.uint64(0xD1342543DE82EF95)
"""The distance between the starts of successive iterations' random streams; a stream itself moves by another number."""


class Sums(NamedTuple):
    """What MCCFR learns.

    Attributes:
      regret: `[E]` cumulative regrets.
      average: `[E]` sums of strategies.
      baseline: `[E]` running means of entries' values for player 0.
      uses_baseline: Whether outcome sampling uses the baselines.
      strategy: `[E]` the strategy of regret matching at infostates visited in this walk. A walk can reach an infostate by
        several histories; regrets changed at the first visit must not change the strategy at the next.
      asked: `[S]` the walk in which an infostate's `strategy` was last computed.
    """

    regret: Floats
    average: Floats
    baseline: Floats
    uses_baseline: bool
    strategy: Floats
    asked: Longs


def make_sums(num_entries: int, num_infostates: int, uses_baseline: bool) -> Sums:
    """Returns the sums before the first iteration."""
    regret, average, baseline, strategy = (np.zeros(num_entries) for _ in range(4))
    return Sums(regret, average, baseline, uses_baseline, strategy, np.zeros(num_infostates, np.int64))


class Frames(NamedTuple):
    """The stack of a walk: the states on the path to the current one.

    Attributes:
      state: `[D]` the state at each depth.
      action: `[D]` the action being tried there.
      own: `[D]` the traverser's reach; 1 unless chance alone is sampled.
      other: `[D]` the opponent's reach; 1 unless chance alone is sampled.
      sampled: `[D]` the probability of the traverser's sampled actions so far; 1 unless its actions are sampled.
      values: `[D, A]` the actions' values for the traverser.
    """

    state: Longs
    action: Longs
    own: Floats
    other: Floats
    sampled: Floats
    values: Floats


def make_frames(depth: int, num_actions: int) -> Frames:
    """Returns frames for walks of at most `depth` states with at most `num_actions` actions each."""
    state, action = (np.zeros(depth, np.int64) for _ in range(2))
    own, other, sampled = (np.zeros(depth) for _ in range(3))
    return Frames(state, action, own, other, sampled, np.zeros((depth, num_actions)))


@compiled(_nrt=False)
def run_walks(kind, table, sums, frames, streams, seed, first, count):  # type: ignore[no-untyped-def]
    """Runs iterations `first`, `first + 1`, ..., `count` of them.

    Args:
      kind: `EXTERNAL`, `OUTCOME` or `CHANCE`.
      table: `WalkTable`.
      sums: `Sums`.
      frames: `Frames`.
      streams: `[1]` scratch for the state of a random stream.
      seed: uint64.
      first: the number of the first iteration, counted from 1.
      count: how many iterations.
    """
    for iteration in range(first, first + count):
        streams[0] = seed + np.uint64(iteration) * _APART
        for traverser in range(2):
            _walk(kind, table, sums, frames, traverser, iteration, streams)


@compiled(_nrt=False)
def _walk(kind, table, sums, frames, traverser, iteration, streams):  # type: ignore[no-untyped-def]
    """Updates the traverser's regrets, and averages, from one sample of the game."""
    num_decisions, depth, weight = len(table.actor), 0, float(iteration)
    own = other = sampled = 1.0
    state = arrive(table.first_upto, table.first_state, 0, streams, 0)
    while True:
        # Down to the end of the game, or to where both reaches are 0 and nothing would change.
        while state < num_decisions and (own > 0.0 or other > 0.0):
            infostate, mine = table.infostate[state], table.actor[state] == traverser
            first, last = table.entry_start[infostate], table.entry_start[infostate + 1]
            if sums.asked[infostate] != 2 * iteration + traverser:
                sums.asked[infostate] = 2 * iteration + traverser
                _match(sums.regret, sums.strategy, first, last)
            if mine == (kind == CHANCE):
                part = weight * own / sampled
                for entry in range(first, last):
                    sums.average[entry] += part * sums.strategy[entry]
            action = 0
            if not _tries_all(kind, mine):
                action = draw(sums.strategy, first, last, EXPLORATION if mine else 0.0, uniform(streams, 0))
            frames.state[depth], frames.action[depth] = state, action
            frames.own[depth], frames.other[depth], frames.sampled[depth] = own, other, sampled
            if kind == OUTCOME and mine:
                sampled *= _probability(sums.strategy[first + action], last - first, EXPLORATION)
            own, other = _reaches(kind, mine, own, other, sums.strategy[first + action])
            state = arrive(table.upto, table.arrival, table.arrival_start[table.edge_start[state] + action], streams, 0)
            depth += 1
        value = 0.0
        if state >= num_decisions:
            value = float(table.payoff[state - num_decisions])
            value = value if traverser == 0 else -value
        # Up to the next state with an action left to try.
        while True:
            if depth == 0:
                return
            depth -= 1
            state, action = frames.state[depth], frames.action[depth]
            own, other, sampled = frames.own[depth], frames.other[depth], frames.sampled[depth]
            infostate, mine = table.infostate[state], table.actor[state] == traverser
            first, last = table.entry_start[infostate], table.entry_start[infostate + 1]
            values = frames.values[depth]
            if _tries_all(kind, mine):
                values[action] = value
                action += 1
                if first + action < last:
                    frames.action[depth] = action
                    own, other = _reaches(kind, mine, own, other, sums.strategy[first + action])
                    state = arrive(table.upto, table.arrival, table.arrival_start[table.edge_start[state] + action], streams, 0)
                    depth += 1
                    break
            elif kind == OUTCOME:
                chance = _probability(sums.strategy[first + action], last - first, EXPLORATION if mine else 0.0)
                _expect(sums, values, first, last, action, value, chance, 1.0 if traverser == 0 else -1.0)
            else:
                continue  # the opponent's action was sampled from its strategy: its value stands for the state's
            value = 0.0
            for entry in range(first, last):
                value += sums.strategy[entry] * values[entry - first]
            if mine:
                for entry in range(first, last):
                    sums.regret[entry] += weight * other / sampled * (values[entry - first] - value)


@compiled(_nrt=False, inline="always")
def _tries_all(kind, mine):  # type: ignore[no-untyped-def]
    """Returns whether every action is tried at a state; `mine` says that the traverser acts there."""
    return kind == CHANCE or (kind == EXTERNAL and mine)


@compiled(_nrt=False, inline="always")
def _reaches(kind, mine, own, other, share):  # type: ignore[no-untyped-def]
    """Returns both reaches after an action; sampled actions do not change them."""
    if kind != CHANCE:
        return own, other
    return (own * share, other) if mine else (own, other * share)


@compiled(_nrt=False, inline="always")
def _expect(sums, values, first, last, taken, found, chance, sign):  # type: ignore[no-untyped-def]
    """Fills in the actions' values, given the value `found` of the one taken, and moves that one's baseline towards it."""
    for action in range(last - first):
        expected = sign * sums.baseline[first + action] if sums.uses_baseline else 0.0
        values[action] = expected + ((found - expected) / chance if action == taken else 0.0)
    if sums.uses_baseline:
        sums.baseline[first + taken] += _DECAY * (sign * found - sums.baseline[first + taken])


@compiled(_nrt=False, inline="always")
def arrive(upto, states, first, streams, stream):  # type: ignore[no-untyped-def]
    """Returns the state that chance picks among those from `first` on, by their cumulative probabilities."""
    if upto[first] == 1.0:
        return states[first]
    drawn, at = uniform(streams, stream), first
    while drawn >= upto[at]:
        at += 1
    return states[at]


@compiled(_nrt=False, inline="always")
def _match(regret, strategy, first, last):  # type: ignore[no-untyped-def]
    """Fills in an infostate's strategy by regret matching."""
    total = 0.0
    for entry in range(first, last):
        total += max(regret[entry], 0.0)
    for entry in range(first, last):
        strategy[entry] = max(regret[entry], 0.0) / total if total > 0.0 else 1.0 / (last - first)


@compiled(_nrt=False, inline="always")
def _probability(share, count, explored):  # type: ignore[no-untyped-def]
    """Returns the probability that an action is drawn if a share `explored` of all moves is random."""
    return explored / count + (1.0 - explored) * share


@compiled(_nrt=False, inline="always")
def draw(strategy, first, last, explored, drawn):  # type: ignore[no-untyped-def]
    """Returns the action that the uniform number `drawn` picks, among those with positive probability."""
    taken = 0
    for entry in range(first, last):
        chance = _probability(strategy[entry], last - first, explored)
        if chance > 0.0:
            taken = entry - first
            if drawn < chance:
                break
            drawn -= chance
    return taken
