"""Draws the pictures of docs/rebel.md from the library itself: beliefs, one-ply search, values of beliefs, a game of dice.

    python docs/make_rebel_pages.py

Each picture has a function for its numbers, which the tests call to check the page's claims, and one that draws them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle

from tacit.agents.table import Table
from tacit.artifacts import load_agent
from tacit.evaluation import evaluate
from tacit.games import TERMINAL, load_game
from tacit.kernels import make_passes
from tacit.kernels.base import LeafEvaluator
from tacit.leaves.evaluators import OracleLeaves, ZeroLeaves, exact_values
from tacit.plots import house_pyplot, save_figure
from tacit.search.config import SearchConfig
from tacit.search.playthroughs import playthrough_strategy
from tacit.search.search import BatchSearch
from tacit.solvers import solve
from tacit.solvers.schedules import find_schedule, iteration_weights
from tacit.tree.beliefs import PublicBeliefState, belief_state
from tacit.tree.compiler import compile_game
from tacit.tree.public_tree import Floats, PublicTree
from tacit.tree.search_space import SearchSpace, search_space

FOLDER = Path(__file__).parent / "pictures"

CARDS = ("J", "Q", "K")
BETS = {
    (0, ""): (0.1, 0.3, 1.0),  # the opening bets of the lecture's example: J, Q, K
    (1, "check"): (0.3, 0.0, 1.0),  # our addition, so that the example goes on
}

MOVES = ("Rock", "Paper", "Scissors")
SOLVER, ITERATIONS = "dcfr", 150
PLAYTHROUGHS = 1_000

DICE = "liars_dice(dice=1,faces=4)"
DICE_SEED = 3
"""Seed of the page's game; another seed gives another game."""

INK, GREY = "#222222", "#9a9a9a"
BLUE, RED = "#2f6db3", "#c8552b"  # beliefs about player 0 and about player 1
PURPLE, GOLD, GREEN = "#5f4b9b", "#d69a2d", "#3a8f5c"
BLUES = LinearSegmentedColormap.from_list("beliefs of player 0", ["#ffffff", "#9dc0e3", "#2f6db3"])
REDS = LinearSegmentedColormap.from_list("beliefs of player 1", ["#ffffff", "#f0b69f", "#c8552b"])
JOINT = LinearSegmentedColormap.from_list("pairs", ["#ffffff", "#b9afd8", "#5f4b9b"])


# 1. Kuhn poker: how a bet changes beliefs.


def kuhn_beliefs() -> dict[str, PublicBeliefState]:
    """Returns the public belief states of the example, by public state."""
    tree = compile_game(load_game("kuhn_poker"))
    strategy = tree.uniform_strategy()
    for infostate in range(tree.num_infostates):
        player, public, card = tree.infostate_label(infostate)
        if (player, public) in BETS:
            bet, first = BETS[player, public][CARDS.index(card)], tree.entry_start[infostate]
            strategy[first : first + 2] = 1.0 - bet, bet
    return {public: belief_state(tree, strategy, node_of(tree, public)) for public in ("", "check", "bet", "check bet")}


def draw_kuhn(path: Path) -> None:
    """Draws the joint beliefs at each public state with the beliefs about each player at the edges."""
    pyplot = house_pyplot()
    figure, axes = pyplot.subplots(1, 4, figsize=(10.4, 3.05))
    titles = ("cards dealt", "player 0 checks", "player 0 bets", "check, then player 1 bets")
    for axis, title, pbs in zip(axes, titles, kuhn_beliefs().values(), strict=True):
        joint = pbs.joint / pbs.require_possible()
        edges = [(BLUES, row, 3.35, belief) for row, belief in enumerate(pbs.beliefs[0])]
        edges += [(REDS, 3.35, column, belief) for column, belief in enumerate(pbs.beliefs[1])]
        for row in range(3):
            for column in range(3):
                if row == column:  # nobody can hold the other's card
                    axis.add_patch(Rectangle((column, row), 1, 1, facecolor="#f0f0f0", edgecolor="white", lw=1.5))
                else:
                    _cell(axis, row, column, joint[row, column], JOINT, strongest=0.5)
        for colours, row, column, belief in edges:
            _cell(axis, row, column, belief, colours)
        axis.set(xlim=(0, 4.35), ylim=(4.35, 0), aspect="equal")
        axis.set_xticks([0.5, 1.5, 2.5], CARDS, color=RED, fontweight="bold")
        axis.set_yticks([0.5, 1.5, 2.5], CARDS, color=BLUE, fontweight="bold")
        axis.xaxis.tick_top()
        _bare(axis)
        axis.set_title(title, fontsize=10, pad=10, x=1.5 / 4.35)
        axis.text(3.85, -0.1, "sum", ha="center", va="bottom", fontsize=7.5, color=BLUE)
        axis.text(-0.1, 3.85, "sum", ha="right", va="center", fontsize=7.5, color=RED)
    axes[0].set_ylabel("player 0's card", color=BLUE, y=1 - 1.5 / 4.35)
    axes[0].text(1.5, 4.5, "player 1's card", ha="center", va="top", color=RED)
    save_figure(figure, path)


# 2. Modified rock-paper-scissors: search needs the values of beliefs, and play needs random iterations.


class OnePly(NamedTuple):
    """One-ply search for player 0: `[T, 3]` the strategy of each iteration, and the average up to it."""

    current: Floats
    average: Floats


class Answers(NamedTuple):
    """The strategy that search plays as player 1, `[3]`, and what player 0's best response wins against it."""

    strategy: Floats
    loss: float


def rps_space() -> SearchSpace:
    """Returns modified rock-paper-scissors, ready for one-ply search."""
    return search_space(compile_game(load_game("modified_rps")), 1)


def rps_value(space: SearchSpace, mixture: Floats) -> float:
    """Returns player 0's value of a mixture that is common knowledge: the value of a public belief state."""
    beliefs = np.zeros((2, 3))
    beliefs[0], beliefs[1, 0] = mixture, 1.0
    return float(mixture @ exact_values(space, 1, beliefs)[0])


def rps_one_ply(space: SearchSpace, evaluator: LeafEvaluator, iterations: int = ITERATIONS) -> OnePly:
    """Returns all iterations of one-ply search: game i of a batch samples iteration i."""
    search = BatchSearch(space, evaluator, SearchConfig(SOLVER, iterations, 1))
    reaches = torch.zeros(iterations, 2, space.tables.num_private_states)
    reaches[:, :, 0] = 1.0
    result = search.run(np.zeros(iterations, np.int64), reaches, np.arange(1, iterations + 1))
    current = result.sampled_strategy.view(3, iterations).T.double().numpy()
    weights = iteration_weights(find_schedule(SOLVER), iterations)[:, None]
    return OnePly(current, np.cumsum(weights * current, axis=0) / np.cumsum(weights, axis=0))


def rps_answers(space: SearchSpace, safe: bool, playthroughs: int) -> Answers:
    """Returns how safe or unsafe search with exact values plays as player 1."""
    search = BatchSearch(space, OracleLeaves(space), SearchConfig(SOLVER, ITERATIONS, 1))
    strategy = playthrough_strategy(search, playthroughs, np.random.default_rng(0), safe=safe)
    return Answers(strategy[3:], evaluate(make_passes(space.tree), strategy).best_response_values[0])


def draw_rps(path: Path) -> None:
    """Draws the value over all mixtures, the path of search to the top, and both ways to play on."""
    pyplot = house_pyplot()
    figure, (simplex, curves, bars) = pyplot.subplots(1, 3, figsize=(11.4, 3.7), width_ratios=(1.15, 1, 1))
    space = rps_space()
    found = rps_one_ply(space, OracleLeaves(space))
    _draw_simplex(figure, simplex, space, found)

    times = np.arange(1, ITERATIONS + 1)
    stuck = rps_one_ply(space, ZeroLeaves()).average
    for move, colour in zip(range(3), (PURPLE, GOLD, GREEN), strict=True):
        curves.semilogx(times, found.average[:, move], color=colour, lw=1.6, label=MOVES[move])
    curves.semilogx(times, stuck[:, 0], color=GREY, lw=1.6, ls="--", label="all three, with\nvalues of states")
    curves.set(xlim=(1, ITERATIONS), ylim=(0, 0.8), xlabel="iterations", ylabel="average strategy of player 0")
    curves.set_xticks([1, 10, 100], ["1", "10", "100"])
    curves.set_yticks([0, 0.2, 0.4, 0.6, 0.8])
    curves.grid(True, alpha=0.3)
    curves.legend(fontsize=8, frameon=False, loc="upper right")
    curves.set_title("one-ply search for player 0", fontsize=10)

    safe, unsafe = rps_answers(space, True, PLAYTHROUGHS), rps_answers(space, False, 1)
    for offset, answers, colour, name in ((-0.2, safe, BLUE, "safe"), (0.2, unsafe, RED, "unsafe")):
        label = f"{name}: a best response wins {answers.loss:.2f}"
        drawn = bars.bar(np.arange(3) + offset, answers.strategy, 0.38, color=colour, label=label)
        bars.bar_label(drawn, [f"{share:.2f}" for share in answers.strategy], fontsize=8, padding=1)
    bars.set_xticks(range(3), MOVES)
    bars.set(ylim=(0, 1.28), ylabel="how often player 1 plays it")
    bars.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    bars.legend(fontsize=8, frameon=False, loc="upper right")
    bars.set_title("search for player 1 below it", fontsize=10)
    save_figure(figure, path)


def _draw_simplex(figure: Any, axis: Any, space: SearchSpace, found: OnePly) -> None:
    """Draws the value over the triangle of all mixtures, and the path of search in it."""
    steps = 30
    mixtures = np.array([(a, b, steps - a - b) for a in range(steps + 1) for b in range(steps + 1 - a)]) / steps
    values = np.array([rps_value(space, mixture) for mixture in mixtures])
    drawn = axis.tricontourf(*_corner_coordinates(mixtures), values, levels=np.linspace(-2, 0, 21), cmap="Blues")
    bar = figure.colorbar(drawn, ax=axis, shrink=0.8, ticks=[-2, -1.5, -1, -0.5, 0], pad=0.06)
    bar.set_label("value for player 0")
    bar.outline.set_visible(False)
    axis.plot(*_corner_coordinates(np.eye(3)[[0, 1, 2, 0]]), color=GREY, lw=0.8)
    points = (
        (found.current, {"marker": ".", "ls": "", "color": RED, "ms": 3, "alpha": 0.5}, "iterations of search"),
        (found.average, {"color": RED, "lw": 1.2}, "their average"),
        (np.full((1, 3), 1 / 3), {"marker": "o", "ls": "", "color": "white", "mec": INK, "ms": 6}, "with values of states"),
        (np.array([[0.4, 0.4, 0.2]]), {"marker": "*", "ls": "", "color": "#ffd23f", "mec": INK, "ms": 12}, "equilibrium"),
    )
    for where, style, label in points:
        axis.plot(*_corner_coordinates(where), label=label, **style)
    axis.legend(fontsize=8, frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.06), columnspacing=1.2)
    for corner, name in enumerate(MOVES):
        x, y = (float(c[0]) for c in _corner_coordinates(np.eye(3)[corner : corner + 1]))
        axis.text(x, y + (0.04 if corner == 2 else -0.04), name, ha="center", va="bottom" if corner == 2 else "top")
    axis.set(aspect="equal", xlim=(-0.08, 1.08), ylim=(-0.1, 0.98))
    axis.set_xticks([])
    axis.set_yticks([])
    _bare(axis)
    axis.set_title("what a known mixture is worth", fontsize=10)


def _corner_coordinates(mixtures: Floats) -> tuple[Floats, Floats]:
    """Returns the coordinates of mixtures in a triangle with Rock left, Paper right and Scissors on top."""
    return mixtures[:, 1] + 0.5 * mixtures[:, 2], np.sqrt(0.75) * mixtures[:, 2]


# 3. The value of a public belief state is concave, and infostate values are its supergradient.


class ValueLine(NamedTuple):
    """Player 0's infostate values at one belief: the ends of a line over all beliefs.

    Attributes:
      belief: the probability of the second private state.
      ends: `[2]` the values of the first and of the second private state there.
    """

    belief: float
    ends: Floats

    def at(self, belief: Floats) -> Floats:
        """Returns the height of the line over other beliefs."""
        return self.ends[0] * (1.0 - belief) + self.ends[1] * belief


def coin_line(belief: float) -> ValueLine:
    """Returns the line at a belief that the coin shows heads; the first private state is tails."""
    space = search_space(compile_game(load_game("coin_guess(p=0.5)")), 1)
    beliefs = np.array([[belief, 1.0 - belief], [1.0, 0.0]])
    return ValueLine(belief, exact_values(space, 0, beliefs)[0][::-1])


def bluff_line(belief: float) -> ValueLine:
    """Returns the line after a bet in Kuhn poker: player 0 holds a jack with probability `belief`, else a king."""
    space = search_space(compile_game(load_game("kuhn_poker")), 1)
    bet = int(space.classes.of_node[node_of(space.tree, "bet")])
    beliefs = np.array([[belief, 0.0, 1.0 - belief], [1 / 3, 1 / 3, 1 / 3]])
    return ValueLine(belief, exact_values(space, bet, beliefs)[0][[2, 0]])


def draw_values(path: Path) -> None:
    """Draws the value over beliefs with lines of infostate values, in two games."""
    pyplot = house_pyplot()
    figure, axes = pyplot.subplots(1, 2, figsize=(9.6, 3.8))
    games = (
        (axes[0], coin_line, (0.2, 0.8), "coin_guess", "belief that the coin shows heads", ("tails", "heads"), "lower center"),
        (axes[1], bluff_line, (0.15, 0.6), "kuhn_poker after a bet", "belief in a bluff (J, else K)", ("K", "J"), "lower left"),
    )
    for axis, line_at, chosen, title, label, names, corner in games:
        beliefs = np.linspace(0.0, 1.0, 41)
        axis.plot(beliefs, [float(line_at(b).at(np.array(b))) for b in beliefs], color=INK, lw=2.4, label="value", zorder=3)
        for belief, colour in zip(chosen, (BLUE, RED), strict=True):
            line = line_at(belief)
            axis.plot([0, 1], line.ends, color=colour, lw=1.4, ls="--", zorder=2, label=f"infostate values at {belief:g}")
            axis.plot([0, 1], line.ends, "o", color=colour, ms=5, clip_on=False, zorder=4)
            axis.plot([belief], [float(line.at(np.array(belief)))], "o", color="white", mec=colour, mew=1.6, ms=7, zorder=5)
            for end, (height, name) in enumerate(zip(line.ends, names, strict=True)):
                drop = -15 + 6 * end if (colour, names) == (BLUE, ("K", "J")) else 0  # out of the way of its line
                place = {"xytext": (7 - 14 * end, drop), "textcoords": "offset points", "ha": ("left", "right")[end]}
                text = f"{name}: {height:.1f}" if abs(height) > 1e-9 else f"{name}: 0"
                axis.annotate(text, (end, height), va="center", fontsize=8, color=colour, **place)
        axis.set(xlim=(0, 1), xlabel=label)
        axis.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
        axis.grid(True, alpha=0.3)
        axis.legend(fontsize=8, frameon=False, loc=corner)
        axis.set_title(title, fontsize=10)
    axes[0].set_ylabel("value for player 0")
    save_figure(figure, path)


# 4. A game of liar's dice, as the pretrained agent and an equilibrium understand it.


class DiceGame(NamedTuple):
    """A game between two copies of the pretrained agent.

    Attributes:
      rolls: the players' dice.
      bids: their bids, before the call of liar.
      beliefs: about each player, `[4]`, at the start and after each bid, as the agent in seat 0 holds them.
    """

    rolls: tuple[str, str]
    bids: list[str]
    beliefs: list[tuple[Floats, Floats]]


def play_dice(seed: int = DICE_SEED) -> DiceGame:
    """Returns a game with the beliefs of the agent in seat 0."""
    game = load_game(DICE)
    agents = [load_agent("pretrained:liars_dice_1x4f", game, np.random.default_rng([seed, seat])) for seat in (0, 1)]
    table = Table(game, np.random.default_rng([seed, 2]))
    rolls = [sight.private[0] for sight in table.sights if sight is not None]
    for seat, agent in enumerate(agents):
        agent.start(seat)
    bids, beliefs = [], []
    while True:
        for agent, sight in zip(agents, table.sights, strict=True):
            assert sight is not None
            agent.observe(sight)
        if table.actor == TERMINAL:
            return DiceGame((rolls[0], rolls[1]), bids[:-1], beliefs)
        view = agents[0].view()
        assert view is not None
        beliefs.append(view.beliefs)
        action = agents[table.actor].act()
        bids.append(game.action_name(action))
        table.play(action)


def solved_beliefs(bids: list[str]) -> list[tuple[Floats, Floats]]:
    """Returns the beliefs at the start and after each bid by Bayes' rule, from a tabular solution."""
    solved = solve(DICE, solver="dcfr", iterations=1_000).strategy
    nodes = [node_of(solved.tree, " ".join(bids[:count])) for count in range(len(bids) + 1)]
    return [belief_state(solved.tree, solved.probabilities, node).beliefs for node in nodes]


def draw_dice(path: Path) -> None:
    """Draws a heat map of beliefs for each player: one column a bid, one row a face."""
    pyplot = house_pyplot()
    figure, axes = pyplot.subplots(2, 2, figsize=(8.6, 4.4))
    played = play_dice()
    sources = (("agent that searches", played.beliefs), ("solved in tables", solved_beliefs(played.bids)))
    for row, (source, beliefs) in enumerate(sources):
        for player, colours in enumerate((BLUES, REDS)):
            axis = axes[row, player]
            for column, believed in enumerate(beliefs):
                for face, belief in enumerate(believed[player]):
                    _cell(axis, face, column, belief, colours)
            held = (0, int(played.rolls[player]) - 1)
            axis.add_patch(Rectangle(held, len(beliefs), 1, fill=False, edgecolor=INK, lw=1.4, zorder=5, clip_on=False))
            labels = ["dice rolled", *(f"player {turn % 2}: {bid}" for turn, bid in enumerate(played.bids))]
            axis.set_xticks(np.arange(len(beliefs)) + 0.5, labels)
            axis.set_yticks(np.arange(4) + 0.5, ["1", "2", "3", "4"])
            axis.set(xlim=(0, len(beliefs)), ylim=(4, 0))
            _bare(axis)
            if row == 0:
                axis.set_title(f"player {player}'s die", fontsize=10, color=(BLUE, RED)[player])
        axes[row, 0].set_ylabel(source, labelpad=8)
    save_figure(figure, path)


def node_of(tree: PublicTree, public: str) -> int:
    """Returns the node whose public label is `public`."""
    nodes = tree.require_nodes()
    return next(node for node in range(len(nodes)) if tree.public_label(node) == public)


def _cell(axis: Any, row: float, column: float, share: float, colours: Any, strongest: float = 1.0) -> None:
    """Draws a probability as a coloured square with its percentage."""
    depth = min(1.0, share / strongest)
    axis.add_patch(Rectangle((column, row), 1, 1, facecolor=colours(depth), edgecolor="white", lw=1.5))
    text = f"{100 * share:.0f}%" if share >= 0.005 else "0"
    ink = "white" if depth > 0.7 else (INK if share >= 0.005 else GREY)
    axis.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=8, color=ink)


def _bare(axis: Any) -> None:
    """Removes an axis's lines and keeps its labels."""
    axis.tick_params(length=0)
    for spine in axis.spines.values():
        spine.set_visible(False)


def main() -> None:
    """Draws all pictures."""
    FOLDER.mkdir(exist_ok=True)
    draw_kuhn(FOLDER / "rebel_kuhn.png")
    draw_rps(FOLDER / "rebel_rps.png")
    draw_values(FOLDER / "rebel_values.png")
    draw_dice(FOLDER / "rebel_dice.png")


if __name__ == "__main__":
    main()
