"""Iterations as a CUDA graph: captured once and replayed, so that nothing returns to Python inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from tacit.solvers.driver import Driver


def replay(driver: Driver, iterations: int, period: int, graph: Any) -> Any:
    """Runs some iterations of a driver and returns the graph that later ones can be replayed with.

    As many are captured as leaf values are used for, so that a graph begins by asking for them; what is left over comes last.

    Args:
      driver: whose passes can be captured.
      iterations: how many to run.
      period: iterations of a graph.
      graph: from an earlier call with the same driver, or None.
    """
    first = min(iterations, period) if graph is None else 0  # compiles kernels, which a capture cannot
    for _ in range(first):
        driver.step()
    windows, left = divmod(iterations - first, period)
    if windows and graph is None:
        torch.cuda.synchronize()
        graph, before = torch.cuda.CUDAGraph(), driver.clock.iteration
        with torch.cuda.graph(graph):  # capturing runs nothing
            for _ in range(period):
                driver.step()
        driver.clock.iteration = before
    for _ in range(windows):
        graph.replay()
    driver.clock.iteration += windows * period
    for _ in range(left):
        driver.step()
    return graph
