"""Metrics of whatever says what it does with every hand of hold'em.

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
"""Policies of an agent that draws what it plays that are averaged, unless the user says otherwise."""


def hand_measures(artifact: Artifact) -> dict[str, Callable[..., Evaluation]]:
    """Returns the metrics of an artifact that has a policy over hands."""
    return {"lbr": partial(local_best_response, artifact), "aivat": partial(aivat, artifact)}


def endgame_measures(artifact: Artifact) -> dict[str, Callable[..., Evaluation]]:
    """Returns the metrics of an artifact that plays any hold'em, that of endgames first where the game is one."""
    exact = {"exploitability": partial(endgame_exploitability, artifact)}
    whole = artifact.given is not None and not getattr(artifact.given, "known_board", ())
    return {**hand_measures(artifact), **exact} if whole else {**exact, **hand_measures(artifact)}


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
    """Returns the exploitability of what an artifact's agent plays in an endgame.

    It is exact for an agent whose play is a function of the public state. Of one that draws iterations of its searches, it is
    exact for the average of some playthroughs, each of which draws once at every search: an upper bound on the agent's own.

    Args:
      artifact: who plays.
      solver: the search algorithm; None takes the agent's own. So do the next four.
      iterations: search iterations.
      safety: what a search does about those below it.
      device: where it searches.
      time_per_decision: seconds after which the searches of a decision stop.
      playthroughs: policies averaged, for an agent that draws; None takes `PLAYTHROUGHS`.
      seed: of what is drawn.
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
        raise TacitError(f"--playthroughs has no effect on {artifact.name} here: it draws nothing, so one tells all")
    for number in range(1, playthroughs or PLAYTHROUGHS if draws else 1):
        agents.append(artifact.agent(np.random.default_rng([seed, number]), options))
    policies = [policy for policy in map(drawn_policy, agents) if policy is not None]

    told = False

    def show(done: int, total: int) -> None:
        nonlocal told
        if total > 1 and not told:
            again = f", in each of {len(agents)} playthroughs" if draws else ""
            artifact.monitor.say(f"the endgame has {total:,} parts: an agent that searches does so in each of them{again}")
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
    """Returns what a local best response wins in some hands, a lower bound on exploitability; Ctrl-C keeps what was played.

    Args:
      artifact: who is answered.
      hands: how many; every deal is played in both seats.
      lbr: what the answer may do (see `arena/lbr.py`).
      aivat: whether luck is taken out of the results. The answer's own moves stay as lucky as they are.
      solver: of searches, where the agent searches; so are the next three.
      iterations: at most.
      device: where.
      time_per_decision: seconds.
      workers: who plays; results are the same.
      seed: of everything random.
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
    """Returns what it won per hand in matches that were played, with most of the luck taken out by AIVAT.

    Args:
      artifact: who played.
      results: the file of `tacit slumbot` or `tacit acpc dealer`.
      player: what the dealer called it, if not by its name.
      solver: how it searched, where it does; so are the next two.
      iterations: at most.
      device: where.
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
    artifact = artifact.on(rules)  # bots play many games: this is the one they are judged in
    policy = known_policy(artifact, SearchOptions(solver, iterations, device=device))
    raw, less = Tally(), Tally()
    for hand, estimate in zip(played.hands, estimates(played, policy), strict=True):
        less.add(estimate)
        raw.add(hand.winnings)
        artifact.monitor.step(f"aivat of {played.player}", less.count, len(played.hands), "hands", f"mean {less.mean:+.4g}")
    if less.count < 2:
        raise TacitError(f"{results} has {less.count} finished hands: it takes two at least")
    won = figures(rules, less)
    return artifact.evaluation(
        "aivat", won["mbb_per_hand"], "sampled", interval=won["interval"], unit="mbb", player=played.player,
        hands=less.count, deviation=won["deviation"], verdict=less.verdict(1), without_aivat=figures(rules, raw),
    )  # fmt: skip
