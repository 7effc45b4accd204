"""A trained network with its search, ready to use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tacit.errors import TacitError
from tacit.games import AnyGame, load_game
from tacit.nets.checkpoint import load_tensors
from tacit.nets.value_net import ValueNet
from tacit.rebel.config import RebelConfig
from tacit.rebel.folder import RunFolder
from tacit.rebel.train import make_search
from tacit.search.search import BatchSearch
from tacit.search.tables import SearchSpace, search_space
from tacit.tree.compiler import compile_game

_SHIPPED = Path(__file__).parents[1] / "pretrained"


def load_search(
    path: str | Path, solver: str, iterations: int, device: str = "cpu", game: AnyGame | None = None
) -> BatchSearch:
    """Returns the search of a trained network.

    Args:
      path: a run folder, a network file, or `pretrained:NAME`.
      solver: the search algorithm, which need not be the one of the training.
      iterations: search iterations.
      device: `cpu` or `cuda`.
      game: the game it is of; needed for a game in a file of one's own, which its name alone does not find.

    Raises:
      TacitError: there is no network, it is damaged, of another game, or does not fit its game.
    """
    space = load_space(path, game)
    net, config = load_network(path, space, device)
    return make_search(space, net, replace(config, solver=solver, iterations=iterations), device)


def load_space(path: str | Path, game: AnyGame | None = None) -> SearchSpace:
    """Returns the game of a trained network, prepared for searches of the depth it was trained for (see `load_search`)."""
    name, trained = _read_header(path)
    if game is not None and str(game) != name:
        raise TacitError(f"{path} was trained on {name}, not on {game}")
    return search_space(compile_game(load_game(name) if game is None else game), trained.depth)


def load_network(path: str | Path, space: SearchSpace, device: str = "cpu") -> tuple[ValueNet, RebelConfig]:
    """Returns a trained network for a game, and the configuration of its training.

    Raises:
      TacitError: there is no network, it is damaged, or it is of another game.
    """
    name, config = _read_header(path)
    if name != str(space.tree.game):
        raise TacitError(f"{path} was trained on {name}, not on {space.tree.game}")
    fits = isinstance(space.depth, int) and isinstance(config.depth, int) and space.depth % config.depth == 0
    if space.depth not in (None, config.depth) and not fits:
        raise TacitError(f"{path} was trained with searches of depth {config.depth}: --depth must be a multiple of that")
    net = ValueNet(len(space.classes), space.tables.num_private_states, config.hidden, config.layers)
    try:
        net.load_state_dict(load_tensors(network_file(path))[0])
    except RuntimeError:
        raise TacitError(f"{path} does not fit {name}: it was made by another version") from None
    return net.to(device).eval(), config


def pretrained_for(game: AnyGame) -> str | None:
    """Returns the name of the shipped network for a game, if there is one."""
    names = (f"pretrained:{file.stem}" for file in sorted(_SHIPPED.glob("*.safetensors")))
    return next((name for name in names if _read_header(name)[0] == str(game)), None)


def _read_header(path: str | Path) -> tuple[str, RebelConfig]:
    """Returns the game of a network and the configuration of its training."""
    header = load_tensors(network_file(path))[1]
    try:
        return str(header["game"]), RebelConfig(**header["config"])
    except (KeyError, TypeError):
        raise TacitError(f"{path} is no network of this version") from None


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
