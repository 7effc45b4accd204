"""Draws docs/pictures/learning_curves.png from the runs recorded in benchmarks/learning_curves.json."""

import json
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot

from tacit.reproduce.published import PAPER_LEARNED

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Draws one panel for each machine: quick evaluations during training, and the full one at the end as a star."""
    mpl.use("Agg")
    curves = json.loads((ROOT / "benchmarks" / "learning_curves.json").read_text())
    machines = list(dict.fromkeys(curve["machine"] for curve in curves))
    figure, axes = pyplot.subplots(1, len(machines), figsize=(11, 4.2), layout="constrained", sharey=True)
    for axis, machine in zip(axes, machines, strict=True):
        here = [curve for curve in curves if curve["machine"] == machine]
        for number, curve in enumerate(here):
            seconds, found = zip(*curve["points"], strict=True)
            name = f"{curve['game']}, seed {curve['seed']}"
            axis.plot(seconds, found, color=f"C{number}", alpha=0.55, marker=".", label=name)
            axis.plot(seconds[-1], curve["final"], color=f"C{number}", marker="*", markersize=14, linestyle="")
        for number, game in enumerate(dict.fromkeys(curve["game"] for curve in here)):
            paper = PAPER_LEARNED["cfr-d"][game]
            color = "0.4" if len({curve["game"] for curve in here}) == 1 else f"C{number}"
            axis.axhline(paper, color=color, linestyle=":", linewidth=1)
            axis.annotate(f"ReBeL {game} {paper}", (0.99, paper), xycoords=("axes fraction", "data"), color=color, fontsize=8,
                          ha="right", va="bottom")  # fmt: skip
        few, last = here[0]["playthroughs"], here[0]["final_playthroughs"]
        axis.set_title(f"{machine}: {few} playthroughs on the way, {last:,} for the stars", fontsize=10)
        axis.set_xlabel("seconds of training")
        axis.set_yscale("log")
        axis.legend(fontsize=8, loc="upper right")
    axes[0].set_ylabel("exploitability, upper bound")
    figure.savefig(ROOT / "docs" / "pictures" / "learning_curves.png", dpi=110)


if __name__ == "__main__":
    main()
