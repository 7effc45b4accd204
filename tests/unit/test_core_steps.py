"""The core steps of ReBeL, against a second implementation that searches one game at a time and follows every choice."""

from collections import defaultdict

import numpy as np
import pytest
import torch

from tacit.games import load_game
from tacit.leaves.evaluators import RandomLeaves
from tacit.rebel.selfplay import SelfPlay
from tacit.search.config import SearchConfig
from tacit.search.playthroughs import playthrough_strategy
from tacit.search.search import BatchSearch
from tacit.solvers.schedules import iteration_weights, plain_schedule
from tacit.tree.base import Floats
from tacit.tree.compiler import compile_game
from tacit.tree.public_tree import LEAF, PublicTree
from tacit.tree.search_space import search_space

EXPLORATION = 0.6


def search_of(name: str, depth: int, iterations: int, solver: str = "cfr", decomposition: str = "cfr-d") -> BatchSearch:
    space = search_space(compile_game(load_game(name)), depth)
    return BatchSearch(space, RandomLeaves(space), SearchConfig(solver, iterations, depth, decomposition))


def searched(search: BatchSearch, public_class: int, beliefs: list[Floats], iteration: int) -> tuple[Floats, Floats]:
    """Returns the strategy one search plays and the one that defines beliefs below it, if the search samples `iteration`."""
    given = torch.zeros(1, 2, search.space.tables.num_private_states)
    for player in (0, 1):
        given[0, player, : len(beliefs[player])] = torch.from_numpy(beliefs[player])
    result = search.run(np.array([public_class]), given, np.array([iteration]))
    copies = len(result.batch.order)
    played, believed = (
        part.view(-1, copies)[:, 0].double().numpy() for part in (result.sampled_strategy, result.believed_strategy)
    )
    return played, believed


def down(tree: PublicTree, player: int, strategy: Floats, roots: Floats) -> Floats:
    """Returns a player's reach `[R]` of its rows."""
    rows = tree.rows[player]
    reach = np.zeros(len(rows))
    reach[: len(roots)] = roots
    for row in range(len(roots), len(rows)):
        own = rows.entry[row] < tree.num_entries
        reach[row] = reach[rows.parent[row]] * (strategy[rows.entry[row]] if own else 1.0)
    return reach


def scaled(reach: Floats) -> Floats:
    return reach / reach.sum() if reach.sum() > 0 else np.full(len(reach), 1.0 / len(reach))


def at_leaves(tree: PublicTree, reaches: list[Floats]) -> dict[int, list[Floats]]:
    """Returns both players' reaches at each leaf of a subgame."""
    nodes = tree.require_nodes()
    return {
        int(leaf): [reaches[p][nodes.row_start[p][leaf] : nodes.row_start[p][leaf + 1]] for p in (0, 1)]
        for leaf in np.flatnonzero(nodes.actor == LEAF)
    }


@pytest.mark.parametrize("decomposition", ["cfr-d", "modified-cfr-ave"])
def test_self_play_explores_with_one_player_and_believes_in_a_random_iteration_without_exploration(decomposition: str) -> None:
    """Games after one step: each public state and its beliefs occur as often as computed over all choices."""
    iterations, games = 4, 20_000
    search = search_of("liars_dice(dice=1,faces=3)", 2, iterations, "cfr", decomposition)
    root = search.space.subgames[int(search.space.root_class[0])]
    tree, nodes = root.tree, root.tree.require_nodes()
    uniform = tree.uniform_strategy()
    start = [np.full(3, 1.0 / 3)] * 2
    probable: dict[tuple[float, ...], float] = defaultdict(float)
    ended: dict[tuple[float, ...], float] = defaultdict(float)
    mean_over = 0.0
    for iteration in range(1, iterations + 1):
        played, believed = searched(search, int(search.space.root_class[0]), start, iteration)
        beliefs = at_leaves(tree, [down(tree, p, believed, start[p]) for p in (0, 1)])
        for explorer in (0, 1):
            explores = tree.entry_player == explorer
            mixed = np.where(explores, (1 - EXPLORATION) * played + EXPLORATION * uniform, played)
            real = at_leaves(tree, [down(tree, p, mixed, start[p]) for p in (0, 1)])
            chance = {leaf: float(r[0] @ nodes.joint(leaf) @ r[1]) for leaf, r in real.items()}
            total = float(start[0] @ nodes.joint(0) @ start[1])
            over = 1.0 - sum(chance.values()) / total
            mean_over += over / (2 * iterations)
            for leaf, likely in chance.items():
                key = (int(root.node_class[leaf]), *np.round(np.concatenate([scaled(b) for b in beliefs[leaf]]), 4))
                probable[key] += likely / total / (2 * iterations)
                ended[key] += likely / total / (1.0 - over) / (2 * iterations)
    expected = {key: probable[key] + mean_over * ended[key] for key in probable}  # a new game's first step never ends it
    assert sum(expected.values()) == pytest.approx(1.0)
    selfplay = SelfPlay(search, games, EXPLORATION, np.random.default_rng(0))
    selfplay.advance()
    stand = np.column_stack([selfplay.game_class, selfplay.reaches.flatten(1).numpy()])
    near = np.stack([np.abs(stand - key).max(axis=1) < 1e-3 for key in expected])
    assert near.any(axis=0).all(), "beliefs that no iteration leads to"
    found = np.bincount(near.argmax(axis=0), minlength=len(expected))
    for count, likely in zip(found, expected.values(), strict=True):
        assert count / games == pytest.approx(likely, abs=6 * np.sqrt(likely / games) + 0.004)


def mixed_policy(search: BatchSearch) -> Floats:
    """Returns the policy `[E]` of an agent that samples an iteration in every search, averaged over all samples."""
    space, plan = search.space, np.zeros(search.space.tree.num_entries)
    weights = iteration_weights(plain_schedule(search.config.solver), search.config.iterations)

    def visit(node: int, real: list[Floats], beliefs: list[Floats], share: float) -> None:
        subgame = space.subgame_at(node)
        tree = subgame.tree
        owner, row = tree.entry_player, tree.infostate_row[tree.entry_infostate]
        for iteration, weight in enumerate(weights / weights.sum(), 1):
            played, believed = searched(search, int(space.classes.of_node[node]), beliefs, iteration)
            own = [down(tree, p, played, real[p]) for p in (0, 1)]
            for player in (0, 1):
                mine = owner == player
                plan[subgame.entry_index[mine]] += share * weight * own[player][row[mine]] * played[mine]
            after = at_leaves(tree, [down(tree, p, believed, beliefs[p]) for p in (0, 1)])
            for leaf, reached in at_leaves(tree, own).items():
                if max(part.sum() for part in reached) > 0:
                    visit(int(subgame.node_index[leaf]), reached, [scaled(part) for part in after[leaf]], share * weight)

    counts = [int(rows.level_start[1]) for rows in space.tree.rows]
    visit(0, [np.ones(count) for count in counts], [np.full(count, 1.0 / count) for count in counts], 1.0)
    return plan


@pytest.mark.parametrize(
    ("name", "depth", "iterations", "decomposition"),
    [
        ("kuhn_poker", 1, 4, "cfr-d"),
        ("liars_dice(dice=1,faces=2)", 1, 3, "cfr-d"),
        ("goofspiel(cards=4)", 2, 3, "cfr-d"),  # four searches in a row: beliefs continue after a move that is never made
        ("liars_dice(dice=1,faces=2)", 1, 3, "modified-cfr-ave"),  # plays one iteration, believes the average up to it
    ],
)
def test_playthroughs_are_what_the_agent_mixes(name: str, depth: int, iterations: int, decomposition: str) -> None:
    search = search_of(name, depth, iterations, "linear-cfr", decomposition)
    plan, tree = mixed_policy(search), search.space.tree
    found = playthrough_strategy(search, 3_000, np.random.default_rng(1))
    often = np.add.reduceat(plan, tree.entry_start[:-1])[tree.entry_infostate] > 0.05
    assert often.sum() > 10
    np.testing.assert_allclose(found[often], tree.normalise(plan)[often], atol=0.06)
    assert np.abs(found - tree.normalise(plan))[often].mean() < 0.01


def values_of_rows(tree: PublicTree, player: int, strategy: Floats, opponent: Floats, leaf_values: Floats) -> Floats:
    """Returns `[E]` a player's regrets, row by row: action values minus infostate values, both counterfactual."""
    nodes, rows = tree.require_nodes(), tree.rows[player]
    worth, action_worth = np.zeros(len(rows)), np.zeros(tree.num_entries)
    sign = 1.0 if player == 0 else -1.0
    np.add.at(worth, tree.payoff_rows[player], sign * tree.payoff * opponent[tree.payoff_rows[1 - player]])
    for number, leaf in enumerate(np.flatnonzero(nodes.actor == LEAF)):
        mine, theirs = (slice(nodes.row_start[p][leaf], nodes.row_start[p][leaf + 1]) for p in (player, 1 - player))
        deals = nodes.joint(int(leaf)) if player == 0 else nodes.joint(int(leaf)).T
        worth[mine] = leaf_values[: mine.stop - mine.start, number] * (deals @ opponent[theirs])
    regret = np.zeros(tree.num_entries)
    for row in range(len(rows) - 1, -1, -1):
        infostate = int(rows.infostate[row])
        if infostate >= 0:
            here = slice(tree.entry_start[infostate], tree.entry_start[infostate + 1])
            worth[row] += strategy[here] @ action_worth[here]
            regret[here] = action_worth[here] - worth[row]
        if rows.parent[row] >= 0:
            if rows.entry[row] < tree.num_entries:
                action_worth[rows.entry[row]] += worth[row]
            else:
                worth[rows.parent[row]] += worth[row]
    return regret


@pytest.mark.parametrize(("name", "depth"), [("leduc_poker", 2), ("goofspiel(cards=4)", 2), ("liars_dice(dice=1,faces=3)", 2)])
def test_regret_matching_values_leaves_at_the_beliefs_of_each_iteration(name: str, depth: int) -> None:
    """CFR-D written out: after every update, leaves are valued again at the current strategies."""
    search = search_of(name, depth, 6)
    public_class = int(search.space.root_class[0])
    subgame = search.space.subgames[public_class]
    tree, states = subgame.tree, search.space.tables.num_private_states
    counts = [int(rows.level_start[1]) for rows in tree.rows]
    start = [np.full(count, 1.0 / count) for count in counts]
    strategy, regret, classes = tree.uniform_strategy(), np.zeros(tree.num_entries), subgame.node_class
    for iteration in range(1, 7):
        played, _ = searched(search, public_class, start, iteration)
        np.testing.assert_allclose(played, strategy, atol=2e-4)
        for player in (0, 1):
            reaches = [down(tree, p, strategy, start[p]) for p in (0, 1)]
            leaves = at_leaves(tree, reaches)
            beliefs = np.zeros((2 * states, len(leaves)))
            for number, parts in enumerate(leaves.values()):
                for p in (0, 1):
                    beliefs[p * states : p * states + len(parts[p]), number] = scaled(parts[p])
            asked = torch.from_numpy(classes[list(leaves)].astype(np.int64)), torch.from_numpy(beliefs).float()
            found = search.evaluator.evaluate(*asked).double().numpy()[player * states : (player + 1) * states]
            mine = tree.entry_player == player
            regret += values_of_rows(tree, player, strategy, reaches[1 - player], found) * mine
            strategy = np.where(mine, tree.normalise(np.maximum(regret, 0.0)), strategy)
