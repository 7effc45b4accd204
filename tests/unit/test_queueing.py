"""The queueing model of training by workers, against closed forms and a simulation that shares no code with it."""

import heapq
import math

import numpy as np
import pytest

from tacit.bench.queueing import fit, throughput


def machine_repair(workers: int, generation: float, service: float) -> float:
    """Returns frames a second by the closed form of the M/M/1//N queue: one learner, and one worker for each of N orders."""
    load = service / generation
    empty = 1.0 / math.fsum(math.perm(workers, count) * load**count for count in range(workers + 1))
    return (1.0 - empty) / service


@pytest.mark.parametrize("workers", [1, 2, 5, 20, 100])
@pytest.mark.parametrize("service", [0.01, 0.1, 1.0])
def test_one_station_is_the_machine_repair_queue(workers: int, service: float) -> None:
    found = throughput(workers, 1.0, {"learner": service})
    assert found.frames == pytest.approx(machine_repair(workers, 1.0, service), rel=1e-9)
    assert found.waiting == pytest.approx(1.0 - found.frames * service)


def simulated(workers: int, generation: float, stations: tuple[float, ...], frames: int, seed: int) -> float:
    """Returns frames a second in an event simulation: orders pass from their worker through one station after another."""
    random = np.random.default_rng(seed)
    events = [(random.exponential(generation), order, 0) for order in range(workers)]
    heapq.heapify(events)
    free = [0.0] * len(stations)
    done, now = 0, 0.0
    while done < frames:
        now, order, station = heapq.heappop(events)
        if station == len(stations):
            done += 1
            heapq.heappush(events, (now + random.exponential(generation), order, 0))
        else:
            free[station] = max(free[station], now) + random.exponential(stations[station])
            heapq.heappush(events, (free[station], order, station + 1))
    return done / now


@pytest.mark.parametrize("workers", [2, 8, 24])
def test_two_stations_are_those_of_a_simulation(workers: int) -> None:
    said = throughput(workers, 1.0, {"link": 0.05, "learner": 0.1})
    found = simulated(workers, 1.0, (0.05, 0.1), 20_000, seed=3)
    assert said.frames == pytest.approx(found, rel=0.03)


def test_limits() -> None:
    few = throughput(2, 1.0, {"link": 1e-6, "learner": 1e-6})
    assert few.frames == pytest.approx(2.0, rel=1e-4)
    assert few.bottleneck == "generation"
    many = throughput(500, 1.0, {"link": 0.002, "learner": 0.01})
    assert many.frames == pytest.approx(100.0, rel=1e-6)
    assert (many.bottleneck, many.waiting) == ("learner", pytest.approx(0.0, abs=1e-6))
    assert many.idle == pytest.approx(1.0 - 100.0 / 500.0, abs=1e-6)


def test_a_second_order_keeps_workers_busy_while_the_learner_learns() -> None:
    one, two = (throughput(2, 1.0, {"learner": 0.3}, orders) for orders in (1, 2))
    assert one.frames < 0.9 * 2.0
    assert one.frames < two.frames <= 2.0


def test_a_fit_finds_what_made_the_figures() -> None:
    workers = np.array([1.0, 2.0, 4.0, 8.0])
    frames = np.array([throughput(int(count), 0.7, {"learner": 0.05}).frames for count in workers])
    assert fit(workers, frames, 0.05) == pytest.approx(0.7, rel=1e-4)
