"""Checks of what the ReBeL paper proves: search in a depth-limited trunk with solved leaves finds an equilibrium's trunk."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor

from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import TERMINAL, Game, load_game
from tacit.kernels import make_passes
from tacit.leaves.evaluators import ZeroLeaves
from tacit.search.batch import make_batch
from tacit.search.config import SearchConfig
from tacit.search.groups import uniform_strategy
from tacit.search.search import BatchSearch
from tacit.search.solved_leaves import SolvedLeaves, strategy_values
from tacit.tree.compiler import compile_game
from tacit.tree.public_tree import Floats
from tacit.tree.search_space import SearchSpace, search_space
from tests.oracles import guaranteed_value


def space_of(name: str) -> SearchSpace:
    return search_space(compile_game(load_game(name)), 2)


def search_root(search: BatchSearch) -> Tensor:
    """Returns the average strategy of a search at the start of a game."""
    t = search.space.tables
    reaches = torch.zeros(1, 2, t.num_private_states)
    for player in (0, 1):
        states = int(t.players[player].num_roots[0])
        reaches[0, player, :states] = 1.0 / states
    return search.run(np.zeros(1, np.int64), reaches, np.ones(1, np.int64)).average_strategy


def trunk_losses(space: SearchSpace, strategy: Floats) -> Floats:
    """Returns the guaranteed value that each player's trunk strategy gives up, with perfect play below: zero at equilibrium."""
    subgame = space.subgame_at(0)
    losses = []
    for player in (0, 1):
        mine = np.flatnonzero(subgame.tree.entry_player == player)
        # Each player acts once in a trunk of two actions, so its plan weights are its probabilities.
        fixed = {int(subgame.entry_index[e]): float(strategy[e]) for e in mine}
        losses.append(guaranteed_value(space.tree, player, {}) - guaranteed_value(space.tree, player, fixed))
    return np.array(losses)


@pytest.mark.parametrize(
    "name",
    [
        "liars_dice(dice=1,faces=3)",
        pytest.param("leduc_poker", marks=pytest.mark.slow),
        pytest.param("liars_dice(dice=1,faces=4)", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("decomposition", ["cfr-d", "cfr-ave"])
def test_search_with_an_oracle_converges_to_nash(name: str, decomposition: str) -> None:
    """Theorems 3 and 6: the longer the search, the less its trunk strategy can lose, for both players."""
    space = space_of(name)
    oracle = SolvedLeaves(space, iterations=80)
    before = trunk_losses(space, space.subgames[0].tree.uniform_strategy()).mean()
    losses = []
    for iterations in (10, 100):
        search = BatchSearch(space, oracle, SearchConfig("dcfr", iterations, 2, decomposition))
        found = space.subgames[0].tree.normalise(search_root(search).double().numpy())
        losses.append(trunk_losses(space, found).mean())
    assert losses[0] < 0.5 * before
    assert losses[1] < 0.5 * losses[0]
    assert losses[1] < 0.07 * before


class UniformBelow:
    """Leaf values when everyone plays at random from there on: linear in the beliefs, like those of terminal states."""

    counterfactual = False

    def __init__(self, space: SearchSpace) -> None:
        self._search = BatchSearch(search_space(space.tree, None), ZeroLeaves(), SearchConfig("cfr", 1, None))

    def evaluate(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        classes, space = public_class.numpy(), self._search.space
        batch = make_batch(space.tables, classes)
        reaches = beliefs.T.reshape(len(classes), 2, -1).contiguous()
        values = strategy_values(self._search, classes, reaches, batch, uniform_strategy(space, batch, "cpu"))
        return values.nan_to_num(0.0).flatten(1).T.contiguous()

    def evaluate_played(self, public_class: Tensor, beliefs: Tensor, played: Tensor) -> Tensor:
        del beliefs
        return self.evaluate(public_class, played)


@pytest.mark.parametrize("solver", ["cfr", "linear-cfr", "dcfr"])
@pytest.mark.parametrize(("name", "alternating"), [("liars_dice(dice=1,faces=3)", True), ("leduc_poker", False)])
def test_all_decompositions_are_cfr_where_nothing_is_decided_below(name: str, alternating: bool, solver: str) -> None:
    """Appendix E: modified CFR-AVE is CFR if the strategies below the leaves stay the same."""
    space = space_of(name)
    leaves = UniformBelow(space)
    configs = [
        SearchConfig(solver, 30, 2, decomposition, alternating) for decomposition in ("cfr-d", "cfr-ave", "modified-cfr-ave")
    ]
    plain, sound, modified = (search_root(BatchSearch(space, leaves, config)) for config in configs)
    shorter = search_root(BatchSearch(space, leaves, SearchConfig(solver, 5, 2, alternating=alternating)))
    assert float((plain - shorter).abs().max()) > 1e-2
    torch.testing.assert_close(sound, plain, atol=1e-5, rtol=0)
    torch.testing.assert_close(modified, plain, atol=1e-3, rtol=0)


def test_cfr_ave_wants_an_oracle() -> None:
    space = space_of("kuhn_poker")
    with pytest.raises(TacitError, match="oracle"):
        search_root(BatchSearch(space, ZeroLeaves(), SearchConfig("cfr", 3, 2, "cfr-ave")))


@dataclass(frozen=True)
class Nim(Game[tuple[int, int]]):
    """Players take one or two of six sticks in turn; whoever takes the last one wins."""

    name = "nim"

    def initial_state(self) -> tuple[int, int]:
        return 6, 0

    def actor(self, state: tuple[int, int]) -> int:
        return state[1] if state[0] else TERMINAL

    def legal_actions(self, state: tuple[int, int]) -> list[int]:
        return [action for action in (1, 2) if action <= state[0]]

    def apply(self, state: tuple[int, int], action: int) -> tuple[int, int]:
        return state[0] - action, 1 - state[1]

    def returns(self, state: tuple[int, int]) -> tuple[float, float]:
        return (-1.0, 1.0) if state[1] == 0 else (1.0, -1.0)

    def public_observation(self, state: tuple[int, int]) -> str:
        return f"{state[0]} left"


class Counting(ZeroLeaves):
    """Counts how often leaves are valued."""

    def __init__(self) -> None:
        self.calls = 0

    def evaluate(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        self.calls += 1
        return super().evaluate(public_class, beliefs)


def test_leaves_are_valued_as_often_as_asked_and_once_where_nothing_is_hidden() -> None:
    """With perfect information a leaf's value does not depend on how it is reached (ReBeL, section 5.1)."""
    kuhn = load_game("kuhn_poker")
    for game, config, calls in (
        (kuhn, SearchConfig("cfr+", 12, 2), 24),
        (kuhn, SearchConfig("cfr+", 12, 2, alternating=False), 12),
        (kuhn, SearchConfig("cfr+", 12, 2, recycle=4), 3),  # both players share values then
        (Nim(), SearchConfig("cfr+", 12, 2), 1),
    ):
        leaves = Counting()
        search_root(BatchSearch(search_space(compile_game(game), 2), leaves, config))
        assert leaves.calls == calls


class Fixed:
    """A policy that proposes the same shares of the actions everywhere, and remembers the beliefs it was asked about."""

    def __init__(self, shares: Tensor) -> None:
        self.shares = shares
        self.asked: list[Tensor] = []

    def propose(self, public_class: Tensor, beliefs: Tensor, legal: Tensor) -> Tensor:
        self.asked.append(beliefs)
        weights = self.shares[: legal.shape[2]] * legal
        return weights / weights.sum(2, keepdim=True).clamp_min(1e-9)


def test_a_warm_start_begins_with_the_policy_and_ends_at_the_equilibrium() -> None:
    """Appendix J: the policy counts as played for 15 iterations; later ones make up for it."""
    space = search_space(compile_game(load_game("kuhn_poker")), None)
    t = space.tables
    reaches = torch.zeros(1, 2, t.num_private_states)
    for player in (0, 1):
        reaches[0, player, : int(t.players[player].num_roots[0])] = 1.0
    policy = Fixed(torch.tensor([0.9, 0.1, 0.0]))
    losses = []
    for iterations in (16, 600):
        search = BatchSearch(space, ZeroLeaves(), SearchConfig("linear-cfr", iterations, None), policy=policy)
        result = search.run(np.zeros(1, np.int64), reaches, np.ones(1, np.int64))
        strategy = np.zeros(space.tree.num_entries)
        strategy[space.subgame_at(0).entry_index] = result.average_strategy.numpy()
        losses.append(evaluate(make_passes(space.tree), strategy).exploitability)
        # The first iterations play the proposed policy, and so does a game that samples one of them.
        torch.testing.assert_close(result.sampled_strategy, torch.tensor([0.9, 0.1]).repeat(12))
    assert losses[0] > 0.1
    assert losses[1] < 0.02
    # Beliefs follow the policy, which plays every card alike, so nothing is learnt about the cards.
    torch.testing.assert_close(torch.cat(policy.asked), torch.full((len(torch.cat(policy.asked)), 6), 1 / 3))
    with pytest.raises(TacitError, match="15 iterations"):
        BatchSearch(space, ZeroLeaves(), SearchConfig("cfr", 15, None), policy=policy).run(
            np.zeros(1, np.int64), reaches, np.ones(1, np.int64)
        )
