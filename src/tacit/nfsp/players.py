"""A game ready for NFSP, and what trained networks do in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.games import AnyGame
from tacit.nfsp.encoding import encode_infostates
from tacit.nfsp.network import Encodings
from tacit.nfsp.networks import POLICY, Networks, Q, greedy_table, policy_table
from tacit.nfsp.walk_table import WalkTable, make_walk_table
from tacit.tree.compiler import compile_game
from tacit.tree.public_tree import Floats, PublicTree

AVERAGE, BEST_RESPONSE, GREEDY_AVERAGE = "average", "best-response", "greedy-average"
STRATEGIES = (AVERAGE, BEST_RESPONSE, GREEDY_AVERAGE)
"""The average policy, the actions of the highest values, and the likeliest actions of the average policy."""


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
        table, (encodings, num_features) = make_walk_table(tree), encode_infostates(tree)
        return PlayedGame(tree, table, encodings, num_features)

    @property
    def num_actions(self) -> int:
        """Outputs of a network."""
        return len(self.table.actions)


def strategy_of(played: PlayedGame, networks: Networks, kind: str) -> Floats:
    """Returns `[E]` one of the `STRATEGIES` of both players' networks."""
    where = played.encodings, played.table, played.tree.infostate_player
    if kind == AVERAGE:
        found: Floats = policy_table(networks, *where)
    else:
        found = greedy_table(networks, Q if kind == BEST_RESPONSE else POLICY, *where)
    return np.asarray(found)
