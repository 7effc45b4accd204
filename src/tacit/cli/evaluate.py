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

MOST = 10**9
"""Larger numbers are a mistake."""
METRICS = ("exploitability", "network-error", "lbr", "aivat", "win-rates")


def evaluate(
    run: Annotated[
        str, typer.Argument(help="A run folder, a network file or pretrained:NAME; a saved solve; in hold'em a bot.")
    ],
    metric: Annotated[
        str | None,
        typer.Option(
            help="exploitability, network-error, in hold'em lbr and aivat, and for NFSP in limit hold'em win-rates. "
            "[default: exploitability; win-rates there]"
        ),
    ] = None,
    playthroughs: Annotated[int, typer.Option(min=1, max=MOST, help="Policies averaged: more give a tighter bound.")] = 64,
    solver: Annotated[str | None, typer.Option(help="Search algorithm. [default: dcfr]")] = None,
    iterations: Annotated[int, typer.Option(min=1, max=MOST, help="Search iterations; each updates both players.")] = 128,
    last: Annotated[int | None, typer.Option(min=1, help="Mean over the last so many evaluated networks of a run.")] = None,
    samples: Annotated[int, typer.Option(min=2, max=MOST, help="Public belief states that network-error compares.")] = 200,
    game: Annotated[str | None, typer.Option(help="The game, for bots and for lbr.")] = None,
    hands: Annotated[
        int | None,
        typer.Option(min=4, max=MOST, help="Hands of lbr or of each win rate, every deal in both seats. [1,000 or 20,000]"),
    ] = None,
    lbr: Annotated[
        str, typer.Option(help="What lbr may do: rebel, deepstack-56bets, ... (see the pages), or like c/c/fcpa/fcpa.")
    ] = "rebel",
    results: Annotated[
        Path | None,
        typer.Option(help="For aivat: what tacit slumbot or tacit acpc dealer wrote."),
    ] = None,
    player: Annotated[str | None, typer.Option(help="What the dealer called it. [default: the agent's name]")] = None,
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

      tacit evaluate pot-odds --game "no_limit_holdem(board=3s7hTdKs,pot=2000,bets=1|allin,raises=allin)"

      tacit evaluate pot-odds --metric lbr --game no_limit_holdem --hands 2000

      tacit evaluate pot-odds --metric lbr --game no_limit_holdem --lbr deepstack-56bets

      tacit evaluate pot-odds --metric aivat --results slumbot.jsonl

      tacit evaluate runs/limit --hands 50000

      tacit evaluate runs/limit:greedy-average --metric lbr --game limit_holdem --lbr all-rounds
    """
    from tacit.kernels import check_backend
    from tacit.nfsp.limit.trained import is_limit_nfsp
    from tacit.nfsp.trained import is_nfsp

    in_limit_holdem = is_limit_nfsp(run)
    metric = metric or ("win-rates" if in_limit_holdem else "exploitability")
    if metric not in METRICS:
        raise TacitError(f"unknown metric {metric!r}: choose one of {', '.join(METRICS)}")
    if in_limit_holdem and metric in ("exploitability", "network-error"):
        raise TacitError("limit_holdem is too large for that: choose --metric win-rates, or --metric lbr --game limit_holdem")
    if metric == "win-rates" and not in_limit_holdem:
        raise TacitError(f"win-rates are of what NFSP trained on limit_holdem, not of {run}: try tacit match")
    check_backend("torch", device)
    start(seed)
    began = time.perf_counter()
    if metric == "lbr":
        report, lines = _lbr(run, game, hands or 1_000, lbr, seed)
    elif metric == "win-rates":
        report, lines = _win_rates(run, hands or 20_000, device, seed)
    elif metric == "aivat":
        report, lines = _aivat(run, results, player or run)
    elif metric == "exploitability" and is_nfsp(run):
        report, lines = _nfsp(run)
    elif metric == "network-error":
        report, lines = _network_error(run, samples, seed)
    elif (exact := _exact(run, game)) is not None:
        report, lines = exact
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
    from tacit.rebel.judge import EvaluationProtocol, judge, last_networks
    from tacit.rebel.trained import load_trained

    protocol = EvaluationProtocol(solver, iterations, playthroughs, seed)
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


def _exact(name: str, game: str | None) -> tuple[dict[str, Any], list[str]] | None:
    """Returns the report of a saved solve or, in an endgame of hold'em, of a bot; None for what is trained."""
    from tacit.agents.registry import HAND_POLICIES
    from tacit.arena.hand_values import tabulate_game
    from tacit.evaluation import evaluate as measure
    from tacit.games import load_game
    from tacit.kernels import make_passes
    from tacit.solvers import load_result
    from tacit.solvers.result import is_saved_solve

    rules = None if game is None else load_game(game)
    tree: Any
    if Path(name).is_file() and is_saved_solve(name):
        strategy = load_result(name, rules).strategy
        tree, played = strategy.tree, strategy.probabilities
    elif name in HAND_POLICIES and rules is not None:
        tree, played = tabulate_game(HAND_POLICIES[name], rules)
    else:
        return None
    quality = measure(make_passes(tree), played)
    units = tree.game.in_units(quality.exploitability)
    report = {
        "game": str(tree.game), "agent": name, "metric": "exploitability", "exploitability": quality.exploitability,
        **{f"exploitability_{unit}": number for unit, number in units.items()},
        "kind": "exact", "interval": None, "value": quality.value, "best_response_values": quality.best_response_values,
    }  # fmt: skip
    beside = "".join(f", {number:,.4g} {unit.replace('_', ' ')}" for unit, number in units.items())
    return report, [
        f"{tree.game}: exploitability {quality.exploitability:.6g}{beside} (exact, by best responses)",
        f"value for the first player {quality.value:.6g}",
    ]


def _nfsp(run: str) -> tuple[dict[str, Any], list[str]]:
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


def _win_rates(run: str, hands: int, device: str, seed: int) -> tuple[dict[str, Any], list[str]]:
    """Returns the report on NFSP in limit hold'em and what people read of it."""
    from tacit.games import load_game
    from tacit.games.holdem import LimitHoldem
    from tacit.games.limit_batch import LimitRules
    from tacit.nfsp.limit.judge import Judge
    from tacit.nfsp.limit.networks import Layer
    from tacit.nfsp.limit.trained import load_limit_policy
    from tacit.nfsp.players import STRATEGIES

    trained, deals = load_limit_policy(run), -(-hands // 2)
    game = load_game(trained.game)
    assert isinstance(game, LimitHoldem)
    layers = [Layer(*(part.to(device) for part in layer)) for layer in trained.layers]
    judge = Judge(LimitRules.of(game, device), deals, seed)
    found: dict[str, dict[str, Any]] = {strategy: {} for strategy in STRATEGIES}
    lines = [f"{game}: mbb per hand won from bots, epoch {trained.epoch}"]
    with progress_bar("matches") as progress:
        task = progress.add_task("playing", total=len(STRATEGIES) * len(judge.bots), rate="", note="")
        for strategy in STRATEGIES:
            rates = {}
            for bot in judge.bots:
                progress.update(task, note=f"{strategy} against {bot}")
                rates[bot] = rate = judge.win_rate(layers, strategy, bot)
                found[strategy][bot] = {"mbb_per_hand": rate.mbb, "interval": [rate.mbb - rate.half, rate.mbb + rate.half]}
                progress.advance(task)
            lines.append(f"{strategy:>14}: " + "; ".join(f"{bot} {rate}" for bot, rate in rates.items()))
    report = {
        "game": str(game), "agent": run, "metric": "win-rates", "kind": "sampled", "unit": "mbb", "hands": 2 * deals,
        "epoch": trained.epoch, "win_rates": found,
    }  # fmt: skip
    return report, [*lines, f"sampled, with 95 % intervals; {2 * deals:,} hands a match, every deal in both seats"]


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
    chance, other = (np.random.default_rng([seed, stream]) for stream in range(2))
    agents = (LocalBestResponse(rules, policy, setting), HandAgent(rules, policy, other, name))
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


def _aivat(name: str, path: Path | None, player: str) -> tuple[dict[str, Any], list[str]]:
    """Returns the report and what people read of it."""
    import numpy as np

    from tacit.agents.registry import load_agent, policy_of
    from tacit.arena.hand_aivat import hand_estimate
    from tacit.arena.hand_values import CheckDown
    from tacit.arena.results import public_end, read_results
    from tacit.cards.hands import hand_index
    from tacit.tally import Tally

    if path is None:
        raise TacitError("aivat needs the hands: --results FILE, as tacit slumbot or tacit acpc dealer wrote it")
    results = read_results(path, player)
    rules = results.game
    policy = policy_of(load_agent(name, rules, np.random.default_rng(0)))
    if policy is None:
        raise TacitError(f"what {name} does with every hand is not known: AIVAT needs that of the player who is judged")
    raw, less, values = Tally(), Tally(), CheckDown()
    with progress_bar("hands") as progress:
        task = progress.add_task(f"aivat of {results.player}", total=len(results.hands), rate="", note="")
        for hand in results.hands:
            cards, policies = hand.record.hands, (policy, None) if hand.seat == 0 else (None, policy)
            held = hand_index(*cards[:2]), hand_index(*cards[2:])
            found = hand_estimate(public_end(rules, hand.record), held, policies, values)
            less.add(found if hand.seat == 0 else -found)
            raw.add(hand.winnings)
            progress.update(task, completed=less.count, note=f"mean {less.mean:+.4g}")
    mbb = rules.in_units(1.0)["mbb"]
    intervals = [None if tally.interval is None else [mbb * end for end in tally.interval] for tally in (less, raw)]
    if intervals[0] is None or intervals[1] is None or less.deviation is None or raw.deviation is None:
        raise TacitError(f"{path} has {less.count} finished hands: it takes two at least")
    report = {
        "game": str(rules), "agent": name, "metric": "aivat", "aivat": mbb * less.mean, "unit": "mbb", "kind": "sampled",
        "interval": intervals[0], "hands": less.count, "deviation": mbb * less.deviation, "verdict": less.verdict(1),
        "without_aivat": {"mbb_per_hand": mbb * raw.mean, "interval": intervals[1], "deviation": mbb * raw.deviation},
    }  # fmt: skip
    return report, [
        f"{rules}: A = {results.player} gets {mbb * less.mean:+,.0f} mbb per hand by AIVAT",
        f"sampled; 95 % interval {intervals[0][0]:,.0f} to {intervals[0][1]:,.0f}; {less.count:,} hands",
        f"without it {mbb * raw.mean:+,.0f} ({intervals[1][0]:,.0f} to {intervals[1][1]:,.0f}); "
        f"standard deviation {mbb * less.deviation:,.0f}, without it {mbb * raw.deviation:,.0f}",
        less.verdict(1),
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
