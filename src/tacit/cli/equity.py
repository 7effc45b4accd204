"""`tacit equity`: the equity of one range of hold'em hands against another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.common import JsonOption, SeedOption, plain_table, print_json, print_lines, printer
from tacit.errors import TacitError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.cards.equity import RangeEquity


def equity(
    range0: Annotated[str, typer.Argument(help="Player 0's hands, like AA,AKs,QJo:0.5, 'top 20%' or random.")],
    range1: Annotated[str, typer.Argument(help="Player 1's hands, likewise.")],
    board: Annotated[str, typer.Option(help="The board: no cards, or 3, 4 or 5, like 3s7hTd.")] = "",
    hands: Annotated[bool, typer.Option("--hands", help="Also print the equity of every hand of both ranges.")] = False,
    as_json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """Compute the equity of one range against another: its share of the pot if nobody bets again, ties counted half.

    The result is exact on any board: all possible boards are counted.

    Examples:

      tacit equity AA KK

      tacit equity "top 15%" "random,72o:0" --board 3s7hTd

      tacit equity "QQ+,AKs" "JJ-88,AQ" --board Ks7h2d9c --hands
    """
    from tacit.cards.deck import parse_cards
    from tacit.cards.equity import range_equity
    from tacit.cards.ranges import check_range, parse_range

    del seed  # nothing random happens here
    cards = parse_cards(board)
    if len(cards) not in (0, 3, 4, 5):
        raise TacitError(f"--board must have 3, 4 or 5 cards, or none, not {len(cards)}")
    weights = []
    for number, text in enumerate((range0, range1)):
        try:
            weights.append(parse_range(text.replace("|", ",")))
            check_range(weights[-1], cards)
        except TacitError as error:
            raise TacitError(f"range {number}: {error}") from None
    result = range_equity(weights[0], weights[1], cards)
    report = _report(result, (range0, range1), board)
    rows = _hand_rows(result, weights, cards)
    if as_json:
        print_json({**report, **({"hands": rows} if hands else {})})
        return
    table = plain_table("player", "range", "hands", "equity")
    for player in (0, 1):
        held = sum(row["weight"] for row in rows if row["player"] == player)
        table.add_row(str(player), (range0, range1)[player], f"{held:,.6g}", f"{100 * report['equity'][player]:.3f} %")
    printer().print(table)
    where = f"on {board}" if board else "before the flop"
    print_lines(f"exact {where}: all {result.num_boards:,} boards of every pair of hands, ties counted half")
    if hands:
        _print_hands(rows)


def _report(result: RangeEquity, ranges: tuple[str, str], board: str) -> dict[str, Any]:
    shares = [result.equity, 1.0 - result.equity]
    return {"ranges": list(ranges), "board": board, "equity": shares, "kind": "exact", "boards_per_pair": result.num_boards}


def _hand_rows(result: RangeEquity, weights: list[NDArray[np.float64]], board: tuple[int, ...]) -> list[dict[str, Any]]:
    """Returns every hand that the players can hold, the best first."""
    import numpy as np

    from tacit.cards.hands import hand_name, possible_hands

    rows = []
    for player in (0, 1):
        own, shares = weights[player], result.hand_equity[player]
        held = np.flatnonzero((own > 0) & possible_hands(board) & ~np.isnan(shares))
        for hand in held[np.argsort(-shares[held], kind="stable")].tolist():
            rows.append({"player": player, "hand": hand_name(hand), "weight": float(own[hand]), "equity": float(shares[hand])})
    return rows


def _print_hands(rows: list[dict[str, Any]]) -> None:
    table = plain_table("player", "hand", "weight", "equity")
    for row in rows:
        table.add_row(str(row["player"]), row["hand"], f"{row['weight']:.4g}", f"{100 * row['equity']:.3f} %")
    printer().print(table)
