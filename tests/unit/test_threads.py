"""Work shared by threads: the same numbers for any count, and one thread where more would gain nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from tacit.compiled import compiled
from tacit.games import load_game
from tacit.kernels import make_passes, numba_rows
from tacit.kernels.numba_lanes import LanePasses
from tacit.kernels.numba_rows import RowPasses
from tacit.solvers.schedules import find_schedule, regret_steps
from tacit.threads import at_most, meet, num_threads, run_together
from tacit.tree import parts
from tacit.tree.compiler import compile_game
from tacit.tree.lanes import lane_layout
from tacit.tree.public_tree import PublicTree


@compiled(nogil=True)
def _pass_on(member, members, place, numbers, rounds):  # type: ignore[no-untyped-def]
    """Adds to a thread's number, each round, its neighbour's of the round before: wrong if any thread runs ahead."""
    for turn in range(rounds):
        old, new = turn % 2, 1 - turn % 2
        numbers[new, member] = numbers[old, member] + numbers[old, (member + 1) % members]
        meet(members, place)


@pytest.mark.parametrize("members", [1, 2, 5])
def test_threads_wait_for_each_other(members: int) -> None:
    numbers, expected = np.ones((2, members)), np.ones(members)
    expected[0] = numbers[0, 0] = 2.0
    run_together(members, _pass_on, numbers, 60)
    for _ in range(60):
        expected = expected + np.roll(expected, -1)
    np.testing.assert_array_equal(numbers[0], expected)


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("game", ["leduc_poker", "liars_dice(dice=1,faces=4)"])
def test_parts_have_every_node_once_and_keep_subtrees_whole(game: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = compile_game(load_game(game))
    layout = lane_layout(tree)
    assert isinstance(tree, PublicTree)
    assert layout is not None
    monkeypatch.setattr(parts, "MEETING", 0)
    monkeypatch.setattr(parts, "GAIN", 1.0)
    found = parts.divide(layout, threads)
    assert len(found.ranges) == threads
    assert found.top > 0
    of_node = np.full(len(layout.actor), -1)
    for part, ranges in enumerate(found.ranges):
        for first, last in ranges:
            assert (of_node[first:last] == -1).all()
            of_node[first:last] = part
    assert (of_node[: found.top] == -1).all()
    assert (of_node[found.top :] >= 0).all()
    parent = tree.require_nodes().parent
    below = np.flatnonzero((np.arange(len(parent)) >= found.top) & (parent >= found.top))
    np.testing.assert_array_equal(of_node[below], of_node[parent[below]])
    assert found.top + found.largest < 0.8 * len(layout.actor)


def iterated(passes: LanePasses | RowPasses, alternating: bool) -> tuple[np.ndarray, ...]:
    strategy, regret, average = passes.uniform(), passes.zeros(), passes.zeros()
    reaches = [passes.reach(player, strategy) for player in (0, 1)]
    passes.repeat(strategy, regret, average, reaches, regret_steps(find_schedule("dcfr"), 1, 25), alternating)
    return strategy, regret, average, *reaches, passes.root_cfv(1)


@pytest.mark.parametrize("alternating", [True, False])
@pytest.mark.parametrize("game", ["leduc_poker", "goofspiel(cards=4)", "kuhn_poker"])
def test_solves_do_not_depend_on_the_number_of_threads(game: str, alternating: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MEETING", -1_000)
    monkeypatch.setattr(numba_rows, "PAIRS_PER_THREAD", 1)
    passes, found = make_passes(compile_game(load_game(game))), []
    assert isinstance(passes, LanePasses | RowPasses)
    for threads in (1, 2, 3):
        if isinstance(passes, LanePasses):
            passes._parts = parts.divide(passes._layout, threads)
            assert len(passes._parts.ranges) == threads
        else:
            passes._parts = passes.divide(threads)
            assert passes._parts.shape == (2, threads + 1)
        found.append(iterated(passes, alternating))
    for others in zip(*found, strict=True):
        assert all(np.array_equal(others[0], other) for other in others[1:])


@pytest.mark.parametrize(("told", "used"), [("1", 1), ("", None), ("many", None), ("0", None), ("1000", None)])
def test_a_user_can_ask_for_fewer_threads(told: str, used: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", told)
    assert num_threads() == (numba.config.NUMBA_NUM_THREADS if used is None else used)


def test_small_games_stay_on_one_thread() -> None:
    layout = lane_layout(compile_game(load_game("leduc_poker")))
    assert layout is not None
    assert len(parts.divide(layout, 2).ranges) == 1


def test_a_block_can_ask_for_fewer_threads_too() -> None:
    with at_most(1):
        assert num_threads() == 1
    assert num_threads() <= numba.config.NUMBA_NUM_THREADS


def test_asking_for_threads_starts_none() -> None:
    """Numba would start threads of its own, and torch would then use as many, although the environment says one."""
    program = "import torch; from tacit.threads import num_threads; num_threads(); print(torch.get_num_threads())"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
