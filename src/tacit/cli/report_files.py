"""Reports over many boards as a CSV file, which can be continued, and as a picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.cards.boards import DrawnBoard
from tacit.colors import action_colors
from tacit.errors import TacitError
from tacit.files import check_readable, write_whole
from tacit.plots import house_pyplot, save_figure, wrapped_name
from tacit.solvers.board_report import BoardPlay, LinePlay, OpenSpot

_START = "start"
_NUMBERS = {
    "boards": "count", "weight": "weight", "exploitability": "exploitability", "iterations": "iterations", "seconds": "seconds",
}  # fmt: skip
"""Columns of single numbers, and their names in `BoardPlay`."""
_NAMES_OF_BARS = 60
"""Most boards for which the bars of a picture have names."""


def write_report(path: Path, plays: Sequence[BoardPlay]) -> None:
    """Writes a line for each board: figures of the solve, then each line's frequencies and EVs, and the game itself."""
    text = io.StringIO()
    rows = [_row(play) for play in plays]
    writer = csv.DictWriter(text, list(rows[0]) if rows else ["board"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, text.getvalue().encode())


def read_report(path: Path, spot: OpenSpot, lines: Mapping[str, int], target: float) -> dict[str, BoardPlay]:
    """Returns the boards of a report that were solved well enough, by name; none if there is no file yet.

    Args:
      path: the CSV file.
      spot: the spot that the report must be about.
      lines: the lines that it must have, each with the player who acts there.
      target: the exploitability that a board must have reached.

    Raises:
      TacitError: the file is not a report, or is a report of another spot, other lines or other boards.
    """
    if not path.exists():
        return {}
    check_readable(path)
    elsewhere = "name another --csv file"
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text()), restkey=""))
        plays = [_play(row, lines) for row in rows]
    except (KeyError, TypeError, ValueError, OverflowError, csv.Error):
        raise TacitError(f"{path} is no report about these lines: {elsewhere}") from None
    wanted = {str(board): board for board in spot.boards}
    for play in plays:
        if play.board not in wanted:
            raise TacitError(f"{path} has a board, {play.board}, that is not asked for: ask for more --boards, or {elsewhere}")
        if play.game != str(spot.game(wanted[play.board])):
            raise TacitError(f"{path} is a report of {play.game}: {elsewhere}")
    return {play.board: _counted(play, wanted[play.board]) for play in plays if play.exploitability <= target}


def _counted(play: BoardPlay, board: DrawnBoard) -> BoardPlay:
    """Returns a board's play with this report's count and weight, since more boards may have been drawn than before."""
    return BoardPlay(**{**vars(play), "count": board.count, "weight": board.weight})


def _row(play: BoardPlay) -> dict[str, Any]:
    row: dict[str, Any] = {"board": play.board}
    row.update({column: getattr(play, name) for column, name in _NUMBERS.items()})
    for player in (0, 1):
        row[f"ev {player}"], row[f"equity {player}"] = play.ev[player], play.equity[player]
    for line in play.lines:
        where = line.line or _START
        row[f"{where}: reached"] = line.reached
        row.update({f"{where}: {name} frequency": share for name, share in line.frequency.items()})
        row.update({f"{where}: {name} ev": value for name, value in line.ev.items()})
    return {**row, "game": play.game}


def _play(row: dict[str, str], lines: Mapping[str, int]) -> BoardPlay:
    numbers = {name: float(row[column]) for column, name in _NUMBERS.items()}
    pairs = {name: (float(row[f"{name} 0"]), float(row[f"{name} 1"])) for name in ("ev", "equity")}
    plays = []
    for line, player in lines.items():
        where = f"{line or _START}: "
        names = [key.removeprefix(where).removesuffix(" ev") for key in row if key.startswith(where) and key.endswith(" ev")]
        frequency = {name: float(row[f"{where}{name} frequency"]) for name in names}
        ev = {name: float(row[f"{where}{name} ev"]) for name in names}
        plays.append(LinePlay(line, player, float(row[f"{where}reached"]), frequency, ev))
    whole = {"count": int(numbers.pop("count")), "iterations": int(numbers.pop("iterations"))}
    return BoardPlay(row["game"], row["board"], lines=tuple(plays), **whole, **numbers, **pairs)  # type: ignore[arg-type]


def draw_report(path: Path, spot: str, plays: Sequence[BoardPlay]) -> None:
    """Draws a panel for each line; in it a bar for each board, in order, shows how often each action is taken."""
    pyplot = house_pyplot()
    num_lines = len(plays[0].lines)
    width = min(14.0, max(6.0, 2.5 + 0.16 * len(plays)))
    figure, axes = pyplot.subplots(num_lines, 1, figsize=(width, 0.9 + 2.3 * num_lines), squeeze=False, sharex=True)
    for number, axis in enumerate(axes[:, 0]):
        first = plays[0].lines[number]
        bottom = [0.0] * len(plays)
        names = list(first.frequency)[::-1]  # large bets at the bottom, so that the frequency of all bets is easy to see
        for name, color in zip(names, action_colors(list(first.frequency))[::-1], strict=True):
            shares = [100 * play.lines[number].frequency[name] for play in plays]
            axis.bar(range(len(plays)), shares, 0.9, bottom, label=name, color=color, linewidth=0)
            bottom = [low + share for low, share in zip(bottom, shares, strict=True)]
        axis.set_title(
            f"player {first.player} {'after ' + first.line if first.line else 'at the start'}", fontsize=9, loc="left"
        )
        axis.set_ylim(0, 100)
        axis.set_xlim(-0.6, len(plays) - 0.4)
        axis.set_ylabel("% of the range")
        handles, labels = axis.get_legend_handles_labels()
        axis.legend(handles[::-1], labels[::-1], loc="upper left", bbox_to_anchor=(1.0, 1.02), frameon=False, fontsize=8)
    bottom_axis = axes[-1, 0]
    if len(plays) <= _NAMES_OF_BARS:
        bottom_axis.set_xticks(range(len(plays)), [play.board for play in plays], rotation=90, fontsize=6, family="monospace")
    else:
        bottom_axis.set_xlabel(f"{len(plays)} boards, those with most bets at the start first")
    figure.suptitle(wrapped_name(spot, int(11 * width)), fontsize=8)
    figure.tight_layout()
    save_figure(figure, path)
