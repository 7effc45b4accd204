"""`tacit bench deep-cfr`: Deep CFR on Leduc beside OpenSpiel's (PyTorch), each on one thread.

In each iteration, both sample 200 games for each player, and then train an advantage network of three layers with 64 units from
new weights, by 50 steps of Adam on 512 samples. Speed is samples per second, learning included: a sample is an infostate that a
traversal stored in the memories of advantages or of strategies.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from tacit.bench.timing import best_seconds
from tacit.deep_cfr.system import DEEP_CFR
from tacit.games import load_game
from tacit.threads import one_thread

GAME = "leduc_poker"
TRAVERSALS, STEPS, BATCH, LAYERS, RATE, MEMORY = 200, 50, 512, (64, 64, 64), 0.001, 1_000_000
ITERATIONS = 4
"""Iterations of a measurement; the first of OpenSpiel's also fills its memories."""


@dataclass(frozen=True)
class DeepCfrSpeed:
    """The speed of a program.

    Attributes:
      samples_per_second: Samples that traversals stored per second, of both players.
      updates_per_second: Gradient steps per second on advantage networks.
    """

    samples_per_second: float
    updates_per_second: float


def measure_ours(window: float, seed: int) -> DeepCfrSpeed:
    """Returns our speed: the best of three windows of about `window` seconds each."""
    settings = {
        "traversals": TRAVERSALS, "advantage_steps": STEPS, "policy_steps": 1, "batch_size": BATCH, "learning_rate": RATE,
        "hidden": "-".join(map(str, LAYERS)), "advantage_memory": MEMORY, "policy_memory": MEMORY, "restart": "true",
        "epoch_iterations": ITERATIONS, "epochs": 1_000_000, "seed": seed,
    }  # fmt: skip
    config = DEEP_CFR.presets["cpu"].with_settings({key: str(value) for key, value in settings.items()})
    trainer = DEEP_CFR.trainer(load_game(GAME), config, "cpu")
    trainer.run_epoch()
    before, epochs = trainer.samples, trainer.epoch
    seconds = best_seconds(trainer.run_epoch, window)
    each = (trainer.samples - before) / (trainer.epoch - epochs)
    return DeepCfrSpeed(each / seconds, 2 * ITERATIONS * STEPS / seconds)


def missing_peer() -> str | None:
    """Returns why OpenSpiel's Deep CFR cannot be imported, None if it can."""
    try:
        import open_spiel.python.pytorch.deep_cfr  # noqa: F401
    except ImportError as error:
        return str(error)
    return None


def measure_openspiel(window: float, seed: int) -> DeepCfrSpeed:
    """Returns the speed of OpenSpiel's program over a few iterations, which take much longer than a window."""
    del window
    import pyspiel
    from open_spiel.python.pytorch import deep_cfr

    with one_thread():
        solver = deep_cfr.DeepCFRSolver(
            pyspiel.load_game(GAME), policy_network_layers=LAYERS, advantage_network_layers=LAYERS, num_iterations=ITERATIONS,
            num_traversals=TRAVERSALS, learning_rate=RATE, batch_size_advantage=BATCH, batch_size_strategy=BATCH,
            memory_capacity=MEMORY, policy_network_train_steps=1, advantage_network_train_steps=STEPS, seed=seed,
        )  # fmt: skip
        solver._reinitialize_policy_network()  # OpenSpiel does this only when it prints
        start = time.perf_counter()
        solver.solve()
        seconds = time.perf_counter() - start
    memories = [*solver._advantage_memories, solver._strategy_memories]
    samples = sum(int(memory.add_calls) for memory in memories)
    return DeepCfrSpeed(samples / seconds, 2 * ITERATIONS * STEPS / seconds)
