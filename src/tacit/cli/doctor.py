"""`tacit doctor`: what this machine has, and what solving a game will cost."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from typing import Annotated, Any

import typer

from tacit.cli.common import JsonOption, SeedOption, print_json, printer

_PACKAGES = ("torch", "numpy", "numba", "scipy", "safetensors", "matplotlib", "open_spiel", "LiteEFG")


def doctor(
    game: Annotated[str | None, typer.Argument(help="Estimate the memory that solving this game takes.")] = None,
    as_json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """Show what this machine has; with a game, estimate its memory before anything is allocated.

    Examples:

      tacit doctor

      tacit doctor "liars_dice(dice=2,faces=6)"
    """
    import torch

    from tacit import __version__
    from tacit.tree.estimate import available_memory, readable_bytes, readable_count

    del seed  # nothing random happens here
    report: dict[str, Any] = {
        "tacit": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "memory_free_bytes": available_memory(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
    }
    if game is not None:
        report["job"] = _cost(game)
    if as_json:
        print_json(report)
        return
    console = printer()
    console.print(f"tacit {report['tacit']} on Python {report['python']}, {report['platform']}")
    console.print(
        f"{report['cores']} cores, {report['memory_free_bytes'] / 2**30:.1f} GiB of memory free; GPU: {report['gpu'] or 'none'}"
    )
    for name, version in report["packages"].items():
        console.print(f"  {name:<12} {version or 'not installed (optional)'}")
    if game is not None:
        job = report["job"]
        about = "" if job["exact"] else "about "
        sizes = f"{about}{readable_count(job['histories'])} histories, {about}{readable_bytes(job['bytes'])}"
        console.print(f"{job['game']}: {sizes} to compile and solve: {'fits' if job['fits'] else 'does not fit'}")


def _cost(name: str) -> dict[str, Any]:
    from tacit.games import load_game
    from tacit.tree.compiler import solving_cost
    from tacit.tree.estimate import memory_limit

    game = load_game(name)
    cost = solving_cost(game)
    return {
        "game": str(game),
        "histories": cost.size.histories,
        "bytes": cost.num_bytes,
        "exact": cost.exact,
        "fits": cost.num_bytes <= memory_limit(),
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        module = sys.modules.get(package)
        return getattr(module, "__version__", None)
