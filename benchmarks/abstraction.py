"""What a card abstraction costs: exact exploitability of blueprints of small endgames, beside solves without one.

    python benchmarks/abstraction.py [--iterations 200000,1000000]

MCCFR solves a river and its turn, with one bucket for each hand and with few buckets. All strategies are judged in the real
game. DCFR without any abstraction is listed beside them.
"""

from __future__ import annotations

import argparse

import tacit
from tacit.agents.blueprint import BlueprintPolicy
from tacit.arena.endgames import endgame_quality
from tacit.blueprint.buckets import ALL
from tacit.blueprint.config import BlueprintConfig
from tacit.blueprint.train import BlueprintTrainer
from tacit.blueprint.trained import BlueprintStrategy, quantise
from tacit.evaluation import Quality
from tacit.games import load_game
from tacit.games.holdem import require_holdem

RIVER = (
    "no_limit_holdem(board=3s7hTdKs2d,pot=200,stack=400,bets=1|allin,raises=allin,"
    "range0=AA|KK|QJs|T9s|87s|55,range1=AK|KQ|TT|99|65s|44)"
)
GAMES = {"river": RIVER, "turn": RIVER.replace("3s7hTdKs2d", "3s7hTdKs")}
BUCKETS: tuple[int | str, ...] = (ALL, 50, 10)
EPOCHS = 20
POT = 200


def blueprint_quality(name: str, buckets: int | str, iterations: int) -> Quality:
    """Returns the exact quality, in the real game, of a blueprint with a given number of buckets a street."""
    game = require_holdem(load_game(name), "abstraction")
    config = BlueprintConfig(
        flop=buckets, turn=buckets, river=buckets, bets="1|allin", raises="allin", epochs=EPOCHS, threads=1,
        epoch_iterations=iterations // EPOCHS,
    )  # fmt: skip
    trainer = BlueprintTrainer(game, config)
    for _ in range(EPOCHS):
        trainer.run_epoch()
    strategy = BlueprintStrategy(game, trainer.tree, trainer.abstraction, quantise(trainer.strategy()), trainer.iterations)
    return endgame_quality(game, [BlueprintPolicy(strategy)])


def main() -> None:
    """Prints a line for each solve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", default="200000,1000000")
    lengths = [int(part) for part in parser.parse_args().iterations.split(",")]
    for street, name in GAMES.items():
        exact = tacit.solve(name, solver="dcfr", iterations=300)
        _print(street, "exact, DCFR", 300, exact.value, exact.exploitability)
        for buckets in BUCKETS:
            for iterations in lengths:
                quality = blueprint_quality(name, buckets, iterations)
                _print(street, f"MCCFR, {buckets} buckets", iterations, quality.value, quality.exploitability)


def _print(street: str, solver: str, iterations: int, value: float, exploitability: float) -> None:
    print(
        f"{street:<6} {solver:<18} {iterations:>9,} iterations, value {value:+8.3f}, exploitability {exploitability:7.3f} "
        f"chips ({100 * exploitability / POT:.2f} % of the pot)",
        flush=True,
    )


if __name__ == "__main__":
    main()
