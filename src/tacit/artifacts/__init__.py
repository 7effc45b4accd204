"""Opens everything that a user can name: `tacit.open("pretrained:liars_dice_1x4f")`.

Each kind of artifact has a file here whose `find` recognises its names. No other code asks what kind a name is.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from os import PathLike, fspath

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.openspiel import SpielBot
from tacit.agents.options import DEFAULT_OPTIONS, SearchOptions
from tacit.artifacts.base import Artifact, Monitor
from tacit.errors import TacitError
from tacit.games import AnyGame, load_game
from tacit.solvers.openspiel import SpielPolicy
from tacit.solvers.result import SolveResult
from tacit.tree.base import Strategy
from tacit.tree.node_view import NodeView

KINDS = (
    "bot", "own", "default", "table", "blueprint", "continuations", "nfsp", "learnt_table", "sog", "boards", "rebel_holdem",
    "own_run", "rebel",
)  # fmt: skip
"""The modules of the kinds, in the order in which they are asked: those that need no torch come first."""

Openable = str | PathLike[str] | Artifact | SolveResult | Strategy | Agent | SpielPolicy | SpielBot | tuple[SpielBot, SpielBot]
"""What can be opened: a name, or an object that plays."""


def open(name: Openable, game: AnyGame | str | None = None, monitor: Monitor | None = None) -> Artifact:
    """Returns the artifact that a name stands for, or that wraps an object which plays.

    Args:
      name: a bot, `default` (the best available agent for a game), `continuations(...)`, a file of `tacit solve --save`, a run
        folder, a network file or `pretrained:NAME`; for NFSP and DQN also `RUN:best-response` and `RUN:greedy-average`;
        `FILE.py:CLASS(key=value,...)` for the user's own agent. Or an object: the result of `tacit.solve` or `tacit.train`, a
        strategy, an agent, a policy or bot of OpenSpiel, or a pair of bots, one for each seat.
      game: the game, or its name; needed for bots and agents, which do not know their game.
      monitor: receives the progress of slow work.

    Raises:
      TacitError: nothing has that name, it belongs to another game, or its file is damaged.
    """
    rules = load_game(game) if isinstance(game, str) else game
    if isinstance(name, Artifact):
        return name if rules is None or rules is name.given else name.on(rules)
    if not isinstance(name, str | PathLike):
        from tacit.artifacts.objects import artifact_of

        return artifact_of(name, rules, monitor)
    name = fspath(name)
    for kind in KINDS:
        find: Callable[[str, AnyGame | None, Monitor | None], Artifact | None] = import_module(f"{__name__}.{kind}").find
        artifact = find(name, rules, monitor)
        if artifact is not None:
            return artifact
    from tacit.artifacts.bot import BOTS

    known = f"a run folder, a network or strategy file, pretrained:NAME, FILE.py:CLASS, or {', '.join(BOTS)}"
    raise TacitError(f"no agent {name!r}: give {known}")


def load_agent(
    name: Openable, game: AnyGame | str, generator: np.random.Generator, options: SearchOptions = DEFAULT_OPTIONS
) -> Agent:
    """Returns a named agent for a game: `open(name, game).agent(generator, options)`."""
    return open(name, game).agent(generator, options)


def show(name: Openable, at: str = "", game: AnyGame | str | None = None) -> NodeView:
    """Returns the strategy and values at a public state: `open(name, game).views().at(at)`.

    Args:
      name: anything that `open` takes and that plays by a table.
      at: the steps that lead to the public state, like `check / bet`; empty for the start.
      game: the game, or its name; needed if `name` does not determine it.

    Raises:
      TacitError: nothing has that name, it has no table, or the game has no such steps.
    """
    return open(name, game).views().at(at)
