"""Published figures of the systems trained here. Imports no solver, so that the browser app's server can use it."""

from __future__ import annotations

from typing import NamedTuple

VARIANTS = {
    "1x4f": "liars_dice(dice=1,faces=4)",
    "1x5f": "liars_dice(dice=1,faces=5)",
    "1x6f": "liars_dice(dice=1,faces=6)",
    "2x3f": "liars_dice(dice=2,faces=3)",
}
"""The games of ReBeL's Table 2."""
PAPER_LEARNED = {
    "cfr-d": {"1x4f": 0.017, "1x5f": 0.015, "1x6f": 0.024, "2x3f": 0.017},
    "fp": {"1x4f": 0.041, "1x5f": 0.020, "1x6f": 0.040, "2x3f": 0.020},
}
"""ReBeL's rows of its Table 2 by the kind of search; upper bounds from 1,024 playthroughs."""
PAPER_NFSP = {"leduc_poker": 0.06}
"""Exploitability of NFSP, NashConv / 2 (section 4.1 of its paper)."""
_RESPONDS = ("fp", "linear-fp", "flop", "xfp")


class PublishedFigure(NamedTuple):
    """An exploitability that a paper reports.

    Attributes:
      exploitability: The figure, in the game's units.
      source: The paper, with the table or section.
    """

    exploitability: float
    source: str


def published_figure(system: str, game: str, solver: str = "") -> PublishedFigure | None:
    """Returns the published figure of a system on a game, None if there is none.

    Args:
      system: `rebel`, `nfsp`, ...
      game: the game's name, `str(game)`.
      solver: the search algorithm, for a system that searches.
    """
    if system == "rebel":
        row = PAPER_LEARNED["fp" if solver.partition("(")[0] in _RESPONDS else "cfr-d"]
        variant = next((variant for variant, name in VARIANTS.items() if name == game), None)
        return None if variant is None else PublishedFigure(row[variant], "ReBeL, Table 2")
    if system == "nfsp" and game in PAPER_NFSP:
        return PublishedFigure(PAPER_NFSP[game], "NFSP, section 4.1")
    return None
