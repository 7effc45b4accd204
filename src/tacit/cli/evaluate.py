"""`tacit evaluate`: how exploitable a trained agent is, and how far its network is from the truth."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.cli.common import JsonOption, SeedOption, logger, print_json, printer, progress_bar, start
from tacit.errors import TacitError

METRICS = ("exploitability", "network-error", "lbr")


def evaluate(
    run: Annotated[
        str, typer.Argument(help="A run folder, a network file, or pretrained:NAME; for lbr also a bot or a saved solve.")
    ],
    metric: Annotated[str, typer.Option(help="exploitability, network-error, or in hold'em lbr.")] = "exploitability",
    playthroughs: Annotated[int, typer.Option(min=1, help="Policies averaged: more give a tighter bound.")] = 64,
    solver: Annotated[str | None, typer.Option(help="Search algorithm. [default: dcfr]")] = None,
    iterations: Annotated[int, typer.Option(min=1, help="Search iterations; each updates both players.")] = 128,
    last: Annotated[int | None, typer.Option(min=1, help="Mean over the last so many evaluated networks of a run.")] = None,
    samples: Annotated[int, typer.Option(min=2, help="Public belief states that network-error compares.")] = 200,
    game: Annotated[str | None, typer.Option(help="The game that lbr is played in.")] = None,
    hands: Annotated[int, typer.Option(min=2, help="Hands that lbr plays, every deal in both seats.")] = 1_000,
    lbr: Annotated[str, typer.Option(help="What lbr may do: rebel, fold-call, all-rounds, or like c/c/fcpa/fcpa.")] = "rebel",
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    as_json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """Measure what was trained: the exploitability of search with it, or the error of its network against exact values.

    Examples:

      tacit evaluate pretrained:liars_dice_1x4f

      tacit evaluate runs/dice --playthroughs 256 --last 3

      tacit evaluate runs/nfsp:greedy-average

      tacit evaluate runs/dice --solver linear-cfr --iterations 512 --json

      tacit evaluate pretrained:liars_dice_1x4f --metric network-error

      tacit evaluate pot-odds --metric lbr --game no_limit_holdem --hands 2000

      tacit evaluate runs/limit:greedy-average --metric lbr --game limit_holdem --lbr all-rounds
    """
    from tacit.kernels import check_backend
    from tacit.nfsp.limit.trained import is_limit_nfsp
    from tacit.nfsp.trained import is_nfsp

    if metric not in METRICS:
        raise TacitError(f"unknown metric {metric!r}: choose one of {', '.join(METRICS)}")
    if metric != "lbr" and is_limit_nfsp(run):
        raise TacitError("limit_holdem is too large for that: choose --metric lbr --game limit_holdem, or tacit match")
    check_backend("torch", device)
    start(seed)
    began = time.perf_counter()
    if metric == "lbr":
        report, lines = _lbr(run, game, hands, lbr, seed)
    elif metric == "exploitability" and is_nfsp(run):
        report, lines = _exact(run)
    elif metric == "network-error":
        report, lines = _network_error(run, samples, seed)
    else:
        report, lines = _exploitability(run, last, solver or "dcfr", iterations, playthroughs, seed, device)
    report["seconds"] = time.perf_counter() - began
    if as_json:
        print_json(report)
        return
    for line in lines:
        printer().print(line, soft_wrap=True)
    printer().print(f"{report['seconds']:.1f} s")


def _exploitability(
    run: str, last: int | None, solver: str, iterations: int, playthroughs: int, seed: int, device: str
) -> tuple[dict[str, Any], list[str]]:
    """Returns the report and what people read of it."""
    from tacit.games import load_game
    from tacit.rebel.judge import Protocol, judge, last_networks
    from tacit.rebel.trained import load_trained

    protocol = Protocol(solver, iterations, playthroughs, seed)
    networks: Sequence[str | Path] = [run] if last is None else last_networks(run, last)
    space, judged = load_trained(networks[0]).space(), []
    with progress_bar("searches") as progress:
        for number, network in enumerate(networks, 1):
            which = "evaluating" if last is None else f"evaluating network {number} of {last}"
            task = progress.add_task(which, total=None, rate="", note="at most: games that end early need fewer")

            def show(done: int, most: int, task: Any = task) -> None:
                progress.update(task, completed=done, total=most)

            judged.append(judge(network, protocol, device, show, space))
            progress.remove_task(task)
    game = judged[0].game
    mean = sum(one.quality.exploitability for one in judged) / len(judged)
    value = sum(one.quality.value for one in judged) / len(judged)
    searched = f"{solver}, {iterations} iterations, {playthroughs} playthroughs"
    report = {
        "game": game, "agent": run, "metric": "exploitability", "exploitability": mean, "kind": "upper bound", "interval": None,
        "playthroughs": playthroughs, "solver": solver, "iterations": iterations, "value": value,
        "checkpoints": [{"epoch": one.epoch, "exploitability": one.quality.exploitability} for one in judged],
    }  # fmt: skip
    lines = [f"epoch {one.epoch}: exploitability at most {one.quality.exploitability:.4f}" for one in judged]
    of = "" if last is None else f"mean of the last {last} networks; "
    known = load_game(game).known_value()
    beside = f" (known: {known.value:.5f})" if known else ""
    return report, [
        *(lines if last is not None else []),
        f"{game}: exploitability at most {mean:.4f} (upper bound; {of}{searched})",
        f"value for the first player {value:.5f}{beside}",
    ]


def _exact(run: str) -> tuple[dict[str, Any], list[str]]:
    """Returns the report on a run of NFSP or DQN and what people read of it."""
    from tacit.evaluation import evaluate as measure
    from tacit.games import load_game
    from tacit.kernels import make_passes
    from tacit.nfsp.trained import load_nfsp

    trained = load_nfsp(run)
    strategies = trained.strategies()
    passes = make_passes(strategies[trained.strategy].tree)
    found = {kind: measure(passes, strategy.probabilities) for kind, strategy in strategies.items()}
    chosen = found[trained.strategy]
    report = {
        "game": trained.game, "agent": run, "metric": "exploitability", "exploitability": chosen.exploitability,
        "nash_conv": chosen.nash_conv, "kind": "exact", "interval": None, "strategy": trained.strategy, "value": chosen.value,
        "epoch": trained.epoch, "strategies": {kind: quality.exploitability for kind, quality in found.items()},
    }  # fmt: skip
    known = load_game(trained.game).known_value()
    beside = f" (known: {known.value:.5f})" if known else ""
    others = "; ".join(f"{kind} {quality.exploitability:.4f}" for kind, quality in found.items() if quality is not chosen)
    return report, [
        f"{trained.game}: exploitability of the {trained.strategy} strategy {chosen.exploitability:.4f} "
        f"(exact; NashConv {chosen.nash_conv:.4f}), {trained.system}, epoch {trained.epoch}",
        f"the others: {others}",
        f"value for the first player {chosen.value:.5f}{beside}",
    ]


def _lbr(name: str, game: str | None, hands: int, setting: str, seed: int) -> tuple[dict[str, Any], list[str]]:
    """Returns the report and what people read of it."""
    import numpy as np

    from tacit.agents.hand_policy import HandAgent
    from tacit.agents.registry import load_hand_policy, require_holdem
    from tacit.arena.lbr import LocalBestResponse
    from tacit.arena.match import play_deals
    from tacit.games import load_game
    from tacit.tally import Tally

    if game is None:
        raise TacitError("lbr needs a game: --game no_limit_holdem")
    rules = require_holdem(load_game(game), "lbr")
    policy = load_hand_policy(name, rules)
    chance, own, other = (np.random.default_rng([seed, stream]) for stream in range(3))
    agents = (LocalBestResponse(rules, policy, own, setting), HandAgent(rules, policy, other, name))
    tally, deals, interrupted = Tally(), -(-hands // 2), False
    with progress_bar("hands") as progress:
        task = progress.add_task(f"lbr against {name}", total=2 * deals, rate="", note="")
        try:
            for deal in islice(play_deals(rules, agents, chance), deals):
                tally.add(deal.result)
                progress.update(task, completed=2 * tally.count, note=f"mean {tally.mean:+.4g}")
        except KeyboardInterrupt:  # what was played counts
            interrupted = True
    if interrupted:
        logger().print("stopped early")
    if tally.interval is None:
        raise TacitError("stopped before two deals were played: there is no figure yet")
    mbb = rules.in_units(1.0)["mbb"]
    low, high = (mbb * end for end in tally.interval)
    report = {
        "game": str(rules), "agent": name, "metric": "lbr", "lbr": mbb * tally.mean, "unit": "mbb", "kind": "lower bound",
        "interval": [low, high], "hands": 2 * tally.count, "setting": setting, "interrupted": interrupted,
    }  # fmt: skip
    return report, [
        f"{rules}: lbr ({setting}) wins {mbb * tally.mean:,.0f} mbb per hand from {name}",
        f"sampled; 95 % interval {low:,.0f} to {high:,.0f}; {2 * tally.count:,} hands, every deal in both seats",
        "a lower bound on exploitability" + ("" if tally.mean > 0 else "; a negative one proves nothing"),
    ]


def _network_error(run: str, samples: int, seed: int) -> tuple[dict[str, Any], list[str]]:
    """Returns the report and what people read of it."""
    import numpy as np

    from tacit.nets.forward import forward_pass
    from tacit.rebel.network_error import network_error
    from tacit.rebel.trained import load_trained

    trained = load_trained(run)
    space = trained.space()
    forward, generator = forward_pass(trained.value_net(space)), np.random.default_rng(seed)
    with progress_bar("belief states") as progress:
        task = progress.add_task("solving exactly", total=samples, rate="", note="")
        error = network_error(
            forward, space, trained.config, samples, generator, lambda done: progress.update(task, completed=done)
        )
    game, typical = str(space.tree.game), error.typical_return
    report = {
        "game": game, "agent": run, "metric": "network-error", "network_error": error.absolute, "kind": "sampled",
        "interval": error.interval, "rms": error.rms, "value_error": error.value, "typical_return": typical,
        "relative": error.absolute / typical, "samples": error.samples,
    }  # fmt: skip
    low, high = error.interval
    return report, [
        f"{game}: mean absolute error of infostate values {error.absolute:.4f} (sampled; 95 % interval {low:.4f}-{high:.4f})",
        f"that is {error.absolute / typical:.1%} of a typical return ({typical:.3f}); root mean square {error.rms:.4f}",
        f"error of the value of a belief state {error.value:.4f}; {error.samples} belief states of self-play, solved exactly",
    ]
