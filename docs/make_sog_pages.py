"""Draws the pictures of docs/sog.md: re-solving beside sampled search, trees that grow, a position of connect four, training.

    python docs/make_sog_pages.py

Each picture has a function for its numbers, which the tests call to check the page's claims, and one that draws them. Training
runs are not repeated: their metrics are in `benchmarks/sog_curves.json`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tacit.artifacts import open as open_artifact
from tacit.artifacts.boards import BoardArtifact
from tacit.games import load_game
from tacit.games.boards import make_boards, position_after
from tacit.plots import house_pyplot, save_figure
from tacit.search.boards.forest import BoardForest
from tacit.search.boards.search import BoardResult, BoardSearch, BoardSearchConfig, UniformBoards

FOLDER = Path(__file__).parent / "pictures"
CURVES = Path(__file__).parents[1] / "benchmarks" / "sog_curves.json"

DICE = "pretrained:liars_dice_1x4f"
ITERATIONS = (32, 64, 128, 256, 512)
GROWN = (10, 40, 160)
LINE = "gaddfececbfaebgceg"
"""Moves of connect four after which x is to move: a, e and f win, the other columns lose (alpha-beta)."""
BLUE, RED, GREY, GREEN = "#2f6db3", "#c8552b", "#9a9a9a", "#3a8f5c"


# 1. Ways to search again below a search.


def dice_safety() -> dict[str, list[float]]:
    """Returns one network's exploitability on dice by the way it searches again, for each number of iterations."""
    artifact = open_artifact(DICE)
    found: dict[str, list[float]] = {}
    for safety, options in (("re-solving", {}), ("sampled", {"playthroughs": 128}), ("unsafe", {})):
        figures = [artifact.evaluate(solver="dcfr", iterations=n, safety=safety, **options).figure for n in ITERATIONS]
        found[safety] = figures
    return found


def draw_safety(path: Path) -> None:
    """Draws exploitability against iterations, a line for each way."""
    pyplot = house_pyplot()
    figure, axis = pyplot.subplots(figsize=(5.2, 3.4))
    labels = {
        "re-solving": "re-solving: the average, and promises kept (exact)",
        "sampled": "sampled iteration (ReBeL; 128 playthroughs, upper bound)",
        "unsafe": "unsafe: the average, and nothing promised (exact)",
    }
    for (safety, figures), colour in zip(dice_safety().items(), (BLUE, GREEN, RED), strict=True):
        axis.plot(ITERATIONS, figures, marker=".", color=colour, label=labels[safety])
    axis.set(xscale="log", yscale="log", xlabel="search iterations", ylabel="exploitability, dice 1x4f")
    axis.set_xticks(ITERATIONS, [str(number) for number in ITERATIONS])
    axis.set_xticks([], minor=True)
    axis.legend(fontsize=7.5, frameon=False)
    axis.grid(True, which="major", alpha=0.3)
    save_figure(figure, path)


# 2. Trees that grow.


def grown_tree(expansions: int) -> BoardForest:
    """Returns the tree of a search without a network from the page's position."""
    boards = make_boards(load_game("connect_four"))
    search = BoardSearch(boards, UniformBoards(boards), BoardSearchConfig(expansions, 2))
    return search.run(line_position(boards), np.random.default_rng(1)).forest


def line_position(boards: Any) -> np.ndarray:
    """Returns the page's position."""
    return position_after(boards, ["abcdefg".index(column) for column in LINE])


def draw_trees(path: Path) -> None:
    """Draws the tree after some expansions: a level for each move, with lines as wide as their numbers of walks."""
    pyplot = house_pyplot()
    figure, axes = pyplot.subplots(1, len(GROWN), figsize=(10.4, 3.2))
    for axis, expansions in zip(axes, GROWN, strict=True):
        forest = grown_tree(expansions)
        place = _layout(forest)
        for node in range(1, forest.num_nodes[0]):
            above = int(forest.parent[0, node])
            walks = int(forest.visits[0, above, forest.action[0, node]])
            colour = BLUE if forest.actor[0, above] == 0 else RED
            ends = [place[above][0], place[node][0]], [place[above][1], place[node][1]]
            axis.plot(*ends, color=colour, linewidth=0.4 + 0.6 * np.log2(1 + walks), alpha=0.7, solid_capstyle="round")
            if forest.actor[0, node] < 0:
                axis.plot(*place[node], "s", color="#222222", markersize=3)
        axis.set_title(f"{expansions} expansions", fontsize=10)
        axis.axis("off")
    save_figure(figure, path)


def _layout(forest: BoardForest) -> dict[int, tuple[float, float]]:
    """Returns the coordinates of nodes: leaves side by side, others above the middle of their children."""
    place: dict[int, tuple[float, float]] = {}
    leaves = 0

    def visit(node: int, depth: int) -> float:
        nonlocal leaves
        below = [int(child) for child in forest.child[0, node] if child >= 0]
        if below:
            at = [visit(child, depth + 1) for child in below]
            across = (at[0] + at[-1]) / 2
        else:
            across, leaves = float(leaves), leaves + 1
        place[node] = across, -float(depth)
        return across

    visit(0, 0)
    return place


# 3. How a search judges a position.


def line_searches() -> dict[int, BoardResult]:
    """Returns the results of searches with the shipped network at the page's position, by their expansions."""
    artifact = open_artifact("pretrained:connect_four")
    assert isinstance(artifact, BoardArtifact)
    found = {}
    for expansions in (1, 20, 400):
        search = artifact.search(BoardSearchConfig(expansions))
        found[expansions] = search.run(line_position(search.boards), np.random.default_rng(0))
    return found


def draw_position(path: Path) -> None:
    """Draws the board, and beside it the policies of searches."""
    pyplot = house_pyplot()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(8.4, 3.1), width_ratios=(1, 1.5))
    game: Any = load_game("connect_four")
    state = game.initial_state()
    for column in LINE:
        state = game.apply(state, "abcdefg".index(column))
    for row, line in enumerate(game.drawing(state).splitlines()[:6]):
        for column, mark in enumerate(line.split()):
            colour = {"x": BLUE, "o": RED, ".": "#f0f0f0"}[mark]
            left.add_patch(pyplot.Circle((column, 5 - row), 0.42, color=colour))
    left.set(xlim=(-0.6, 6.6), ylim=(-0.6, 5.6), aspect="equal", xticks=range(7), xticklabels=list("abcdefg"), yticks=[])
    left.set_xlabel("blue (x) to move")
    for number, (expansions, result) in enumerate(line_searches().items()):
        label = f"{expansions} expansion{'s' * (expansions > 1)}: value {result.values[0]:+.2f}"
        right.bar(np.arange(7) + 0.27 * (number - 1), result.policy[0], 0.25, label=label, color=(GREY, GREEN, BLUE)[number])
    right.set(xticks=range(7), xticklabels=list("abcdefg"), ylabel="policy")
    right.legend(fontsize=8, frameon=False)
    save_figure(figure, path)


# 4. Training.


def draw_training(path: Path) -> None:
    """Draws loss on new examples and exploitability over cycles in pot-limit Leduc, all seeds."""
    pyplot = house_pyplot()
    curves = json.loads(CURVES.read_text())["pot_limit_leduc"]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(8.8, 3.3))
    for system, colour in (("sog", BLUE), ("deepstack", RED)):
        for seed, run in enumerate(curves[system]):
            name = {"sog": "sound self-play", "deepstack": "random situations"}[system] if seed == 0 else None
            left.plot(range(1, len(run["validation_loss"]) + 1), run["validation_loss"], color=colour, linewidth=1, label=name)
            at, found = zip(*((cycle, number / 0.3) for cycle, number in run["exploitability"]), strict=True)
            right.plot(at, found, color=colour, marker=".", linewidth=1)
    left.set(yscale="log", xlabel="cycle")
    left.set_title("loss on new examples, before learning them", fontsize=9)
    left.legend(fontsize=8, frameon=False)
    right.set(yscale="log", xlabel="cycle", xticks=range(4, 25, 4))
    right.set_title("exploitability, thousandths of the ante (exact)", fontsize=9)
    right.axhline(28.8, color=GREY, linestyle="--", linewidth=1)
    right.text(4, 23.5, "public reproduction, 28.8", color=GREY, fontsize=7.5)
    save_figure(figure, path)


def main() -> None:
    """Draws all pictures."""
    draw_safety(FOLDER / "sog_safety.png")
    draw_trees(FOLDER / "sog_trees.png")
    draw_position(FOLDER / "sog_position.png")
    draw_training(FOLDER / "sog_training.png")


if __name__ == "__main__":
    main()
