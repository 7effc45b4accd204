"""Boards for many positions at once: the same rules as state by state, and growing-tree CFR on them."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

import tacit
from tacit.artifacts.boards import BoardArtifact
from tacit.errors import TacitError
from tacit.games import TERMINAL, load_game
from tacit.games.base import Game
from tacit.games.boards import Boards, Positions, RuleBoards, make_boards, position_after
from tacit.games.connect_four import ConnectFour
from tacit.games.tic_tac_toe import TicTacToe
from tacit.search.boards.forest import NOT_OPENED, BoardForest, make_forest
from tacit.search.boards.match import opening, pair_interval, play_match
from tacit.search.boards.search import BoardSearch, BoardSearchConfig, UniformBoards
from tacit.threads import at_most
from tests.alpha_beta import Solver


@pytest.mark.parametrize(("rows", "columns"), [(6, 7), (4, 4), (2, 5), (8, 7)])
def test_rules_for_arrays_are_those_for_states(rows: int, columns: int) -> None:
    game = ConnectFour(rows, columns)
    fast, slow = make_boards(game), RuleBoards(game)
    generator = np.random.default_rng(0)
    ours, theirs = fast.start(50), slow.start(50)
    while len(ours):
        assert np.array_equal(fast.planes(torch.from_numpy(ours)), slow.planes(torch.from_numpy(theirs)))
        for mine, plain in zip(fast.outcomes(ours), slow.outcomes(theirs), strict=True):
            assert np.array_equal(mine, plain)
        playing = fast.outcomes(ours)[0] != TERMINAL
        ours, theirs = ours[playing], theirs[playing]
        legal = fast.legal(ours)
        assert np.array_equal(legal, slow.legal(theirs))
        actions = np.array([generator.choice(np.flatnonzero(line)) for line in legal], np.int64)
        ours, theirs = fast.apply(ours, actions), slow.apply(theirs, actions)


def test_positions_mean_the_same_to_another_process() -> None:
    """A position alone says everything: buffers saved by stopped runs contain only positions."""
    game = TicTacToe()
    moves = [4, 0, 8, 2, 1, 7, 5, 3, 6]
    position = position_after(RuleBoards(game), moves[:8])
    assert RuleBoards(game).planes(torch.from_numpy(position)).tolist() == [game.planes(tuple(moves[:8]))]
    assert RuleBoards(game).outcomes(RuleBoards(game).apply(position, np.array([6])))[0].tolist() == [TERMINAL]


def test_games_too_wide_for_64_bits_go_by_their_rules() -> None:
    assert isinstance(make_boards(ConnectFour(8, 8)), RuleBoards)
    with pytest.raises(TacitError, match=r"kuhn_poker gives no planes\(\)"):
        make_boards(load_game("kuhn_poker"))


def at(boards: Boards, states: list[tuple[int, ...]]) -> Positions:
    """Returns the positions after some sequences of moves."""
    return np.concatenate([position_after(boards, moves) for moves in states])


@cache
def minimax(game: Any, state: Any) -> float:
    """Returns what player 0 gets with perfect play."""
    if game.actor(state) == TERMINAL:
        return float(game.returns(state)[0])
    values = [minimax(game, game.apply(state, action)) for action in game.legal_actions(state)]
    return max(values) if game.actor(state) == 0 else min(values)


@pytest.mark.parametrize(
    ("name", "played", "expansions"),
    [("tic_tac_toe", 5, 500), ("connect_four(rows=3,columns=4)", 6, 3_000), ("connect_four(rows=4,columns=4)", 9, 3_000)],
)
def test_small_boards_come_to_their_exact_values(name: str, played: int, expansions: int) -> None:
    """From positions where the trees can reach the end of the game."""
    game: Any = load_game(name)
    generator, lines = random.Random(1), []
    while len(lines) < 40:
        state, moves = game.initial_state(), []
        while game.actor(state) != TERMINAL and len(moves) < played:
            moves.append(generator.choice(game.legal_actions(state)))
            state = game.apply(state, moves[-1])
        if game.actor(state) != TERMINAL:
            lines.append((tuple(moves), state))
    boards = make_boards(game)
    search = BoardSearch(boards, UniformBoards(boards), BoardSearchConfig(expansions))
    found = search.run(at(boards, [moves for moves, _ in lines]), np.random.default_rng(0))
    exact = np.array([minimax(game, state) for _, state in lines])
    assert len(set(exact)) > 1
    assert np.abs(found.values - exact).max() < 0.05
    for (_, state), policy, value in zip(lines, found.policy, exact, strict=True):
        assert minimax(game, game.apply(state, int(policy.argmax()))) == value


def endgames(count: int, empty: int) -> tuple[list[tuple[int, ...]], list[set[int]]]:
    """Returns lines of play with `empty` free places where the move matters, and the columns that keep the value."""
    game, solver, generator = ConnectFour(), Solver(), random.Random(3)
    lines: list[tuple[int, ...]] = []
    best = []
    while len(lines) < count:
        state, moves = game.initial_state(), []
        while game.actor(state) != TERMINAL and len(moves) < 42 - empty:
            moves.append(generator.choice(game.legal_actions(state)))
            state = game.apply(state, moves[-1])
        if game.actor(state) == TERMINAL:
            continue
        mine, other = (state.first, state.second) if game.actor(state) == 0 else (state.second, state.first)
        values = solver.values(mine, other)
        if len(set(values.values())) > 1:
            lines.append(tuple(moves))
            best.append({column for column, value in values.items() if value == max(values.values())})
    return lines, best


@pytest.mark.parametrize(("agent", "expansions", "least"), [("none", 400, 0.9), ("pretrained:connect_four", 60, 0.95)])
def test_endgames_of_connect_four_are_played_right(agent: str, expansions: int, least: float) -> None:
    """Where moves matter, judged by alpha-beta: without a network, and with the shipped one."""
    boards, config = make_boards(ConnectFour()), BoardSearchConfig(expansions)
    if agent == "none":
        search = BoardSearch(boards, UniformBoards(boards), config)
    else:
        artifact = tacit.open(agent)
        assert isinstance(artifact, BoardArtifact)
        search = artifact.search(config)
    lines, best = endgames(60, 14)
    policy = search.run(at(boards, lines), np.random.default_rng(0)).policy
    assert np.mean([int(line.argmax()) in columns for line, columns in zip(policy, best, strict=True)]) >= least


def test_the_referee_knows_solved_boards() -> None:
    """Tromp's table says that 4 x 4 is a draw; with three in a row only one move is best."""
    assert Solver(4, 4).value(0, 0) == 0
    three, other = 1 | 1 << 5 | 1 << 10, 1 << 1 | 1 << 6 | 1 << 11
    assert Solver(4, 4).best(three, other) == {3}


class Opinion:
    """Fixed priors, and values computed from the position's bits."""

    def __init__(self, boards: Boards, prior: list[float]) -> None:
        self.prior = np.array(prior, np.float32)

    def evaluate(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values = np.cos(positions.sum(1).astype(np.float32) % 97)
        return np.repeat(self.prior[None], len(positions), 0), values.astype(np.float32)


PRIOR = [0.4, 0.3, 0.2, 0.1]


def grown(expansions: int, seed: int = 0) -> tuple[BoardSearch, BoardForest]:
    boards = make_boards(ConnectFour(4, 4))
    search = BoardSearch(boards, Opinion(boards, PRIOR), BoardSearchConfig(expansions, 2))
    return search, search.run(boards.start(3), np.random.default_rng(seed)).forest


def test_updates_are_those_of_cfr_plus_written_plainly() -> None:
    """Compares with recursion over dictionaries on a grown tree: regret matching+, linear averages, simultaneous updates."""
    _, forest = grown(40)
    forest.regret[:], forest.strategy[:], forest.average[:] = 0.0, 0.0, 0.0
    tree = 1
    children = {
        node: {a: int(c) for a, c in enumerate(forest.child[tree, node]) if c != NOT_OPENED}
        for node in range(forest.num_nodes[tree])
    }
    regret = {(n, a): 0.0 for n, below in children.items() for a in below}
    average = dict.fromkeys(regret, 0.0)
    for iteration in range(1, 6):
        forest.update(iteration)
        strategy = {}
        for node, below in children.items():
            total = sum(regret[node, a] for a in below)
            for a in below:
                strategy[node, a] = regret[node, a] / total if total > 0 else 1.0 / len(below)

        def visit(node: int, reach: tuple[float, float], strategy: dict[tuple[int, int], float], weight: int) -> float:
            below, player = children[node], int(forest.actor[tree, node])
            if not below:
                return float(forest.leaf_value[tree, node])
            worth = {}
            for a, child in below.items():
                passed = list(reach)
                passed[player] *= strategy[node, a]
                worth[a] = visit(child, (passed[0], passed[1]), strategy, weight)
            mean = sum(strategy[node, a] * worth[a] for a in below)
            for a in below:
                gain = (worth[a] - mean) * (1 if player == 0 else -1)
                regret[node, a] = max(0.0, regret[node, a] + reach[1 - player] * gain)
                average[node, a] += weight * reach[player] * strategy[node, a]
            return mean

        visit(0, (1.0, 1.0), strategy, iteration)
    for (node, action), number in regret.items():
        assert forest.regret[tree, node, action] == pytest.approx(number, abs=1e-4)
        assert forest.average[tree, node, action] == pytest.approx(average[node, action], abs=1e-4)


def test_a_walk_opens_what_the_prior_likes_best_and_then_half_follows_the_strategy() -> None:
    boards = make_boards(ConnectFour(4, 4))
    forest = grown(1)[1]
    assert (forest.num_nodes == 2).all()
    assert (forest.action[:, 1] == 0).all()
    many = make_forest(boards.start(4_000), 4, 6, np.random.default_rng(5).integers(0, 2**64, 4_000, np.uint64))
    many.actor[:, 0], many.actor[:, 1], many.num_nodes[:] = 0, TERMINAL, 2
    many.prior[:, 0] = [0.05, 0.8, 0.1, 0.05]
    many.child[:, 0, 0], many.strategy[:, 0, 0] = 1, 1.0  # the strategy prefers the first action, PUCT another
    many.expand(1, 1.5)
    assert many.visits[:, 0, 0].mean() == pytest.approx(0.5, abs=0.03)
    assert many.visits[:, 0, 1].mean() == pytest.approx(0.5, abs=0.03)


def test_many_searches_are_those_of_one_at_a_time_whatever_the_threads() -> None:
    search, forest = grown(60)
    boards = search.boards
    with at_most(1):
        alone = search.run(boards.start(3), np.random.default_rng(0)).forest
    assert np.array_equal(forest.average, alone.average)
    seeds = np.random.default_rng(0).integers(0, 2**64, 3, np.uint64)

    class Fixed:
        def integers(self, *_: object) -> np.ndarray:
            return seeds[2:]

    last = search.run(boards.start(1), Fixed()).forest  # type: ignore[arg-type]
    assert np.array_equal(last.average[0], forest.average[2])


def test_a_better_search_wins_the_match() -> None:
    boards = make_boards(ConnectFour())
    strong, weak = (BoardSearch(boards, UniformBoards(boards), BoardSearchConfig(s)) for s in (400, 10))
    assert play_match(strong, weak, 40, np.random.default_rng(0)).mean() > 0.5
    assert play_match(weak, strong, 40, np.random.default_rng(0)).mean() < -0.5
    position, moves = opening(boards, 10, np.random.default_rng(0))
    assert np.array_equal(position[::2], position[1::2])
    assert len(set(map(tuple, moves.T))) > 1


def test_wrong_growths_are_refused() -> None:
    for wrong in ({"expansions": 0}, {"per_update": 0}, {"exploration": 0.0}, {"doubt": 2.0}):
        with pytest.raises(TacitError):
            BoardSearchConfig(**wrong)  # type: ignore[arg-type]


def test_intervals_count_games_that_open_alike_as_one() -> None:
    payoffs = np.array([1, -1, 1, -1, 1, -1, 1, 1], np.float32)
    low, high = pair_interval(payoffs) or (0.0, 0.0)
    assert (low + high) / 2 == pytest.approx(0.25)
    assert (high - low) / 2 == pytest.approx(1.96 * np.std([0, 0, 0, 1], ddof=1) / 2)
    assert pair_interval(payoffs[:3]) is None


def test_games_that_are_no_boards_are_refused_in_one_line() -> None:
    class Loaded(TicTacToe):
        def returns(self, state: tuple[int, ...]) -> tuple[float, float]:
            first, second = super().returns(state)
            return 5 * first, 5 * second

    boards = make_boards(Loaded())
    with pytest.raises(TacitError, match="pays more than 1"):
        boards.outcomes(position_after(boards, [0, 3, 1, 4, 2]))

    class Silent(TicTacToe):
        board_bounds = Game.board_bounds

    with pytest.raises(TacitError, match="no board_bounds"):
        make_boards(Silent())


def test_networks_speak_for_the_player_to_act_and_trees_for_player_0() -> None:
    boards = make_boards(ConnectFour(4, 4))

    class Hopeful(UniformBoards):
        def evaluate(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            prior, value = super().evaluate(positions)
            return prior, value + np.float32(0.5)

    forest = BoardSearch(boards, Hopeful(boards), BoardSearchConfig(30)).run(boards.start(1), np.random.default_rng(0)).forest
    nodes = slice(0, forest.num_nodes[0])
    assert set(forest.actor[0, nodes]) == {0, 1}
    assert np.array_equal(forest.leaf_value[0, nodes], np.where(forest.actor[0, nodes] == 0, 0.5, -0.5).astype(np.float32))
