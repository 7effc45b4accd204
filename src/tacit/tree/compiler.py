"""`compile_game`: compiles any game to its public tree, by the fastest way available for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tacit.games.base import Game, InfostateGame
from tacit.games.check import blame_rules
from tacit.games.liars_dice import LiarsDice
from tacit.games.small_poker import SmallPoker
from tacit.tree.base import Tree
from tacit.tree.builders import build_liars_dice, build_small_poker
from tacit.tree.closure import compile_closure
from tacit.tree.estimate import Estimate, MemoryWatch, Progress, estimate, memory_budget
from tacit.tree.growing import compile_observations
from tacit.tree.public_tree import PublicTree


def has_direct_builder(game: Game[Any]) -> bool:
    """Returns whether a game's tree is built from arrays, without walking over histories."""
    return isinstance(game, LiarsDice | SmallPoker)


def compile_for_solving(game: Game[Any], *, progress: Progress = lambda _: None) -> Tree:
    """Returns the tree that solvers work on: in the game's own layout if it has one, else the public tree (`compile_game`).

    Raises:
      TacitError: the game does not fit into memory, or breaks the rules that `check_game` explains.
    """
    if game.tree_layout == "hands":
        from tacit.tree.hand_builder import build_endgame

        return build_endgame(game)
    return compile_game(game, progress=progress)


def solving_cost(game: Game[Any]) -> Estimate:
    """Returns an estimate of what `compile_for_solving` and a solve take."""
    whole = estimate(game, has_direct_builder(game))
    if game.tree_layout == "hands":
        from tacit.tree.hand_builder import endgame_bytes

        return replace(whole, num_bytes=endgame_bytes(game) or whole.num_bytes)
    return whole


def compile_game(game: Game[Any], *, direct: bool = True, progress: Progress = lambda _: None) -> PublicTree:
    """Returns the public tree of `game`.

    Args:
      game: any game.
      direct: False compiles generically even where a direct builder exists (the tests compare the two).
      progress: called from time to time with the number of histories walked so far.

    Raises:
      TacitError: the game does not fit into memory, or breaks the rules that `check_game` explains.
    """
    direct = direct and has_direct_builder(game)
    budget = memory_budget(game, direct)
    if direct and isinstance(game, LiarsDice):
        return build_liars_dice(game)
    if direct and isinstance(game, SmallPoker):
        return build_small_poker(game)
    watch = MemoryWatch(game, budget, progress)
    with blame_rules(game):
        return compile_closure(game, watch) if isinstance(game, InfostateGame) else compile_observations(game, watch)
