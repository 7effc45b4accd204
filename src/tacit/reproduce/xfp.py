"""Appendix A of the NFSP paper (Heinrich & Silver 2016): the robustness of XFP, Figures 3a and 3b, on Leduc.

3a replaces the averaging step size 1/T by constant ones; step 1 is iterated best response. 3b adds noise to the backward
induction of best responses. The figures are curves: neither their values nor the step sizes and noise levels are in the text,
so the levels here are our choice. The statements of the text are checked as claims. Its one number on XFP is in section 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from tacit.reproduce.tabular import Watch
from tacit.solvers import SolveResult, solve

GAME = "leduc_poker"
_STEPS, _NOISES = ("0.005", "0.01", "0.05", "0.1", "0.5", "1"), ("0.05", "0.1", "0.2", "0.3", "0.5")
FIGURES = {
    "3a: step size": {"1/T": "xfp", **{step: f"xfp(step={step})" for step in _STEPS}},
    "3b: noise": {"0": "xfp", **{noise: f"xfp(noise={noise})" for noise in _NOISES}},
}
"""Solvers by figure and level, from the one that should end best to the one that should end worst."""
CHECKPOINTS = {"smoke": (10, 100, 1_000), "cpu": (10, 100, 1_000, 10_000), "gpu": (10, 100, 1_000, 10_000, 100_000)}
"""Iterations whose exploitability is reported, by scale."""
PAPER_XFP = (1_000, 0.06)
"""Iterations ("around") after which XFP "typically" has this exploitability: NFSP, section 4.1."""

UNIFORM = 2.374
"""Exploitability of uniform play in Leduc."""


@dataclass(frozen=True)
class XfpCell:
    """One level of one figure.

    Attributes:
      figure: The figure, a key of `FIGURES`.
      level: The step size or noise level.
      result: The solve at the last checkpoint, with its whole curve.
      reached: The exploitability at each checkpoint.
    """

    figure: str
    level: str
    result: SolveResult
    reached: dict[int, float]

    def mean_after(self, share: float) -> float:
        """Returns the mean exploitability of the checks after this share of iterations, since constant steps never settle."""
        late = [point.exploitability for point in self.result.curve if point.iteration >= share * self.result.iterations]
        return sum(late) / len(late)


def run_xfp(scale: str, seed: int, watch: Watch) -> list[XfpCell]:
    """Returns all levels of both figures."""
    solved: dict[str, XfpCell] = {}
    cells = []
    for figure, levels in FIGURES.items():
        for level, solver in levels.items():
            if solver not in solved:
                result, reached, label = None, {}, f"{figure} {level}"
                for iterations in CHECKPOINTS[scale]:
                    result = solve(
                        GAME, solver=solver, iterations=iterations, seed=seed, resume=result,
                        on_check=lambda point, _, label=label: watch(label, point),  # type: ignore[misc]
                    )  # fmt: skip
                    reached[iterations] = result.exploitability
                assert result is not None
                solved[solver] = XfpCell(figure, level, result, reached)
            cells.append(replace(solved[solver], figure=figure, level=level))
    return cells


def claims(cells: list[XfpCell]) -> dict[str, bool]:
    """Returns the statements of the paper's text about the figures, and whether our curves confirm them."""
    steps, noises = ([cell for cell in cells if cell.figure == figure] for figure in FIGURES)
    constant, start = steps[1:], min(steps[0].reached)
    small = [cell for cell in constant if float(cell.level) <= 0.1]  # larger steps have reached their plateau by then
    settled = all(cell.mean_after(0.67) < 1.25 * cell.mean_after(0.1) for cell in constant)
    return {
        "3a: smaller constant steps end better": _rises([cell.mean_after(0.67) for cell in constant]),
        f"3a: they start worse (0.1 and smaller, after {start})": _rises([cell.reached[start] for cell in small[::-1]]),
        "3a: constant steps plateau rather than diverge": settled,
        "3a: step 1, iterated best response, does not converge": steps[-1].mean_after(0.67) > UNIFORM,
        "3b: the more noise, the worse": _rises([cell.mean_after(0.67) for cell in noises]),
        "3b: play keeps improving at every noise level": all(_rises([*cell.reached.values()][::-1]) for cell in noises),
    }


def _rises(numbers: list[float]) -> bool:
    return all(before < after for before, after in pairwise(numbers))
