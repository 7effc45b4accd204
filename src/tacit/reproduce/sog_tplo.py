"""Figures 3 and 4 and Table III of "The Cost of Uncertainty in Self-play Reinforcement Learning and Search": hidden cards.

The same poker game, TPLO, with one, two or three hidden cards (12, 66, 220 hands) is learnt for the same number of cycles, by
networks with the same hidden layers. The question is what hidden information costs: the loss on each cycle's new examples
(Figure 3), how much the root's policy still moves (Figure 4), what the final network wins from uniform play and from itself
after a tenth and three tenths of the training (Table III), and how long training takes.

Our rules are TPLO's with the faults of the paper's public code corrected (docs/games/tplo.md). Table III follows the paper's
protocol: sampled games whose showdowns are valued over both players' ranges (*imaginary observations*), with 95 % intervals.
Exact figures stand beside it: if the whole game fits into memory, a policy of re-solving is a table like any other. Then the
exploitability of the final network is exact as well, which the paper does not have.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation import evaluate
from tacit.files import write_whole
from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.kernels.leaf_rows import PublicTreePasses
from tacit.learning.trained import read_trained
from tacit.search.resolving import resolving_strategy
from tacit.sog.config import PRESETS, SogConfig
from tacit.sog.system import SOG
from tacit.training.folder import RunFolder
from tacit.tree.public_tree import Floats, chunks_of_nodes
from tacit.tree.search_space import SearchSpace, game_space

BLIND = 100
STAGES = (0.1, 0.3, 1.0)
"""The shares of training after which a network is kept."""
UNIFORM = "uniform play"
GAMES = 400_000
"""Sampled games for each cell of Table III."""
PAPER_TABLE = {
    1: {UNIFORM: (2464, 149), "10 %": (104, 55), "30 %": (38, 56)},
    2: {UNIFORM: (1448, 137), "10 %": (147, 54), "30 %": (67, 55)},
    3: {UNIFORM: (469, 94), "10 %": (237, 41), "30 %": (63, 44)},
}
"""Table III, by hidden cards and opponent: what the final network wins in mbb/g, and half the width of the 95 % interval."""
PAPER_TIMES = {1: 1.0, 2: 1.23, 3: 1.77}
"""The paper's training times, as multiples of that with one hidden card."""


@dataclass(frozen=True)
class TploScale:
    """The amount of work at a scale.

    Attributes:
      cards: The hidden cards of each game.
      config: The settings of the runs.
      iterations: Iterations of the searches with which networks are evaluated.
      device: Where networks are trained and evaluated.
    """

    cards: tuple[int, ...]
    config: SogConfig
    iterations: int
    device: str = "cpu"


_TPLO = replace(
    PRESETS["paper"], hidden=300, layers=3, learning_rate=1e-4, halve_every=5_000, replay_size=30_000, queries_per_search=4.5,
    recursive_queries=0.5, evaluate_every=0,
)  # fmt: skip
"""The paper's settings for TPLO (Table I)."""
_GPU = replace(
    _TPLO, iterations=100, games=4_096, hidden=128, learning_rate=1e-3, halve_every=0, batch_size=512, ratio=16.0,
    replay_size=200_000, cycle_queries=8_192, epochs=20,
)  # fmt: skip
"""Settings for minutes on one GPU: shorter searches, a smaller network, fewer and larger cycles."""
SCALES = {
    "smoke": TploScale((1,), replace(_TPLO, iterations=4, hidden=32, games=32, cycle_queries=64, epochs=10), 4),
    "cpu": TploScale((1, 2, 3), replace(_TPLO, iterations=50, learning_rate=1e-3, cycle_queries=1_024, epochs=10), 50),
    "gpu": TploScale((1, 2, 3), _GPU, 50, "cuda"),
}  # fmt: skip


class TploRun(NamedTuple):
    """A training run: its number of hidden cards, its folder, and its settings."""

    cards: int
    folder: RunFolder[Any, Any]
    config: SogConfig

    @property
    def game(self) -> str:
        """The name of the game."""
        return f"tplo(cards={self.cards})"

    def stages(self) -> list[tuple[str, int, Path]]:
        """Returns the stages of training: the name, the last epoch, and the file that keeps the network of each."""
        parts = [(f"{share:.0%}".replace("%", " %"), max(1, round(share * self.config.epochs))) for share in STAGES]
        return [(name, epoch, self.folder.path / f"after-{epoch}.safetensors") for name, epoch in parts]

    def keep(self, epoch: int) -> None:
        """Keeps a copy of the current network if a stage ends after this epoch."""
        for _, last, file in self.stages():
            if epoch == last:
                write_whole(file, self.folder.network.read_bytes())

    @property
    def finished(self) -> bool:
        """Whether the networks of all stages exist."""
        return all(file.exists() for _, _, file in self.stages())


class TploRate(NamedTuple):
    """What the final network wins from an opponent, in mbb/g.

    Attributes:
      opponent: The opponent's name.
      sampled: The mean over sampled games with imaginary observations.
      margin: Half the width of the 95 % interval of `sampled`.
      exact: The mean over all games.
    """

    opponent: str
    sampled: float
    margin: float
    exact: float


def tplo_runs(scale: str, out: Path, seed: int) -> list[TploRun]:
    """Returns the training runs at a scale, each with its own folder below `out`."""
    settings = SCALES[scale]
    return [TploRun(k, RunFolder(out / f"tplo-{k}-{seed}", SOG), replace(settings.config, seed=seed)) for k in settings.cards]


def judge_tplo(run: TploRun, scale: str, seed: int, device: str, progress: Callable[[str, int], None]) -> dict[str, Any]:
    """Returns the results of a trained run, ready for JSON. Policies are kept in its folder and not computed twice.

    Args:
      run: the training run.
      scale: one of `SCALES`.
      seed: seed of the sampled games.
      device: where policies are computed.
      progress: called with the name of the policy being computed, and the number of searches done.
    """
    game, history = load_game(run.game), run.folder.history()
    result = {
        "cards": run.cards, "training_seconds": history[-1].seconds,
        "validation_loss": [now.validation_loss for now in history], "policy_change": [now.policy_change for now in history],
    }  # fmt: skip
    space = game_space(game, run.config.depth_in(game))
    if not space.compiled:
        return {**result, "win_rates": None, "exploitability": None}
    policies = {UNIFORM: space.tree.uniform_strategy()}
    for name, _, file in run.stages():
        policies[name] = _policy(file, space, SCALES[scale].iterations, device, partial(progress, name))
    final, generator, passes = policies.pop("100 %"), np.random.default_rng(seed + 1), make_passes(space.tree)
    assert isinstance(passes, PublicTreePasses)
    rates = [win_rate(passes, name, final, other, generator) for name, other in policies.items()]
    quality = evaluate(passes, final)
    return {
        **result, "win_rates": [rate._asdict() for rate in rates], "kind": "exact", "value": quality.value,
        "exploitability": quality.exploitability, "exploitability_mbb": 1_000 * quality.exploitability / BLIND,
    }  # fmt: skip


def win_rate(
    passes: PublicTreePasses[Any], name: str, ours: Floats, theirs: Floats, generator: np.random.Generator
) -> TploRate:
    """Returns what a strategy `[E]` wins from another, on average over both seats, sampled and exact."""
    sampled, exact, tree = [], 0.0, passes.tree
    for seat in (0, 1):
        mixed = np.where(tree.entry_player == seat, ours, theirs)
        chances, payoffs = imaginary_outcomes(passes, mixed)
        sign = 1_000 / BLIND * (1 - 2 * seat)
        exact += sign * float(chances @ payoffs) / 2
        sampled.append(sign * payoffs[generator.choice(len(chances), GAMES // 2, p=chances)])
    outcomes = np.concatenate(sampled)
    return TploRate(name, float(outcomes.mean()), float(1.96 * outcomes.std(ddof=1) / len(outcomes) ** 0.5), exact)


def imaginary_outcomes(passes: PublicTreePasses[Any], strategy: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns each terminal node's probability, and what player 0 wins there on average over both ranges.

    Imaginary observations replace the payoff of the dealt hands by this mean over all hands that could have reached the node.
    """
    tree = passes.tree
    entries, start = passes.entries(strategy), tree.payoff_start
    first, second = (passes.rows_to_numpy(player, passes.reach(player, entries)) for player in (0, 1))
    chances, won = np.zeros(len(start) - 1), np.zeros(len(start) - 1)
    for low, high in chunks_of_nodes(start):
        pairs, node = slice(start[low], start[high]), np.repeat(np.arange(high - low), np.diff(start[low : high + 1]))
        weight = first[tree.payoff_rows[0, pairs]] * second[tree.payoff_rows[1, pairs]]
        chances[low:high] = np.bincount(node, weight * tree.payoff_chance[pairs], high - low)
        won[low:high] = np.bincount(node, weight * tree.payoff[pairs], high - low)
    over = np.diff(start) > 0
    return chances[over] / chances.sum(), won[over] / np.where(chances[over] > 0, chances[over], 1.0)


def _policy(file: Path, space: SearchSpace, iterations: int, device: str, progress: Callable[[int], None]) -> Floats:
    """Returns `[E]` the strategy of a network with continual re-solving at all decisions."""
    kept = file.with_suffix(f".{iterations}.npy")
    if not kept.exists():
        trained = read_trained(file, str(file), SogConfig)
        search = trained.search(space, trained.config.solver, iterations, device)
        content = io.BytesIO()
        np.save(content, resolving_strategy(search, progress, at_decisions=True))
        write_whole(kept, content.getvalue())
    policy: Floats = np.load(kept)
    return policy
