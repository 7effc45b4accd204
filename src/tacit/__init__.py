"""Reinforcement learning plus search in two-player zero-sum games with hidden information.

```python
import tacit

game = tacit.load_game("liars_dice(dice=1,faces=4)")
result = tacit.solve(game, solver="dcfr", iterations=1000)
result.exploitability, result.value, result.strategy

tacit.evaluate("pretrained:liars_dice_1x4f", playthroughs=16)
tacit.match("pretrained:liars_dice_1x4f", "random", hands=200, iterations=64)
```

Also public are the modules `tacit.games` (rules), `tacit.search` (search by hand, leaf evaluators), `tacit.training` (your own
systems) and `tacit.pettingzoo` (games for other libraries). Everything else may change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "Artifact",
    "Comparison",
    "Evaluation",
    "Game",
    "Lock",
    "MatchResult",
    "NodeView",
    "SearchOptions",
    "Sight",
    "SolveResult",
    "Strategy",
    "TacitError",
    "TrainResult",
    "check_game",
    "compare",
    "compile_game",
    "evaluate",
    "load_agent",
    "load_game",
    "load_result",
    "match",
    "open",
    "play_game",
    "register_game",
    "show",
    "solve",
    "solve_by_search",
    "train",
]

if TYPE_CHECKING:
    from tacit import games as games
    from tacit import pettingzoo as pettingzoo
    from tacit import search as search
    from tacit import training as training
    from tacit.agents.base import Agent, Sight
    from tacit.agents.options import SearchOptions
    from tacit.agents.table import play_game
    from tacit.arena.match import MatchResult
    from tacit.artifacts import load_agent, open, show
    from tacit.artifacts.base import Artifact, Evaluation
    from tacit.artifacts.searches import solve_by_search
    from tacit.artifacts.training import TrainResult, train
    from tacit.comparison.compare import compare
    from tacit.comparison.result import Comparison
    from tacit.errors import TacitError
    from tacit.games import Game, load_game, register_game
    from tacit.games.check import check_game
    from tacit.scale.evaluations import evaluate
    from tacit.scale.matches import match
    from tacit.solvers import Lock, SolveResult, load_result, solve
    from tacit.tree.base import Strategy
    from tacit.tree.compiler import compile_game
    from tacit.tree.node_view import NodeView

_MODULES = ("games", "pettingzoo", "search", "training")
_HOMES = {
    "Agent": "tacit.agents.base",
    "Artifact": "tacit.artifacts.base",
    "Comparison": "tacit.comparison.result",
    "Evaluation": "tacit.artifacts.base",
    "Game": "tacit.games",
    "Lock": "tacit.solvers",
    "MatchResult": "tacit.arena.match",
    "NodeView": "tacit.tree.node_view",
    "SearchOptions": "tacit.agents.options",
    "Sight": "tacit.agents.base",
    "SolveResult": "tacit.solvers",
    "Strategy": "tacit.tree.base",
    "TacitError": "tacit.errors",
    "TrainResult": "tacit.artifacts.training",
    "check_game": "tacit.games.check",
    "compare": "tacit.comparison.compare",
    "compile_game": "tacit.tree.compiler",
    "evaluate": "tacit.scale.evaluations",
    "load_agent": "tacit.artifacts",
    "load_game": "tacit.games",
    "load_result": "tacit.solvers",
    "match": "tacit.scale.matches",
    "open": "tacit.artifacts",
    "play_game": "tacit.agents.table",
    "register_game": "tacit.games",
    "show": "tacit.artifacts",
    "solve": "tacit.solvers",
    "solve_by_search": "tacit.artifacts.searches",
    "train": "tacit.artifacts.training",
}


def __getattr__(name: str) -> Any:
    """Imports a public name on first use, so that `tacit --help` answers at once."""
    import importlib

    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Lists the public names only."""
    return sorted([*__all__, *_MODULES, "__version__"])
