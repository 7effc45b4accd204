"""Deals played by several processes."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import pytest

from tacit.agents.options import SearchOptions
from tacit.arena.match import Deal
from tacit.arena.workers import play_plan
from tacit.artifacts.plans import LbrPlan, MatchPlan
from tacit.errors import TacitError

RIVER = "no_limit_holdem(board=3s7hTdKs2c,pot=2000,stack=10000,bets=1|allin,raises=1)"


def test_a_match_is_the_same_whoever_plays_its_deals() -> None:
    plan = MatchPlan(RIVER, ("pot-odds", "random"), SearchOptions(), aivat=True, seed=3)
    before = dict(os.environ)
    alone, together = list(play_plan(plan, 7)), list(play_plan(plan, 7, workers=2))
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
    whole = list(plan.deals(range(6)))
    assert list(plan.deals([5, 2])) == [whole[5], whole[2]]


@dataclass(frozen=True)
class Faulty:
    """A plan that goes wrong in one way or another after some deals."""

    how: str

    def deals(self, numbers: Iterable[int]) -> Iterator[Deal]:
        for number in numbers:
            if number > 2:
                if self.how == "refused":
                    raise TacitError("no such deal")
                os._exit(7)
            threads = float(os.environ["OMP_NUM_THREADS"] == "1")
            yield Deal(number, (0,), (threads,), (threads,))


@pytest.mark.parametrize(("how", "message"), [("refused", "no such deal"), ("killed", "ended with code 7")])
def test_what_goes_wrong_in_a_worker_is_told_in_a_line(how: str, message: str) -> None:
    found: list[Deal] = []
    with pytest.raises(TacitError, match=message):
        found.extend(play_plan(Faulty(how), 10, workers=2))
    assert all(deal.payoffs == (1.0,) for deal in found)  # on one thread
    assert [deal.number for deal in found] == list(range(len(found)))
