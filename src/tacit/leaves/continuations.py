"""Leaves at which players choose how they go on: multi-valued states, the core of Modicum.

Brown, Sandholm & Amos, "Depth-Limited Solving for Imperfect-Information Games", NeurIPS 2018. In a game with hidden
information a leaf has no value of its own: what it is worth depends on what both players believe. The paper needs no learnt
values of beliefs. A *continuation* is a strategy for the rest of the game. At every leaf the opponent chooses one of K, in each
of its private states and without seeing the searcher's; the searcher follows its blueprint. So a leaf is one more decision
with K actions. Regret matching learns there as everywhere else, and the searcher must play so that no continuation hurts it.

The payoff of a pair of continuations is linear in both players' reaches. So each class of leaves has one matrix per player,
`[K * H, k * H]`, with chance and card removal in it, and an iteration is one batched matrix product for each.

Where we differ:

- Each player has its own continuations (`Play.counts`). With one for the searcher it is the paper's game. With several for
  both it is symmetric, as in Pluribus (Brown & Sandholm 2019), and one search finds the strategies of both seats.
- A continuation is a strategy over classes of public states, not over histories (`continuation_sets.py`).
- Regrets at a leaf are discounted and predicted like those of the search, whatever its solver.

What converges: under CFR-D the average of the search converges to an equilibrium of the game in which leaves are such
decisions. That is an equilibrium of the real game if the opponent has all pure continuations and the searcher's blueprint is
an equilibrium (the paper's proposition 1), or if both players have all continuations that matter. Otherwise it is not: with
K = 1 leaves have fixed values, and search in modified rock-paper-scissors stays wrong however long it runs. An agent that plays
on below a leaf searches again and has to keep what this search promised (`search/resolving.py`): it will not play the
continuations. Fictitious play, modified CFR-AVE and callers of `evaluate` get the values of decisions that are solved at the
given beliefs, as an oracle would give them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tacit.kernels.clock import Clock
from tacit.solvers.schedules import plain_schedule
from tacit.tree.public_tree import LEAF, Floats, PublicTree
from tacit.tree.search_space import SearchSpace
from tacit.tree.source import NO_CLASS, ClassSubgame

SOLVING = 100
"""Iterations of CFR+ by which `evaluate` solves the decisions at leaves."""
MOST_TOGETHER = 64
"""The most leaves of one class that a matrix product takes together."""
_NO_REACH = 1e-20


@dataclass(frozen=True)
class Play:
    """The continuations of both players.

    Attributes:
      counts: How many player 0 has, and player 1.
      by_class: For each class `[K, E]` the probabilities of the entries at its public state, as `one_action_subgames` lays them
        out. K is the number of continuations of the player who acts there.
      actors: `[C]` the player to act.
    """

    counts: tuple[int, int]
    by_class: list[Floats]
    actors: NDArray[np.int8]

    def first(self, counts: tuple[int, int]) -> Play:
        """Returns the play with only the first continuations, at most `counts` for player 0 and for player 1."""
        kept = min(counts[0], self.counts[0]), min(counts[1], self.counts[1])
        by_class = [versions[: kept[actor]] for versions, actor in zip(self.by_class, self.actors, strict=True)]
        return Play(kept, by_class, self.actors)


def one_action_subgames(space: SearchSpace) -> list[ClassSubgame]:
    """Returns for each class its subgame of depth 1."""
    source = space.source.at_depth(1)
    return [source.subgame(public_class) for public_class in range(space.num_classes)]


def payoff_operators(steps: Sequence[ClassSubgame], play: Play) -> list[Floats]:
    """Returns for each class `[K0, K1, H0, H1]` player 0's expected return, times the chance of the pair of private states.

    Args:
      steps: for each class its subgame of depth 1.
      play: the continuations.
    """
    below = {number: np.setdiff1d(step.node_class, [number, NO_CLASS]).tolist() for number, step in enumerate(steps)}
    operators: dict[int, Floats] = {}
    for number in TopologicalSorter(below).static_order():
        operators[number] = _operator(steps[number], play.by_class[number], play.counts, operators)
    return [operators[number] for number in range(len(steps))]


def _operator(step: ClassSubgame, chosen: Floats, counts: tuple[int, int], below: dict[int, Floats]) -> Floats:
    """Returns the operator of one class from those of the classes below it."""
    tree, nodes = step.tree, step.tree.require_nodes()
    total = np.zeros((*counts, *(int(start[1]) for start in nodes.row_start)))
    shares = [np.ones((count, tree.num_entries + 1)) for count in counts]  # last, for rows to which the other player moved
    shares[nodes.actor[0]][:, :-1] = chosen
    for node in range(1, len(nodes)):
        if nodes.actor[node] == LEAF:
            worth = nodes.joint(node).sum() * below[int(step.node_class[node])]
        else:
            worth = _payoffs(tree, node)
        first, second = (_moves(tree, player, node, shares[player]) for player in (0, 1))
        total += first[:, None] @ worth @ second.swapaxes(1, 2)[None]
    return total


def _payoffs(tree: PublicTree, node: int) -> Floats:
    """Returns `[H0, H1]` player 0's returns at a terminal node, times chance."""
    starts = [start[node : node + 2] for start in tree.require_nodes().row_start]
    matrix = np.zeros([end - start for start, end in starts])
    chosen = slice(*tree.payoff_start[node : node + 2])
    rows = [tree.payoff_rows[player, chosen] - starts[player][0] for player in (0, 1)]
    np.add.at(matrix, (rows[0], rows[1]), tree.payoff[chosen])
    return matrix


def _moves(tree: PublicTree, player: int, node: int, shares: Floats) -> Floats:
    """Returns `[K, H, h]` how likely each continuation moves a player from private states at the root to those at a child.

    Args:
      tree: a subgame of depth 1.
      player: the player who moves.
      node: the child.
      shares: `[K, E + 1]` the continuations' probabilities, and 1 in the last place.
    """
    rows, nodes = tree.rows[player], tree.require_nodes()
    here = slice(*nodes.row_start[player][node : node + 2])
    parent = rows.parent[here]
    moves = np.zeros((len(shares), int(nodes.row_start[player][1]), len(parent)))
    moves[:, parent, np.arange(len(parent))] = shares[:, rows.entry[here]]
    return moves


class ContinuationLeaves:
    """Leaves at which both players choose among continuations (see `LeafEvaluator` and `DecidingEvaluator`).

    Attributes:
      counts: How many continuations player 0 has, and player 1.

    Args:
      space: the game.
      play: the continuations.
      device: where searches have their beliefs.
    """

    counterfactual = False

    def __init__(self, space: SearchSpace, play: Play, device: str = "cpu") -> None:
        operators = payoff_operators(one_action_subgames(space), play)
        self.counts, self.num_states = play.counts, space.tables.num_private_states
        leaf_classes = np.unique(space.tables.leaf_class)
        self._number = np.full(space.num_classes, -1)
        self._number[leaf_classes] = np.arange(len(leaf_classes))
        self._answers = []
        for player in (0, 1):
            matrices = [self._answer(player, operators[c], space.tables.deals[c]) for c in leaf_classes]
            self._answers.append(torch.from_numpy(np.array(matrices, np.float32)).to(device))

    def begin(self, states: Tensor) -> ContinuationChoices:
        """Returns the choices at leaves of classes `[L]`, before the players have learnt anything."""
        numbers = self._number[states.cpu().numpy()]
        tiles = LeafTiles(numbers, states.device)
        return ContinuationChoices(self.counts, self.num_states, tiles, [part[tiles.kind] for part in self._answers])

    def evaluate(self, states: Tensor, beliefs: Tensor) -> Tensor:
        """Returns `[2 * H, L]` infostate values when both players choose as well as they can at these beliefs."""
        choices, clock = self.begin(states), Clock(plain_schedule("cfr+"))
        weight, total, weights = beliefs.new_ones(beliefs.shape[1]), torch.zeros_like(beliefs), 0.0
        for _ in range(SOLVING):
            clock.tick()
            for player in (0, 1):
                mine = slice(player * self.num_states, (player + 1) * self.num_states)
                total[mine] += clock.step.average_weight * choices.answer(player, beliefs, weight, clock)[mine]
                choices.settle(player)
            weights += clock.step.average_weight
        return total / weights

    def _answer(self, player: int, operator: Floats, deals: NDArray[np.float32]) -> NDArray[np.float32]:
        """Returns `[(K + 1) * H, k * H]`: from the other's reach with each continuation to the player's counterfactual values.

        The last H values are those of a continuation that always pays 1: the likelihood of each of the private states.
        """
        mine = operator if player == 0 else -operator.transpose(1, 0, 3, 2)
        count, other, H = len(mine), mine.shape[1], self.num_states
        padded = np.zeros((count + 1, other, H, H), np.float32)
        padded[:count, :, : mine.shape[2], : mine.shape[3]] = mine
        padded[count] = deals if player == 0 else deals.T
        return padded.transpose(0, 2, 1, 3).reshape((count + 1) * H, other * H)


class LeafTiles:
    """Leaves sorted by kind into tiles of equally many columns, so that one batched product serves all.

    Attributes:
      kind: `[T]` the kind of leaf of each tile.
      num_leaves: `L`.

    Args:
      kinds: `[L]` the kind of each leaf.
      device: where the numbers are stored.
    """

    def __init__(self, kinds: NDArray[np.int64], device: torch.device) -> None:
        order = np.argsort(kinds, kind="stable")
        distinct, counts = np.unique(kinds, return_counts=True)
        width = max(1, min(MOST_TOGETHER, len(kinds) // len(distinct)))  # padding at most doubles the columns
        tiles = -(-counts // width)
        first = np.cumsum(counts) - counts
        start = np.repeat((np.cumsum(tiles) - tiles) * width - first, counts)
        place = np.empty(len(kinds), np.int64)
        place[order] = np.arange(len(kinds)) + start
        column = np.zeros(int(tiles.sum()) * width, np.int64)  # tiles are padded with copies of the first leaf
        column[place] = np.arange(len(kinds))
        self.kind = torch.from_numpy(np.repeat(distinct, tiles)).to(device)
        self._column, self._place = (torch.from_numpy(part).to(device) for part in (column, place))
        self.num_leaves = len(kinds)

    def product(self, matrices: Tensor, numbers: Tensor) -> Tensor:
        """Returns `[m, L]` the matrix of each leaf's tile `[T, m, n]` times the leaf's column of numbers `[n, L]`."""
        tiled = numbers[:, self._column].view(len(numbers), len(matrices), -1).transpose(0, 1)
        return torch.bmm(matrices, tiled).transpose(0, 1).flatten(1)[:, self._place]


class ContinuationChoices:
    """The choices at the leaves of one search (see `LeafDecisions`).

    Attributes:
      choice: For each player `[K, H, L]` the probability that it chooses each continuation.

    Args:
      counts: how many continuations player 0 has, and player 1.
      num_states: `H`.
      tiles: the leaves.
      answers: for each player `[T, (K + 1) * H, k * H]` the matrices of the tiles (`ContinuationLeaves`).
    """

    def __init__(self, counts: tuple[int, int], num_states: int, tiles: LeafTiles, answers: list[Tensor]) -> None:
        self._tiles, self._answers, self._half = tiles, answers, num_states
        leaves = tiles.num_leaves
        self._regret = [answers[0].new_zeros(count, num_states, leaves) for count in counts]
        self.choice = [torch.full_like(regret, 1.0 / len(regret)) for regret in self._regret]
        self._next = [part.clone() for part in self.choice]
        self._values = answers[0].new_zeros(2 * num_states, leaves)

    def answer(self, player: int, beliefs: Tensor, weight: Tensor, clock: Clock) -> Tensor:
        """Returns `[2 * H, L]` infostate values, and learns which continuations would have been worth more."""
        H, other = self._half, 1 - player
        faced = (self.choice[other] * beliefs[other * H : (other + 1) * H]).flatten(0, 1)
        worth = self._tiles.product(self._answers[player], faced).view(-1, H, beliefs.shape[1])
        each, likelihood = worth[:-1], worth[-1]
        value = (self.choice[player] * each).sum(0)
        self._learn(player, (each - value) * weight, clock)
        possible = likelihood > _NO_REACH
        self._values[player * H : (player + 1) * H] = torch.where(possible, value / likelihood.where(possible, 1.0), 0.0)
        return self._values

    def settle(self, player: int) -> None:
        """Makes a player choose by what it learnt from its latest answer."""
        self.choice[player].copy_(self._next[player])

    def _learn(self, player: int, instant: Tensor, clock: Clock) -> None:
        """Updates a player's regrets `[K, H, L]` as the search updates its own (`Passes.update_regrets`)."""
        step, regret = clock.weights(), self._regret[player]
        discount = torch.where(regret > 0, step.positive_discount, step.negative_discount)
        regret.copy_((regret * discount + instant).clamp(min=step.floor))
        wanted = (regret + step.prediction * instant).clamp(min=0.0)
        total = wanted.sum(0)
        self._next[player].copy_(torch.where(total > 0, wanted / total.where(total > 0, 1.0), 1.0 / len(wanted)))
