"""Judges a finished hand: compares the person's moves with the equilibrium, or with the opponent's own search."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from tacit.agents.minimax import Minimax
from tacit.artifacts.default import is_small_board
from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.boards import is_board
from tacit.web.play.hand import Hand
from tacit.web.play.oracle import find_oracle, judgement


def judge_hand(game: AnyGame, hand: Hand, progress: Callable[[str], None]) -> str | None:
    """Adds a `judgement` or None to each step of a finished hand. Returns why there are none at all, or None.

    Args:
      game: The rules.
      hand: The finished hand.
      progress: Called with a text before slow work.
    """
    for step in hand.steps:
        step["judgement"] = None
    mine = [step for step in hand.steps if step["actor"] == "you"]
    if game.tree_layout != "rows":
        for step in mine:
            step["judgement"] = _by_search(step)
        return None if any(step["judgement"] for step in mine) else "the opponent's search says nothing about your moves"
    try:
        judged = _by_minimax(game, hand) if is_board(game) else find_oracle(game, progress).judge(hand.seat, hand.seen)
    except TacitError as error:
        return str(error)
    for step, verdict in zip(mine, judged, strict=True):
        step["judgement"] = verdict
    return None


def _by_minimax(game: AnyGame, hand: Hand) -> list[dict[str, Any]]:
    """Returns judgements of the person's moves on a board by perfect play.

    Raises:
      TacitError: the game is too large.
    """
    if not is_small_board(game):
        raise TacitError(f"{game} is too large to solve")
    solver, state, judged = Minimax(game), game.initial_state(), []
    for sight, after in pairwise(hand.seen):
        if sight.actor == hand.seat:
            values = solver.action_values(state)
            best = values == values.max()
            moves = [
                {"name": name, "share": float(good) / float(best.sum()), "value": float(value), "taken": action == after.action}
                for name, action, value, good in zip(sight.action_names, sight.legal_actions, values, best, strict=True)
            ]
            judged.append(judgement("Perfect play", "against perfect play", moves, 0.0))
        state = solver.after(state, after)
    return judged


def _by_search(step: dict[str, Any]) -> dict[str, Any] | None:
    """Returns a judgement by the opponent's own search with the person's hand, or None if it did not search."""
    own = (step["mind"] or {}).get("mine")
    if own is None or own["action_values"] is None:
        return None
    label = step["taken"]
    moves = [
        {"name": name, "share": share, "value": value, "taken": name == label}
        for name, share, value in zip(step["mind"]["actions"], own["strategy"], own["action_values"], strict=True)
    ]
    return judgement("By its own search, your hand plays", "by its own search", moves, 0.0)
