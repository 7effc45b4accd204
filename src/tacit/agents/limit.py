"""An agent for limit hold'em that plays networks trained by NFSP."""

from __future__ import annotations

from tacit.agents.hand_policy import HandAgent
from tacit.nfsp.trained import LimitPolicy
from tacit.tree.public_tree import Floats


class LimitAgent(HandAgent):
    """Plays trained networks, queried for its own hand only."""

    policy: LimitPolicy

    def weights(self) -> Floats:
        return self.policy.probabilities(self.walk.public, self.walk.hand)[:, 0]
