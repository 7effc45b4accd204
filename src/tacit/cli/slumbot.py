"""`tacit slumbot`: an agent against Slumbot, over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.acpc import say, uninterrupted
from tacit.cli.common import (
    JsonOption,
    SearchDeviceOption,
    SearchIterationsOption,
    SearchTimeOption,
    SeedOption,
    print_json,
    progress_monitor,
    seconds_option,
    what_is_kept,
)
from tacit.errors import TacitError

if TYPE_CHECKING:
    from tacit.arena.score import Score
    from tacit.arena.slumbot import SlumbotHand


def slumbot(
    agent: Annotated[str, typer.Argument(help="The agent that plays, as in `tacit play`, like random.")],
    hands: Annotated[int, typer.Option(min=1, help="Number of hands, including those of a resumed file.")] = 1_000,
    url: Annotated[str, typer.Option(help="URL of the server's API.")] = "https://slumbot.com/api",
    out: Annotated[str, typer.Option(help="File for the results, one JSON line per hand.")] = "slumbot.jsonl",
    resume: Annotated[bool, typer.Option("--resume", help="Continue the match in that file.")] = False,
    username: Annotated[str | None, typer.Option(help="An account on the server.")] = None,
    password: Annotated[str | None, typer.Option(envvar="SLUMBOT_PASSWORD", help="The account's password.")] = None,
    game: Annotated[str, typer.Option(help="The game with the agent's bet menu, as in `tacit games`.")] = "no_limit_holdem",
    pause: Annotated[float, seconds_option("Seconds between requests; be kind to the server.")] = 0.5,
    timeout: Annotated[float, seconds_option("Seconds to wait for an answer.")] = 60.0,
    retries: Annotated[int, typer.Option(min=0, help="How many attempts in a row may fail.")] = 8,
    iterations: SearchIterationsOption = None,
    device: SearchDeviceOption = None,
    time_per_decision: SearchTimeOption = None,
    as_json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """Play an agent against Slumbot (no-limit, 200 big blinds), one request after the other.

    A hand in which an answer is lost is given up and does not count. The results record both players' cards and the betting.

    Examples:

      tacit slumbot random --hands 100

      tacit slumbot random --hands 1000 --out slumbot.jsonl --resume
    """
    import numpy as np

    from tacit.agents.options import SearchOptions
    from tacit.arena.hands import full_game
    from tacit.arena.journal import Journal
    from tacit.arena.score import Score
    from tacit.arena.slumbot import Connection, SlumbotMatch
    from tacit.artifacts import load_agent

    if (username is None) != (password is None):
        raise TacitError("--username and --password go together")
    rules = full_game(game)
    score, abandoned = Score(rules.rules.big_blind), 0
    if resume and Path(out).exists():
        abandoned = _count(score, out, agent)
    options = SearchOptions(iterations=iterations, device=device, time_per_decision=time_per_decision)
    player = load_agent(agent, rules, np.random.default_rng([seed, score.hands]), options)
    connection = Connection(url, pause, timeout, None if username is None or password is None else (username, password))
    match = SlumbotMatch(rules, player, connection, say, retries)
    journal = Journal(out, resume=resume)
    if not journal.path.stat().st_size:
        journal.write({"agent": agent, "game": str(rules), "url": url, "seed": seed})
    kept = what_is_kept(lambda: f"{score.hands} of {hands} hands are in {out}; continue with --resume")
    with kept, progress_monitor() as monitor:
        while score.hands < hands:
            monitor.step(f"{player.name} - slumbot", score.hands, hands, "hands", score.brief)
            hand = match.play(lambda reason: journal.write({"abandoned": reason}))
            with uninterrupted():
                score.add(hand.state.winnings or 0)
                journal.write({"hand": score.hands - 1, **_entry(hand)})
    abandoned += match.abandoned
    report = {
        "game": str(rules), "agent": player.name, "opponent": "slumbot", **score.as_dict(),
        "abandoned": abandoned, "url": url, "out": out, "seed": seed,
    }  # fmt: skip
    lost = f"; {abandoned} more were given up" if abandoned else ""
    print_json(report) if as_json else print(f"{player.name}: {score}; results in {out}{lost}")


def _count(score: Score, out: str, agent: str) -> int:
    """Adds the hands that earlier sessions finished to the score; returns how many they gave up."""
    from tacit.arena.journal import read_journal

    entries = read_journal(out)
    if entries and entries[0].get("agent") != agent:
        raise TacitError(f"{out} holds hands of {entries[0].get('agent')!r}, not of {agent!r}: give another file")
    for entry in entries:
        if isinstance(entry.get("winnings"), int):
            score.add(entry["winnings"])
    return sum("abandoned" in entry for entry in entries)


def _entry(hand: SlumbotHand) -> dict[str, Any]:
    """Returns the record of a hand: everything that judging it later needs."""
    from tacit.cards.deck import card_names

    state = hand.state
    return {
        "client_pos": state.position, "winnings": state.winnings, "baseline_winnings": state.baseline,
        "replayed": hand.replayed, "hole_cards": card_names(state.hand), "bot_hole_cards": card_names(state.bot_hand),
        "board": card_names(state.board), "action": state.text, "actions": hand.actions,
    }  # fmt: skip
