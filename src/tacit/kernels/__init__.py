"""Array passes over public trees: numba on the CPU, torch on CPU and GPU."""

from __future__ import annotations

from tacit.errors import TacitError
from tacit.kernels.base import AnyPasses, Passes, RegretStep
from tacit.tree.lanes import lane_layout
from tacit.tree.public_tree import PublicTree

__all__ = ["AnyPasses", "Passes", "RegretStep", "make_passes"]


def make_passes(tree: PublicTree, backend: str = "numba", device: str = "cpu") -> AnyPasses:
    """Returns the passes over `tree`, in float64: in lanes where the tree allows it, else row by row.

    Args:
      tree: any public tree.
      backend: `numba` (CPU) or `torch`.
      device: where torch computes: `cpu`, `cuda`, ...
    """
    if backend == "numba":
        if device != "cpu":
            raise TacitError(f"the numba backend runs on the cpu, not on {device}: choose --backend torch")
        from tacit.kernels.numba_lanes import LanePasses
        from tacit.kernels.numba_rows import RowPasses

        layout = lane_layout(tree)
        return RowPasses(tree) if layout is None else LanePasses(tree, layout)
    if backend == "torch":
        import torch

        from tacit.kernels.torch_rows import TorchPasses

        if device.startswith("cuda") and not torch.cuda.is_available():
            raise TacitError("no CUDA device here: choose --device cpu")
        return TorchPasses(tree, device)
    raise TacitError(f"unknown backend {backend!r}: choose numba or torch")
