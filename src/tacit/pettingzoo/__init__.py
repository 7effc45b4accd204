"""Any game as a PettingZoo AEC environment, so that other libraries can train on the games of this one.

```python
from tacit.pettingzoo import env

leduc = env("leduc_poker")
leduc.reset(seed=0)
for agent in leduc.agent_iter():
    observation, reward, termination, truncation, info = leduc.last()
    over = termination or truncation
    leduc.step(None if over else leduc.action_space(agent).sample(observation["action_mask"]))
```

PettingZoo is an extra: `pip install 'tacit[pettingzoo]'`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import TacitError
from tacit.games import AnyGame

if TYPE_CHECKING:
    from tacit.pettingzoo.environment import GameEnv

__all__ = ["GameEnv", "env"]


def env(game: AnyGame | str, *, render_mode: str | None = None, illegal_reward: float | None = None) -> Any:
    """Returns a game as an AEC environment, in the wrappers that PettingZoo puts around its own classic games.

    An illegal move ends the episode: the player who makes it gets `illegal_reward`, the other player 0. A number outside the
    action space fails an assertion, and so does a step before `reset`.

    Args:
      game: The game, or its name.
      render_mode: `ansi` makes `render` return what everyone sees as text; None draws nothing.
      illegal_reward: The reward for an illegal move, a negative number; None means the worst payoff of the game, so that no
        player gains by an illegal move.

    Raises:
      TacitError: PettingZoo is not installed, the game is unknown or too large to encode, or there is no such render mode.
    """
    raw = _environment_class()(game, render_mode=render_mode)
    from pettingzoo.utils import wrappers

    cost = raw.worst_payoff if illegal_reward is None else illegal_reward
    terminating = wrappers.TerminateIllegalWrapper(raw, illegal_reward=cost)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(terminating))


def _environment_class() -> type[GameEnv]:
    """Returns `GameEnv`, imported only on use because PettingZoo is an extra."""
    try:
        from tacit.pettingzoo.environment import GameEnv
    except ModuleNotFoundError as error:
        if error.name not in ("pettingzoo", "gymnasium"):
            raise
        raise TacitError("PettingZoo is not installed: pip install 'tacit[pettingzoo]'") from None
    return GameEnv


def __getattr__(name: str) -> Any:
    """Returns `GameEnv`, imported on first use."""
    if name == "GameEnv":
        return _environment_class()
    raise AttributeError(f"module 'tacit.pettingzoo' has no attribute {name!r}")
