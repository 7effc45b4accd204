"""The tabular experiments of the ReBeL paper on Liar's Dice: Figure 3 (`flop`) and the first two rows of Table 2.

Figure 3 compares FP, Linear FP, FLOP and Linear CFR; Table 2 gives the exploitability after 1,024 alternating iterations, which
are 512 iterations here (both players updated). The paper calls Table 2's first row FP and says that its FP experiments use
FLOP, but the published figures are close to those of Linear FP and far from FLOP's; we print both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tacit.games import load_game
from tacit.solvers import SolveResult, solve
from tacit.solvers.schedules import RegretSchedule, find_schedule

VARIANTS = {
    "1x4f": "liars_dice(dice=1,faces=4)",
    "1x5f": "liars_dice(dice=1,faces=5)",
    "1x6f": "liars_dice(dice=1,faces=6)",
    "2x3f": "liars_dice(dice=2,faces=3)",
}

FIGURE_3_SOLVERS = ("fp", "linear-fp", "flop", "linear-cfr")
FIGURE_3_ITERATIONS = {"smoke": 64, "cpu": 4_096, "gpu": 32_768}

TABLE_2_ITERATIONS = 512
PAPER_TABLE_2 = {
    "linear-fp": {"1x4f": 0.012, "1x5f": 0.024, "1x6f": 0.039, "2x3f": 0.057},
    "linear-cfr": {"1x4f": 0.001, "1x5f": 0.001, "1x6f": 0.002, "2x3f": 0.002},
}
"""Full-game FP and CFR of ReBeL Table 2, under the names of the solvers that give them."""
TABLE_2_SOLVERS = ("linear-fp", "flop", "linear-cfr")
PAPER_LEARNED = {
    "cfr-d": {"1x4f": 0.017, "1x5f": 0.015, "1x6f": 0.024, "2x3f": 0.017},
    "fp": {"1x4f": 0.041, "1x5f": 0.020, "1x6f": 0.040, "2x3f": 0.020},
}
"""ReBeL's rows of Table 2 by the kind of search; upper bounds from 1,024 playthroughs."""

Watch = Callable[[str, str, int, float], None]
"""Called with variant, solver, iteration and exploitability."""


@dataclass(frozen=True)
class Cell:
    """One solver on one variant: what we got, and what the paper printed (None where it did not)."""

    variant: str
    solver: str
    result: SolveResult
    known_value: float | None
    paper: float | None


def figure_3(scale: str, watch: Watch) -> list[Cell]:
    """Returns the curves of ReBeL Figure 3."""
    return _run(FIGURE_3_SOLVERS, FIGURE_3_ITERATIONS[scale], {}, watch)


def table_2(watch: Watch) -> list[Cell]:
    """Returns the tabular rows of ReBeL Table 2; they take seconds, so that every scale runs them in full."""
    return _run(TABLE_2_SOLVERS, TABLE_2_ITERATIONS, PAPER_TABLE_2, watch)


def published_exploitability(game: str, solver: str) -> float | None:
    """Returns what the paper reports for ReBeL on a game with this kind of search, None where it has no such figure."""
    row = PAPER_LEARNED["cfr-d" if isinstance(find_schedule(solver), RegretSchedule) else "fp"]
    return next((row[variant] for variant, name in VARIANTS.items() if name == game), None)


def _run(solvers: tuple[str, ...], iterations: int, paper: dict[str, dict[str, float]], watch: Watch) -> list[Cell]:
    cells = []
    for variant, name in VARIANTS.items():
        known = load_game(name).known_value()
        for solver in solvers:
            result = solve(
                name,
                solver=solver,
                iterations=iterations,
                on_check=lambda point, _, v=variant, s=solver: watch(v, s, point.iteration, point.exploitability),  # type: ignore[misc]
            )
            value = None if known is None else known.value
            cells.append(Cell(variant, solver, result, value, paper.get(solver, {}).get(variant)))
    return cells
