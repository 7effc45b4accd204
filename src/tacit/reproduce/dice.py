"""Liar's Dice in the ReBeL paper: its four variants and the figures of Table 2.

Table 2 gives the exploitability after 1,024 alternating iterations, which are 512 iterations here (both players updated). The
paper calls its first row FP and says that its FP experiments use FLOP, but the published figures are close to those of Linear
FP and far from FLOP's; we print both.
"""

from __future__ import annotations

from tacit.solvers.schedules import RegretSchedule, find_schedule

VARIANTS = {
    "1x4f": "liars_dice(dice=1,faces=4)",
    "1x5f": "liars_dice(dice=1,faces=5)",
    "1x6f": "liars_dice(dice=1,faces=6)",
    "2x3f": "liars_dice(dice=2,faces=3)",
}

TABLE_2_ITERATIONS = 512
PAPER_TABLE_2 = {
    "linear-fp": {"1x4f": 0.012, "1x5f": 0.024, "1x6f": 0.039, "2x3f": 0.057},
    "linear-cfr": {"1x4f": 0.001, "1x5f": 0.001, "1x6f": 0.002, "2x3f": 0.002},
}
"""Full-game FP and CFR of ReBeL Table 2, under the names of the solvers that give them."""
PAPER_LEARNED = {
    "cfr-d": {"1x4f": 0.017, "1x5f": 0.015, "1x6f": 0.024, "2x3f": 0.017},
    "fp": {"1x4f": 0.041, "1x5f": 0.020, "1x6f": 0.040, "2x3f": 0.020},
}
"""ReBeL's rows of Table 2 by the kind of search; upper bounds from 1,024 playthroughs."""


def published_exploitability(game: str, solver: str) -> float | None:
    """Returns what the paper reports for ReBeL on a game with this kind of search, None where it has no such figure."""
    row = PAPER_LEARNED["cfr-d" if isinstance(find_schedule(solver), RegretSchedule) else "fp"]
    return next((row[variant] for variant, name in VARIANTS.items() if name == game), None)
