"""The tabular experiments of the ReBeL paper: Figures 3 and 4, and the first two rows of Table 2.

The figures compare FP, Linear FP, FLOP and Linear CFR, on four games of Liar's Dice and on turn endgame hold'em with its fixed
board. Figure 4 is published only as curves, without numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tacit.games import load_game
from tacit.reproduce.dice import PAPER_TABLE_2, TABLE_2_ITERATIONS
from tacit.reproduce.published import VARIANTS
from tacit.solvers import Point, SolveResult, solve

FIGURE_SOLVERS = ("fp", "linear-fp", "flop", "linear-cfr")

Watch = Callable[[str, Point], None]
"""Called with the label of a solve and a new point of its curve."""


@dataclass(frozen=True)
class Experiment:
    """Several solvers on several games.

    Attributes:
      title: The title of its picture.
      family: What the games have in common.
      games: The games, by the names of their columns.
      solvers: The solvers, the best one last.
      iterations: The number of iterations, by scale.
      smoke_games: Smaller games that replace `games` at the smallest scale, if any.
      paper: The published exploitability, by solver and game.
    """

    title: str
    family: str
    games: dict[str, str]
    solvers: tuple[str, ...]
    iterations: dict[str, int]
    smoke_games: dict[str, str] = field(default_factory=dict)
    paper: dict[str, dict[str, float]] = field(default_factory=dict)

    def games_at(self, scale: str) -> dict[str, str]:
        """Returns the games of a scale."""
        return self.smoke_games or self.games if scale == "smoke" else self.games


EXPERIMENTS = {
    "flop": Experiment(
        "Exploitability in four games of Liar's Dice (ReBeL, Figure 3)", "Liar's Dice", VARIANTS, FIGURE_SOLVERS,
        {"smoke": 64, "cpu": 4_096, "gpu": 32_768},
    ),
    "rebel-table2": Experiment(
        "Exploitability in four games of Liar's Dice", "Liar's Dice", VARIANTS, ("linear-fp", "flop", "linear-cfr"),
        dict.fromkeys(("smoke", "cpu", "gpu"), TABLE_2_ITERATIONS), paper=PAPER_TABLE_2,  # seconds: run in full at every scale
    ),
    "teh-tabular": Experiment(
        "Exploitability in turn endgame hold'em, chips (ReBeL, Figure 4)", "Turn endgame", {"3s7hTdKs": "turn_endgame_holdem"},
        FIGURE_SOLVERS, {"smoke": 32, "cpu": 512, "gpu": 2_048},
        smoke_games={"3s7hTdKs, 3,000 chips": "turn_endgame_holdem(stack=3000)"},
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One solver on one game: our result, and the paper's exploitability (None if it gives none)."""

    variant: str
    solver: str
    result: SolveResult
    known_value: float | None
    paper: float | None


def run_experiment(experiment: Experiment, scale: str, watch: Watch) -> list[Cell]:
    """Returns all cells of an experiment, ordered by game."""
    cells = []
    for variant, name in experiment.games_at(scale).items():
        known = load_game(name).known_value()
        for solver in experiment.solvers:
            result = solve(
                name,
                solver=solver,
                iterations=experiment.iterations[scale],
                on_check=lambda point, _, label=f"{solver} on {variant}": watch(label, point),  # type: ignore[misc]
            )
            value = None if known is None else known.value
            cells.append(Cell(variant, solver, result, value, experiment.paper.get(solver, {}).get(variant)))
    return cells
