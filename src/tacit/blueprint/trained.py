"""A trained blueprint in use: a strategy over buckets, loaded from a run folder or a file."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.blueprint.betting_tree import BettingTree, build_betting_tree
from tacit.blueprint.buckets import STREET_NAMES, CardAbstraction
from tacit.blueprint.config import BlueprintConfig
from tacit.blueprint.menus import cut_rules
from tacit.errors import TacitError
from tacit.games import load_game
from tacit.games.holdem import Holdem, require_holdem
from tacit.nets.checkpoint import load_tensors
from tacit.training.folder import network_file
from tacit.training.headers import run_facts
from tacit.tree.public_tree import Floats

LEVELS = 255
"""Probabilities are stored as whole numbers out of this, so each is accurate to 0.002."""
KEPT_ROWS = 4_096
"""The number of boards whose buckets are cached during play, at 11 kB each."""


def quantise(strategy: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Returns probabilities as whole numbers out of `LEVELS`."""
    return np.rint(strategy * LEVELS).astype(np.uint8)


def pack(strategy: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Returns the strategy compressed; most probabilities are 0 or 1."""
    return np.frombuffer(bytearray(zlib.compress(strategy.tobytes(), 6)), np.uint8)


def unpack(packed: NDArray[np.uint8], length: int) -> NDArray[np.uint8]:
    """Returns at most `length` bytes of a strategy that `pack` compressed; a hostile file could grow to terabytes.

    Args:
      packed: the compressed strategy.
      length: the most bytes to return.

    Raises:
      TacitError: it is not a compressed strategy.
    """
    try:
        return np.frombuffer(zlib.decompressobj().decompress(packed.tobytes(), length), np.uint8)
    except zlib.error:
        raise TacitError("the strategy is damaged, or was saved by another version") from None


class BlueprintStrategy:
    """The strategy of every hand at every node of the abstract betting.

    Attributes:
      game: the game it was trained on.
      tree: the betting tree.
      iterations: the number of training iterations.
    """

    def __init__(
        self, game: Holdem, tree: BettingTree, abstraction: CardAbstraction, strategy: NDArray[np.uint8], iterations: int
    ) -> None:
        self.game, self.tree, self.iterations = game, tree, iterations
        self._strategy = strategy
        self._buckets: Callable[[tuple[int, ...]], NDArray[np.int64]] = lru_cache(KEPT_ROWS)(abstraction.row)

    def played(self, node: int, board: tuple[int, ...]) -> Floats:
        """Returns `[A, 1326]` how often each hand takes each action at a decision; columns of impossible hands mean nothing."""
        table = self.tree.of_node(self._strategy, node).astype(np.float64)
        shares: Floats = (table / table.sum(axis=1, keepdims=True))[self._buckets(board)].T
        return shares


def load_blueprint(name: str) -> BlueprintStrategy:
    """Returns the blueprint in a run folder, a file or `pretrained:NAME`.

    Raises:
      TacitError: it does not exist, or is damaged.
    """
    tensors, header = load_tensors(network_file(name))
    facts = run_facts(header, BlueprintConfig, name)
    config, trained_on = facts.config, require_holdem(load_game(facts.game), name)
    centres = tuple(tensors[key].numpy() if (key := f"centres.{street}") in tensors else None for street in STREET_NAMES)
    abstraction = CardAbstraction(trained_on, centres)  # type: ignore[arg-type]
    tree = build_betting_tree(
        cut_rules(trained_on.rules, config.bets, config.raises, config.max_raises), abstraction.num_buckets
    )
    length = int(tree.is_action.sum())
    kept = unpack(tensors["strategy"].numpy(), length + 1) if "strategy" in tensors else np.zeros(0, np.uint8)
    if len(kept) != length:
        raise TacitError(f"{name} does not fit {trained_on}: it was made by another version")
    strategy = np.zeros(tree.num_entries, np.uint8)
    strategy[tree.is_action] = kept
    return BlueprintStrategy(trained_on, tree, abstraction, strategy, facts.epoch * config.epoch_iterations)
