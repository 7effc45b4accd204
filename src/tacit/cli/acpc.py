"""`tacit acpc`: the computer poker competition's protocol, as a player or as the dealer."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Annotated

import typer

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

acpc = typer.Typer(
    help="Play hold'em with other programs by the computer poker competition's protocol (ACPC 2.0.0).", no_args_is_help=True
)


GameOption = Annotated[
    str, typer.Option("--game", help="no_limit_holdem or limit_holdem, with parameters as in `tacit games`.")
]


@acpc.command("client")
def client(
    agent: Annotated[str, typer.Argument(help="The agent that plays, as in `tacit play`, like random.")],
    host: Annotated[str, typer.Argument(help="The dealer's host.")],
    port: Annotated[int, typer.Argument(min=1, max=65_535, help="The dealer's port.")],
    game: GameOption = "no_limit_holdem",
    connect_timeout: Annotated[float, seconds_option("Seconds to wait for the dealer to start.")] = 10.0,
    timeout: Annotated[float, seconds_option("Seconds without a line after which the dealer counts as gone.")] = 3_600.0,
    iterations: SearchIterationsOption = None,
    device: SearchDeviceOption = None,
    time_per_decision: SearchTimeOption = None,
    as_json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """Play an agent in a dealer's match, until the dealer hangs up.

    Examples:

      tacit acpc client random localhost 20000

      tacit acpc client random dealer.example.org 20000 --game limit_holdem --json
    """
    import numpy as np

    from tacit.agents.options import SearchOptions
    from tacit.arena.acpc import Client, connect
    from tacit.arena.hands import full_game
    from tacit.artifacts import load_agent

    rules = full_game(game)
    options = SearchOptions(iterations=iterations, device=device, time_per_decision=time_per_decision)
    player = load_agent(agent, rules, np.random.default_rng(seed), options)
    playing = Client(rules, player, say)
    score = playing.score
    dealer = connect(host, port, connect_timeout)
    with closing(dealer), what_is_kept(lambda: str(score)), progress_monitor() as monitor:
        show = partial(monitor.step, f"{player.name} at {host}:{port}", unit="hands")
        show(0)
        playing.play(dealer, timeout, lambda: show(score.hands, note=score.brief))
    report = {"game": str(rules), "agent": player.name, **score.as_dict(), "seed": seed}
    print_json(report) if as_json else print(f"{player.name}: {score}")


@acpc.command("dealer")
def dealer(
    game: GameOption = "no_limit_holdem",
    hands: Annotated[int, typer.Option(min=1, help="Number of hands.")] = 3_000,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port for both players; 0 takes a free one.")] = 20_000,
    names: Annotated[str, typer.Option(help="Names of the players, in the order they connect.")] = "player1,player2",
    out: Annotated[str, typer.Option(help="New file for the results, one JSON line per hand.")] = "match.jsonl",
    phh: Annotated[str | None, typer.Option(help="Also write the hands in the PHH format, to a file ending in .phhs.")] = None,
    timeout: Annotated[float, seconds_option("Seconds a player may take for an action.")] = 600.0,
    start_timeout: Annotated[float, seconds_option("Seconds to wait until both are connected.")] = 600.0,
    as_json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """Deal a match between any two programs that connect.

    A raise that is too small or too large becomes the nearest legal one, any other illegal action a call. If a player leaves
    or takes too long, the match ends with exit code 2; the hands played until then are in the results. The same seed deals
    the same cards: for a duplicate match, play twice, with the players connecting in the opposite order.

    Examples:

      tacit acpc dealer --hands 1000 --port 20000 --names ours,theirs

      tacit acpc dealer --game limit_holdem --hands 3000 --out limit.jsonl --phh limit.phhs --seed 7
    """
    from tacit.arena.dealer import Dealer, await_players, listen
    from tacit.arena.hand_history import HistoryWriter
    from tacit.arena.hands import full_game
    from tacit.arena.journal import Journal
    from tacit.arena.score import Score

    rules = full_game(game)
    called = [name.strip() for name in names.split(",")]
    if len(called) != 2 or len(set(called)) != 2 or not all(name and not set(name) & set(":|\r\n") for name in called):
        raise TacitError(f"--names takes two different names without : and |, like ours,theirs; not {names!r}")
    score, finished = Score(rules.rules.big_blind), False
    with listen(host, port) as server:
        journal = Journal(out)
        histories = None if phh is None else HistoryWriter(phh)
        address = server.getsockname()
        say(f"dealing {rules} at {address[0]}:{address[1]}; waiting for two players")
        players = await_players(server, called, start_timeout, say)
        journal.write({"game": str(rules), "players": called, "hands": hands, "seed": seed})
        table = Dealer(rules, players, seed, timeout, say)
        with what_is_kept(lambda: f"{score.hands} of {hands} hands are in {out}"), progress_monitor() as monitor:
            try:
                for number in range(hands):
                    monitor.step(" - ".join(called), number, hands, "hands", score.brief)
                    hand = table.deal(number)
                    with uninterrupted():
                        score.add(hand.payoffs[0])
                        journal.write({"hand": number, "payoffs": hand.payoffs, "state": hand.text})
                        if histories is not None:
                            histories.write(rules, hand.record, number, [called[seat] for seat in hand.seats])
                finished = True
            finally:
                for player in players:
                    player.lines.close()
                totals = [int(score.total), -int(score.total)]
                journal.write({"finished": finished, "hands": score.hands, "totals": totals})
    report = {
        "game": str(rules), "players": called, "totals": totals, **score.as_dict(),
        "warnings": [player.warnings for player in players], "seed": seed, "out": out, "phh": phh,
    }  # fmt: skip
    print_json(report) if as_json else print(f"{called[0]}: {score}; results in {out}")


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Holds Ctrl-C back for a moment, so that a hand is both counted and written, or neither."""
    if not hasattr(signal, "pthread_sigmask"):  # not on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def say(text: str) -> None:
    """Prints a line about the other side on standard error."""
    sys.stderr.write(f"{' '.join(text.split())}\n")
    sys.stderr.flush()
