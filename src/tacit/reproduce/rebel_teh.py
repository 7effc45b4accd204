"""Figures 2 and 5 of the ReBeL paper: turn endgame hold'em by search with a network at the end of the turn.

Exploitability is exact, on the paper's board, for an agent that searches the turn's betting and then every river it comes to.
It stands beside Linear CFR on the whole game, which is what the paper counts by: its networks are worth about 125 iterations.

Figure 2 compares where the values come from: solved rivers (its oracle), self-play, random beliefs, and, as a line of ours, the
odds of hands alone. Figure 5 compares how leaves are valued while a search runs. The paper prints no numbers of either.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from tacit.agents.hand_search import HandSearch, RoundEnds
from tacit.arena.endgames import endgame_quality
from tacit.files import write_whole
from tacit.games import load_game
from tacit.games.betting import BOARD_CARDS, TURN
from tacit.games.holdem import Holdem, require_holdem
from tacit.kernels.base import LeafEvaluator
from tacit.leaves.check_down import CheckDownLeaves
from tacit.leaves.solved_streets import SolvedRivers
from tacit.rebel.holdem.config import PRESETS, RANDOM, SELF_PLAY, HoldemConfig
from tacit.rebel.holdem.system import REBEL_HOLDEM
from tacit.rebel.holdem.trained import load_holdem
from tacit.solvers import solve
from tacit.solvers.valuation import CFR_D, MODIFIED_CFR_AVE
from tacit.training.folder import RunFolder
from tacit.training.shipped import PRETRAINED

PAPER_ITERATIONS = 125
"""Of full-game tabular CFR that the paper's agent is as good as, "about"."""
PERFECT, ODDS = "solved rivers", "odds alone"
Watch = Callable[[str, int, int], None]
"""Called with what is being judged, the parts done, and their number."""


@dataclass(frozen=True)
class TehScale:
    """How much is run.

    Attributes:
      game: the endgame.
      tabular: iterations of Linear CFR on the whole game.
      searches: iterations of the agents' searches.
      solver_searches: of those that compare how leaves are valued.
      config: of the trainings; None judges the network that is shipped instead.
      device: where they run.
      perfect: iterations with which rivers are solved at each leaf, 0 to leave that line out.
    """

    game: str
    tabular: int
    searches: tuple[int, ...]
    solver_searches: int
    config: HoldemConfig | None
    device: str = "cpu"
    perfect: int = 0


SCALES = {
    "smoke": TehScale("turn_endgame_holdem(stack=3000)", 8, (4,), 4, PRESETS["smoke"]),
    "cpu": TehScale("turn_endgame_holdem", 128, (16, 64, 256), 128, None),
    "gpu": TehScale("turn_endgame_holdem", 256, (8, 32, 128, 512), 256, replace(PRESETS["gpu"], epochs=40), "cuda", 100),
}


class TehRun(NamedTuple):
    """A training: where its beliefs come from, and its folder."""

    beliefs: str
    folder: RunFolder[Any, Any]
    config: HoldemConfig


class Curve(NamedTuple):
    """A curve: exploitability in chips against iterations of search.

    Attributes:
      name: of the curve.
      points: iterations and exploitability, exact.
    """

    name: str
    points: list[tuple[int, float]]


def teh_runs(scale: str, out: Path, seed: int) -> list[TehRun]:
    """Returns the trainings at a scale, each with a folder of its own below `out`; none where the shipped network is judged."""
    config = SCALES[scale].config
    if config is None:
        return []
    return [
        TehRun(beliefs, RunFolder(out / f"{beliefs}-{seed}", REBEL_HOLDEM), replace(config, beliefs=beliefs, seed=seed))
        for beliefs in (SELF_PLAY, RANDOM)
    ]


def tabular_line(scale: str, watch: Watch) -> Curve:
    """Returns what Linear CFR on the whole game reaches."""
    how, points = SCALES[scale], []

    def keep(point: Any, _: Any) -> None:
        points.append((point.iteration, point.exploitability))
        watch("Linear CFR on the whole game", point.iteration, how.tabular)

    solve(how.game, solver="linear-cfr", iterations=how.tabular, on_check=keep)
    return Curve("Linear CFR, whole game", points)


def judge_teh(scale: str, runs: list[TehRun], out: Path, watch: Watch) -> tuple[list[Curve], list[Curve]]:
    """Returns the curves of Figure 2 and of Figure 5. What was judged is kept below `out` and not judged again."""
    how = SCALES[scale]
    game = require_holdem(load_game(how.game), "rebel-teh")
    networks = {run.beliefs: str(run.folder.path) for run in runs} or {SELF_PLAY: f"{PRETRAINED}turn_endgame_holdem"}
    judge = _Exploitability(game, out / "judged.json", watch)
    leaves: dict[str, Any] = {ODDS: CheckDownLeaves()}
    leaves |= {name: load_holdem(path).leaves(game) for name, path in networks.items()}
    if how.perfect:
        leaves[PERFECT] = SolvedRivers(game.rules, how.perfect, device=how.device)
    second = [
        Curve(name, [(n, judge(name, _ends(part, MODIFIED_CFR_AVE), "linear-cfr", n)) for n in how.searches])
        for name, part in leaves.items()
    ]
    values, count = leaves[SELF_PLAY], how.solver_searches
    fifth = [
        Curve(name, [(count, judge(f"{SELF_PLAY}, {name}", _ends(values, decomposition), solver, count))])
        for name, solver, decomposition in (
            ("CFR-D", "linear-cfr", CFR_D), ("modified CFR-AVE", "linear-cfr", MODIFIED_CFR_AVE), ("FP", "flop", CFR_D)
        )
    ]  # fmt: skip
    return second, fifth


def _ends(leaves: LeafEvaluator, decomposition: str) -> RoundEnds:
    """Returns that every turn is searched to the end of its round."""
    return RoundEnds(leaves, decomposition, BOARD_CARDS[TURN : TURN + 1], solves_turns=False)


class _Exploitability:
    """Judges agents exactly, and remembers."""

    def __init__(self, game: Holdem, kept: Path, watch: Watch) -> None:
        self._game, self._file, self._watch = game, kept, watch
        self._known: dict[str, float] = json.loads(kept.read_text()) if kept.exists() else {}

    def __call__(self, name: str, ends: RoundEnds, solver: str, iterations: int) -> float:
        """Returns the exploitability of an agent in chips."""
        key = f"{name}, {solver}, {iterations} iterations"
        if key not in self._known:
            search = HandSearch(self._game, solver=solver, iterations=iterations, ends=ends)
            quality = endgame_quality(self._game, [search], lambda done, total: self._watch(key, done, total))
            self._known[key] = quality.exploitability
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._file, json.dumps(self._known, indent=1).encode())
        return self._known[key]


def worth_in_iterations(tabular: Curve, exploitability: float) -> float | None:
    """Returns after how many iterations Linear CFR on the whole game is as good, None where it never was that good."""
    from math import exp, log

    before: tuple[int, float] | None = None
    for iteration, reached in tabular.points:
        if reached <= exploitability:
            if before is None or reached == before[1]:
                return float(iteration)
            share = (log(before[1]) - log(exploitability)) / (log(before[1]) - log(reached))
            return exp(log(before[0]) + share * (log(iteration) - log(before[0])))
        before = iteration, reached
    return None
