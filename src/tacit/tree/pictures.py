"""Trees, strategies and public states drawn for notebooks, from data at hand (no pass runs) and limited in size."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any

import numpy as np

from tacit.cards.deck import parse_cards
from tacit.cards.grid import SIZE, cell_name, overall_frequencies, reach_grid, strategy_grid
from tacit.cards.hands import NUM_HANDS, possible_hands
from tacit.colors import colors_for
from tacit.errors import TacitError
from tacit.html import card, facts, legend, meter, safe_text, short_number, stacked_bar, svg, table
from tacit.tree.base import Floats, Strategy, Tree
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.hand_tree import START
from tacit.tree.node_view import Belief, NodeView
from tacit.tree.public_tree import PublicTree

MAX_ROWS = 20
"""Rows of a table: private states or infostates."""
MAX_NODES = 28
"""Public states drawn in a tree."""
MAX_NAMED = 50_000
"""Largest tree of rows that is drawn: naming the first public state takes time for all of them."""
MAX_CHILDREN = 3
"""Public states drawn below any one."""
MAX_DEPTH = 5
"""Depth of a drawn tree, in moves."""
MAX_WORDS = 40
"""Characters shown of a step in a drawn tree."""
_PLAYER_COLORS, _OVER = ("#4a87c9", "#e08a3c"), "#979dab"
_CELL = 26


def view_html(view: NodeView) -> str:
    """Returns a public state as HTML: a grid of hands in hold'em, else a row for each private state."""
    if view.hands is not None:
        return card(view.heading, _view_grid(view), note=view.game)
    colors, acting = colors_for(view.actions), view.acting
    shown = np.sort(np.argsort(-acting.reach, kind="stable")[:MAX_ROWS]).tolist()
    rows = []
    for row in shown:
        weight = float(acting.weight[row])
        value = [] if acting.infostate_value is None else [short_number(float(acting.infostate_value[row]))]
        played = stacked_bar(view.strategy[row].tolist(), view.actions, colors)
        rows.append([safe_text(acting.names[row] or "-"), meter(weight), short_number(weight, 3), *value, played])
    head = ["private", "", "weight", *([] if acting.infostate_value is None else ["value"]), "plays"]
    left = len(view) - len(shown)
    return card(
        view.heading, legend(view.actions, colors, view.frequencies.tolist()), table(head, rows),
        note=view.game + (f"; {left:,} more private states" if left else ""),
    )  # fmt: skip


def belief_html(belief: Belief) -> str:
    """Returns the most likely private states as HTML."""
    likely = np.argsort(-belief.probabilities, kind="stable")[:MAX_ROWS].tolist()
    shares = [(belief.names[state], float(belief.probabilities[state])) for state in likely]
    rows = [[safe_text(name or "-"), meter(share, 160), short_number(share, 3)] for name, share in shares]
    left = len(belief) - len(likely)
    title, note = f"belief about player {belief.player}", f"... and {left:,} less likely ones" if left else ""
    return card(title, table(["private", "", "probability"], rows), note=note)


def strategy_html(strategy: Strategy) -> str:
    """Returns the first infostates of a strategy as HTML; in hold'em the grid of the first decision."""
    tree, title = strategy.tree, f"strategy of {strategy.tree.game}"
    if isinstance(strategy, HandStrategy):
        spot = START
        if tree.actor_at(spot) < 0:
            return card(title, _size(tree))
        reach = np.zeros(NUM_HANDS)
        reach[strategy.tree.hands(spot)] = strategy.tree.root_reach[tree.actor_at(spot)]
        grid = _grid(strategy.played(spot), reach, strategy.tree.action_names(spot.node), strategy.tree.board(spot))
        return card(title, _size(tree), f"player {tree.actor_at(spot)} at the start", grid)
    if not _nameable(tree):
        return card(title, _size(tree))
    decisions = list(islice(strategy, MAX_ROWS))
    names = list(dict.fromkeys(name for decision in decisions for name in decision.probabilities))
    colors = dict(zip(names, colors_for(names), strict=True))
    rows = []
    for decision in decisions:
        actions = list(decision.probabilities)
        bar = stacked_bar(list(decision.probabilities.values()), actions, [colors[name] for name in actions])
        rows.append([str(decision.player), safe_text(decision.public or "-"), safe_text(decision.private or "-"), bar])
    left = len(strategy) - len(decisions)
    return card(
        title, legend(names, list(colors.values())), table(["player", "public", "private", "plays"], rows, 4),
        note=f"... and {left:,} more infostates" if left else "",
    )  # fmt: skip


def tree_html(tree: Tree) -> str:
    """Returns the size of a tree and its first public states with their actors, as HTML."""
    drawn = _tree_picture(tree) if _nameable(tree) else ""
    players = legend(["player 0 acts", "player 1 acts", "game over"], [*_PLAYER_COLORS, _OVER]) if drawn else ""
    return card(f"public tree of {tree.game}", _size(tree), drawn, players)


def _nameable(tree: Tree) -> bool:
    """Returns whether naming public states is fast: trees of rows name all of them on first use."""
    return not isinstance(tree, PublicTree) or (tree.nodes is not None and tree.num_nodes <= MAX_NAMED)


def _size(tree: Tree) -> str:
    return facts({"public states": tree.num_nodes, "infostates": tree.num_infostates})


@dataclass(frozen=True)
class _Drawn:
    """A public state of a picture.

    Attributes:
      line: The line that leads there.
      words: The last step of the line.
      actor: The player who acts there.
      depth: The number of steps of the line.
      steps: The steps that can follow.
      below: The public states after the first few of these steps.
    """

    line: str
    words: str
    actor: int
    depth: int
    steps: list[str]
    below: list[_Drawn] = field(default_factory=list)


def _first_nodes(tree: Tree) -> _Drawn:
    """Returns the start with the nearest public states below it, at most `MAX_NODES` in all."""

    def visit(line: str, words: str, depth: int) -> _Drawn:
        spot = tree.find(line)
        return _Drawn(line, words, tree.actor_at(spot), depth, tree.steps_after(spot))

    def follow(above: _Drawn, step: str) -> _Drawn | None:
        try:
            return visit(f"{above.line} / {step}" if above.line else step, step, above.depth + 1)
        except TacitError:  # the name is not a single step, because it has a slash in it
            return None

    start = visit("", "start", 0)
    queue, room = deque([start]), MAX_NODES - 1
    while queue:
        above = queue.popleft()
        for step in above.steps[: min(MAX_CHILDREN, room) if above.depth < MAX_DEPTH else 0]:
            below = follow(above, step)
            if below is not None:
                above.below.append(below)
                queue.append(below)
                room -= 1
    return start


def _tree_picture(tree: Tree) -> str:
    """Returns an SVG of the first public states, each on a line of its own below its parent."""
    height, step, parts, widths, row = 22, 34, list[str](), [0], count()

    def draw(one: _Drawn, above: tuple[int, int] | None) -> None:
        x, y = 14 + step * one.depth, 14 + height * next(row)
        if above is not None:
            parts.append(_branch(above, (x, y)))
        color = _PLAYER_COLORS[one.actor] if one.actor >= 0 else _OVER
        parts.append(f'<circle cx="{x}" cy="{y}" r="6" fill="{color}"/>')
        left = len(one.steps) - len(one.below)
        more = f"… {left:,} more" if left else ""
        write(one.words, x, y, "" if one.below else more)
        for below in one.below:
            draw(below, (x, y))
        if one.below and more:
            spot = x + step, 14 + height * next(row)
            parts.append(_branch((x, y), spot))
            write("", *spot, more)

    def write(words: str, x: int, y: int, more: str) -> None:
        words = words if len(words) <= MAX_WORDS else words[: MAX_WORDS - 1] + "…"
        faint = f'<tspan dx="{6 if words else -8}" opacity=".55">{more}</tspan>'
        parts.append(f'<text x="{x + 11}" y="{y + 4}" font-size="12" fill="currentColor">{safe_text(words)}{faint}</text>')
        widths.append(x + 26 + 7 * (len(words) + len(more)))

    try:
        start = _first_nodes(tree)
    except TacitError:  # the game starts in one of several public states
        return ""
    draw(start, None)
    return svg(max(widths), 6 + height * next(row), "the first public states", "".join(parts))


def _branch(above: tuple[int, int], spot: tuple[int, int]) -> str:
    return f'<path d="M{above[0]},{above[1] + 6}V{spot[1]}H{spot[0] - 7}" fill="none" stroke="rgba(128,128,128,.5)"/>'


def _view_grid(view: NodeView) -> str:
    assert view.hands is not None
    strategy, reach = np.zeros((len(view.actions), NUM_HANDS)), np.zeros(NUM_HANDS)
    strategy[:, view.hands] = np.nan_to_num(view.strategy.T)
    reach[view.hands] = view.acting.reach
    return _grid(strategy, reach, view.actions, parse_cards(view.board) if view.board else ())


def _grid(strategy: Floats, reach: Floats, names: list[str], board: Any) -> str:
    """Returns the 13 x 13 grid of hands: each cell is filled by its reach and split by action, the largest raise first."""
    possible = possible_hands(tuple(board))
    frequency, filled, colors = strategy_grid(strategy, reach), reach_grid(reach, possible), colors_for(names)
    parts = []
    for row, column in np.ndindex(SIZE, SIZE):
        x, y, name = _CELL * column, _CELL * row, cell_name(row, column)
        parts.append(f'<rect x="{x}" y="{y}" width="{_CELL - 1}" height="{_CELL - 1}" fill="rgba(128,128,128,.18)"/>')
        level = max(float(filled[row, column]), 0.12) if filled[row, column] > 0 else 0.0
        tall, left, told = (_CELL - 1) * level, float(x), [name]
        for action in reversed(range(len(names))) if level else ():
            share = float(frequency[action, row, column])
            if share > 0.002:
                wide = (_CELL - 1) * share
                parts.append(
                    f'<rect x="{left:.1f}" y="{y + _CELL - 1 - tall:.1f}" width="{wide:.1f}" height="{tall:.1f}" '
                    f'fill="{colors[action]}"/>'
                )
                told.append(f"{safe_text(names[action])} {100 * share:.0f} %")
                left += wide
        ink = (
            'fill="#fff" stroke="#0006" stroke-width="2" paint-order="stroke"' if level else 'fill="currentColor" opacity=".45"'
        )
        parts.append(
            f'<text x="{x + _CELL / 2 - 0.5}" y="{y + _CELL / 2 + 3}" font-size="9" text-anchor="middle" {ink}>{name}'
            f"<title>{', '.join(told)}</title></text>"
        )
    side = _CELL * SIZE
    shares = legend(names[::-1], colors[::-1], overall_frequencies(strategy, reach).tolist()[::-1])
    return f'<div style="margin-bottom:6px">{shares}</div>' + svg(side, side, "what each hand does", "".join(parts))
