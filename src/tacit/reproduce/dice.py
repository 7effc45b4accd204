"""Liar's Dice in the ReBeL paper: its four variants and the figures of Table 2.

Table 2 gives the exploitability after 1,024 alternating iterations, which are 512 iterations here (both players updated). The
paper calls its first row FP and says that its FP experiments use FLOP, but the published figures are close to those of Linear
FP and far from FLOP's; we print both.
"""

from __future__ import annotations

from tacit.reproduce.published import published_figure

TABLE_2_ITERATIONS = 512
PAPER_TABLE_2 = {
    "linear-fp": {"1x4f": 0.012, "1x5f": 0.024, "1x6f": 0.039, "2x3f": 0.057},
    "linear-cfr": {"1x4f": 0.001, "1x5f": 0.001, "1x6f": 0.002, "2x3f": 0.002},
}
"""Full-game FP and CFR of ReBeL's Table 2, by the names of our solvers that match them."""


def published_exploitability(game: str, solver: str) -> float | None:
    """Returns the paper's exploitability of ReBeL on a game with this kind of search, None if it gives no such figure."""
    figure = published_figure("rebel", game, solver)
    return None if figure is None else figure.exploitability
