"""`aivat_estimator`: AIVAT for any game."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.agents.base import Agent
from tacit.agents.tabular import TabularAgent
from tacit.arena.aivat import AivatEstimator
from tacit.arena.hand_aivat import HandAivatEstimator
from tacit.arena.match import Estimator
from tacit.games import AnyGame
from tacit.games.holdem import Holdem
from tacit.tree.compiler import compile_game
from tacit.tree.draft import Progress


def aivat_estimator(game: AnyGame, agents: Sequence[Agent], on_compile: Progress = lambda _: None) -> Estimator:
    """Returns what values the hands of a match: over hands in hold'em, else by the tree of the game.

    Args:
      game: what is played.
      agents: who play.
      on_compile: called with the number of histories walked where the game has to be compiled.

    Raises:
      TacitError: the game or the agents do not allow it.
    """
    if isinstance(game, Holdem):
        return HandAivatEstimator(game, agents)
    solved = next((agent.strategy.tree for agent in agents if isinstance(agent, TabularAgent)), None)
    return AivatEstimator(solved or compile_game(game, progress=on_compile), agents)
