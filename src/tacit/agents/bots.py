"""Bots: players that need no preparation."""

from __future__ import annotations

import numpy as np

from tacit.agents.base import Sight


class RandomBot:
    """Plays every legal action equally often."""

    name = "random"

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._legal_actions: tuple[int, ...] = ()

    def start(self, player: int) -> None:
        del player

    def observe(self, sight: Sight) -> None:
        self._legal_actions = sight.legal_actions

    def act(self) -> int:
        return int(self._generator.choice(self._legal_actions))

    def view(self) -> None:
        return None
