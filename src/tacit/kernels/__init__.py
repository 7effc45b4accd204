"""Array passes over public trees: numba on the CPU, torch on CPU and GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tacit.errors import TacitError
from tacit.kernels.base import AnyPasses, AnyTreePasses
from tacit.kernels.clock import RegretStep
from tacit.tree.base import Tree
from tacit.tree.lanes import lane_layout

__all__ = ["AnyPasses", "AnyTreePasses", "RegretStep", "check_backend", "make_passes"]


def check_backend(backend: str, device: str) -> None:
    """Checks before long work starts that a backend and device are available.

    Raises:
      TacitError: one is not; the message says what to choose instead.
    """
    if backend not in ("numba", "torch"):
        raise TacitError(f"unknown backend {backend!r}: choose numba or torch")
    if backend == "numba" and device != "cpu":
        raise TacitError(f"the numba backend runs on the cpu, not on {device}: choose --backend torch")
    if backend == "torch":
        import torch

        if device.startswith("cuda") and not torch.cuda.is_available():
            raise TacitError("no CUDA device here: choose --device cpu")
        try:
            torch.zeros(1, dtype=torch.float64, device=device)
        except (RuntimeError, TypeError, NotImplementedError) as error:
            reason = str(error).partition("\n")[0]
            raise TacitError(f"torch cannot compute on the device {device!r}, choose cpu or cuda: {reason[:100]}") from None


def make_passes(tree: Tree, backend: str = "numba", device: str = "cpu", bits: int | None = None) -> AnyTreePasses:
    """Returns the passes over `tree` for its layout: in float64, or in float32 for hold'em.

    Args:
      tree: any tree.
      backend: `numba` (CPU) or `torch`.
      device: where torch computes: `cpu`, `cuda`, ...
      bits: the width of regrets and averages in hold'em on the CPU, 32 (the default) or 16.

    Raises:
      TacitError: the backend or device is not available, or does not fit the tree.
    """
    check_backend(backend, device)
    if bits is not None and (tree.layout != "hands" or backend != "numba"):
        raise TacitError("only hold'em on the cpu can be solved in 16 bits: leave out the bits")
    if bits not in (None, 16, 32):
        raise TacitError(f"regrets and averages have 32 bits or 16, not {bits}")
    return _LAYOUTS[tree.layout](tree, backend, device, bits or 32)


def _row_passes(tree: Any, backend: str, device: str, _bits: int) -> AnyTreePasses:
    """Returns passes over a public tree: in lanes if its shape allows that, else row by row."""
    if backend == "torch":
        from tacit.kernels.torch_rows import TorchPasses

        return TorchPasses(tree, device)
    from tacit.kernels.numba_lanes import LanePasses
    from tacit.kernels.numba_rows import RowPasses

    layout = lane_layout(tree)
    return RowPasses(tree) if layout is None else LanePasses(tree, layout)


def _hand_passes(tree: Any, backend: str, device: str, bits: int) -> AnyTreePasses:
    """Returns passes over a tree of hold'em."""
    if backend == "numba":
        from tacit.kernels.numba_hands import HandPasses

        return HandPasses(tree, bits=bits)
    if not device.startswith("cuda"):
        raise TacitError("on the cpu trees of hold'em are solved by numba: leave out --backend, or add --device cuda")
    from tacit.kernels.triton_hands import TritonHandPasses

    return TritonHandPasses(tree, device)


_LAYOUTS: dict[str, Callable[[Any, str, str, int], AnyTreePasses]] = {"rows": _row_passes, "hands": _hand_passes}
