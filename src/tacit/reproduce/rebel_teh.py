"""Figures 2 and 5 of the ReBeL paper: turn endgame hold'em by search with a network at the end of the turn.

Exploitability is exact, on the paper's board, for an agent that searches the turn's betting and then every river it reaches.
Linear CFR on the whole game stands beside it as the paper's yardstick: its networks are worth about 125 iterations.

Figure 2 compares sources of leaf values: solved rivers (the paper's oracle), self-play, self-play with policy networks that
warm-start searches, random beliefs, and, as our own line, the odds of hands alone. Figure 5 compares how leaves are valued
while a search runs. The paper prints no numbers of either.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from tacit.agents.hand_search import HandSearch, RoundEnds
from tacit.agents.warm import WarmStart
from tacit.arena.endgames import endgame_quality
from tacit.files import write_whole
from tacit.games import load_game
from tacit.games.betting import BOARD_CARDS, TURN
from tacit.games.holdem import Holdem, require_holdem
from tacit.kernels.base import LeafEvaluator
from tacit.leaves.check_down import CheckDownLeaves
from tacit.leaves.solved_hands import SolvedHandLeaves
from tacit.processes import Message, num_cores
from tacit.rebel.holdem.config import PRESETS, RANDOM, SELF_PLAY, HoldemConfig
from tacit.rebel.holdem.system import REBEL_HOLDEM
from tacit.rebel.holdem.trained import load_holdem
from tacit.scale.hands import find_workers
from tacit.solvers import solve
from tacit.solvers.valuation import CFR_D, MODIFIED_CFR_AVE
from tacit.solvers.warm import WARM_ITERATIONS
from tacit.training.folder import RunFolder, network_file
from tacit.training.shipped import PRETRAINED

PAPER_ITERATIONS = 125
"""Iterations of full-game tabular CFR that are "about" as good as the paper's agent."""
PERFECT, ODDS, WITH_POLICY = "solved rivers", "odds alone", "self-play and policy"
Watch = Callable[[str, int, int], None]
"""Called with the name of the work, the parts done, and the number of parts."""


@dataclass(frozen=True)
class TehScale:
    """The amount of work at a scale.

    Attributes:
      game: The endgame.
      tabular: Iterations of Linear CFR on the whole game.
      searches: Iterations of the agents' searches.
      config: The settings of the training runs; with None, the shipped network is evaluated instead.
      device: Where training runs; agents are evaluated on the CPU's cores.
      perfect: Iterations with which the rivers below each leaf are solved; 0 leaves that line out.
      most_perfect: The most search iterations in that line; each of them solves 624 rivers twice.
    """

    game: str
    tabular: int
    searches: tuple[int, ...]
    config: HoldemConfig | None
    device: str = "cpu"
    perfect: int = 0
    most_perfect: int = 128


SCALES = {
    "smoke": TehScale("turn_endgame_holdem(stack=3000)", 8, (4,), PRESETS["smoke"], perfect=20),
    "cpu": TehScale("turn_endgame_holdem", 128, (16, 64, 256), None, perfect=50, most_perfect=64),
    "gpu": TehScale(
        "turn_endgame_holdem", 256, (8, 32, 128, 512), replace(PRESETS["gpu"], epochs=4, replay_size=150_000), "cuda", 100
    ),
}


class TehRun(NamedTuple):
    """A training run: its name in the figure, its folder, and its settings."""

    name: str
    folder: RunFolder[Any, Any]
    config: HoldemConfig


class Curve(NamedTuple):
    """A curve: exploitability in chips against iterations of search.

    Attributes:
      name: The curve's name.
      points: Pairs of iterations and exact exploitability.
    """

    name: str
    points: list[tuple[int, float]]


def teh_runs(scale: str, out: Path, seed: int) -> list[TehRun]:
    """Returns the training runs at a scale, each with its own folder below `out`; none if the shipped network is evaluated."""
    config = SCALES[scale].config
    if config is None:
        return []
    configs = {
        SELF_PLAY: config,
        RANDOM: replace(config, beliefs=RANDOM),
        WITH_POLICY: replace(config, warm_start=min(WARM_ITERATIONS, config.iterations // 2)),
    }
    return [
        TehRun(name, RunFolder(out / f"{name.replace(' ', '-')}-{seed}", REBEL_HOLDEM), replace(settings, seed=seed))
        for name, settings in configs.items()
    ]


def tabular_line(scale: str, watch: Watch) -> Curve:
    """Returns the curve of Linear CFR on the whole game."""
    how, points = SCALES[scale], []

    def keep(point: Any, _: Any) -> None:
        points.append((point.iteration, point.exploitability))
        watch("Linear CFR on the whole game", point.iteration, how.tabular)

    solve(how.game, solver="linear-cfr", iterations=how.tabular, on_check=keep)
    return Curve("Linear CFR, whole game", points)


class TehAgent(NamedTuple):
    """An agent to be evaluated, described so that any process can do it.

    Attributes:
      game: The endgame.
      values: The source of values at the end of the turn: `PERFECT`, `ODDS`, or a network's name.
      decomposition: The beliefs at which leaves are valued while a search runs.
      solver: The algorithm of its searches.
      iterations: The iterations of its searches.
      perfect: The iterations with which `PERFECT` solves rivers.
    """

    game: str
    values: str
    decomposition: str
    solver: str
    iterations: int
    perfect: int = 0

    def exploitability(self) -> float:
        """Returns the agent's exact exploitability in chips."""
        game = require_holdem(load_game(self.game), "rebel-teh")
        leaves, warm = self._values(game)
        ends = RoundEnds(leaves, self.decomposition, BOARD_CARDS[TURN : TURN + 1], looks_further=False, warm=warm)
        search = HandSearch(game, solver=self.solver, iterations=self.iterations, ends=ends)
        return endgame_quality(game, [search]).exploitability

    def _values(self, game: Holdem) -> tuple[LeafEvaluator, WarmStart | None]:
        """Returns the evaluator of ends of the turn, and the warm start of searches."""
        if self.values == ODDS:
            return CheckDownLeaves(), None
        if self.values == PERFECT:
            return SolvedHandLeaves(game.rules, self.perfect), None
        trained = load_holdem(self.values)
        policies = trained.policies()
        return trained.leaves(game), None if policies is None else WarmStart(policies, trained.config.warm_start)


@dataclass(frozen=True)
class TehJudge:
    """Agents to be evaluated, as work that processes share.

    Attributes:
      agents: All agents.
    """

    agents: tuple[TehAgent, ...]

    def open(self, number: int, life: int) -> TehJudge:
        """Returns itself: what must be loaded depends on the agent."""
        del number, life
        return self

    def hear(self, shared: Message) -> None:
        """Does nothing: nothing is shared."""

    def answer(self, order: Message) -> Message:
        """Returns the exploitability of the agent that is ordered."""
        return {}, {"exploitability": self.agents[order[1]["agent"]].exploitability()}


def judge_teh(scale: str, runs: list[TehRun], out: Path, watch: Watch) -> tuple[list[Curve], list[Curve]]:
    """Returns the curves of Figure 2 and of Figure 5. Results are kept below `out` and not computed again."""
    how = SCALES[scale]
    networks = {run.name: str(run.folder.path) for run in runs} or {SELF_PLAY: f"{PRETRAINED}turn_endgame_holdem"}
    values = {ODDS: ODDS, **networks, **({PERFECT: PERFECT} if how.perfect else {})}
    by_values = {
        (name, count): TehAgent(how.game, source, MODIFIED_CFR_AVE, "linear-cfr", count, how.perfect * (source == PERFECT))
        for name, source in values.items()
        for count in how.searches
        if name != WITH_POLICY or count > WARM_ITERATIONS  # the warm start counts as this many iterations
        if name != PERFECT or count <= how.most_perfect
    }
    by_solver = {
        (name, count): TehAgent(how.game, networks[SELF_PLAY], decomposition, solver, count)
        for name, solver, decomposition in (
            ("CFR-D", "linear-cfr", CFR_D), ("modified CFR-AVE", "linear-cfr", MODIFIED_CFR_AVE), ("FP", "flop", CFR_D)
        )
        for count in how.searches
    }  # fmt: skip
    known = _judged([*by_values.values(), *by_solver.values()], out, watch)
    return _curves(by_values, known), _curves(by_solver, known)


def _curves(agents: dict[tuple[str, int], TehAgent], known: dict[str, float]) -> list[Curve]:
    points: dict[str, list[tuple[int, float]]] = {}
    for (name, count), agent in agents.items():
        points.setdefault(name, []).append((count, known[_key(agent)]))
    return [Curve(name, line) for name, line in points.items()]


def _judged(agents: list[TehAgent], out: Path, watch: Watch) -> dict[str, float]:
    """Returns the exploitability of all agents by key; agents that are not in the file yet are evaluated on all cores."""
    kept = out / "judged.json"
    known: dict[str, float] = json.loads(kept.read_text()) if kept.exists() else {}
    out.mkdir(parents=True, exist_ok=True)
    # The longest go first, so that no core is left with a long one at the end. Solving rivers takes longer than all else.
    missing = tuple(agent for agent in dict.fromkeys(agents) if _key(agent) not in known)
    missing = tuple(sorted(missing, key=lambda agent: (agent.perfect, agent.iterations), reverse=True))
    watch("agents judged exactly", 0, len(missing))
    if not missing:
        return known
    with find_workers(num_cores()).on(TehJudge(missing), len(missing)) as hands:
        answers = hands.answers({"agent": number} for number in range(len(missing)))
        for number, (place, (_, facts)) in enumerate(answers, 1):
            known[_key(missing[place])] = facts["exploitability"]
            write_whole(kept, json.dumps(known, indent=1).encode())
            watch("agents judged exactly", number, len(missing))
    return known


def _key(agent: TehAgent) -> str:
    """Returns an agent's key in the file, which depends on its network's weights and not on their folder."""
    values = Path(agent.values).name
    if agent.values == PERFECT:
        values = f"{values} ({agent.perfect} iterations)"
    elif agent.values != ODDS:
        values = f"{values} ({sha256(network_file(agent.values).read_bytes()).hexdigest()[:12]})"
    return f"{values}, {agent.decomposition}, {agent.solver}, {agent.iterations} iterations"


def worth_in_iterations(tabular: Curve, exploitability: float) -> float | None:
    """Returns after how many iterations Linear CFR on the whole game is as good, None if it never gets there."""
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
