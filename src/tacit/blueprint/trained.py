"""What a run of a blueprint trained, as it is used: a strategy over buckets from a run folder or a file."""

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
"""Probabilities are kept as whole numbers out of this: each is right to 0.002."""
KEPT_ROWS = 4_096
"""Boards whose buckets are kept while somebody plays, at 11 kB each."""


def quantise(strategy: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Returns probabilities as whole numbers out of `LEVELS`."""
    return np.rint(strategy * LEVELS).astype(np.uint8)


def pack(strategy: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Returns bytes compressed: most probabilities are nothing or all."""
    return np.frombuffer(bytearray(zlib.compress(strategy.tobytes(), 6)), np.uint8)


def unpack(packed: NDArray[np.uint8], length: int) -> NDArray[np.uint8]:
    """Returns the first bytes of what `pack` compressed: a file says itself how much it grows, and may say terabytes.

    Args:
      packed: it.
      length: the most bytes that are wanted.

    Raises:
      TacitError: it is something else.
    """
    try:
        return np.frombuffer(zlib.decompressobj().decompress(packed.tobytes(), length), np.uint8)
    except zlib.error:
        raise TacitError("the strategy is damaged, or was kept by another version") from None


class BlueprintStrategy:
    """What is played with every hand at every node of the abstract betting.

    Attributes:
      game: what it was trained on.
      tree: the betting.
      iterations: of training.
    """

    def __init__(
        self, game: Holdem, tree: BettingTree, abstraction: CardAbstraction, strategy: NDArray[np.uint8], iterations: int
    ) -> None:
        self.game, self.tree, self.iterations = game, tree, iterations
        self._strategy = strategy
        self._buckets: Callable[[tuple[int, ...]], NDArray[np.int64]] = lru_cache(KEPT_ROWS)(abstraction.row)

    def played(self, node: int, board: tuple[int, ...]) -> Floats:
        """Returns `[A, 1326]` how often each hand takes each action at a decision; impossible hands mean nothing."""
        table = self.tree.of_node(self._strategy, node).astype(np.float64)
        shares: Floats = (table / table.sum(axis=1, keepdims=True))[self._buckets(board)].T
        return shares


def load_blueprint(name: str) -> BlueprintStrategy:
    """Returns what a run trained, by the name of its folder, a file or `pretrained:NAME`.

    Raises:
      TacitError: there is nothing, or it is damaged.
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
