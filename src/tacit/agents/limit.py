"""An agent for limit hold'em that plays what NFSP trained."""

from __future__ import annotations

import numpy as np

from tacit.agents.hand_policy import HandAgent
from tacit.games.holdem import Holdem
from tacit.nfsp.trained import LimitPolicy
from tacit.tree.public_tree import Floats


class LimitAgent(HandAgent):
    """Plays by trained networks, and asks them for its own hand alone."""

    def __init__(self, game: Holdem, policy: LimitPolicy, generator: np.random.Generator, name: str) -> None:
        super().__init__(game, policy, generator, name)
        self._networks = policy

    def weights(self) -> Floats:
        return self._networks.probabilities(self.walk.public, self.walk.hand)[:, 0]
