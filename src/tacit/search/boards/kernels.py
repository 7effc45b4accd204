"""The two phases of growing-tree CFR over trees of positions, compiled: walks that open positions, and regret updates."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from tacit.compiled import compiled, inner
from tacit.random_numbers import uniform_32

NOT_OPENED = -1
"""Child of an action that is not in the tree."""
PENDING = -3
"""Actor of a node that was added but not yet evaluated."""


@inner()
def _by_strategy(strategy, number):
    """Returns an action drawn from a strategy `[A]` by a number from [0, 1); -1 if no action is open yet."""
    chosen = -1
    for action in range(len(strategy)):
        if strategy[action] > 0.0:
            chosen = action
            number -= strategy[action]
            if number < 0.0:
                break
    return chosen


@inner()
def _by_puct(sign, first_worth, child, prior, value, visits, exploration):
    """Returns the action with the highest PUCT score; one that is not opened has the value the network gave the node.

    The value the search has found since would not do: if all actions in the tree lose, the others would seem to lose as well.
    """
    total = np.float32(1.0)
    for action in range(len(prior)):
        total += visits[action]
    root = np.sqrt(total)
    best, chosen = np.float32(-np.inf), -1
    for action in range(len(prior)):
        if prior[action] > 0.0:
            worth = value[child[action]] if child[action] != NOT_OPENED else first_worth
            score = sign * worth + exploration * prior[action] * root / (np.float32(1.0) + visits[action])
            if score > best:
                best, chosen = score, action
    return chosen


@compiled(nogil=True)
def expand(
    member, members, place, walks, exploration, num_nodes, parent, action_to, actor, child, prior, leaf, value, visits,
    strategy, random,
):  # fmt: skip
    """Walks down each tree, half by PUCT and half by the CFR strategy, and appends the first position that is not in it.

    The new position is pending; a later walk that reaches it stops, as at the end of the game.
    """
    for tree in range(member, len(num_nodes), members):
        for _ in range(walks):
            node = 0
            while actor[tree, node] >= 0:
                chosen = -1
                if uniform_32(random, tree) < 0.5:
                    chosen = _by_strategy(strategy[tree, node], uniform_32(random, tree))
                if chosen < 0:
                    sign = np.float32(1.0 - 2.0 * actor[tree, node])
                    scored = child[tree, node], prior[tree, node], value[tree], visits[tree, node]
                    chosen = _by_puct(sign, leaf[tree, node], *scored, exploration)
                visits[tree, node, chosen] += 1
                below = child[tree, node, chosen]
                if below == NOT_OPENED:
                    new = num_nodes[tree]
                    if new < parent.shape[1]:
                        child[tree, node, chosen] = new
                        parent[tree, new] = node
                        action_to[tree, new] = chosen
                        num_nodes[tree] = new + 1
                    break
                node = below


@compiled(nogil=True)
def settle(
    member, members, place, doubt, pending, positions, actor, legal, policy, worth, position_to, actor_to, prior_to, leaf, value
):
    """Stores what the rules and the network say about pending nodes; priors mix the network's policy with uniform play."""
    for number in range(member, len(actor), members):
        tree, node = pending[0, number], pending[1, number]
        total, count = np.float32(0.0), np.float32(0.0)
        for action in range(legal.shape[1]):
            if legal[number, action]:
                total += policy[number, action]
                count += np.float32(1.0)
        for action in range(legal.shape[1]):
            if legal[number, action]:
                sure = policy[number, action] / total if total > 0.0 else np.float32(1.0) / count
                prior_to[tree, node, action] = (np.float32(1.0) - doubt) * sure + doubt / count
        for word in range(positions.shape[1]):
            position_to[tree, node, word] = positions[number, word]
        actor_to[tree, node] = actor[number]
        leaf[tree, node] = value[tree, node] = worth[number]


@inner()
def _match_regrets(regret, child, strategy):
    """Writes the strategy proportional to regrets `[A]`, among the actions in the tree."""
    total, opened = np.float32(0.0), 0
    for action in range(len(child)):
        if child[action] != NOT_OPENED:
            total += regret[action]
            opened += 1
    for action in range(len(child)):
        if child[action] != NOT_OPENED:
            strategy[action] = regret[action] / total if total > 0.0 else np.float32(1.0) / opened


@compiled(nogil=True)
def update(member, members, place, weight, num_nodes, actor, child, leaf_value, value, updates, regret, strategy, average):
    """Runs an iteration of CFR with regret matching+, linear averaging and simultaneous updates over each tree.

    Both players' reaches are passed down and values up. Every node that has children updates its regrets, weighted by the
    opponent's reach, and its average, weighted by its player's own.
    """
    reach = np.empty((child.shape[1], 2), np.float32)
    worth = np.empty(child.shape[1], np.float32)
    opened = np.empty(child.shape[1], np.bool_)
    for tree in range(member, len(num_nodes), members):
        reach[0, 0] = reach[0, 1] = 1.0
        for node in range(num_nodes[tree]):
            player, opened[node] = actor[tree, node], False
            if player < 0:
                continue
            _match_regrets(regret[tree, node], child[tree, node], strategy[tree, node])
            for action in range(child.shape[2]):
                below = child[tree, node, action]
                if below != NOT_OPENED:
                    opened[node] = True
                    reach[below, player] = reach[node, player] * strategy[tree, node, action]
                    reach[below, 1 - player] = reach[node, 1 - player]
        for node in range(num_nodes[tree] - 1, -1, -1):
            worth[node] = leaf_value[tree, node]
            if opened[node]:
                player, found = actor[tree, node], np.float32(0.0)
                for action in range(child.shape[2]):
                    below = child[tree, node, action]
                    if below != NOT_OPENED:
                        found += strategy[tree, node, action] * worth[below]
                worth[node] = found
                faced = reach[node, 1 - player] * np.float32(1.0 - 2.0 * player)
                own = weight * reach[node, player]
                for action in range(child.shape[2]):
                    below = child[tree, node, action]
                    if below != NOT_OPENED:
                        regret[tree, node, action] = max(
                            np.float32(0.0), regret[tree, node, action] + faced * (worth[below] - found)
                        )
                        average[tree, node, action] += own * strategy[tree, node, action]
            updates[tree, node] += 1
            share = np.float32(2.0) / np.float32(updates[tree, node] + 1)
            value[tree, node] += share * (worth[node] - value[tree, node])
