"""A compiled game in the form that networks over infostates take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from tacit.games import AnyGame
from tacit.nets.infostate_encoding import encode_infostates
from tacit.nets.sparse_mlp import Encodings
from tacit.tree.compiler import compile_game
from tacit.tree.public_tree import PublicTree
from tacit.tree.walks import WalkTable, make_walk_table


@dataclass(frozen=True)
class EncodedGame:
    """A compiled game with its walks and the encodings of its infostates.

    Attributes:
      tree: The compiled game.
      table: Its walks.
      encodings: The encodings of all infostates.
      num_features: The length of each encoding.
    """

    tree: PublicTree
    table: WalkTable
    encodings: Encodings
    num_features: int

    @classmethod
    def of(cls, game: AnyGame) -> Self:
        """Returns a game, compiled and encoded.

        Raises:
          TacitError: The game is too large, or the player to act is not public.
        """
        tree = compile_game(game)
        return cls(tree, make_walk_table(tree), *encode_infostates(tree))

    @property
    def num_outputs(self) -> int:
        """The number of a network's outputs: one for each action of the game."""
        return len(self.table.actions)
