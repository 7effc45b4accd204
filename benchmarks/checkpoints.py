"""What it costs to write, verify and read a checkpoint, and to sample examples from files.

python benchmarks/checkpoints.py --megabytes 512
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import torch
from torch import Tensor

from tacit.learning.replay import ReplayBuffer
from tacit.nets.checkpoint import check_tensors, load_tensors, save_tensors

ROW = 256
"""Numbers in an example."""
BATCH = 512


@dataclass
class Examples:
    """Dummy examples.

    Attributes:
      numbers: `[B, ROW]`.
    """

    numbers: Tensor


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """Returns the shortest time of some runs."""
    took = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return min(took)


def sampling(folder: Path, rows: int, share: float) -> float:
    """Returns the seconds to draw a batch from a buffer that has a given share of its examples in memory."""
    buffer = ReplayBuffer(Examples, rows, memory=4 * ROW * rows * share)
    buffer.spills_beside = folder / "checkpoint-000000.safetensors"
    for _ in range(rows // 4_096):
        buffer.add(Examples(torch.rand(4_096, ROW)))
    generator = torch.Generator().manual_seed(0)
    return seconds(lambda: buffer.sample(BATCH, generator), 20)


def main() -> None:
    """Prints a line for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--megabytes", type=int, default=512, help="of tensors in the checkpoint, and of examples")
    size = parser.parse_args().megabytes * 2**20
    block = bytes(16 * 2**20)
    print(f"blake2b of 16 MiB: {1e3 * seconds(lambda: blake2b(block).hexdigest()):.1f} ms")
    folder = Path(tempfile.mkdtemp())
    try:
        tensors, file = {"rows": torch.rand(size // 4)}, folder / "checkpoint-000001.safetensors"
        print(f"write {size / 1e6:.0f} MB: {seconds(lambda: save_tensors(file, tensors, {}), 1):.2f} s")
        later = folder / "checkpoint-000002.safetensors"
        print(f"write the next one, equal parts shared: {seconds(lambda: save_tensors(later, tensors, {}), 1):.2f} s")
        print(f"verify: {seconds(lambda: check_tensors(file)):.2f} s, read: {seconds(lambda: load_tensors(file)):.2f} s")
        rows = size // (4 * ROW)
        for share in (1.0, 0.5, 0.1):
            took = sampling(folder, rows, share)
            print(f"draw {BATCH} of {rows:,} examples, {share:.0%} in memory: {1e3 * took:.2f} ms")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
