"""What a run of ReBeL at hold'em trained, as it is used."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from tacit.errors import TacitError
from tacit.games import load_game
from tacit.games.holdem import Holdem
from tacit.nets.checkpoint import load_tensors, unprefixed
from tacit.nets.round_end_leaves import RoundEndLeaves
from tacit.nets.round_end_net import RoundEndNet
from tacit.rebel.holdem.config import HoldemConfig
from tacit.rebel.holdem.train import make_nets, trainable_rules
from tacit.training.folder import network_file


@dataclass(frozen=True)
class TrainedHoldem:
    """What a run trained.

    Attributes:
      name: the run folder, the file, or `pretrained:NAME`.
      game: the game it is of.
      config: of its training.
      epoch: finished epochs.
      tensors: the networks' weights.
    """

    name: str
    game: str
    config: HoldemConfig
    epoch: int
    tensors: dict[str, Tensor]

    def nets(self, device: str = "cpu") -> dict[int, RoundEndNet]:
        """Returns the networks, by the number of cards on the board.

        Raises:
          TacitError: they are of another version.
        """
        nets = make_nets(trainable_rules(load_game(self.game)), self.config, device)
        try:
            for cards, net in nets.items():
                net.load_state_dict({name: part.float() for name, part in unprefixed(str(cards), self.tensors).items()})
        except RuntimeError:
            raise TacitError(f"{self.name} does not fit {self.game}: it was made by another version") from None
        return {cards: net.eval() for cards, net in nets.items()}

    def leaves(self, game: Holdem, device: str = "cpu") -> RoundEndLeaves:
        """Returns what values the ends of a game's rounds."""
        return RoundEndLeaves(self.nets(device), game.rules.stack)


def load_holdem(name: str) -> TrainedHoldem:
    """Returns what a run trained.

    Raises:
      TacitError: there is no network, or it is damaged.
    """
    tensors, header = load_tensors(network_file(name))
    try:
        return TrainedHoldem(name, str(header["game"]), HoldemConfig(**header["config"]), int(header["epoch"]), tensors)
    except (KeyError, TypeError):
        raise TacitError(f"{name} is no network of this version") from None
