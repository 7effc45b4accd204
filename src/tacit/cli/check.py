"""`tacit check`: whether a game's rules obey the protocol."""

from __future__ import annotations

from typing import Annotated

import typer

from tacit.cli.common import JsonOption, SeedOption, number_option, print_json, print_lines


def check(
    game: Annotated[str, typer.Argument(help="FILE.py:CLASS or FILE.py:CLASS(key=value,...), or any other game.")],
    histories: Annotated[int, number_option("Histories to check; a larger game is sampled by random play.")] = 50_000,
    as_json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """Check the rules of your own game. Each breach of the protocol is explained by a play of the game that shows it.

    Exits with 1 if a rule is broken.

    Examples:

      tacit check examples/own_game.py:OneCardBluff

      tacit check "examples/own_game.py:OneCardBluff(cards=6)" --histories 500000

      tacit check openspiel:leduc_poker --json
    """
    from dataclasses import asdict

    from tacit.games import load_game
    from tacit.games.check import check_game
    from tacit.games.own import parse_own
    from tacit.games.registry import make_own_game

    own = parse_own(game)
    report = check_game(load_game(game) if own is None else make_own_game(own), max_histories=histories, seed=seed)
    print_json({**asdict(report), "ok": report.ok}) if as_json else print_lines(*str(report).splitlines())
    if not report.ok:
        raise typer.Exit(1)
