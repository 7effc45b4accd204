"""Matches, local best responses and playthroughs by crews: the same with any workers, and nothing is lost when they die."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from torch import Tensor

import tacit
from tacit.agents.options import SearchOptions
from tacit.arena.match import Deal
from tacit.arena.workers import LONG, SHORT, DealPlan, Table, _Pace, play_plan
from tacit.artifacts.plans import LbrPlan, MatchPlan
from tacit.errors import TacitError
from tacit.processes import HERE, Message, Work, Workers, in_turn
from tacit.rebel.trained import load_trained
from tacit.scale.frames import pack, unpack
from tacit.scale.hands import CrewWorkers, find_workers
from tacit.scale.local import LocalCrew
from tacit.search import playthroughs
from tests.command import tacit as command

RIVER = "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=10000,bets=1|allin,raises=1)"
DICE = "pretrained:liars_dice_1x4f"


def two() -> CrewWorkers:
    found = find_workers(2)
    assert isinstance(found, CrewWorkers)
    return found


def test_a_match_is_the_same_whoever_plays_its_deals() -> None:
    plan = MatchPlan(RIVER, ("pot-odds", "random"), SearchOptions(), aivat=True, seed=3)
    before = dict(os.environ)
    alone, together = list(play_plan(plan, 7)), list(play_plan(plan, 7, two()))
    assert together == alone
    assert [deal.number for deal in together] == list(range(7))
    assert len({deal.payoffs for deal in alone}) > 1
    assert alone != list(play_plan(replace(plan, seed=4), 7))
    assert dict(os.environ) == before


@pytest.mark.parametrize(
    "plan",
    [
        MatchPlan(RIVER, ("holdem-search", "random"), SearchOptions(iterations=4, safety="sampled"), duplicate=False),
        LbrPlan(RIVER, "holdem-search", SearchOptions(iterations=4), "all-rounds"),
        MatchPlan("kuhn_poker", ("random", "always-call"), SearchOptions()),
    ],
    ids=["search", "lbr", "kuhn"],
)
def test_a_deal_does_not_depend_on_those_before_it(plan: MatchPlan | LbrPlan) -> None:
    whole, table = list(plan.deals(range(6))), plan.table()
    assert list(plan.deals([5, 2])) == [whole[5], whole[2]]
    assert [*table([4, 5]), *table([0])] == [whole[4], whole[5], whole[0]]  # the same agents take several orders


@dataclass(frozen=True)
class Faulty(DealPlan):
    """A plan that fails after some deals, in the way that `how` names."""

    how: str

    def table(self) -> Table:
        return self._play

    def _play(self, numbers: Iterable[int]) -> Iterator[Deal]:
        for number in numbers:
            if number > 2 and self.how == "refused":
                raise TacitError("no such deal")
            if number > 2 and self.how == "broken":
                raise ZeroDivisionError("no such number")
            if number > 2 and self.how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            threads = float(os.environ["OMP_NUM_THREADS"] == "1")
            yield Deal(number, (0,), (threads + number / 3,), (threads,))


@pytest.mark.parametrize(
    ("how", "message"),
    [("refused", "no such deal"), ("broken", "ZeroDivisionError: no such number"), ("killed", "workers die again and again")],
)
def test_what_goes_wrong_in_every_worker_is_told_in_a_line(how: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.scale.orders.MOST_DEATHS", 1)
    found: list[Deal] = []
    with pytest.raises(TacitError, match=message):
        found.extend(play_plan(Faulty(how), 10, two()))
    assert all(deal.estimates == (1.0,) for deal in found)  # on one thread
    assert [deal.number for deal in found] == list(range(len(found)))


def test_a_match_goes_on_when_a_worker_is_killed_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that hold orders are killed until one is replaced; the result is that of one process, to the last bit."""
    started: list[Any] = []
    start, send = LocalCrew.start, LocalCrew.send

    def noted(crew: LocalCrew, number: int, life: int) -> None:
        start(crew, number, life)
        started.append(crew.processes[number])

    def killed_at_first(crew: LocalCrew, number: int, order: bytes) -> None:
        send(crew, number, order)
        if len(started) == 2:
            os.kill(crew.processes[number].pid, signal.SIGKILL)

    monkeypatch.setattr(LocalCrew, "start", noted)
    monkeypatch.setattr(LocalCrew, "send", killed_at_first)
    options: dict[str, Any] = {"hands": 40, "iterations": 10, "seed": 2}
    together = tacit.match("holdem-search", "random", RIVER, workers=2, **options)
    alone = tacit.match("holdem-search", "random", RIVER, **options)
    assert len(started) > 2
    assert (together.mean, together.interval, together.hands) == (alone.mean, alone.interval, 40)
    assert not any(process.is_alive() for process in started)


def test_a_match_on_a_ray_cluster_is_the_same() -> None:
    pytest.importorskip("ray")
    options: dict[str, Any] = {"hands": 12, "iterations": 4, "seed": 5}
    alone = tacit.match("holdem-search", "random", RIVER, **options)
    together = tacit.match("holdem-search", "random", RIVER, workers=2, engine="ray", **options)
    assert (together.mean, together.interval, together.hands) == (alone.mean, alone.interval, 12)


def test_ctrl_c_keeps_what_workers_have_played() -> None:
    deals: list[Deal] = []

    def stop(deal: Deal) -> None:
        deals.append(deal)
        if len(deals) == 3:
            signal.raise_signal(signal.SIGINT)

    found = tacit.match(
        "random", "random", "kuhn_poker", hands=10**9, workers=2, on_deal=stop, keep_when_interrupted=True, seed=1
    )
    assert found.interrupted
    assert found.hands >= 6
    assert deals == list(MatchPlan("kuhn_poker", ("random", "random"), SearchOptions(), seed=1).deals(range(len(deals))))
    assert threading.active_count() < 20


def test_orders_grow_while_they_take_no_time_and_leave_some_for_everybody() -> None:
    pace, counts = _Pace(1_000, 2), []
    for order in pace.orders():
        counts.append(order["count"])
        assert order["first"] == sum(counts[:-1])
        pace.hear(SHORT / 2 if len(counts) < 6 else 2 * LONG)
    assert counts[:7] == [1, 2, 4, 8, 16, 32, 16]
    assert sum(counts) == 1_000
    assert _asked(_Pace(5, 4)) == [1] * 5
    asked = _asked(_Pace(100_000, 2))
    assert all(count <= max(1, (100_000 - sum(asked[:place])) // 8) for place, count in enumerate(asked))
    assert max(asked) > 8_000


def _asked(pace: _Pace) -> list[int]:
    counts = []
    for order in pace.orders():
        counts.append(order["count"])
        pace.hear(0.0)
    return counts


def test_answers_are_handed_on_in_turn() -> None:
    come: list[tuple[int, Message]] = [(1, ({}, {"n": 1})), (2, ({}, {"n": 2})), (0, ({}, {"n": 0})), (3, ({}, {"n": 3}))]
    assert [facts["n"] for _, facts in in_turn(come)] == [0, 1, 2, 3]


class Scattered:
    """`Hands` that work through frames and answer the last order first."""

    def __init__(self, work: Work) -> None:
        self._work, self.pieces = work, 0

    def share(self, tensors: dict[str, Tensor]) -> None:
        self._work.hear(unpack(pack(tensors)))

    def answers(self, orders: Iterable[dict[str, Any]]) -> Iterator[tuple[int, Message]]:
        for place, order in reversed(list(enumerate(orders))):
            self.pieces += 1
            tensors, facts = self._work.answer(({}, order))
            yield place, unpack(pack(tensors, **facts))


@pytest.mark.parametrize("safe", [True, False])
def test_playthroughs_are_the_same_in_whatever_order_pieces_come(safe: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    trained = load_trained(DICE)
    search = trained.search(trained.space(), "dcfr", 8)
    work = playthroughs.PlayedSearches(search, safe)

    def strategy(by: Scattered | None = None) -> Any:
        return playthroughs.playthrough_strategy(search, 9 if safe else 1, np.random.default_rng(3), safe=safe, hands=by)

    whole, hands = strategy(), Scattered(work)
    monkeypatch.setitem(playthroughs.MAX_SEARCHES, "cpu", 16)
    np.testing.assert_array_equal(strategy(), strategy(hands))
    assert np.mean(np.abs(whole - strategy())) < 0.01  # last digits depend on the number of searches at once
    assert hands.pieces > 3
    assert work.answer(({}, {"level": 0, "first": 0, "count": 1})) == ({}, {})  # this level was answered before


def test_playthroughs_are_the_same_for_any_number_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """One worker goes first, because fresh kernels can differ in the last digit from kernels that were compiled before."""
    monkeypatch.setitem(playthroughs.MAX_SEARCHES, "cpu", 16)
    _, one, several = (
        tacit.evaluate(DICE, playthroughs=12, iterations=8, workers=workers, engine="local", seed=3) for workers in (1, 1, 2)
    )
    assert (one.figure, one.details["value"]) == (several.figure, several.details["value"])


def test_evaluations_by_workers_are_refused_where_there_is_nothing_to_share() -> None:
    options: dict[str, Any] = {"workers": 2, "iterations": 8}
    refused: list[tuple[dict[str, Any], str]] = [
        ({"safety": "re-solving"}, "workers share playthroughs, and re-solving has none: leave out --workers"),
        ({"metric": "best-response"}, "--workers has no effect on the best-response"),
    ]
    for extra, message in refused:
        with pytest.raises(TacitError, match=message):
            tacit.evaluate(DICE, **options, **extra)
    assert find_workers(1) is HERE
    engine: Workers = find_workers(1, "local")
    assert engine.size == 1
    with pytest.raises(TacitError, match="unknown engine 'spark'"):
        find_workers(2, "spark")
    with pytest.raises(TacitError, match="--ray-address is for --engine ray"):
        find_workers(2, "local", "here:1")


def test_commands_by_workers_say_what_commands_in_one_process_say() -> None:
    match = ("match", "random", "always-call", "--game", "kuhn_poker", "--hands", "40", "--json")
    lbr = ("evaluate", "pot-odds", "--metric", "lbr", "--game", RIVER, "--hands", "8", "--json")
    for arguments in (match, lbr):
        alone, together = (json.loads(command(*arguments, *more).stdout) for more in ((), ("--workers", "2")))
        assert {**alone, "seconds": 0} == {**together, "seconds": 0}
    refused = command(*match, "--workers", "2", "--engine", "spark")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "unknown engine 'spark'" in refused.stderr
