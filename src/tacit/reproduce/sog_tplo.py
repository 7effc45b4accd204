"""Figures 3 and 4 and Table III of "The Cost of Uncertainty in Self-play Reinforcement Learning and Search": hidden cards.

The same poker game, TPLO, with one, two or three hidden cards (12, 66, 220 hands) is learnt for as many cycles by networks of
the same hidden layers. Asked is what hidden information costs: the loss on each cycle's new examples (Figure 3), how much the
root's policy still moves (Figure 4), what the final network wins from uniform play and from itself after a tenth and three
tenths of the training (Table III), and how long training takes.

Our rules are TPLO's with the faults of the paper's public code corrected (docs/games/tplo.md). Table III is made by the
paper's protocol, sampled games whose showdowns are valued over both players' ranges (*imaginary observations*), with 95 %
intervals; and beside it exactly, because a policy of re-solving is a table like any other where the whole game fits into
memory. There the exploitability of the final network is exact as well, which the paper does not have.
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
"""Sampled games of a cell of Table III."""
PAPER_TABLE = {
    1: {UNIFORM: (2464, 149), "10 %": (104, 55), "30 %": (38, 56)},
    2: {UNIFORM: (1448, 137), "10 %": (147, 54), "30 %": (67, 55)},
    3: {UNIFORM: (469, 94), "10 %": (237, 41), "30 %": (63, 44)},
}
"""Table III: what the final network wins, in mbb/g, and half of the 95 % interval, by hidden cards and opponent."""
PAPER_TIMES = {1: 1.0, 2: 1.23, 3: 1.77}
"""Training times as multiples of that with one card."""


@dataclass(frozen=True)
class TploScale:
    """How much is run.

    Attributes:
      cards: the games.
      config: of the runs.
      iterations: of the searches that networks are judged with.
      device: where.
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
"""What takes minutes on one GPU: shorter searches, a smaller network, fewer and larger cycles."""
SCALES = {
    "smoke": TploScale((1,), replace(_TPLO, iterations=4, hidden=32, games=32, cycle_queries=64, epochs=10), 4),
    "cpu": TploScale((1, 2, 3), replace(_TPLO, iterations=50, learning_rate=1e-3, cycle_queries=1_024, epochs=10), 50),
    "gpu": TploScale((1, 2, 3), _GPU, 50, "cuda"),
}  # fmt: skip


class TploRun(NamedTuple):
    """A training: the game, where it is kept, and its settings."""

    cards: int
    folder: RunFolder[Any, Any]
    config: SogConfig

    @property
    def game(self) -> str:
        """The name of the game."""
        return f"tplo(cards={self.cards})"

    def stages(self) -> list[tuple[str, int, Path]]:
        """Returns the parts of the training: a name, the epoch after which it ends, and where its network is kept."""
        parts = [(f"{share:.0%}".replace("%", " %"), max(1, round(share * self.config.epochs))) for share in STAGES]
        return [(name, epoch, self.folder.path / f"after-{epoch}.safetensors") for name, epoch in parts]

    def keep(self, epoch: int) -> None:
        """Keeps the present network under a name of its own, if a stage ends after this epoch."""
        for _, last, file in self.stages():
            if epoch == last:
                write_whole(file, self.folder.network.read_bytes())

    @property
    def finished(self) -> bool:
        """Whether the networks of all stages are there."""
        return all(file.exists() for _, _, file in self.stages())


class TploRate(NamedTuple):
    """What the final network wins from an opponent, in mbb/g.

    Attributes:
      opponent: its name.
      sampled: the mean of sampled games with imaginary observations, half of whose 95 % interval is `margin`.
      margin: of `sampled`.
      exact: over all games.
    """

    opponent: str
    sampled: float
    margin: float
    exact: float


def tplo_runs(scale: str, out: Path, seed: int) -> list[TploRun]:
    """Returns the trainings at a scale, each with a folder of its own below `out`."""
    how = SCALES[scale]
    return [TploRun(k, RunFolder(out / f"tplo-{k}-{seed}", SOG), replace(how.config, seed=seed)) for k in how.cards]


def judge_tplo(run: TploRun, scale: str, seed: int, device: str, progress: Callable[[str, int], None]) -> dict[str, Any]:
    """Returns what a trained run reached, ready for JSON. Policies are kept in its folder and not computed twice.

    Args:
      run: the training.
      scale: one of `SCALES`.
      seed: of the sampled games.
      device: where policies are computed.
      progress: called with the policy that is being computed, and the searches done.
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
    """Returns what a strategy `[E]` wins from another on average over both seats, sampled and exact."""
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
    """Returns for each terminal node how likely games end there, and what player 0 then wins on average over both ranges.

    That mean over all hands that could have come there is what imaginary observations put in the place of the hands dealt.
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
    """Returns `[E]` what a network plays by continual re-solving at all decisions."""
    kept = file.with_suffix(f".{iterations}.npy")
    if not kept.exists():
        trained = read_trained(file, str(file), SogConfig)
        search = trained.search(space, trained.config.solver, iterations, device)
        content = io.BytesIO()
        np.save(content, resolving_strategy(search, progress, at_decisions=True))
        write_whole(kept, content.getvalue())
    policy: Floats = np.load(kept)
    return policy
