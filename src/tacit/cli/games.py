"""`tacit games`: what can be solved and played."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tacit.cli.common import JsonOption, SeedOption, plain_table, print_json, printer


def games(
    game: Annotated[str | None, typer.Argument(help="Show this game in detail.")] = None,
    as_json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """List the games with their parameters and sizes, or show one in detail.

    Examples:

      tacit games

      tacit games "liars_dice(dice=2,faces=3)"

      tacit games openspiel:leduc_poker
    """
    from tacit.games import load_game, registered_games
    from tacit.tree.estimate import readable_count

    del seed  # nothing random happens here
    chosen = [load_game(game)] if game else [load_game(name) for name in registered_games()]
    rows = [_describe(rules) for rules in chosen]
    if as_json:
        print_json({"games": rows} if game is None else rows[0])
        return
    console = printer()
    table = plain_table("game", "public states", "infostates", "histories", "value")
    for row in rows:
        numbers = ("" if row[key] is None else readable_count(row[key]) for key in ("public_states", "infostates", "histories"))
        table.add_row(row["game"], *numbers, "" if row["known_value"] is None else f"{row['known_value']:.6g}")
    console.print(table)
    if game:
        console.print(f"\n{rows[0]['rules']}")
    else:
        console.print("openspiel:<game>  any two-player zero-sum OpenSpiel game that enumerates")
        console.print("file.py:Class     a game of your own (see examples/own_game.py)")


def _describe(game: Any) -> dict[str, Any]:
    from tacit.tree.compiler import has_direct_builder
    from tacit.tree.estimate import estimate

    known = game.known_value()
    cost = estimate(game, has_direct_builder(game))
    size = cost.size
    return {
        "game": str(game),
        "parameters": game.parameters,
        "public_states": size.public_states if cost.exact else None,
        "infostates": size.infostates if cost.exact else None,
        "histories": size.histories,
        "histories_exact": cost.exact,
        "memory_bytes": cost.num_bytes,
        "known_value": None if known is None else known.value,
        "known_value_source": None if known is None else known.source,
        "rules": "\n\n".join(" ".join(part.split()) for part in (type(game).__doc__ or "").split("\n\n")).strip(),
    }
