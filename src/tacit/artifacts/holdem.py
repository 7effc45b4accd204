"""Metrics of whatever says what it does with every hand of hold'em: local best response, and AIVAT of played hands."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import TacitError
from tacit.games.holdem import require_holdem
from tacit.tally import Tally

if TYPE_CHECKING:
    from tacit.artifacts.base import Artifact, Evaluation


def hand_measures(artifact: Artifact) -> dict[str, Callable[..., Evaluation]]:
    """Returns the metrics of an artifact that has a policy over hands."""
    return {"lbr": partial(local_best_response, artifact), "aivat": partial(aivat, artifact)}


def local_best_response(artifact: Artifact, *, hands: int = 1_000, lbr: str = "rebel", seed: int = 0) -> Evaluation:
    """Returns what a local best response wins in some hands, a lower bound on exploitability; Ctrl-C keeps what was played.

    `lbr` is what it may do (see `arena/lbr.py`). Every deal is played in both seats.
    """
    from tacit.agents.hand_policy import HandAgent
    from tacit.arena.lbr import LocalBestResponse
    from tacit.arena.match import figures, play_deals

    rules, policy, name, monitor = require_holdem(artifact.game, "lbr"), artifact.policy(), artifact.name, artifact.monitor
    chance, other = (np.random.default_rng([seed, stream]) for stream in range(2))
    agents = (LocalBestResponse(rules, policy, lbr), HandAgent(rules, policy, other, name))
    tally, deals, interrupted = Tally(), -(-hands // 2), False
    try:
        for deal in islice(play_deals(rules, agents, chance), deals):
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
        interrupted=interrupted,
    )  # fmt: skip


def aivat(artifact: Artifact, *, results: Path | None = None, player: str | None = None) -> Evaluation:
    """Returns what it won per hand in matches that were played, with most of the luck taken out by AIVAT.

    `results` is the file of `tacit slumbot` or `tacit acpc dealer`, `player` what the dealer called it if not by its name.
    """
    from tacit.arena.match import figures
    from tacit.arena.results import estimates, read_results

    if results is None:
        raise TacitError("aivat needs the hands: --results FILE, as tacit slumbot or tacit acpc dealer wrote it")
    played = read_results(results, player or artifact.name)
    rules = played.game
    if artifact.given is not None and str(artifact.given) != str(rules):
        raise TacitError(f"{results} has hands of {rules}, not of {artifact.given}")
    artifact = artifact.on(rules)  # bots play many games: this is the one they are judged in
    raw, less = Tally(), Tally()
    for hand, estimate in zip(played.hands, estimates(played, artifact.policy()), strict=True):
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
