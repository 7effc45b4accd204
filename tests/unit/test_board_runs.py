"""Student of Games on boards as a run: its training examples, resuming after a kill, and how it plays."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tacit.games import TERMINAL, load_game
from tacit.games.boards import make_boards, position_after
from tacit.games.tic_tac_toe import TicTacToe
from tacit.search.boards.search import BoardSearch, BoardSearchConfig, UniformBoards
from tacit.sog.boards.config import PRESETS, BoardConfig
from tacit.sog.boards.selfplay import BoardSelfPlay
from tacit.sog.boards.system import SOG_BOARDS
from tacit.sog.boards.train import BoardTrainer
from tacit.training.folder import RunFolder
from tacit.training.run import open_run, train
from tests.command import tacit

SMOKE = replace(PRESETS["smoke"], evaluate_every=0, epochs=4, match_games=2)


@pytest.mark.parametrize("game", ["tic_tac_toe", "connect_four(rows=3,columns=3)"])
def test_a_stopped_run_goes_on_exactly(game: str, tmp_path: Path) -> None:
    straight = open_run(RunFolder(tmp_path / "straight", SOG_BOARDS), game, SMOKE)
    train(straight, RunFolder(tmp_path / "straight", SOG_BOARDS))
    folder = RunFolder(tmp_path / "stopped", SOG_BOARDS)
    for _ in range(SMOKE.epochs):
        stopped = open_run(folder, game, SMOKE)
        train(stopped, folder, should_stop=lambda: True)
    assert stopped.epoch == SMOKE.epochs
    for name, tensor in straight.tensors().items():
        assert torch.equal(tensor, stopped.tensors()[name]), name


def test_games_give_their_outcome_and_what_searches_found_of_every_position() -> None:
    """Each example is checked against the values found by the searches of its game."""
    boards = make_boards(TicTacToe())
    search = BoardSearch(boards, UniformBoards(boards), BoardSearchConfig(8))
    selfplay, generator = BoardSelfPlay(search, 20, 0.5, 0.0, 0.75), np.random.default_rng(0)
    ended = 0
    for _ in range(20):
        before = {tuple(p): k for k, p in enumerate(selfplay.story.position)}
        values = selfplay.story.value.copy()
        examples = selfplay.advance(generator)
        positions = [tuple(p) for p in examples.position.tolist()]
        games = sum(p[0] == 0 for p in positions)  # every game that ended began with an empty board
        ended += games
        assert selfplay.games_played == ended
        for position, value, policy in zip(positions, examples.value.tolist(), examples.policy, strict=True):
            assert float(policy.sum()) == pytest.approx(1.0, abs=1e-5)
            actor = boards.outcomes(np.array([position]))[0][0]
            # 3/4 of an outcome in {-1, 0, 1}, plus 1/4 of the value found by that move's search
            found = [(value - 0.75 * outcome) / 0.25 * (1 if actor == 0 else -1) for outcome in (-1, 0, 1)]
            assert any(np.abs(values[:, position[0]] - guess).min() < 1e-4 for guess in found) or position in before
    assert ended > 20


def test_queries_are_positions_of_the_last_trees_and_are_solved_next() -> None:
    boards = make_boards(load_game("connect_four"))
    search = BoardSearch(boards, UniformBoards(boards), BoardSearchConfig(12))
    selfplay, generator = BoardSelfPlay(search, 16, 0.0, 2.0, 1.0), np.random.default_rng(0)
    assert len(selfplay.advance(generator).value) == 0
    asked = selfplay.queries
    assert 0 < len(asked) <= 32
    assert (boards.outcomes(asked)[0] != TERMINAL).all()
    depth = np.bitwise_count(asked[:, 0] | asked[:, 1])
    assert depth.max() > 1  # not only the line of play
    solved = selfplay.advance(generator)
    assert np.array_equal(solved.position[: len(asked)], asked)


def test_moves_are_mixed_with_uniform_play() -> None:
    boards = make_boards(load_game("connect_four"))

    class Sure(UniformBoards):
        def evaluate(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            prior, value = super().evaluate(positions)
            prior[:] = np.eye(7)[3]
            return prior, value

    search = BoardSearch(boards, Sure(boards), BoardSearchConfig(1, 1))  # opens only the favourite
    for mix, share in ((0.0, 1.0), (0.7, 0.3 + 0.7 / 7)):
        selfplay = BoardSelfPlay(search, 4_000, mix, 0.0, 1.0)
        selfplay.advance(np.random.default_rng(0))
        middle = (selfplay.story.position[:, 0] >> 3 * 7 & 1).mean()
        assert middle == pytest.approx(share, abs=0.03)


def test_commands(tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    done = tacit("train", "sog", "tic_tac_toe", "--run", run, "--preset", "smoke", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["system"], report["epoch"], report["finished"]) == ("sog", 3, True)
    assert -1.0 <= report["score"] <= 1.0
    done = tacit("evaluate", run, "--playthroughs", "6", "--json")
    assert done.returncode == 0, done.stderr
    judged = json.loads(done.stdout)
    assert (judged["metric"], judged["kind"], judged["playthroughs"]) == ("score", "sampled", 6)
    done = tacit("match", run, "random", "--game", "tic_tac_toe", "--hands", "10", "--expansions", "30", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["mean"] > 0.0
    played = tacit(
        "play", "tic_tac_toe", "--agent", run, "--seat", "0", "--games", "1", typed="a1\nb1\na2\nb2\nc3\na3\nc1\n" * 9
    )
    assert played.returncode == 0, played.stderr
    assert "game 1" in played.stdout


@pytest.mark.slow
def test_a_trained_network_never_loses_tic_tac_toe() -> None:
    """It never loses in either seat, whatever the other player does."""
    game = TicTacToe()
    trainer = BoardTrainer(game, BoardConfig(expansions=60, games=64, epoch_steps=9, epochs=20, channels=24, blocks=2))
    for _ in range(20):
        trainer.run_epoch()
    boards = trainer.search.boards
    search = BoardSearch(boards, trainer.search.evaluator, BoardSearchConfig(1_000, 10))
    for seat in (0, 1):
        level: list[tuple[int, ...]] = [()]
        results = set()
        while level:
            mine = [state for state in level if game.actor(state) == seat]
            after = [game.apply(s, a) for s in level if game.actor(s) == 1 - seat for a in game.legal_actions(s)]
            if mine:
                positions = np.concatenate([position_after(boards, state) for state in mine])
                policy = search.run(positions, np.random.default_rng(seat)).policy
                after += [game.apply(state, int(line.argmax())) for state, line in zip(mine, policy, strict=True)]
            results |= {game.returns(state)[seat] for state in after if game.actor(state) == TERMINAL}
            level = list({game.public_key(state): state for state in after if game.actor(state) != TERMINAL}.values())
        assert results == {0.0, 1.0}
