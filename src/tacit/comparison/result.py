"""What a comparison says: who got how far, as a table, a plot and JSON."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tacit.comparison.entrants import LEFT_OUT, family_of
from tacit.comparison.marks import Run, seed_band
from tacit.html import card, safe_text, short_number, table

EARLY = 0.1
"""The share of the time at which figures are also told."""


@dataclass(frozen=True)
class Standing:
    """A system at the end of its time.

    Attributes:
      system: The system's name.
      family: Its family.
      exploitability: The mean over its seeds.
      low: The least figure of a seed.
      high: The largest figure of a seed.
      early: The mean after a tenth of the time; None where a seed had no figure by then.
      kind: `exact`, `upper bound` or `lower bound`.
      seeds: The number of seeds.
      seconds: How long the longest run worked: more than it was given if an epoch took longer.
      work: Iterations or epochs of the first seed.
      unit: What `work` counts.
    """

    system: str
    family: str
    exploitability: float
    low: float
    high: float
    early: float | None
    kind: str
    seeds: int
    seconds: float
    work: int
    unit: str


@dataclass(frozen=True, repr=False)
class Comparison:
    """All runs of a comparison.

    Attributes:
      game: The game's name with its parameters.
      seconds: How long each system worked.
      preset: The settings of systems that trained.
      runs: The runs.
    """

    game: str
    seconds: float
    preset: str
    runs: tuple[Run, ...]

    def standings(self) -> list[Standing]:
        """Returns the systems that fit the game, least exploitable first."""
        return sorted(map(self._standing, self._fitting().values()), key=lambda standing: standing.exploitability)

    def refused(self) -> dict[str, str]:
        """Returns why each of the other systems does not fit the game."""
        return {run.system: run.refused for run in self.runs if run.refused is not None} | LEFT_OUT

    def curves(self) -> dict[str, list[tuple[float, list[float]]]]:
        """Returns by system, least exploitable first, the figures of all its seeds over seconds."""
        fitting = self._fitting()
        return {standing.system: seed_band(fitting[standing.system]) for standing in self.standings()}

    def plot(self, path: str | Path) -> None:
        """Draws exploitability over time into a file, a line for each system in a band of its seeds."""
        from tacit.comparison.picture import draw

        draw(self, path)

    def as_dict(self) -> dict[str, Any]:
        """Returns the comparison ready for JSON."""
        return {
            "game": self.game, "seconds": self.seconds, "preset": self.preset,
            "systems": [asdict(standing) for standing in self.standings()], "refused": self.refused(),
            "curves": {
                name: [{"seconds": seconds, "exploitability": figures} for seconds, figures in curve]
                for name, curve in self.curves().items()
            },
        }  # fmt: skip

    def markdown(self) -> str:
        """Returns the table for a page."""
        early = f"after {EARLY * self.seconds:g} s"
        head = f"| system | family | exploitability after {self.seconds:g} s | range of seeds | {early} | kind | work |"
        rows = [f"| {' | '.join(row)} |" for row in self.rows()]
        return "\n".join([head, "|---|---|---|---|---|---|---|", *rows]) + "\n"

    def rows(self) -> list[tuple[str, str, str, str, str, str, str]]:
        """Returns the cells of the table in words."""
        return [
            (
                one.system, one.family, f"{one.exploitability:.3g}",
                f"{one.low:.3g} to {one.high:.3g} ({one.seeds} seeds)" if one.seeds > 1 else "",
                "" if one.early is None else f"{one.early:.3g}",
                one.kind, f"{one.work:,} {one.unit}" + (f", {one.seconds:.0f} s" if one.seconds > 1.1 * self.seconds else ""),
            )
            for one in self.standings()
        ]  # fmt: skip

    def __repr__(self) -> str:
        best = self.standings()[0]
        return f"<Comparison on {self.game}, {self.seconds:g} s: best {best.system} with {best.exploitability:.3g}>"

    def _repr_html_(self) -> str:
        cells = [
            [safe_text(one.system), safe_text(one.family), short_number(one.exploitability, 3), safe_text(one.kind)]
            for one in self.standings()
        ]
        left_out = "; ".join(f"{name}: {why}" for name, why in self.refused().items())
        shown = table(["system", "family", "exploitability", "kind"], cells, 2)
        return card(f"{self.game}, {self.seconds:g} s each", shown, note=f"left out: {left_out}")

    def _fitting(self) -> dict[str, list[Run]]:
        """Returns by system the runs that were judged."""
        fitting: dict[str, list[Run]] = {}
        for run in self.runs:
            if run.marks:
                fitting.setdefault(run.system, []).append(run)
        return fitting

    def _standing(self, runs: list[Run]) -> Standing:
        """Returns where a system ended with all its seeds."""
        ends = [run.marks[-1] for run in runs]
        figures = [end.exploitability for end in ends]
        early = [run.at(EARLY * self.seconds) for run in runs]
        known = [figure for figure in early if figure is not None]
        return Standing(
            runs[0].system, family_of(runs[0].system), statistics.fmean(figures), min(figures), max(figures),
            statistics.fmean(known) if len(known) == len(runs) else None, runs[0].kind, len(runs),
            max(end.seconds for end in ends), ends[0].work, runs[0].unit,
        )  # fmt: skip
