"""External sampling (Lanctot et al. 2009) with a given strategy, which fills the memories.

A walk tries every action of the traverser, and samples one action of the opponent and one outcome of chance. So walks visit the
opponent's infostates in proportion to its own reach, and its strategies stored there are samples of its average.
"""

from __future__ import annotations

from tacit.compiled import compiled
from tacit.deep_cfr.memory import offer
from tacit.kernels.numba_walks import arrive, draw
from tacit.random_numbers import uniform


@compiled(_nrt=False)
def traverse(  # type: ignore[no-untyped-def]
    count, traverser, iteration, table, strategy, reward_unit, advantages, policies, frames, streams, stream
):
    """Samples `count` games.

    Args:
      count: The number of walks.
      traverser: The player whose actions are all tried.
      iteration: The iteration of CFR, from 1.
      table: `WalkTable`.
      strategy: `[E]`, the strategy of both players.
      reward_unit: Winnings that count as 1.
      advantages: `Samples` of the traverser's instant advantages, by infostate.
      policies: `Samples` of the opponent's strategy.
      frames: `Frames`, the traverser's states on the current path.
      streams: The random streams.
      stream: The stream to draw from.
    """
    num_decisions, unit = len(table.actor), 1.0 / reward_unit
    if traverser == 1:
        unit = -unit
    for _ in range(count):
        depth, state = 0, arrive(table.first_upto, table.first_state, 0, streams, stream)
        while True:
            # Descend to an end of the game.
            while state < num_decisions:
                infostate, action = table.infostate[state], 0
                first, last = table.entry_start[infostate], table.entry_start[infostate + 1]
                if table.actor[state] == traverser:
                    frames.state[depth], frames.action[depth] = state, action
                    depth += 1
                else:
                    offer(policies, 1 - traverser, infostate, iteration, strategy, first, last - first, streams, stream)
                    action = draw(strategy, first, last, 0.0, uniform(streams, stream))
                state = _follow(table, state, action, streams, stream)
            value = unit * float(table.payoff[state - num_decisions])
            # Go up to the last state with an action still to be tried.
            while depth > 0:
                state, action, values = frames.state[depth - 1], frames.action[depth - 1], frames.values[depth - 1]
                infostate = table.infostate[state]
                first, last = table.entry_start[infostate], table.entry_start[infostate + 1]
                values[action] = value
                if first + action + 1 < last:
                    frames.action[depth - 1] = action + 1
                    state = _follow(table, state, action + 1, streams, stream)
                    break
                depth -= 1
                value = 0.0
                for entry in range(first, last):
                    value += strategy[entry] * values[entry - first]
                for entry in range(first, last):
                    values[entry - first] -= value
                offer(advantages, traverser, infostate, iteration, values, 0, last - first, streams, stream)
            if depth == 0:
                break


@compiled(_nrt=False, inline="always")
def _follow(table, state, action, streams, stream):  # type: ignore[no-untyped-def]
    """Returns the state that an action leads to, after sampling chance."""
    return arrive(table.upto, table.arrival, table.arrival_start[table.edge_start[state] + action], streams, stream)
