"""The abstract betting as a tree in flat arrays, without cards, for MCCFR to walk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TacitError
from tacit.games.betting import DEAL, FOLDED, MAX_ACTIONS, SHOWDOWN, Betting, BettingRules

FOLD_END, SHOWDOWN_END = 2, 3
"""Kinds of nodes besides 0 and 1, the player to act."""
LANES = 4
"""Entries per block. A decision has as many blocks as its actions need; unused entries of the last one stay empty."""
WIDTH = -(-MAX_ACTIONS // LANES) * LANES
"""The largest number of entries in a decision's blocks."""
NO_ACTION = np.float32(-1e30)
"""The regret of an entry without an action: it is never positive, whatever is added."""
MAX_NODES = 3_000_000
"""The largest number of nodes; a million take some ten seconds to build."""
MAX_ENTRIES = 500_000_000
"""The largest number of strategy entries, at eight bytes each while it is trained."""


NODE = np.dtype(
    [
        ("first_block", np.int32),
        ("first_child", np.int32),
        ("payoff", np.float32),
        ("decisions", np.uint16),
        ("kind", np.int8),
        ("street", np.int8),
        ("num_actions", np.int8),
    ],
    align=True,
)
"""A node in the layout that kernels read, contiguous in memory.

- `first_block`: the first block of bucket 0.
- `first_child`: the first child; a node's children are contiguous.
- `payoff`: in big blinds, what player 0 wins at a fold, or what the better hand wins at a showdown; 0 at decisions.
- `decisions`: a bit mask of the children that are decisions.
- `kind`: the player to act, `FOLD_END` or `SHOWDOWN_END`.
- `num_actions`: the number of actions; 0 at ends.
"""


class NodeArrays(NamedTuple):
    """The tree in the layout that kernels read.

    Entries are sorted by player, street, bucket, node in depth-first order, and action. A player holds one bucket per street,
    so all the entries that a traversal needs on a street are contiguous, and a node's descendants are near it. Entries come in
    blocks of four, so that kernels have no loops of unknown length.

    Attributes:
      node: `[N]` of `NODE`, with memory for twelve more behind them.
      stride: `[2, 4]` int64, the number of blocks from one bucket to the next, by player and street.
    """

    node: NDArray[Any]
    stride: NDArray[np.int64]


@dataclass(frozen=True)
class BettingTree:
    """The tree of all sequences of menu actions.

    Attributes:
      rules: the rules with the menu.
      states: `[N]` the betting at each node; at a decision the street's cards are dealt.
      actions: `[N]` the legal actions, empty at ends.
      num_buckets: the number of buckets on each street.
      nodes: the tree as arrays for kernels.
      is_action: `[E]` bool, whether an entry belongs to an action, rather than being empty.
      depth: the number of decisions in the longest sequence.
    """

    rules: BettingRules
    states: list[Betting]
    actions: list[tuple[int, ...]]
    num_buckets: tuple[int, int, int, int]
    nodes: NodeArrays
    is_action: NDArray[np.bool_]
    depth: int

    def after(self, node: int, action: int) -> int:
        """Returns the node that an action leads to."""
        return int(self.nodes.node[node]["first_child"]) + self.actions[node].index(action)

    def of_node(self, entries: NDArray[Any], node: int) -> NDArray[Any]:
        """Returns `[K, A]` a decision's part of some entries `[E]`, by bucket and action."""
        street, player = self.states[node].street, self.states[node].actor
        first, stride = (LANES * int(n) for n in (self.nodes.node[node]["first_block"], self.nodes.stride[player, street]))
        count, last = self.num_buckets[street], len(self.actions[node])
        rows: NDArray[Any] = np.lib.stride_tricks.as_strided(
            entries[first:], (count, last), (stride * entries.strides[0], entries.strides[0])
        )
        return rows

    @property
    def num_entries(self) -> int:
        """The number of entries, including empty ones."""
        return len(self.is_action)

    @property
    def num_decisions(self) -> int:
        """The number of decision nodes."""
        return int((self.nodes.node["kind"] < FOLD_END).sum())


def build_betting_tree(rules: BettingRules, num_buckets: tuple[int, int, int, int]) -> BettingTree:
    """Returns the betting tree of some rules.

    Raises:
      TacitError: the tree is too large.
    """
    states, depths, stack = [rules.start()], [0], [0]
    actions: list[tuple[int, ...]] = [()]
    first_child = [0]
    while stack:
        node = stack.pop()
        betting = states[node]
        menu = rules.actions(betting) if betting.actor >= 0 else ()
        actions[node], first_child[node] = menu, len(states)
        stack.extend(range(len(states) + len(menu) - 1, len(states) - 1, -1))
        for action in menu:
            after = rules.apply(betting, action)
            states.append(rules.deal(after) if after.actor == DEAL else after)
            depths.append(depths[node] + 1)
            actions.append(())
            first_child.append(0)
        if len(states) > MAX_NODES:
            raise TacitError(f"the betting has more than {MAX_NODES:,} sequences: choose fewer bets, raises or max_raises")
    counts = np.array([len(menu) for menu in actions])
    street = np.array([betting.street for betting in states])
    first_block, stride = _lay_out(states, counts, first_child, num_buckets)
    num_entries = LANES * int((stride * np.array(num_buckets)).sum())
    if num_entries > MAX_ENTRIES:
        raise TacitError(f"a strategy has {num_entries:,} entries, {MAX_ENTRIES:,} at most: choose fewer buckets or bets")
    kind = np.array([_kind(betting) for betting in states])
    payoff = np.array([_payoff(betting) for betting in states]) / rules.big_blind
    node_data = np.zeros(len(states) + WIDTH, NODE)[: len(states)]  # kernels read behind the last node, too
    columns = {
        "first_block": first_block, "first_child": first_child, "kind": kind, "street": street, "num_actions": counts,
        "payoff": payoff,
    }  # fmt: skip
    for name, column in columns.items():
        node_data[name] = column
    for place in range(MAX_ACTIONS):
        parents = np.flatnonzero(counts > place)
        node_data["decisions"][parents] |= (kind[node_data["first_child"][parents] + place] < FOLD_END).astype(
            np.uint16
        ) << place
    is_action = _actions_of_entries(node_data, stride, num_buckets)
    return BettingTree(rules, states, actions, num_buckets, NodeArrays(node_data, stride), is_action, max(depths))


def _lay_out(
    states: list[Betting], counts: NDArray[np.int64], first_child: list[int], num_buckets: tuple[int, int, int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns `first_block` and `stride` of `NodeArrays`."""
    place, stride, stack = np.zeros(len(states), np.int64), np.zeros((2, 4), np.int64), [0]
    while stack:
        node = stack.pop()
        betting, count = states[node], int(counts[node])
        if count:
            place[node] = stride[betting.actor, betting.street]
            stride[betting.actor, betting.street] += -(-count // LANES)
            stack.extend(range(first_child[node] + count - 1, first_child[node] - 1, -1))
    begins = _begins(stride, num_buckets)
    for node, betting in enumerate(states):
        if counts[node]:
            place[node] += begins[betting.actor, betting.street]
    return place, stride


def _begins(stride: NDArray[np.int64], num_buckets: tuple[int, int, int, int]) -> NDArray[np.int64]:
    """Returns `[2, 4]` the first block of each player and street."""
    sizes = (stride * np.array(num_buckets)).ravel()
    begins: NDArray[np.int64] = (np.cumsum(sizes) - sizes).reshape(2, 4)
    return begins


def _actions_of_entries(
    nodes: NDArray[Any], stride: NDArray[np.int64], num_buckets: tuple[int, int, int, int]
) -> NDArray[np.bool_]:
    """Returns `is_action` of `BettingTree`: the same for all buckets of a player on a street."""
    begins, parts = _begins(stride, num_buckets), []
    for player in range(2):
        for street in range(4):
            own = nodes[(nodes["kind"] == player) & (nodes["street"] == street) & (nodes["num_actions"] > 0)]
            one = np.zeros(LANES * stride[player, street], bool)
            for action in range(WIDTH):
                first = LANES * (own["first_block"][own["num_actions"] > action].astype(np.int64) - begins[player, street])
                one[first + action] = True
            parts.append(np.tile(one, num_buckets[street]))
    return np.concatenate(parts)


def _kind(betting: Betting) -> int:
    return {FOLDED: FOLD_END, SHOWDOWN: SHOWDOWN_END}.get(betting.actor, betting.actor)


def _payoff(betting: Betting) -> int:
    if betting.actor == FOLDED:
        return betting.spent[1] if betting.folder == 1 else -betting.spent[0]
    return betting.spent[0] if betting.actor == SHOWDOWN else 0
