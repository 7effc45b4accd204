"""ReBeL with perfect information: a trained tic-tac-toe agent never loses. The rules are written here a second time."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from tacit.agents.class_planner import ClassPlanner
from tacit.agents.search import SearchAgent
from tacit.agents.table import Table
from tacit.games import TERMINAL, load_game
from tacit.rebel.config import preset
from tacit.rebel.train import RebelTrainer
from tacit.search.playthroughs import playthrough_quality, playthrough_strategy
from tacit.tree.public_tree import Floats, PublicTree

Board = tuple[frozenset[int], frozenset[int]]
LINES = [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}]
EMPTY: Board = (frozenset(), frozenset())
# In self-play every move of one player is random, so training reaches whatever can be done against the other. Averages of
# fictitious play never drop an action for good, so they also answer an opponent's blunders.
SETTINGS = {"solver": "linear-fp", "iterations": "16", "exploration": "1", "epochs": "40", "evaluate_every": "0"}


def mover(board: Board) -> int:
    return len(board[0]) - len(board[1])


def move(board: Board, square: int) -> Board:
    first, second = board
    return (first, second | {square}) if mover(board) else (first | {square}, second)


def free(board: Board) -> list[int]:
    return [square for square in range(9) if square not in board[0] | board[1]]


def result(board: Board) -> int | None:
    """Returns player 0's payoff, or None while the game goes on."""
    for mine, payoff in zip(board, (1, -1), strict=True):
        if any(line <= mine for line in LINES):
            return payoff
    return None if free(board) else 0


@cache
def minimax(board: Board) -> int:
    """Returns player 0's payoff when both play perfectly from here."""
    over = result(board)
    if over is not None:
        return over
    return (min if mover(board) else max)(minimax(move(board, square)) for square in free(board))


def replies(tree: PublicTree, strategy: Floats, seat: int) -> Iterator[tuple[Board, Board]]:
    """Yields positions before and after every move that `strategy` ever makes in a seat, against any opponent."""
    nodes, todo = tree.require_nodes(), [(0, EMPTY)]
    while todo:
        node, board = todo.pop()
        if result(board) is not None:
            continue
        player = mover(board)
        infostate = tree.rows[player].infostate[nodes.row_start[player][node]]
        entries = slice(tree.entry_start[infostate], tree.entry_start[infostate + 1])
        for square, probability, child in zip(
            tree.entry_action[entries], strategy[entries], nodes.children(np.array([node])).tolist(), strict=True
        ):
            if player == seat and not probability > 0:
                continue
            after = move(board, int(square))
            todo.append((child, after))
            if player == seat:
                yield board, after


def play_against_perfection(trainer: RebelTrainer, agent: SearchAgent, seat: int, generator: np.random.Generator) -> float:
    """Returns the agent's payoff against perfect play, which picks among its best moves at random."""
    table, board = Table(trainer.game, generator), EMPTY
    agent.start(seat)
    while table.actor != TERMINAL:
        sight = table.sights[seat]
        assert sight is not None
        agent.observe(sight)
        best = [square for square in free(board) if minimax(move(board, square)) == minimax(board)]
        square = agent.act() if table.actor == seat else int(generator.choice(best))
        table.play(square)
        board = move(board, square)
    return table.returns[seat]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_perfect_play_never_beats_the_trained_agent(seed: int) -> None:
    trainer = RebelTrainer(load_game("tic_tac_toe"), preset("cpu").with_settings({**SETTINGS, "seed": str(seed)}))
    for _ in range(trainer.config.epochs):
        trainer.run_epoch()
    generator = np.random.default_rng(seed)
    assert minimax(EMPTY) == 0
    # With perfect information the agent does not mix iterations, so one playthrough is its whole strategy.
    strategy = playthrough_strategy(trainer.search, 1, generator)
    np.testing.assert_array_equal(strategy, playthrough_strategy(trainer.search, 1, generator))
    assert playthrough_quality(trainer.search, 1, generator).best_response_values == (0.0, 0.0)
    for seat, sign in enumerate((1, -1)):
        moves = list(replies(trainer.space.tree, strategy, seat))
        assert len(moves) > 50
        assert all(sign * minimax(after) >= 0 for _, after in moves)
    agent = SearchAgent(ClassPlanner(trainer.search, generator), generator)
    assert [play_against_perfection(trainer, agent, seat, generator) for seat in (0, 1) for _ in range(5)] == [0.0] * 10
