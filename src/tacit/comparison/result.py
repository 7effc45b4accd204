"""The result of a comparison, as a table, a plot and JSON."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tacit.comparison.entrants import LEFT_OUT, family_of
from tacit.comparison.marks import Run, seed_band
from tacit.html import card, safe_text, short_number, table

EARLY = 0.1
"""The share of the time after which figures are also reported."""


@dataclass(frozen=True)
class Standing:
    """A system at the end of its time.

    Attributes:
      system: The system's name.
      family: Its family.
      exploitability: The mean over its seeds.
      low: The least figure over its seeds.
      high: The largest figure over its seeds.
      early: The mean after a tenth of the time; None if a seed had no figure by then.
      kind: `exact`, `upper bound` or `lower bound`.
      seeds: The number of seeds.
      seconds: How long the longest run worked, which exceeds the given time if its last epoch did.
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
        """Returns why the other systems were left out, by system."""
        return {run.system: run.refused for run in self.runs if run.refused is not None} | LEFT_OUT

    def curves(self) -> dict[str, list[tuple[float, list[float]]]]:
        """Returns the figures of all seeds over seconds by system, least exploitable first."""
        fitting = self._fitting()
        return {standing.system: seed_band(fitting[standing.system]) for standing in self.standings()}

    def plot(self, path: str | Path) -> None:
        """Draws exploitability over time, with a line and a band over seeds for each system."""
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
        """Returns the table in Markdown."""
        early = f"after {EARLY * self.seconds:g} s"
        head = f"| system | family | exploitability after {self.seconds:g} s | range of seeds | {early} | kind | work |"
        rows = [f"| {' | '.join(row)} |" for row in self.rows()]
        return "\n".join([head, "|---|---|---|---|---|---|---|", *rows]) + "\n"

    def rows(self) -> list[tuple[str, str, str, str, str, str, str]]:
        """Returns the table's rows as text."""
        return [
            (
                end.system, end.family, f"{end.exploitability:.3g}",
                f"{end.low:.3g} to {end.high:.3g} ({end.seeds} seeds)" if end.seeds > 1 else "",
                "" if end.early is None else f"{end.early:.3g}",
                end.kind, f"{end.work:,} {end.unit}" + (f", {end.seconds:.0f} s" if end.seconds > 1.1 * self.seconds else ""),
            )
            for end in self.standings()
        ]  # fmt: skip

    def __repr__(self) -> str:
        best = self.standings()[0]
        return f"<Comparison on {self.game}, {self.seconds:g} s: best {best.system} with {best.exploitability:.3g}>"

    def _repr_html_(self) -> str:
        cells = [
            [safe_text(end.system), safe_text(end.family), short_number(end.exploitability, 3), safe_text(end.kind)]
            for end in self.standings()
        ]
        left_out = "; ".join(f"{name}: {why}" for name, why in self.refused().items())
        shown = table(["system", "family", "exploitability", "kind"], cells, 2)
        return card(f"{self.game}, {self.seconds:g} s each", shown, note=f"left out: {left_out}")

    def _fitting(self) -> dict[str, list[Run]]:
        """Returns the runs that have figures, by system."""
        fitting: dict[str, list[Run]] = {}
        for run in self.runs:
            if run.marks:
                fitting.setdefault(run.system, []).append(run)
        return fitting

    def _standing(self, runs: list[Run]) -> Standing:
        """Returns the final standing of a system over all its seeds."""
        ends = [run.marks[-1] for run in runs]
        figures = [end.exploitability for end in ends]
        early = [run.at(EARLY * self.seconds) for run in runs]
        known = [figure for figure in early if figure is not None]
        return Standing(
            runs[0].system, family_of(runs[0].system), statistics.fmean(figures), min(figures), max(figures),
            statistics.fmean(known) if len(known) == len(runs) else None, runs[0].kind, len(runs),
            max(end.seconds for end in ends), ends[0].work, runs[0].unit,
        )  # fmt: skip
