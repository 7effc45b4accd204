"""Trained networks, ready for search."""

from pathlib import Path

from tacit.rebel.trained import load_trained
from tacit.search.search import BatchSearch


def load_search(path: str | Path, solver: str, iterations: int) -> BatchSearch:
    trained = load_trained(path)
    return trained.search(trained.space(), solver, iterations)
