"""The network that a run on a board trained, ready for use."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.boards import make_boards
from tacit.nets.board_net import BoardNet, NetBoards
from tacit.nets.checkpoint import load_tensors
from tacit.search.boards.search import BoardSearch, BoardSearchConfig
from tacit.sog.boards.config import BoardConfig
from tacit.training.folder import network_file
from tacit.training.headers import run_facts


@dataclass(frozen=True)
class TrainedBoard:
    """The network that a run trained.

    Attributes:
      name: the run folder, the file, or `pretrained:NAME`.
      game: the game it was trained on.
      config: the settings of its training.
      epoch: finished epochs.
      tensors: the network's weights.
      source: the file of the game, if it is the user's own (`game_source`).
    """

    name: str
    game: str
    config: BoardConfig
    epoch: int
    tensors: dict[str, Tensor]
    source: str | None = None

    def search(self, game: AnyGame, growth: BoardSearchConfig | None = None, device: str = "cpu") -> BoardSearch:
        """Returns the search of the trained network, by default with the settings of its training.

        Raises:
          TacitError: the network was made by another version.
        """
        boards, config = make_boards(game), self.config
        net = BoardNet(boards.plane_shape, boards.num_actions, config.channels, config.blocks)
        try:
            net.load_state_dict(self.tensors)
        except RuntimeError:
            raise TacitError(f"{self.name} does not fit {self.game}: it was made by another version") from None
        return BoardSearch(boards, NetBoards(net.to(device).eval(), boards), growth or config.growth())


def load_board(name: str) -> TrainedBoard:
    """Returns the network that a run trained.

    Raises:
      TacitError: the network is missing or damaged.
    """
    tensors, header = load_tensors(network_file(name))
    facts = run_facts(header, BoardConfig, name)
    return TrainedBoard(name, facts.game, facts.config, facts.epoch, tensors, facts.source)
