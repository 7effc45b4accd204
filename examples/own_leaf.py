"""Your own leaf evaluator: what a public belief state at the edge of a search is worth, without any training.

This one is for Kuhn poker and treats every leaf as a showdown: the player with the higher card wins the stake. It knows the
odds under the beliefs about the other player, and nothing of the betting that follows.

    python examples/own_leaf.py
    tacit solve kuhn_poker --depth 1 --leaf "examples/own_leaf.py:Showdown(stake=1)"
"""

import torch
from torch import Tensor

import tacit
from tacit.search import SearchSpace, class_facts

CARDS = "JQK"


class Showdown:
    """Values both players' private states at many leaves at once.

    Args:
      space: the game, prepared for search; `tacit` passes it in.
      stake: what the winner gets.
    """

    counterfactual = False  # values are expected returns given a player's own card

    def __init__(self, space: SearchSpace, stake: float = 1.0) -> None:
        names = class_facts(space)[0].private_states[0]  # in the order of beliefs: J, Q, K
        strength = torch.tensor([CARDS.index(name) for name in names])
        self.won = stake * torch.sign(strength[:, None] - strength).float()
        self.possible = (strength[:, None] != strength).float()  # the deck has one of each card

    def evaluate(self, states: Tensor, beliefs: Tensor) -> Tensor:
        """Returns `[2 * H, L]` values of `L` leaves from their classes `[L]` and both players' beliefs `[2 * H, L]`."""
        del states
        first, second = beliefs.chunk(2)
        odds = [self.won @ other / (self.possible @ other).clamp(min=1e-6) for other in (second, first)]
        return torch.cat(odds)


def main() -> None:
    """Compares one-ply search with this evaluator and with zeros at the leaves."""
    found = {
        name: tacit.solve_by_search("kuhn_poker", depth=1, leaf=leaf, iterations=128).exploitability
        for name, leaf in (("zeros", "zero"), ("showdowns", Showdown))
    }
    print("exploitability of one-ply search: " + ", ".join(f"{name} {figure:.3f}" for name, figure in found.items()))
    assert found["showdowns"] < 0.8 * found["zeros"]


if __name__ == "__main__":
    main()
