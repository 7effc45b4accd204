"""Continual re-solving: its whole policy is near equilibrium, and needs everything it carries along for that."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from torch import Tensor

import tacit
from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.leaves.evaluators import ZeroLeaves
from tacit.search.config import SearchConfig
from tacit.search.numba_kernels import NumbaKernels
from tacit.search.resolving import resolving_strategy
from tacit.search.search import BatchSearch
from tacit.search.solved_leaves import SolvedLeaves
from tacit.solvers.schedules import SCHEDULES, RegretSchedule, average_weights, without_warm_up
from tacit.tree.compiler import compile_game
from tacit.tree.search_space import search_space


def resolved(name: str, config: SearchConfig, change: Callable[[BatchSearch], None] = lambda _: None) -> float:
    """Returns the exploitability of continual re-solving in thousandths of the ante, or in the game's own unit."""
    game = load_game(name)
    tree = compile_game(game)
    space = search_space(tree, config.depth)
    leaves = ZeroLeaves() if config.depth is None else SolvedLeaves(space, iterations=config.iterations)
    search = BatchSearch(space, leaves, config)
    change(search)
    found = evaluate(make_passes(tree), resolving_strategy(search, at_decisions=True)).exploitability
    return game.in_units(found).get("mbb", found)


def test_pot_limit_leduc_to_the_end_of_the_game() -> None:
    """Uniform play has 1,221; the public reproduction of Student of Games 18.6 at 200 iterations, 5.9 with a correct gadget."""
    alternating = SearchConfig("cfr+", 200, None)
    simultaneous = SearchConfig("cfr+", 200, None, alternating=False, warm_up=100)
    assert resolved("pot_limit_leduc", alternating) < 1.0
    assert resolved("pot_limit_leduc", simultaneous) < 9.0


@pytest.mark.parametrize(
    ("name", "config", "most"),
    [
        ("kuhn_poker", SearchConfig("cfr+", 200, None), 0.002),
        ("liars_dice(dice=1,faces=3)", SearchConfig("dcfr", 100, None), 0.002),
        ("kuhn_poker", SearchConfig("dcfr", 60, 1), 0.02),
        ("pot_limit_leduc", SearchConfig("cfr+", 30, "round"), 60.0),
    ],
)
def test_it_is_near_equilibrium(name: str, config: SearchConfig, most: float) -> None:
    assert resolved(name, config) < most


def test_a_network_of_rebel_re_solves_at_leaves() -> None:
    """Its self-play never reached states where player 1 acts, so the network does not know their values."""
    shipped = tacit.open("pretrained:liars_dice_1x4f")
    assert shipped.evaluate(iterations=128, safety="re-solving").figure < 0.03
    space = shipped._space
    search = shipped._trained.search(space, "dcfr", 32)
    everywhere = evaluate(make_passes(space.tree), resolving_strategy(search, at_decisions=True))
    assert everywhere.exploitability > 0.1


@pytest.mark.parametrize("broken", ["promises nothing", "promises the values of the root", "forgets its own range"])
def test_it_needs_all_that_it_carries(broken: str) -> None:
    """Each of these defects makes it several times as exploitable."""

    def change(search: BatchSearch) -> None:
        run = search.run

        def other(classes: np.ndarray, reach: Tensor, last: np.ndarray, promised: tuple[int, Tensor] | None, **asked: int):  # type: ignore[no-untyped-def]
            if promised is not None:
                player, values = promised
                if broken == "promises nothing":
                    promised = player, values - 10_000.0
                elif broken == "promises the values of the root":
                    promised = player, values * 0.0 + 11.66 * (2 * player - 1)
                else:
                    real = reach[:, 1 - player] >= 0
                    reach = reach.clone()
                    reach[:, 1 - player] = real / real.sum(1, keepdim=True)
            return run(classes, reach, last, promised, **asked)

        search.run = other  # type: ignore[method-assign]

    config = SearchConfig("cfr+", 100, None)
    assert resolved("pot_limit_leduc", config, change) > 4 * resolved("pot_limit_leduc", config)


def test_copies_that_fill_up_groups_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU, copies fill groups up to the alignment of its vectors."""
    searches, found = [], []

    def count(search: BatchSearch) -> None:
        run = search.run
        searches.append(0)

        def counted(classes: np.ndarray, *rest: Any, **asked: int):  # type: ignore[no-untyped-def]
            searches[-1] += len(classes)
            return run(classes, *rest, **asked)

        search.run = counted  # type: ignore[method-assign]

    for alignment in (1, 8):
        monkeypatch.setattr(NumbaKernels, "alignment", alignment)
        found.append(resolved("pot_limit_leduc", SearchConfig("cfr+", 20, None), count))
    assert found[0] == pytest.approx(found[1], rel=1e-4)
    assert searches[0] == searches[1]


def test_a_warm_up_counts_in_no_average() -> None:
    schedule = SCHEDULES["cfr+"]
    assert isinstance(schedule, RegretSchedule)
    np.testing.assert_array_equal(average_weights(without_warm_up(schedule, 3), 6), [0, 0, 0, 1, 2, 3, 4])
    for t in (1, 5):
        assert without_warm_up(schedule, 3).step(t)[:4] == schedule.step(t)[:4]
    with pytest.raises(TacitError, match="fictitious play has no warm-up"):
        without_warm_up(SCHEDULES["fp"], 3)
    with pytest.raises(TacitError, match="shorter than the search's 10 iterations"):
        SearchConfig("cfr+", 10, 2, warm_up=10)
