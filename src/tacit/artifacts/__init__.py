"""What a user can name, opened: `tacit.open("pretrained:liars_dice_1x4f")`.

Each kind of thing has a file here whose `find` says whether it knows a name. Nothing else asks what kind a name is.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.options import DEFAULT_OPTIONS, SearchOptions
from tacit.artifacts.base import Artifact, Monitor
from tacit.errors import TacitError
from tacit.games import AnyGame, load_game

KINDS = ("bot", "default", "table", "blueprint", "nfsp", "sog", "boards", "rebel_holdem", "rebel")
"""The files of the kinds, in the order they are asked: those that need no torch come first."""


def open(name: str, game: AnyGame | str | None = None, monitor: Monitor | None = None) -> Artifact:
    """Returns what a name stands for.

    Args:
      name: a bot, `default` (the best at hand for a game), a file of `tacit solve --save`, a run folder, a network file or
        `pretrained:NAME`; of NFSP and DQN also `RUN:best-response` and `RUN:greedy-average`.
      game: the game, or its name; needed where the name alone does not tell it: for bots, and for games in files of one's own.
      monitor: hears how far slow work is.

    Raises:
      TacitError: nothing has that name, it is of another game, or its file is damaged.
    """
    rules = load_game(game) if isinstance(game, str) else game
    for kind in KINDS:
        find: Callable[[str, AnyGame | None, Monitor | None], Artifact | None] = import_module(f"{__name__}.{kind}").find
        artifact = find(name, rules, monitor)
        if artifact is not None:
            return artifact
    from tacit.artifacts.bot import BOTS

    raise TacitError(f"no agent {name!r}: give a run folder, a network or strategy file, pretrained:NAME, or {', '.join(BOTS)}")


def load_agent(
    name: str, game: AnyGame | str, generator: np.random.Generator, options: SearchOptions = DEFAULT_OPTIONS
) -> Agent:
    """Returns the agent of a name for a game: `open(name, game).agent(generator, options)`."""
    return open(name, game).agent(generator, options)
