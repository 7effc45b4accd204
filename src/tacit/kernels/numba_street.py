"""The walks over one street's betting for a batch of games on the CPU: one tile of hands at a time, which fits the cache."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from tacit.compiled import compiled
from tacit.kernels.base import MATCH, RESPOND, Numbers
from tacit.kernels.clock import Clock
from tacit.tree.betting_street import BettingStreet
from tacit.tree.hand_tree import DECIDES

TILE = 128
"""How many hands are computed together, of any games: a plane is one long row here."""
_NONE = np.zeros((0, 0), np.float32)


@compiled()
def _down(row_parent, row_entry, strategy, reach):  # type: ignore[no-untyped-def]
    """Fills a player's reach below the root."""
    for first in range(0, reach.shape[1], TILE):
        last = min(first + TILE, reach.shape[1])
        for row in range(1, len(row_parent)):
            above, played, result = reach[row_parent[row]], strategy[row_entry[row]], reach[row]
            for hand in range(first, last):
                result[hand] = above[hand] * played[hand]


@compiled()
def _up(mode, player, street, values, own_reach, strategy, regret, average, step):  # type: ignore[no-untyped-def]
    """Fills the values of decisions from the last one up; `mode` says what happens at the player's."""
    node, actor, num_actions, first_entry, first_child, child, entry_row = street
    size = values.shape[1]
    total = np.empty(TILE, values.dtype)
    for first in range(0, size, TILE):
        last = min(first + TILE, size)
        for decision in range(len(node)):
            entry, below, actions = first_entry[decision], first_child[decision], num_actions[decision]
            result = values[node[decision]]
            if actor[decision] == player and mode == RESPOND:
                _respond(first, last, entry, child[below : below + actions], values, result, strategy, regret, total)
                continue
            result[first:last] = 0.0
            for action in range(actions):
                found = values[child[below + action]]
                if actor[decision] == player:
                    played = strategy[entry + action]
                    for hand in range(first, last):
                        result[hand] += found[hand] * played[hand]
                else:
                    for hand in range(first, last):
                        result[hand] += found[hand]
            if actor[decision] != player or mode != MATCH:
                continue
            total[: last - first] = 0.0
            for action in range(actions):
                here = entry + action
                reached = own_reach[entry_row[here]]
                _match(
                    first,
                    last,
                    values[child[below + action]],
                    result,
                    reached,
                    strategy[here],
                    regret[here],
                    average[here],
                    total,
                    step,
                )
            even = values.dtype.type(1.0 / actions)
            for action in range(actions):
                played = strategy[entry + action]
                for hand in range(first, last):
                    weight = total[hand - first]
                    played[hand] = played[hand] / weight if weight > 0 else even


@compiled()
def _match(first, last, found, result, reached, wish, regret, average, total, step):  # type: ignore[no-untyped-def]
    """Updates one action's regrets and average, and sets `wish` to its new share before normalisation."""
    keep_positive, keep_negative, floor, prediction, weight = step
    zero = regret.dtype.type(0.0)
    for hand in range(first, last):
        instant, old = found[hand] - result[hand], regret[hand]
        new = max(old * (keep_positive if old > 0 else keep_negative) + instant, floor)
        regret[hand] = new
        average[hand] += weight * reached[hand]
        wish[hand] = max(new + prediction * instant, zero)
        total[hand - first] += wish[hand]


@compiled()
def _respond(first, last, entry, below, values, result, strategy, bonus, best):  # type: ignore[no-untyped-def]
    """Takes the best action for each hand, the first one if several are equal."""
    best[: last - first] = -np.inf
    for action in range(len(below)):
        found = values[below[action]]
        for hand in range(first, last):
            ranked = found[hand] + bonus[entry + action, hand] if len(bonus) else found[hand]
            better = ranked > best[hand - first]
            strategy[entry + action, hand] = better
            if better:
                best[hand - first], result[hand] = ranked, found[hand]
                for other in range(action):
                    strategy[entry + other, hand] = 0.0


class StreetWalks:
    """The walks over one street's betting on the CPU."""

    def __init__(self, street: BettingStreet) -> None:
        decisions = [node for node in reversed(range(len(street.kind))) if street.kind[node] == DECIDES]
        below = [street.children[node] for node in decisions]
        entry_row = np.zeros(len(street.entry_action), np.int64)
        for player in (0, 1):
            for row, entry in enumerate(street.row_entry[player]):
                if entry >= 0:
                    entry_row[entry] = row
        self._street = (
            *(np.array([numbers[node] for node in decisions], np.int64) for numbers in (range(len(street.kind)), street.actor)),
            *(
                np.array([numbers[node] for node in decisions], np.int64)
                for numbers in (street.num_actions, street.first_entry)
            ),
            np.concatenate([[0], np.cumsum([len(nodes) for nodes in below])]).astype(np.int64),
            np.array([node for nodes in below for node in nodes], np.int64),
            entry_row,
        )
        self._rows = [[np.array(part[player], np.int64) for part in (street.row_parent, street.row_entry)] for player in (0, 1)]

    def down(self, player: int, strategy: Tensor, reach: Tensor) -> None:
        """Fills a player's reach below the root."""
        _down(*self._rows[player], _planes(strategy), _planes(reach))

    def up(self, mode: int, player: int, values: Tensor, numbers: Numbers, clock: Clock) -> None:
        """Does what `Passes.walk_up` says, given the values of terminal nodes and leaves."""
        step = tuple(values.numpy().dtype.type(number) for number in clock.step)
        _up(mode, player, self._street, _planes(values), *map(_planes, numbers), step)


def _planes(numbers: Tensor | None) -> Any:
    """Returns a `[n, G * H]` array that shares the tensor's memory; an empty array for None."""
    return _NONE if numbers is None else numbers.view(len(numbers), -1).numpy()
