"""Colours of actions, the same in pictures, in the terminal and in notebooks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

FOLD, CALL = "#4a87c9", "#4fae63"
_RAISES = ((0.0, (243, 165, 88)), (0.5, (222, 72, 58)), (1.0, (126, 22, 48)))
"""Small raises are orange, medium ones red, the largest dark red."""
_OTHERS = ("#4a87c9", "#e08a3c", "#4fae63", "#c7558a", "#8a6fc1", "#3aa6a6", "#b5963a", "#7d8795")
"""Actions of games that are not poker."""


def action_colors(action_names: Sequence[str]) -> list[str]:
    """Returns a colour per action, `#rrggbb`: blue for folds, green for checks and calls, orange to dark red for raises.

    Args:
      action_names: one per action, with bets and raises ordered from small to large.
    """
    num_raises = sum(_passive_color(name) is None for name in action_names)
    shades = iter([0.5] if num_raises == 1 else np.linspace(0, 1, num_raises).tolist())
    return [_passive_color(name) or _raise_color(next(shades)) for name in action_names]


def _passive_color(name: str) -> str | None:
    if name.lower().startswith("fold"):
        return FOLD
    return CALL if name.lower().startswith(("check", "call")) else None


def _raise_color(shade: float) -> str:
    places = [place for place, _ in _RAISES]
    red, green, blue = (round(float(np.interp(shade, places, [color[part] for _, color in _RAISES]))) for part in range(3))
    return f"#{red:02x}{green:02x}{blue:02x}"


def colors_for(action_names: Sequence[str]) -> list[str]:
    """Returns a colour per action of any game, `#rrggbb`: those of `action_colors` in poker, else a fixed list in order."""
    if any(_passive_color(name) for name in action_names):
        return action_colors(action_names)
    return [_OTHERS[number % len(_OTHERS)] for number in range(len(action_names))]
