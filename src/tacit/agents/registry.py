"""Agents by name: `load_agent("pretrained:liars_dice_1x4f", game, generator)`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.bots import PokerBot, RandomBot, always_call, always_fold
from tacit.agents.hand_policy import CallPolicy, FoldPolicy, HandAgent, HandPolicy, PotOddsPolicy, SolvedPolicy, UniformPolicy
from tacit.agents.hand_search import HandSearch
from tacit.agents.holdem import HoldemAgent
from tacit.agents.limit import LimitAgent
from tacit.agents.search import SearchAgent
from tacit.agents.tabular import TabularAgent
from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.holdem import Holdem
from tacit.nfsp.trained import is_limit_nfsp, is_nfsp, load_limit_policy, load_nfsp
from tacit.rebel.trained import load_trained, pretrained_for
from tacit.solvers import load_result, solve
from tacit.solvers.result import is_saved_solve
from tacit.solvers.solve import Watch
from tacit.tree.compiler import has_direct_builder
from tacit.tree.draft import Progress
from tacit.tree.estimate import memory_budget
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.strategy import RowStrategy


def _pot_odds(game: AnyGame, generator: np.random.Generator) -> Agent:
    return HandAgent(require_holdem(game, "pot-odds"), PotOddsPolicy(), generator, "pot-odds")


def _holdem_search(game: AnyGame, generator: np.random.Generator) -> Agent:
    return HoldemAgent(require_holdem(game, "holdem-search"), generator)


BOTS: dict[str, Callable[[AnyGame, np.random.Generator], Agent]] = {
    "random": lambda _game, generator: RandomBot(generator),
    "always-call": lambda game, _generator: always_call(game),
    "always-fold": lambda game, _generator: always_fold(game),
    "pot-odds": _pot_odds,
    "holdem-search": _holdem_search,
}

HAND_POLICIES: dict[str, HandPolicy] = {
    "random": UniformPolicy(),
    "always-call": CallPolicy(),
    "always-fold": FoldPolicy(),
    "pot-odds": PotOddsPolicy(),
}
"""What the bots do with every hand of hold'em."""

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
      name: a bot's name, `pretrained:NAME`, a run folder, a network file, or a file of `tacit solve --save`; of NFSP and
        DQN also `RUN:best-response` and `RUN:greedy-average`.
      game: what is to be played.
      generator: draws the agent's moves.
      options: how it searches, if it does.

    Raises:
      TacitError: there is no such agent, it is of another game, or its file is damaged.
    """
    if name in BOTS:
        return BOTS[name](game, generator)
    if is_limit_nfsp(name):
        rules = require_holdem(game, name)
        return LimitAgent(rules, load_limit_policy(name, rules), generator, name)
    pretrained, path = name.startswith("pretrained:"), Path(name)
    if not pretrained and not path.exists() and not is_nfsp(name):
        raise TacitError(
            f"no agent {name!r}: give a run folder, a network or strategy file, pretrained:NAME, or {', '.join(BOTS)}"
        )
    if path.is_file() and is_saved_solve(path):
        strategy = load_result(path, game).strategy
        if isinstance(strategy, HandStrategy):
            return HandAgent(require_holdem(game, name), SolvedPolicy(strategy), generator, name)
        assert isinstance(strategy, RowStrategy)
        return TabularAgent(strategy, generator, name)
    if not pretrained and is_nfsp(name):
        found = load_nfsp(name)
        return TabularAgent(found.strategies(game)[found.strategy], generator, name)
    trained = load_trained(name)
    search = trained.search(trained.space(game), options.solver or trained.config.solver, options.iterations)
    return SearchAgent(search, generator, safe=options.safe, name=name)


def load_hand_policy(name: str, game: AnyGame) -> HandPolicy:
    """Returns what the agent that `name` names does with every hand of hold'em.

    Raises:
      TacitError: there is no such agent, or it cannot say.
    """
    rules = require_holdem(game, "a policy over hands")
    if name in HAND_POLICIES:
        return HAND_POLICIES[name]
    if name == "holdem-search":
        return HandSearch(rules)
    if is_limit_nfsp(name):
        return load_limit_policy(name, rules)
    if not Path(name).is_file() or not is_saved_solve(Path(name)):
        known = ", ".join([*HAND_POLICIES, "holdem-search"])
        raise TacitError(
            f"what {name!r} does with every hand is not known: give {known}, a saved solve of hold'em, or a run of nfsp on it"
        )
    strategy = load_result(name, game).strategy
    if not isinstance(strategy, HandStrategy):
        raise TacitError(f"{name} is no solve of hold'em over hands")
    return SolvedPolicy(strategy)


def policy_of(agent: Agent) -> HandPolicy | None:
    """Returns what an agent does with every hand of hold'em, or None where that cannot be asked."""
    if isinstance(agent, RandomBot | PokerBot):
        return HAND_POLICIES[agent.name]
    return agent.policy if isinstance(agent, HandAgent) else None


def require_holdem(game: AnyGame, who: str) -> Holdem:
    """Returns the game if it is hold'em.

    Raises:
      TacitError: it is not.
    """
    if not isinstance(game, Holdem):
        raise TacitError(f"{who} is for hold'em, not for {game}")
    return game


def default_agent(
    game: AnyGame,
    generator: np.random.Generator,
    options: SearchOptions = DEFAULT_OPTIONS,
    on_solve: Callable[[str], None] = lambda _: None,
    on_compile: Progress = lambda _: None,
    on_check: Watch = lambda _point, _result: None,
) -> Agent:
    """Returns the pretrained agent of a game, or one that plays a quick solve of it.

    Args:
      game: what is to be played.
      generator: draws the agent's moves.
      options: how it searches, if it does.
      on_solve: called before and after a solve with what to tell the user.
      on_compile: called with the number of histories walked while the game is compiled for that.
      on_check: called at every evaluation of that solve, as in `solve`.

    Raises:
      TacitError: nothing is pretrained and the game is too large to solve.
    """
    pretrained = pretrained_for(game)
    if pretrained is not None:
        return load_agent(pretrained, game, generator, options)
    if isinstance(game, Holdem):
        return BOTS["holdem-search"](game, generator)
    memory_budget(game, has_direct_builder(game))  # refuses what is too large before anything is announced
    on_solve(f"nothing is pretrained for {game}: solving it first")
    result = solve(
        game,
        solver="dcfr",
        iterations=QUICK_ITERATIONS,
        time_limit=QUICK_SECONDS,
        on_compile=on_compile,
        on_check=on_check,
    )
    on_solve(f"solved by dcfr in {result.seconds:.1f} s: exploitability {result.exploitability:.2g} (exact)")
    assert isinstance(result.strategy, RowStrategy)
    return TabularAgent(result.strategy, generator, f"dcfr, {result.iterations} iterations")
