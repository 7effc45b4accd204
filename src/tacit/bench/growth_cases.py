"""The seven sizes that `tacit bench growth` varies, one at a time, and the work it times at each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch

from tacit.cards.hands import hand_name, possible_hands
from tacit.games import load_game
from tacit.games.holdem import NoLimitHoldem
from tacit.games.one_card_poker import KuhnPoker
from tacit.kernels import make_passes
from tacit.nets.encoders import ClassEncoder
from tacit.nets.forward import forward_pass
from tacit.nets.value_net import ValueNet
from tacit.search.groups import GroupPasses, make_kernels
from tacit.solvers.driver import Driver, DriverOptions
from tacit.solvers.schedules import find_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.threads import at_most, num_threads
from tacit.tree.base import Tree
from tacit.tree.compiler import compile_for_solving, compile_game
from tacit.tree.search_space import SearchSpace, search_space

SOLVER = "dcfr"
SPANS = 10
"""A timed call runs `Passes.span` iterations divided by this: about a millisecond, which other work seldom interrupts."""
ALL_HANDS = 1_128
"""The number of hands on a turn."""


class Case(NamedTuple):
    """Work of one size.

    Attributes:
      size: The size against which cost is drawn.
      call: Runs the work and returns the object that holds its arrays.
      iterations: The iterations of a call, by which its time is divided.
      shared: Holds the arrays that are made once for all calls; they are not counted.
    """

    size: int
    call: Callable[[], object]
    iterations: int = 1
    shared: object = None


@dataclass(frozen=True)
class Question:
    """One size that is varied.

    Attributes:
      name: What grows.
      counted: The unit of `Case.size`.
      work: What is timed, in words.
      time: The expected slope of time.
      memory: The expected slope of memory.
      sizes: Returns the arguments for `make`, smallest first.
      make: Returns the work at a size.
    """

    name: str
    counted: str
    work: str
    time: int
    memory: int
    sizes: Callable[[], tuple[int, ...]]
    make: Callable[[int], Case]


@dataclass(frozen=True)
class WideKuhn(KuhnPoker):
    """Kuhn's betting with a deck of any size; the higher card wins."""

    cards: int = 3

    name = "wide_kuhn"

    @property
    def num_cards(self) -> int:
        return self.cards

    def card_name(self, card: int) -> str:
        return str(card + 1)

    def strength(self, hand: int, board: tuple[int, ...]) -> int:
        return hand


def thread_counts() -> tuple[int, ...]:
    """Returns the powers of two below the number of threads that may be used, and that number."""
    most = num_threads()
    return (*(2**power for power in range(most.bit_length()) if 2**power < most), most)


def _dice(faces: int) -> Any:
    return compile_game(load_game(f"liars_dice(dice=1,faces={faces})"))


def _iterating(driver: Driver, size: int, count: int, shared: object = None) -> Case:
    """Returns the case of an iteration of a solve or of searches; each call runs `count` more."""

    def call() -> object:
        driver.run(count)
        return driver

    return Case(size, call, count, shared)


def _solving(tree: Tree, size: int) -> Case:
    passes = make_passes(tree)
    return _iterating(TabularDriver(passes, find_schedule(SOLVER)), size, max(1, passes.span // SPANS))


def _searching(faces: int, depth: int, games: int) -> tuple[SearchSpace, Case]:
    """Returns the case of searches of the opening with an untrained network at the leaves, sized by the number of games."""
    space = search_space(_dice(faces), depth)
    evaluator = forward_pass(ValueNet(ClassEncoder(space.num_classes), space.tables.num_private_states))
    classes = np.repeat(space.root_class[:1], games)
    reaches = torch.from_numpy(space.root_reaches[:1]).repeat(games, 1, 1)
    kernels = make_kernels(space, "cpu")
    options = DriverOptions(evaluator, values_roots=True)
    driver = Driver(GroupPasses(space, kernels, classes, reaches), find_schedule(SOLVER), options)
    return space, _iterating(driver, games, 1, (space, kernels, evaluator))


def _iterations(count: int) -> Case:
    passes = make_passes(_dice(4))

    def call() -> object:
        driver = TabularDriver(passes, find_schedule(SOLVER))
        while driver.iteration < count:
            driver.run(min(passes.span, count - driver.iteration))
        return driver

    return Case(count, call)


def _game_size(faces: int) -> Case:
    tree = _dice(faces)
    return _solving(tree, tree.num_infostates)


def _private_states(cards: int) -> Case:
    return _solving(compile_game(WideKuhn(cards)), cards)


def _depth(depth: int) -> Case:
    space, case = _searching(6, depth, 16)
    subgame = space.subgames[int(space.root_class[0])]
    return case._replace(size=len(subgame.tree.require_nodes()))


def _batch(games: int) -> Case:
    return _searching(4, 2, games)[1]


def _turn(hands: int) -> Tree:
    """Returns a turn on which both players hold the same random hands."""
    turn = NoLimitHoldem(board="3s7hTdKs", pot=2_000, stack=10_000, bets="1", raises="allin")
    chosen = np.random.default_rng(0).permutation(np.flatnonzero(possible_hands(turn.known_board)))[:hands]
    text = "|".join(hand_name(int(hand)) for hand in chosen)
    return compile_for_solving(replace(turn, range0=text, range1=text))


def _hands(hands: int) -> Case:
    return _solving(_turn(hands), hands)


def _threads(count: int) -> Case:
    case = _solving(_turn(ALL_HANDS), count)
    with at_most(count):
        case.call()  # the work is divided in the first call
    return case


QUESTIONS = (
    Question("iterations", "iterations", "a solve of dice 1x4f", 1, 0, lambda: (64, 256, 1024, 4096, 16384), _iterations),
    Question("game size", "infostates", "an iteration on dice 1x3f to 1x7f", 1, 1, lambda: (3, 4, 5, 6, 7), _game_size),
    Question(
        "private states", "cards", "an iteration on Kuhn poker with this many cards", 2, 2,
        lambda: (3, 6, 12, 24, 48, 96, 192), _private_states,
    ),
    Question(
        "search depth", "public states searched", "an iteration of 16 searches on dice 1x6f, depth 1 to 4", 1, 1,
        lambda: (1, 2, 3, 4), _depth,
    ),
    Question(
        "batch", "games", "an iteration of searches on dice 1x4f, depth 2", 1, 1, lambda: (1, 4, 16, 64, 256, 1024), _batch
    ),
    Question("threads", "threads", f"an iteration on a turn with {ALL_HANDS:,} hands", -1, 0, thread_counts, _threads),
    Question(
        "hold'em hands", "hands of each player", "an iteration on a turn", 1, 1,
        lambda: (35, 70, 141, 282, 564, ALL_HANDS), _hands,
    ),
)  # fmt: skip
