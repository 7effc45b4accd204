"""What `tacit evaluate` measures in hold'em: win rates against bots, local best response, and played hands by AIVAT."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.common import logger, progress_bar
from tacit.errors import TacitError

if TYPE_CHECKING:
    from tacit.games import AnyGame


def win_rates(run: str, given: AnyGame | None, hands: int, device: str, seed: int) -> tuple[dict[str, Any], list[str]]:
    """Returns the report on NFSP in limit hold'em and what people read of it."""
    from tacit.agents.registry import require_holdem
    from tacit.games import load_game
    from tacit.games.holdem import LimitHoldem
    from tacit.games.limit_batch import LimitRules
    from tacit.nfsp.limit.judge import Judge
    from tacit.nfsp.limit.networks import Layer
    from tacit.nfsp.strategies import STRATEGIES
    from tacit.nfsp.trained import load_limit_policy

    trained = load_limit_policy(run, None if given is None else require_holdem(given, run))
    deals = -(-hands // 2)
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


def lbr(name: str, given: AnyGame | None, hands: int, setting: str, seed: int) -> tuple[dict[str, Any], list[str]]:
    """Returns the report and what people read of it."""
    import numpy as np

    from tacit.agents.hand_policy import HandAgent
    from tacit.agents.registry import load_hand_policy, require_holdem
    from tacit.arena.lbr import LocalBestResponse
    from tacit.arena.match import play_deals
    from tacit.games import load_game
    from tacit.nfsp.trained import is_limit_nfsp, load_limit_policy
    from tacit.tally import Tally

    if given is None and is_limit_nfsp(name):
        given = load_game(load_limit_policy(name).game)
    if given is None:
        raise TacitError("lbr needs a game: --game no_limit_holdem")
    rules = require_holdem(given, "lbr")
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


def aivat(name: str, given: AnyGame | None, path: Path | None, player: str) -> tuple[dict[str, Any], list[str]]:
    """Returns the report and what people read of it."""
    import numpy as np

    from tacit.agents.registry import load_agent
    from tacit.arena.results import estimates, read_results
    from tacit.tally import Tally

    if path is None:
        raise TacitError("aivat needs the hands: --results FILE, as tacit slumbot or tacit acpc dealer wrote it")
    results = read_results(path, player)
    rules = results.game
    if given is not None and str(given) != str(rules):
        raise TacitError(f"{path} has hands of {rules}, not of {given}")
    agent = load_agent(name, rules, np.random.default_rng(0))
    raw, less = Tally(), Tally()
    with progress_bar("hands") as progress:
        task = progress.add_task(f"aivat of {results.player}", total=len(results.hands), rate="", note="")
        for hand, estimate in zip(results.hands, estimates(results, agent), strict=True):
            less.add(estimate)
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
