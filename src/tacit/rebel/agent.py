"""A trained network with its search, ready to use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tacit.errors import TacitError
from tacit.games import load_game
from tacit.nets.checkpoint import load_tensors
from tacit.nets.value_net import ValueNet
from tacit.rebel.config import RebelConfig
from tacit.rebel.train import NETWORK, make_search
from tacit.search.search import BatchSearch
from tacit.search.tables import search_space
from tacit.tree.compiler import compile_game


def load_search(path: Path, solver: str, iterations: int, device: str = "cpu") -> BatchSearch:
    """Returns the search of a trained network.

    Args:
      path: a run folder or a network file.
      solver: the search algorithm, which need not be the one of the training.
      iterations: search iterations.
      device: `cpu` or `cuda`.

    Raises:
      TacitError: there is no network, it is damaged, or it does not fit its game.
    """
    tensors, header = load_tensors(path / NETWORK if path.is_dir() else path)
    config = replace(RebelConfig(**header["config"]), solver=solver, iterations=iterations)
    space = search_space(compile_game(load_game(header["game"])), config.depth)
    net = ValueNet(len(space.classes), space.tables.num_private_states, config.hidden, config.layers)
    try:
        net.load_state_dict(tensors)
    except RuntimeError:
        raise TacitError(f"{path} does not fit {header['game']}: it was made by another version") from None
    return make_search(space, net.to(device).eval(), config, device)
