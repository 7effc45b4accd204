"""Histories in words, for users who look for a mistake in the rules of their game."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from tacit.games.base import CHANCE, Game, InfostateGame, Moves

MOST_LETTERS = 200
"""The most letters shown of an observation or a name."""
SHOWN_MOVES = 20
"""The most moves shown of a history."""


def history_in_words(game: Game[Any], moves: Moves) -> tuple[str, ...]:
    """Returns the moves of a history in words: players' actions and chance outcomes, or numbers if the rules fail.

    It must not fail, whatever the rules do: it helps to explain their mistakes.
    """
    words: list[str] = []
    state: Any = None
    with suppress(Exception):
        state = game.initial_state()
        for move in moves:
            actor = game.actor(state)
            if actor == CHANCE:
                state = game.apply(state, move)
                words.append(f"chance {move}{_sights_in_words(game, state)}")
            else:
                words.append(f"player {_short(str(actor))}: {action_in_words(game, state, move)}")
                state = game.apply(state, move)
    return (*words, *map(str, moves[len(words) :]))


def action_in_words(game: Game[Any], state: Any, action: int) -> str:
    """Returns an action's name, or its number if the game does not name it."""
    with suppress(Exception):
        name = _short(game.action_name_at(state, action))
        return name if name != str(action) else f"action {action}"
    return f"action {action}"


def _sights_in_words(game: Game[Any], state: Any) -> str:
    """Returns what each player sees on arrival at a state, in parentheses; empty if nobody sees anything."""
    if isinstance(game, InfostateGame):
        return ""
    with suppress(Exception):
        sights = {"all": game.public_observation(state)}
        sights |= {f"player {player}": game.private_observation(state, player) for player in (0, 1)}
        seen = ", ".join(f"{who} see{'' if who == 'all' else 's'} {_short(what)}" for who, what in sights.items() if what)
        return f" ({seen})" if seen else ""
    return ""


def _short(text: str) -> str:
    """Returns a text from the game on one line, shortened if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_LETTERS else f"{line[:MOST_LETTERS]}..."


def after(words: tuple[str, ...]) -> str:
    """Returns moves in words as the time of an event: "after ..." or "at the start"."""
    shown = [*words[:SHOWN_MOVES], *["..."] * (len(words) > SHOWN_MOVES)]
    return f"after {', '.join(shown)}" if words else "at the start"
