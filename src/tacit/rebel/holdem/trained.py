"""The networks that a run of ReBeL at hold'em trained, ready for use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from torch import Tensor, nn

from tacit.errors import TacitError
from tacit.games import load_game
from tacit.games.holdem import Holdem
from tacit.nets.checkpoint import load_tensors, unprefixed
from tacit.nets.round_end_leaves import RoundEndLeaves
from tacit.nets.round_net import RoundNet
from tacit.nets.round_policies import RoundPolicies
from tacit.rebel.holdem.config import HoldemConfig
from tacit.rebel.holdem.train import make_nets, make_policies, trainable_rules
from tacit.training.folder import network_file
from tacit.training.headers import run_facts

N = TypeVar("N", bound=nn.Module)


@dataclass(frozen=True)
class TrainedHoldem:
    """The networks that a run trained.

    Attributes:
      name: the run folder, the file, or `pretrained:NAME`.
      game: the game they were trained on.
      config: the settings of their training.
      epoch: finished epochs.
      tensors: the networks' weights.
    """

    name: str
    game: str
    config: HoldemConfig
    epoch: int
    tensors: dict[str, Tensor]

    def nets(self, device: str = "cpu") -> dict[int, RoundNet]:
        """Returns the networks, by the number of cards on the board.

        Raises:
          TacitError: the networks were made by another version.
        """
        return self._filled(make_nets(trainable_rules(load_game(self.game)), self.config, device), "")

    def policies(self, device: str = "cpu") -> RoundPolicies | None:
        """Returns the policies that searches start from, if any were trained.

        Raises:
          TacitError: the networks were made by another version.
        """
        if not self.config.warm_start:
            return None
        nets = make_policies(trainable_rules(load_game(self.game)), self.config, device)
        return RoundPolicies(self._filled(nets, "policy"))

    def _filled(self, nets: dict[int, N], prefix: str) -> dict[int, N]:
        """Returns networks with the weights whose names in files have the given prefix."""
        try:
            for cards, net in nets.items():
                known = unprefixed(f"{prefix}{cards}", self.tensors)
                net.load_state_dict({name: part.float() for name, part in known.items()})
        except RuntimeError:
            raise TacitError(f"{self.name} does not fit {self.game}: it was made by another version") from None
        return {cards: net.eval() for cards, net in nets.items()}

    def leaves(self, game: Holdem, device: str = "cpu") -> RoundEndLeaves:
        """Returns the evaluator of the ends of a game's rounds."""
        rules = trainable_rules(game)
        return RoundEndLeaves(self.nets(device), rules.stack, num_sizes=rules.most_raises)


def load_holdem(name: str) -> TrainedHoldem:
    """Returns the networks that a run trained.

    Raises:
      TacitError: the network is missing or damaged.
    """
    tensors, header = load_tensors(network_file(name))
    facts = run_facts(header, HoldemConfig, name)
    return TrainedHoldem(name, facts.game, facts.config, facts.epoch, tensors)
