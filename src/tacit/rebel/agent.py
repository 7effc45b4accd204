"""A trained network with its search, ready to use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tacit.errors import TacitError
from tacit.games import load_game
from tacit.nets.checkpoint import load_tensors
from tacit.nets.value_net import ValueNet
from tacit.rebel.config import RebelConfig
from tacit.rebel.folder import RunFolder
from tacit.rebel.train import make_search
from tacit.search.search import BatchSearch
from tacit.search.tables import SearchSpace, search_space
from tacit.tree.compiler import compile_game

_SHIPPED = Path(__file__).parents[1] / "pretrained"


def load_search(path: str | Path, solver: str, iterations: int, device: str = "cpu") -> BatchSearch:
    """Returns the search of a trained network.

    Args:
      path: a run folder, a network file, or `pretrained:NAME`.
      solver: the search algorithm, which need not be the one of the training.
      iterations: search iterations.
      device: `cpu` or `cuda`.

    Raises:
      TacitError: there is no network, it is damaged, or it does not fit its game.
    """
    space = load_space(path)
    net, config = load_network(path, space, device)
    return make_search(space, net, replace(config, solver=solver, iterations=iterations), device)


def load_space(path: str | Path) -> SearchSpace:
    """Returns the game of a trained network, prepared for searches of the depth it was trained for.

    Raises:
      TacitError: there is no network, or it is damaged.
    """
    header = load_tensors(network_file(path))[1]
    return search_space(compile_game(load_game(header["game"])), RebelConfig(**header["config"]).depth)


def load_network(path: str | Path, space: SearchSpace, device: str = "cpu") -> tuple[ValueNet, RebelConfig]:
    """Returns a trained network for a game, and the configuration of its training.

    Raises:
      TacitError: there is no network, it is damaged, or it is of another game.
    """
    tensors, header = load_tensors(network_file(path))
    if header["game"] != str(space.tree.game):
        raise TacitError(f"{path} was trained on {header['game']}, not on {space.tree.game}")
    config = RebelConfig(**header["config"])
    if space.depth is not None and space.depth % config.depth:
        raise TacitError(f"{path} was trained with searches {config.depth} actions deep: --depth must be a multiple of that")
    net = ValueNet(len(space.classes), space.tables.num_private_states, config.hidden, config.layers)
    try:
        net.load_state_dict(tensors)
    except RuntimeError:
        raise TacitError(f"{path} does not fit {header['game']}: it was made by another version") from None
    return net.to(device).eval(), config


def network_file(agent: str | Path) -> Path:
    """Returns the file behind a run folder, a network file, or the name of a shipped network, `pretrained:NAME`."""
    name = str(agent)
    if name.startswith("pretrained:"):
        shipped = {file.stem: file for file in sorted(_SHIPPED.glob("*.safetensors"))}
        wanted = name.removeprefix("pretrained:")
        if wanted not in shipped:
            raise TacitError(f"no pretrained network {wanted!r}: choose one of {', '.join(shipped)}")
        return shipped[wanted]
    path = Path(agent)
    return RunFolder(path).network if path.is_dir() else path
