"""Connect four against OpenSpiel's MCTS with random rollouts, in both seats: points and their 95 % interval.

    python benchmarks/connect_four.py pretrained:connect_four --expansions 100 --endgames 200
    python benchmarks/connect_four.py pretrained:connect_four --games 200 --expansions 400 --simulations 1000

OpenSpiel's bot is its own C++ one with its usual settings (UCT constant 2, one rollout a simulation, solver on). Games
2 k and 2 k + 1 start with the same two random moves and swap seats. A win is 1 point, a draw 1/2.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

import numpy as np
import pyspiel

from tacit.artifacts import open as open_artifact
from tacit.artifacts.boards import BoardArtifact
from tacit.games.base import TERMINAL
from tacit.search.boards.match import opening, pair_interval
from tacit.search.boards.search import BoardSearch, BoardSearchConfig, UniformBoards

sys.path.insert(0, str(Path(__file__).parents[1]))  # the tests' referee judges endgames


def play(search: BoardSearch, games: int, simulations: int, seed: int) -> np.ndarray:
    """Returns the search's points `[games]`; it is player 0 in games with even numbers."""
    generator, boards = np.random.default_rng(seed), search.boards
    rules = pyspiel.load_game("connect_four")
    bots = []
    for number in range(seed, seed + games):
        rollouts = pyspiel.RandomRolloutEvaluator(n_rollouts=1, seed=number)
        bots.append(pyspiel.MCTSBot(rules, rollouts, 2.0, simulations, 1_000, True, number, False))
    states = [rules.new_initial_state() for _ in range(games)]
    position, moves = opening(boards, games, generator)
    for game, actions in enumerate(moves.T):
        for action in actions:
            states[game].apply_action(int(action))
    actor, payoff = boards.outcomes(position)
    while (playing := np.flatnonzero(actor != TERMINAL)).size:
        ours = (actor[playing] == 0) == (playing % 2 == 0)
        chosen = np.zeros(len(playing), np.int64)
        if ours.any():
            chosen[ours] = search.run(position[playing[ours]], generator).policy.argmax(1)
        for place in np.flatnonzero(~ours):
            chosen[place] = bots[playing[place]].step(states[playing[place]])
        position[playing] = boards.apply(position[playing], chosen)
        for game, action in zip(playing, chosen, strict=True):
            states[game].apply_action(int(action))
        actor[playing], payoff[playing] = boards.outcomes(position[playing])
        print(f"\r{games - (actor != TERMINAL).sum()} of {games} games over", end="", flush=True)
    print()
    return (np.where(np.arange(games) % 2 == 0, payoff, -payoff) + 1.0) / 2.0


def endgames(search: BoardSearch, count: int) -> None:
    """Prints how often the search's move keeps the alpha-beta value, in random positions where moves differ."""
    from tests.alpha_beta import Solver

    solver, boards, generator = Solver(), search.boards, random.Random(7)
    for empty in (10, 14, 18):
        lines, best = [], []
        while len(lines) < count:
            position, moves = boards.start(1), 0
            while boards.outcomes(position)[0][0] != TERMINAL and moves < 42 - empty:
                legal = np.flatnonzero(boards.legal(position)[0]).tolist()
                position, moves = boards.apply(position, np.array([generator.choice(legal)])), moves + 1
            if (actor := boards.outcomes(position)[0][0]) != TERMINAL:
                values = solver.values(int(position[0, actor]), int(position[0, 1 - actor]))
                if len(set(values.values())) > 1:
                    lines.append(position)
                    best.append({column for column, value in values.items() if value == max(values.values())})
        policy = search.run(np.concatenate(lines), np.random.default_rng(1)).policy
        right = np.mean([int(line.argmax()) in columns for line, columns in zip(policy, best, strict=True)])
        print(f"{count} endgames with {empty} empty places: {100 * right:.1f} % of the moves keep the value")


def main() -> None:
    """Plays the match and prints the points."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent", help="a run, a network file, pretrained:NAME, or `none` for search without a network")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--expansions", type=int, default=400)
    parser.add_argument("--simulations", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1_000)
    parser.add_argument("--endgames", type=int, default=0, help="judge so many endgames of each length instead")
    asked = parser.parse_args()
    growth = BoardSearchConfig(asked.expansions)
    if asked.agent == "none":
        from tacit.games import load_game
        from tacit.games.boards import make_boards

        boards = make_boards(load_game("connect_four"))
        search = BoardSearch(boards, UniformBoards(boards), growth)
    else:
        artifact = open_artifact(asked.agent)
        assert isinstance(artifact, BoardArtifact)
        search = artifact.search(growth)
    if asked.endgames:
        endgames(search, asked.endgames)
        return
    start = time.perf_counter()
    points = play(search, asked.games, asked.simulations, asked.seed)
    low, high = pair_interval(points) or (0.0, 1.0)
    for name, part in (("as first player", points[::2]), ("as second player", points[1::2])):
        print(f"{name}: {100 * part.mean():.1f} % of the points over {len(part)} games")
    print(
        f"{asked.agent}, SoG({growth.expansions}, {growth.per_update}), against MCTS with {asked.simulations} simulations: "
        f"{100 * points.mean():.1f} % +- {50 * (high - low):.1f} of the points over {len(points)} games (sampled), "
        f"{time.perf_counter() - start:.0f} s"
    )


if __name__ == "__main__":
    main()
