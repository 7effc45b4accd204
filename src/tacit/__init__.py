"""Reinforcement learning plus search in two-player zero-sum games with hidden information.

```python
import tacit

game = tacit.load_game("liars_dice(dice=1,faces=4)")
result = tacit.solve(game, solver="dcfr", iterations=1000)
result.exploitability, result.value, result.strategy
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "Artifact",
    "Evaluation",
    "Game",
    "Lock",
    "SearchOptions",
    "SolveResult",
    "Strategy",
    "TacitError",
    "check_game",
    "compile_game",
    "load_agent",
    "load_game",
    "load_result",
    "open",
    "play_game",
    "register_game",
    "solve",
]

if TYPE_CHECKING:
    from tacit.agents.base import Agent
    from tacit.agents.options import SearchOptions
    from tacit.agents.table import play_game
    from tacit.artifacts import load_agent, open
    from tacit.artifacts.base import Artifact, Evaluation
    from tacit.errors import TacitError
    from tacit.games import Game, load_game, register_game
    from tacit.games.check import check_game
    from tacit.solvers import Lock, SolveResult, load_result, solve
    from tacit.tree.base import Strategy
    from tacit.tree.compiler import compile_game

_HOMES = {
    "Agent": "tacit.agents.base",
    "Artifact": "tacit.artifacts.base",
    "Evaluation": "tacit.artifacts.base",
    "Game": "tacit.games",
    "Lock": "tacit.solvers",
    "SearchOptions": "tacit.agents.options",
    "SolveResult": "tacit.solvers",
    "Strategy": "tacit.tree.base",
    "TacitError": "tacit.errors",
    "check_game": "tacit.games.check",
    "compile_game": "tacit.tree.compiler",
    "load_agent": "tacit.artifacts",
    "load_game": "tacit.games",
    "load_result": "tacit.solvers",
    "open": "tacit.artifacts",
    "play_game": "tacit.agents.table",
    "register_game": "tacit.games",
    "solve": "tacit.solvers",
}


def __getattr__(name: str) -> Any:
    """Imports what is asked for when it is asked for, so that `tacit --help` answers at once."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
