"""A game ready for NFSP, and what trained networks do in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.games import AnyGame
from tacit.nfsp.strategies import AVERAGE, BEST_RESPONSE
from tacit.nfsp.tabular.encoding import encode_infostates
from tacit.nfsp.tabular.network import Encodings
from tacit.nfsp.tabular.networks import POLICY, Networks, Q, greedy_table, make_networks, policy_table
from tacit.nfsp.tabular.walk_table import WalkTable, make_walk_table
from tacit.tree.compiler import compile_game
from tacit.tree.public_tree import Floats, PublicTree


@dataclass(frozen=True)
class PlayedGame:
    """A game with all that networks need of it.

    Attributes:
      tree: the compiled game.
      table: its walks.
      encodings: of all infostates.
      num_features: numbers in an encoding.
    """

    tree: PublicTree
    table: WalkTable
    encodings: Encodings
    num_features: int

    @staticmethod
    def of(game: AnyGame) -> PlayedGame:
        """Returns a game, compiled and encoded.

        Raises:
          TacitError: it is too large, or the player to act is not public.
        """
        tree = compile_game(game)
        return PlayedGame(tree, make_walk_table(tree), *encode_infostates(tree))

    def make_networks(self, hidden: Sequence[int], generator: np.random.Generator) -> Networks:
        """Returns both players' networks with random weights; they have an output for each action of the game."""
        return make_networks(self.num_features, hidden, len(self.table.actions), generator)

    def strategy(self, networks: Networks, name: str) -> Floats:
        """Returns `[E]` what both players do by their networks; `name` is one of `STRATEGIES`."""
        where = self.encodings, self.table, self.tree.infostate_player
        if name == AVERAGE:
            return np.asarray(policy_table(networks, *where))
        return np.asarray(greedy_table(networks, Q if name == BEST_RESPONSE else POLICY, *where))
