"""The same seed gives a command the same output bit for bit, in another process and whatever order sets have there.

The processes differ in Python's own hash seed (`PYTHONHASHSEED`). The machine, the number of threads and the versions are the
same: matrix products round differently elsewhere.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from tacit.nets.checkpoint import load_tensors

RIVER = "no_limit_holdem(board=3s7hTdKs2c,pot=200,stack=1000,bets=1|allin,raises=allin)"
SEARCHES = {"epochs": "2", "iterations": "16", "hidden": "16", "evaluate_every": "1"}
TRAININGS: dict[str, tuple[str, dict[str, str]]] = {
    "rebel": ("kuhn_poker", {**SEARCHES, "depth": "1"}),
    "sog": ("kuhn_poker", {**SEARCHES, "depth": "1"}),
    "deepstack": ("kuhn_poker", {**SEARCHES, "depth": "1"}),
    "nfsp": ("leduc_poker", {"epochs": "2", "hidden": "16", "epoch_rounds": "20"}),
    "dqn": ("leduc_poker", {"epochs": "2", "hidden": "16", "epoch_rounds": "20"}),
    "deep-cfr": ("leduc_poker", {"epochs": "2"}),
    "sd-cfr": ("leduc_poker", {"epochs": "2"}),
    "rpg": ("leduc_poker", {"epochs": "2"}),
    "blueprint": (RIVER, {"epochs": "2", "epoch_iterations": "2000", "threads": "1", "deals": "50"}),
}
"""A game and changes to the preset `smoke`, by system."""
COMMANDS: dict[str, list[str]] = {
    "solve": ["solve", "leduc_poker", "--iterations", "30", "--json"],
    "solve lanes": ["solve", "liars_dice(dice=1,faces=3)", "--iterations", "30", "--json"],
    "match": ["match", "random", "always-call", "--game", "leduc_poker", "--hands", "40", "--json"],
    "match hold'em": ["match", "random", "pot-odds", "--game", "no_limit_holdem", "--hands", "20", "--json"],
    "evaluate": ["evaluate", "pretrained:liars_dice_1x4f", "--playthroughs", "2", "--iterations", "8", "--json"],
}
"""Commands whose JSON is compared."""
CLOCKS = {"seconds", "iterations_per_second", "hands_per_second"}
"""Facts that depend on the clock."""

SCRIPT = """
import json, sys
from tests.command import tacit
found = {}
for name, arguments in json.load(sys.stdin).items():
    done = tacit(*arguments)
    assert done.returncode == 0, (name, done.stderr)
    found[name] = json.loads(done.stdout)
json.dump(found, sys.stdout)
"""


def commands(folder: Path, seed: int) -> dict[str, list[str]]:
    all_of_them = {name: [*arguments, "--seed", str(seed)] for name, arguments in COMMANDS.items() if arguments[0] != "solve"}
    all_of_them |= {name: arguments for name, arguments in COMMANDS.items() if arguments[0] == "solve"}
    for system, (game, settings) in TRAININGS.items():
        changes = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
        run = ["--run", str(folder / system), "--preset", "smoke", "--seed", str(seed), "--json"]
        all_of_them[system] = ["train", system, game, *run, *changes]
    return all_of_them


class Session:
    """All commands, run in one process.

    Attributes:
      folder: The folder of its runs.
      said: The JSON of each command.
    """

    def __init__(self, folder: Path, seed: int, hash_seed: int) -> None:
        self.folder = folder
        environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
        asked = json.dumps(commands(folder, seed))
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], input=asked, capture_output=True, text=True, env=environment, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
        self.said: dict[str, Any] = json.loads(done.stdout)

    def weights(self, system: str) -> dict[str, bytes]:
        tensors, _ = load_tensors(self.folder / system / "checkpoints" / "network.safetensors")
        return {name: tensor.contiguous().view(torch.uint8).numpy().tobytes() if tensor.ndim else repr(tensor).encode()
                for name, tensor in tensors.items()}  # fmt: skip

    def metrics(self, system: str) -> list[dict[str, Any]]:
        lines = (self.folder / system / "metrics.jsonl").read_text().splitlines()
        return [timeless(json.loads(line)) for line in lines]


def timeless(facts: Any) -> Any:
    """Returns a command's facts without its run's name and those that depend on the clock."""
    if isinstance(facts, dict):
        return {
            key: timeless(value)
            for key, value in facts.items()
            if key not in CLOCKS and "per_second" not in key and key != "run"
        }
    return [timeless(value) for value in facts] if isinstance(facts, list) else facts


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> list[Session]:
    """Returns two sessions with the same seed, and one with another."""
    return [Session(tmp_path_factory.mktemp("run"), seed, hashes) for seed, hashes in ((3, 1), (3, 2), (4, 1))]


@pytest.mark.parametrize("system", TRAININGS)
def test_the_same_seed_trains_the_same_weights_bit_for_bit_and_another_one_others(system: str, sessions: list[Session]) -> None:
    first, again, other = sessions
    assert first.weights(system) == again.weights(system)
    assert first.metrics(system) == again.metrics(system)
    assert first.weights(system) != other.weights(system)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_same_seed_says_the_same(name: str, sessions: list[Session]) -> None:
    first, again, other = (timeless(session.said[name]) for session in sessions)
    assert first == again
    assert (first == other) == name.startswith("solve")
