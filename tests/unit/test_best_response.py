"""The lower bound on the exploitability of search, compared with exact best responses."""

import numpy as np
import pytest
import torch

from tacit.errors import TacitError
from tacit.evaluation import Quality, evaluate
from tacit.games import AnyGame, load_game
from tacit.kernels import make_passes
from tacit.leaves.evaluators import RandomLeaves, ZeroLeaves
from tacit.search import best_response
from tacit.search.best_response import best_response_bound
from tacit.search.config import SearchConfig
from tacit.search.playthroughs import playthrough_quality, playthrough_strategy
from tacit.search.responder import NOT_OPENED, ResponseStage, plan_response
from tacit.search.search import BatchSearch
from tacit.tree.compiler import compile_game
from tacit.tree.public_tree import LEAF, Floats
from tacit.tree.search_space import search_space
from tacit.tree.subgame import Depth
from tests.random_games import RandomGame
from tests.trained import load_search

DICE = "liars_dice(dice=1,faces=4)"


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def blind_search(game: AnyGame, depth: Depth, iterations: int = 16) -> BatchSearch:
    """Returns a search whose leaf values come from an untrained network."""
    space = search_space(compile_game(game), depth)
    return BatchSearch(space, RandomLeaves(space), SearchConfig("dcfr", iterations, depth))


def exact_unsafe(search: BatchSearch) -> Quality:
    tree = search.space.tree
    return evaluate(make_passes(tree), playthrough_strategy(search, 1, rng(), safe=False))


@pytest.mark.parametrize(
    ("name", "depth"),
    [
        ("kuhn_poker", None),
        ("kuhn_poker", 1),
        ("leduc_poker", "round"),
        (DICE, 2),
        ("goofspiel(cards=3)", 1),
        ("modified_rps", 1),
    ],
)
def test_a_responder_that_opens_every_path_is_a_best_response(name: str, depth: Depth) -> None:
    """Unsafe search is its own model and draws nothing, so the bound is exact, game by game."""
    search = blind_search(load_game(name), depth)
    exact = exact_unsafe(search)
    bound = best_response_bound(search, 3, rng(), width=10_000, safe=False)
    assert bound.payoffs == pytest.approx(exact.best_response_values, abs=1e-4)
    assert bound.interval == pytest.approx((exact.exploitability, exact.exploitability), abs=1e-4)
    assert bound.kind == "lower bound"


def test_groups_that_are_filled_up_with_copies_change_nothing() -> None:
    """A GPU wants groups of 64 games; the copies that fill them up must not count."""
    search = blind_search(load_game(DICE), 2)
    plain = best_response_bound(search, 40, rng(), width=8)
    search.kernels.alignment = 64
    filled = best_response_bound(search, 40, rng(), width=8)
    assert filled.payoffs == pytest.approx(plain.payoffs, abs=1e-4)


@pytest.mark.parametrize("seed", [3, pytest.param(5, marks=pytest.mark.slow)])
def test_public_deals_and_hidden_actions_are_counted_as_they_happen(seed: int) -> None:
    search = blind_search(RandomGame(seed=seed, length=4, roots=3), 1)
    assert len(search.space.root_chance) > 1
    bound = best_response_bound(search, 400, rng(), width=10_000, safe=False)
    low, high = bound.interval
    slack = 1e-4 + 0.75 * (high - low)  # the deals are drawn at random
    assert bound.exploitability == pytest.approx(exact_unsafe(search).exploitability, abs=slack)


def responder_policy(search: BatchSearch, width: int) -> tuple[Floats, Floats]:
    """Returns the strategies `[E]` of the responder and of the unsafe agent in the whole game, by walking through all of it."""
    space, plan = search.space, plan_response(search, width)
    response, agent = np.zeros(space.tree.num_entries), np.zeros(space.tree.num_entries)

    def walk(stage: ResponseStage, path: int, node: int, depth: int) -> None:
        subgame = space.subgame_at(node)
        place = int(stage.batch.place[path])
        group = next(g for g in stage.batch if g.games.start <= place < g.games.stop)
        for strategy, found in ((response, stage.response), (agent, stage.expected)):
            view = stage.batch.view(found, stage.batch.entry_offset, group)
            strategy[subgame.entry_index] = view[:, place - group.games.start].numpy()
        leaves = subgame.node_index[np.flatnonzero(subgame.tree.require_nodes().actor == LEAF)]
        for number, leaf in enumerate(leaves.tolist()):
            child = int(stage.below[path, number])
            if child != NOT_OPENED:
                walk(plan[depth + 1], child, leaf, depth + 1)
            else:
                found = ResponseStage(search, *stage.leaf_states(torch.tensor([number]), torch.tensor([path])))
                found.answer(None)
                walk(found, 0, leaf, depth + 1)

    walk(plan[0], 0, 0, 0)
    return response, agent


def test_sampled_games_are_right_on_average(monkeypatch: pytest.MonkeyPatch) -> None:
    """With few paths opened the responder is poor: it must win what its policy earns, computed over the whole tree."""
    search, width = blind_search(load_game(DICE), 2, 8), 4
    response, agent = responder_policy(search, width)
    tree, passes = search.space.tree, make_passes(search.space.tree)
    mixed = [evaluate(passes, np.where(tree.entry_player == seat, response, agent)).value for seat in (0, 1)]
    for least_weight in (3.0, 0.05):  # the lottery drops most games, or few
        monkeypatch.setattr(best_response, "LEAST_WEIGHT", least_weight)
        bound = best_response_bound(search, 1_200, rng(), width=width, safe=False)
        low, high = bound.interval
        three_errors = 0.75 * (high - low)
        assert bound.exploitability == pytest.approx((mixed[0] - mixed[1]) / 2, abs=three_errors)
        assert high - low < 0.15
        assert high < exact_unsafe(search).exploitability - 0.1  # the plan leaves much unopened
    wider = best_response_bound(search, 300, rng(), width=width, safe=False).interval
    assert wider[1] - wider[0] == pytest.approx(2 * (high - low), rel=0.3)


def test_the_bound_finds_most_of_what_a_bad_safe_agent_loses() -> None:
    search = blind_search(load_game(DICE), 2, 32)
    upper = playthrough_quality(search, 128, rng()).exploitability
    bound = best_response_bound(search, 256, rng())
    assert upper > 0.4
    assert 0.9 * upper < bound.interval[0]
    assert bound.interval[0] < upper


def test_the_bound_lies_below_the_exploitability_of_a_good_agent() -> None:
    search = load_search("pretrained:liars_dice_1x4f", "dcfr", 32)
    upper = playthrough_quality(search, 64, rng()).exploitability
    bound = best_response_bound(search, 128, rng())
    assert bound.interval[0] < upper < 0.1
    assert bound.interval[1] - bound.interval[0] < 0.1
    blind = best_response_bound(BatchSearch(search.space, ZeroLeaves(), search.config), 128, rng())
    assert blind.interval[0] > 5 * upper


@pytest.mark.parametrize("solver", ["dcfr", "linear-cfr", "cfr+"])
def test_a_random_iteration_pays_on_average_what_the_average_strategy_pays(solver: str) -> None:
    """If search sees the whole game, only the iteration is drawn, and the bound is still exact."""
    space = search_space(compile_game(load_game("kuhn_poker")), None)
    search = BatchSearch(space, ZeroLeaves(), SearchConfig(solver, 7, None))
    bound = best_response_bound(search, 5, rng())
    assert bound.exploitability == pytest.approx(exact_unsafe(search).exploitability, abs=1e-5)
    many = playthrough_quality(search, 2_000, rng()).exploitability
    assert bound.exploitability == pytest.approx(many, abs=2e-3)


def test_one_game_has_no_interval() -> None:
    with pytest.raises(TacitError, match="at least 2 games in each seat, not 1"):
        best_response_bound(blind_search(load_game("kuhn_poker"), 1), 1, rng())
