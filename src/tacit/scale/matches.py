"""`tacit.match`: two agents head to head, in this process or with a crew."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from tacit.agents.options import SearchOptions
from tacit.arena.match import Deal, MatchResult, figures
from tacit.arena.workers import play_plan
from tacit.artifacts import Openable, open
from tacit.artifacts.base import Monitor, refuse_unused
from tacit.artifacts.plans import MatchPlan
from tacit.errors import TacitError
from tacit.games import AnyGame, game_source
from tacit.processes import HERE
from tacit.scale.hands import find_workers
from tacit.tally import Tally


def match(
    a: Openable,
    b: Openable,
    game: AnyGame | str | None = None,
    *,
    hands: int = 1_000,
    duplicate: bool = True,
    aivat: bool = False,
    solver: str | None = None,
    iterations: int | None = None,
    safety: str | None = None,
    device: str | None = None,
    time_per_decision: float | None = None,
    expansions: int | None = None,
    workers: int = 1,
    engine: str | None = None,
    ray_address: str | None = None,
    seed: int = 0,
    on_deal: Callable[[Deal], None] = lambda _: None,
    keep_when_interrupted: bool = False,
    monitor: Monitor | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> MatchResult:
    """Returns the result of a match, with a 95 % interval.

    Args:
      a: anything that `tacit.open` accepts: a bot, a saved solve, a run, `pretrained:NAME`, `FILE.py:CLASS`, or an object.
      b: the other agent, likewise.
      game: the game or its name; None uses the game of `a` or `b`.
      hands: the number of games to play; with duplicates it is rounded up to an even number.
      duplicate: whether every deal is played in both seats.
      aivat: whether AIVAT removes luck, for which one agent's strategy must be known.
      solver: the search algorithm of agents that search; None for their defaults.
      iterations: the number of search iterations; None for their defaults.
      safety: how a search deals with the searches below it; None for their defaults.
      device: where agents search; None for their defaults.
      time_per_decision: seconds after which they stop searching; None for no limit.
      expansions: public states that a growing tree opens in each search (`SearchOptions`); None for their defaults.
      workers: processes that play, each on one thread; results are the same. One that dies is replaced.
      engine: where the workers run: `local`, on this machine, or `ray`.
      ray_address: the address of the cluster.
      seed: the seed of everything random.
      on_deal: called after each deal.
      keep_when_interrupted: whether Ctrl-C ends the match and keeps its result, instead of raising.
      monitor: receives progress.
      clock: returns the time in seconds.

    Raises:
      TacitError: there is no such agent, it does not play the game, or an option has no effect on either of them.
    """
    if hands < 1:
        raise TacitError(f"a match takes at least one hand, not {hands}")
    options = SearchOptions(solver, iterations, safety, device, time_per_decision, expansions)
    monitor, began = monitor or Monitor(), clock()
    rules, players = _seated(a, b, game, monitor)
    refuse_unused(options, *players)
    crew = find_workers(workers, engine, ray_address)
    names: tuple[Any, Any] = players
    if crew is not HERE:
        if not all(isinstance(name, str) for name in (a, b)):
            raise TacitError("agents given as objects cannot be sent to other processes: give their names, or workers=1")
        names, rules = (a, b), players[0].game
    each = 2 if duplicate else 1
    num_deals, tally, raw, interrupted = -(-hands // each), Tally(), Tally(), False
    plan = MatchPlan(rules if crew is HERE else game_source(rules) or str(rules), names, options, duplicate, aivat, seed)
    deals = plan.table(monitor)(range(num_deals)) if crew is HERE else play_plan(plan, num_deals, crew)
    shown = f"{players[0].name} against {players[1].name}"
    show = partial(monitor.step, shown, total=num_deals * each, unit="hands")
    show(0, note="loading")
    try:
        for deal in deals:
            tally.add(deal.result)
            raw.add(sum(deal.payoffs) / each)
            on_deal(deal)
            rate = f"{each * tally.count / max(clock() - began, 1e-9):,.0f}/s"
            show(each * tally.count, note=f"{rate}  mean {tally.mean:+.4g}")
    except KeyboardInterrupt:  # the deal in progress is lost, all others are kept
        if not keep_when_interrupted:
            raise
        interrupted = True
    won, unit = figures(rules, tally), "mbb" if "mbb" in rules.in_units(1.0) else "payoff"
    return MatchResult(
        str(rules), (players[0].name, players[1].name), each * tally.count, won.get("mbb_per_hand", won.get("mean")),
        won["interval"], won["deviation"], unit, tally.verdict(each), duplicate, aivat, seed, clock() - began, interrupted,
        figures(rules, raw) if aivat else None,
    )  # fmt: skip


def _seated(a: Openable, b: Openable, game: AnyGame | str | None, monitor: Monitor) -> tuple[AnyGame, tuple[Any, Any]]:
    """Returns the game and its two players.

    Raises:
      TacitError: neither `game` nor a player says which game it is.
    """
    for player in (a, b) if game is None else ():
        with suppress(TacitError):
            game = game or open(player, None, monitor).game
    if game is None:
        raise TacitError(f"which game do {a} and {b} play? Name it, like --game kuhn_poker")
    first = open(a, game, monitor)
    return first.game, (first, open(b, first.game, monitor))
