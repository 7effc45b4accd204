"""`compile_game`: any game to its public tree, by the fastest way that knows it."""

from __future__ import annotations

from typing import Any

from tacit.errors import TacitError
from tacit.games.base import Game, InfostateGame
from tacit.games.liars_dice import LiarsDice
from tacit.games.one_card_poker import OneCardPoker
from tacit.tree.builders import build_liars_dice, build_one_card_poker
from tacit.tree.closure import compile_closure
from tacit.tree.draft import Progress
from tacit.tree.estimate import memory_budget
from tacit.tree.observations import compile_observations
from tacit.tree.public_tree import PublicTree


def has_direct_builder(game: Game[Any]) -> bool:
    """Returns whether the tree is built from arrays, without walking over histories."""
    return isinstance(game, LiarsDice | OneCardPoker)


def compile_game(game: Game[Any], *, direct: bool = True, progress: Progress = lambda _: None) -> PublicTree:
    """Returns the public tree of `game`.

    Args:
      game: any game.
      direct: False compiles generically even where a direct builder exists (the tests compare the two).
      progress: called now and then with the number of histories walked.

    Raises:
      TacitError: the game does not fit into memory, or breaks the rules that `check_game` explains.
    """
    direct = direct and has_direct_builder(game)
    try:
        return _compile(game, direct, progress)
    except TacitError:
        raise
    except Exception as error:
        if type(game).__module__.startswith("tacit."):
            raise
        # Whatever rules written elsewhere do wrong, their author should hear of it in a line.
        raise TacitError(f"{game} raised {type(error).__name__}: {error}: tacit.check_game says where") from error


def _compile(game: Game[Any], direct: bool, progress: Progress) -> PublicTree:
    budget = memory_budget(game, direct)
    if direct and isinstance(game, LiarsDice):
        return build_liars_dice(game)
    if direct and isinstance(game, OneCardPoker):
        return build_one_card_poker(game)
    if isinstance(game, InfostateGame):
        return compile_closure(game, budget, progress)
    return compile_observations(game, budget, progress)
