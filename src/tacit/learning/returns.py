"""How large a game's returns are: the scale of the values that its network learns."""

from __future__ import annotations

import random

import numpy as np

from tacit.games import AnyGame
from tacit.games.base import CHANCE, TERMINAL
from tacit.kernels import make_passes
from tacit.tree.public_tree import PublicTree
from tacit.tree.search_space import SearchSpace


def typical_return(space: SearchSpace) -> float:
    """Returns the mean absolute return of uniform play: exactly if the game was compiled, else over random games."""
    return uniform_return(space.tree) if space.compiled else _sampled_return(space.game)


def uniform_return(tree: PublicTree) -> float:
    """Returns the mean absolute return of uniform play in a compiled game."""
    passes = make_passes(tree)
    uniform = passes.uniform()
    first, second = (passes.rows_to_numpy(player, passes.reach(player, uniform)) for player in (0, 1))
    return float((np.abs(tree.payoff) * first[tree.payoff_rows[0]] * second[tree.payoff_rows[1]]).sum()) or 1.0


def _sampled_return(game: AnyGame, games: int = 2_000) -> float:
    """Returns the mean absolute return of randomly played games, the same ones every time."""
    generator, total = random.Random(0), 0.0
    for _ in range(games):
        state = game.initial_state()
        while (actor := game.actor(state)) != TERMINAL:
            if actor == CHANCE:
                outcomes, chances = zip(*game.chance_outcomes(state), strict=True)
                action = generator.choices(outcomes, chances)[0]
            else:
                action = generator.choice(game.legal_actions(state))
            state = game.apply(state, action)
        total += abs(game.returns(state)[0])
    return total / games or 1.0
