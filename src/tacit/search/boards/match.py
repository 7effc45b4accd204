"""Matches between searches on a board: many games at once, every other one with the seats swapped."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tacit.games.base import TERMINAL
from tacit.games.boards import Boards, Positions
from tacit.search.boards.search import BoardSearch

RANDOM_MOVES = 2
"""Moves at the start of a game that are drawn uniformly, so that games differ."""


def play_match(
    first: BoardSearch,
    second: BoardSearch,
    games: int,
    generator: np.random.Generator,
    progress: Callable[[int], None] = lambda _: None,
) -> NDArray[np.float32]:
    """Returns `[games]` the first search's payoff in each game; both play the likeliest action of their policies.

    Args:
      first: plays player 0 in games of even number.
      second: plays player 0 in games of odd number.
      games: how many.
      generator: draws the opening moves, which are the same for games `2 k` and `2 k + 1`.
      progress: called with the number of finished games.
    """
    boards = first.boards
    position, _ = opening(boards, games, generator)
    actor, payoff = boards.outcomes(position)
    while (playing := np.flatnonzero(actor != TERMINAL)).size:
        firsts = (actor[playing] == 0) == (playing % 2 == 0)
        for search, part in ((first, playing[firsts]), (second, playing[~firsts])):
            if len(part):
                policy = search.run(position[part], generator).policy
                position[part] = boards.apply(position[part], policy.argmax(1))
        actor[playing], payoff[playing] = boards.outcomes(position[playing])
        progress(int((actor == TERMINAL).sum()))
    return np.where(np.arange(games) % 2 == 0, payoff, -payoff)


def pair_interval(payoffs: NDArray[np.float32]) -> tuple[float, float] | None:
    """Returns the 95 % interval of the mean of payoffs `[games]`, or None for fewer than two pairs.

    Two neighbours have the same opening and are not independent, so their mean counts as one sample.
    """
    pairs = payoffs[: len(payoffs) // 2 * 2].reshape(-1, 2).mean(1)
    if len(pairs) < 2:
        return None
    mean, half = float(payoffs.mean()), float(1.96 * pairs.std(ddof=1) / len(pairs) ** 0.5)
    return mean - half, mean + half


def opening(boards: Boards, games: int, generator: np.random.Generator) -> tuple[Positions, NDArray[np.int64]]:
    """Returns `[games, W]` positions after random moves, and `[RANDOM_MOVES, games]` the moves, the same for two neighbours."""
    position, moves = boards.start(games), np.zeros((RANDOM_MOVES, games), np.int64)
    draws = np.repeat(generator.random((RANDOM_MOVES, -(-games // 2))), 2, axis=1)[:, :games]
    for number, draw in enumerate(draws):
        playing = np.flatnonzero(boards.outcomes(position)[0] != TERMINAL)
        legal = boards.legal(position[playing])
        moves[number, playing] = (legal.cumsum(1) <= (draw[playing] * legal.sum(1))[:, None]).sum(1)
        position[playing] = boards.apply(position[playing], moves[number, playing])
    return position, moves
