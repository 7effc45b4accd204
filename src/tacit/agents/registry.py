"""Agents by name: `load_agent("pretrained:liars_dice_1x4f", game, generator)`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.bots import RandomBot
from tacit.agents.search import SearchAgent
from tacit.agents.tabular import TabularAgent
from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.rebel.trained import load_trained, pretrained_for
from tacit.solvers import load_result, solve
from tacit.solvers.result import is_saved_solve
from tacit.tree.compiler import has_direct_builder
from tacit.tree.estimate import memory_budget
from tacit.tree.hand_strategy import HandStrategy

BOTS: dict[str, Callable[[np.random.Generator], Agent]] = {"random": RandomBot}

QUICK_ITERATIONS = 500
QUICK_SECONDS = 30.0
"""How long a game is solved when nobody named an agent."""


@dataclass(frozen=True)
class SearchOptions:
    """How an agent with a network searches.

    Attributes:
      solver: the search algorithm; None takes that of the training.
      iterations: search iterations; each updates both players.
      safe: whether it plays random iterations (an equilibrium in expectation) or averages (see `agents/search.py`).
    """

    solver: str | None = None
    iterations: int = 512
    safe: bool = True


DEFAULT_OPTIONS = SearchOptions()


def load_agent(name: str, game: AnyGame, generator: np.random.Generator, options: SearchOptions = DEFAULT_OPTIONS) -> Agent:
    """Returns the agent that `name` names, ready to play `game`.

    Args:
      name: a bot's name, `pretrained:NAME`, a run folder, a network file, or a file of `tacit solve --save`.
      game: what is to be played.
      generator: draws the agent's moves.
      options: how it searches, if it does.

    Raises:
      TacitError: there is no such agent, it is of another game, or its file is damaged.
    """
    if name in BOTS:
        return BOTS[name](generator)
    pretrained, path = name.startswith("pretrained:"), Path(name)
    if not pretrained and not path.exists():
        raise TacitError(
            f"no agent {name!r}: give a run folder, a network or strategy file, pretrained:NAME, or {', '.join(BOTS)}"
        )
    if path.is_file() and is_saved_solve(path):
        strategy = load_result(path, game).strategy
        if isinstance(strategy, HandStrategy):
            raise TacitError(f"{name} is a solve of hold'em, which nothing here plays yet: reopen it with tacit solve --resume")
        return TabularAgent(strategy, generator, name)
    trained = load_trained(name)
    search = trained.search(trained.space(game), options.solver or trained.config.solver, options.iterations)
    return SearchAgent(search, generator, safe=options.safe, name=name)


def default_agent(
    game: AnyGame,
    generator: np.random.Generator,
    options: SearchOptions = DEFAULT_OPTIONS,
    on_solve: Callable[[str], None] = lambda _: None,
) -> Agent:
    """Returns the pretrained agent of a game, or one that plays a quick solve of it.

    Args:
      game: what is to be played.
      generator: draws the agent's moves.
      options: how it searches, if it does.
      on_solve: called before and after a solve with what to tell the user.

    Raises:
      TacitError: nothing is pretrained and the game is too large to solve.
    """
    pretrained = pretrained_for(game)
    if pretrained is not None:
        return load_agent(pretrained, game, generator, options)
    memory_budget(game, has_direct_builder(game))  # refuses what is too large before anything is announced
    on_solve(f"nothing is pretrained for {game}: solving it first")
    result = solve(game, solver="dcfr", iterations=QUICK_ITERATIONS, time_limit=QUICK_SECONDS)
    on_solve(f"solved by dcfr in {result.seconds:.1f} s: exploitability {result.exploitability:.2g} (exact)")
    return TabularAgent(result.strategy, generator, f"dcfr, {result.iterations} iterations")
