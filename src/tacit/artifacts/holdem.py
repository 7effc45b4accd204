"""Metrics of agents whose strategy for every hold'em hand is known.

They are exploitability in an endgame, local best response, and AIVAT of hands that were played.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tacit.artifacts.base import quality_figures
from tacit.errors import TacitError
from tacit.games.holdem import require_holdem
from tacit.processes import HERE, Workers
from tacit.tally import Tally

if TYPE_CHECKING:
    from tacit.artifacts.base import Artifact, Evaluation

PLAYTHROUGHS = 16
"""Default number of policies that are averaged for an agent that draws iterations of its searches."""


def hand_measures(artifact: Artifact) -> dict[str, Callable[..., Evaluation]]:
    """Returns the metrics of an artifact that has a policy over hands."""
    return {"lbr": partial(local_best_response, artifact), "aivat": partial(aivat, artifact)}


def endgame_measures(artifact: Artifact) -> dict[str, Callable[..., Evaluation]]:
    """Returns the metrics of an artifact that plays any hold'em; that of endgames comes first if its game is one."""
    exact = {"exploitability": partial(endgame_exploitability, artifact)}
    is_full_game = artifact.given is not None and not getattr(artifact.given, "known_board", ())
    return {**hand_measures(artifact), **exact} if is_full_game else {**exact, **hand_measures(artifact)}


def endgame_exploitability(
    artifact: Artifact,
    *,
    solver: str | None = None,
    iterations: int | None = None,
    safety: str | None = None,
    device: str | None = None,
    time_per_decision: float | None = None,
    playthroughs: int | None = None,
    seed: int = 0,
) -> Evaluation:
    """Returns the exploitability of an artifact's agent in an endgame.

    It is exact for an agent whose play is a function of the public state. For one that draws iterations of its searches, it
    is that of the average of several playthroughs, each of which draws once at every search: an upper bound on the agent's.

    Args:
      artifact: the artifact whose agent plays.
      solver: the search algorithm. Here and in the next four, None takes the agent's own.
      iterations: search iterations.
      safety: how it searches again below an earlier search.
      device: where it searches.
      time_per_decision: seconds after which the searches of a decision stop.
      playthroughs: policies averaged, for an agent that draws; None takes `PLAYTHROUGHS`.
      seed: seed of the draws.
    """
    from tacit.agents.hand_planner import drawn_policy
    from tacit.agents.hand_policy import policy_of
    from tacit.agents.options import SearchOptions
    from tacit.arena.endgames import endgame_quality

    rules = require_holdem(artifact.game, "exploitability")
    options = SearchOptions(solver, iterations, safety, device, time_per_decision)
    agents = [artifact.agent(np.random.default_rng([seed, 0]), options)]
    draws = policy_of(agents[0]) is None
    if playthroughs is not None and not draws:
        raise TacitError(f"--playthroughs has no effect on {artifact.name} here: it draws nothing, so one is enough")
    for number in range(1, playthroughs or PLAYTHROUGHS if draws else 1):
        agents.append(artifact.agent(np.random.default_rng([seed, number]), options))
    policies = [policy for policy in map(drawn_policy, agents) if policy is not None]

    told = False

    def show(done: int, total: int) -> None:
        nonlocal told
        if total > 1 and not told:
            again = f", in each of {len(agents)} playthroughs" if draws else ""
            artifact.monitor.say(f"the endgame has {total:,} parts: a searching agent searches in each of them{again}")
            told = True
        artifact.monitor.step(f"exploitability of {artifact.name}", done, total, "parts")

    quality = endgame_quality(rules, policies, show)
    return artifact.evaluation(
        "exploitability", quality.exploitability, "upper bound" if draws else "exact",
        playthroughs=len(agents) if draws else None, **quality_figures(rules, quality),
        safety=getattr(agents[0], "safety", None), searches=sum(getattr(policy, "searches", 0) for policy in policies) or None,
    )  # fmt: skip


def local_best_response(
    artifact: Artifact,
    *,
    hands: int = 1_000,
    lbr: str = "rebel",
    aivat: bool = False,
    solver: str | None = None,
    iterations: int | None = None,
    device: str | None = None,
    time_per_decision: float | None = None,
    workers: Workers = HERE,
    seed: int = 0,
) -> Evaluation:
    """Returns what a local best response wins from an agent, a lower bound on exploitability.

    Ctrl-C ends it early with the figure of the hands played so far.

    Args:
      artifact: the artifact whose agent is answered.
      hands: number of hands; every deal is played in both seats.
      lbr: the actions that the response may take (see `arena/lbr.py`).
      aivat: whether to reduce luck by AIVAT. The luck of the response's own moves remains.
      solver: the search algorithm of an agent that searches. Here and in the next three, None takes the agent's own.
      iterations: search iterations.
      device: where it searches.
      time_per_decision: seconds after which the searches of a decision stop.
      workers: the processes that play; results do not depend on them.
      seed: seed for everything random.
    """
    from tacit.agents.options import SearchOptions
    from tacit.arena.lbr import parse_setting
    from tacit.arena.match import figures
    from tacit.arena.workers import play_plan
    from tacit.artifacts.base import refuse_unused
    from tacit.artifacts.plans import LbrPlan

    rules, name, monitor = require_holdem(artifact.game, "lbr"), artifact.name, artifact.monitor
    options = SearchOptions(solver, iterations, device=device, time_per_decision=time_per_decision)
    refuse_unused(options, artifact)
    parse_setting(lbr)
    tally, deals, interrupted = Tally(), -(-hands // 2), False
    try:
        for deal in play_plan(LbrPlan(str(rules), name, options, lbr, aivat, seed), deals, workers):
            tally.add(deal.result)
            monitor.step(f"lbr against {name}", 2 * tally.count, 2 * deals, "hands", f"mean {tally.mean:+.4g}")
    except KeyboardInterrupt:
        monitor.say("stopped early")
        interrupted = True
    if tally.count < 2:
        raise TacitError("stopped before two deals were played: there is no figure yet")
    won = figures(rules, tally)
    return artifact.evaluation(
        "lbr", won["mbb_per_hand"], "lower bound", interval=won["interval"], unit="mbb", hands=2 * tally.count, setting=lbr,
        aivat=aivat or None, interrupted=interrupted,
    )  # fmt: skip


def aivat(
    artifact: Artifact,
    *,
    results: Path | None = None,
    player: str | None = None,
    solver: str | None = None,
    iterations: int | None = None,
    device: str | None = None,
) -> Evaluation:
    """Returns what an agent won per hand in recorded matches, with most of the luck removed by AIVAT.

    Args:
      artifact: the artifact whose agent played.
      results: the file of `tacit slumbot` or `tacit acpc dealer`.
      player: its name in the results, if not its own.
      solver: the search algorithm of an agent that searches. Here and in the next two, None takes the agent's own.
      iterations: search iterations.
      device: where it searches.
    """
    from tacit.agents.options import SearchOptions
    from tacit.arena.match import figures
    from tacit.arena.results import estimates, read_results
    from tacit.artifacts.plans import known_policy

    if results is None:
        raise TacitError("aivat needs the hands: --results FILE, as tacit slumbot or tacit acpc dealer wrote it")
    played = read_results(results, player or artifact.name)
    rules = played.game
    if artifact.given is not None and str(artifact.given) != str(rules):
        raise TacitError(f"{results} has hands of {rules}, not of {artifact.given}")
    artifact = artifact.on(rules)  # bots play many games: they are evaluated in this one
    policy = known_policy(artifact, SearchOptions(solver, iterations, device=device))
    raw, adjusted = Tally(), Tally()
    for hand, estimate in zip(played.hands, estimates(played, policy), strict=True):
        adjusted.add(estimate)
        raw.add(hand.winnings)
        artifact.monitor.step(
            f"aivat of {played.player}", adjusted.count, len(played.hands), "hands", f"mean {adjusted.mean:+.4g}"
        )
    if adjusted.count < 2:
        raise TacitError(f"{results} has {adjusted.count} finished hands: at least two are needed")
    won = figures(rules, adjusted)
    return artifact.evaluation(
        "aivat", won["mbb_per_hand"], "sampled", interval=won["interval"], unit="mbb", player=played.player,
        hands=adjusted.count, deviation=won["deviation"], verdict=adjusted.verdict(1), without_aivat=figures(rules, raw),
    )  # fmt: skip
