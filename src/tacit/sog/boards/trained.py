"""What a run on a board trained, as it is used."""

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
    """What a run trained.

    Attributes:
      name: the run folder, the file, or `pretrained:NAME`.
      game: the game it is of.
      config: of its training.
      epoch: finished epochs.
      tensors: the network's weights.
      source: where the game is found, if it is in a file of one's own (`game_source`).
    """

    name: str
    game: str
    config: BoardConfig
    epoch: int
    tensors: dict[str, Tensor]
    source: str | None = None

    def search(self, game: AnyGame, growth: BoardSearchConfig | None = None, device: str = "cpu") -> BoardSearch:
        """Returns the search of the trained network, by default as it was trained.

        Raises:
          TacitError: the network does not fit.
        """
        boards, config = make_boards(game), self.config
        net = BoardNet(boards.plane_shape, boards.num_actions, config.channels, config.blocks)
        try:
            net.load_state_dict(self.tensors)
        except RuntimeError:
            raise TacitError(f"{self.name} does not fit {self.game}: it was made by another version") from None
        return BoardSearch(boards, NetBoards(net.to(device).eval(), boards), growth or config.growth())


def load_board(name: str) -> TrainedBoard:
    """Returns what a run trained.

    Raises:
      TacitError: there is no network, or it is damaged.
    """
    tensors, header = load_tensors(network_file(name))
    facts = run_facts(header, BoardConfig, name)
    return TrainedBoard(name, facts.game, facts.config, facts.epoch, tensors, facts.source)
