"""The search passes on the CPU: vectors of games, the last one partly filled."""

import numpy as np
import pytest
import torch
from numba import njit

from tacit.games import load_game
from tacit.kernels.simd import count_at_most, last, load_at, load_some, running, store_at, store_some, width
from tacit.nets.encoders import ClassEncoder
from tacit.nets.numba_mlp import NumbaValueNet
from tacit.nets.value_net import ValueNet
from tacit.search.config import SearchConfig
from tacit.search.numba_kernels import LANES
from tacit.search.search import BatchSearch
from tacit.tree.compiler import compile_game
from tacit.tree.search_space import search_space


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5])
def test_some_lanes_are_read_and_written(count: int) -> None:
    lanes = width(4)

    @njit
    def double(numbers, start, count):
        some = load_some(numbers, start, count, lanes)
        store_some(numbers, start, count, some + some)

    numbers = np.arange(1.0, 13.0, dtype=np.float32)
    expected = numbers.copy()
    expected[5 : 5 + min(count, 4)] *= 2.0
    double(numbers, 5, count)
    np.testing.assert_array_equal(numbers, expected)


@pytest.mark.parametrize("solver", ["linear-cfr", "pcfr+", "fp"])
@pytest.mark.parametrize("games", [1, LANES - 1, LANES, 2 * LANES + 3])
def test_a_game_does_not_depend_on_the_others_of_its_batch(solver: str, games: int) -> None:
    space = search_space(compile_game(load_game("liars_dice(dice=1,faces=3)")), 2)
    torch.manual_seed(0)
    net = ValueNet(ClassEncoder(space.num_classes, 16), 3, scale=100.0)
    search = BatchSearch(space, NumbaValueNet(net), SearchConfig(solver, 10, 2))
    rng = np.random.default_rng(0)
    classes = np.concatenate([np.zeros(games, int), rng.integers(0, 4, 5)])
    reaches = torch.from_numpy(rng.dirichlet(np.ones(3), (len(classes), 2))).float()
    sample = rng.integers(1, 11, len(classes))
    together = search.run(classes, reaches, sample)
    for game in range(len(classes)):
        mine = slice(game, game + 1)
        alone = search.run(classes[mine], reaches[mine], sample[mine])
        # Values are divided by a matrix product from torch, whose last digit depends on the number of games on some processors.
        torch.testing.assert_close(together.values[mine], alone.values, rtol=2e-7, atol=0, equal_nan=True)
        (group,) = (g for g in together.batch if g.games.start <= together.batch.place[game] < g.games.stop)
        place = together.batch.place[game] - group.games.start
        for name in ("average_strategy", "sampled_strategy"):
            entries = together.batch.view(getattr(together, name), together.batch.entry_offset, group)[:, place]
            torch.testing.assert_close(entries, getattr(alone, name), rtol=0, atol=0)


@njit
def _of_row(row, bound):  # type: ignore[no-untyped-def]
    lanes = load_at(row, 0, np.float32(0.0), (None, None, None, None))
    store_at(row, 4, running(lanes))
    return last(running(lanes)), count_at_most(lanes, bound)


def test_rows_are_added_up_and_counted() -> None:
    row = np.array([3.0, 1.0, 4.0, 1.5, 0.0, 0.0, 0.0, 0.0], np.float32)
    total, count = _of_row(row, np.float32(3.0))
    assert (total, count) == (9.5, 3)
    np.testing.assert_array_equal(row[4:], np.cumsum(row[:4]))
