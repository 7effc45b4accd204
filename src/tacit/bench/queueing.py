"""A queueing model of training by workers: how fast it runs with any number of them, and what limits it.

A run is a closed network. Every worker has a fixed number of orders; the worker generates an order's examples, then the order
crosses the link to the learner and waits until the learner has learnt from them. Mean value analysis (Reiser & Lavenberg 1980)
solves such a network exactly for exponential service times, one order at a time: an order that arrives at a station finds the
average queue of a network with one order less,

    time(station, n) = service(station) * (1 + queue(station, n - 1)),
    throughput(n) = n / (generation + sum of times),    queue(station, n) = throughput(n) * time(station, n).

Where we differ from a real cluster: its service times vary less than exponential ones, so its queues are shorter and the model
is a little pessimistic near the knee. The limits for few and for many workers are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from tacit.tree.public_tree import Floats


@dataclass(frozen=True)
class Throughput:
    """The model's prediction for a number of workers.

    Attributes:
      workers: The number of workers.
      frames: Frames of examples that the learner takes per second.
      waiting: The share of its time that the learner waits for frames.
      idle: The share of their time that workers wait for orders.
      bottleneck: The busiest station, or `generation`.
    """

    workers: int
    frames: float
    waiting: float
    idle: float
    bottleneck: str


def throughput(workers: int, generation: float, stations: Mapping[str, float], orders: int = 1) -> Throughput:
    """Returns the throughput of workers.

    Args:
      workers: The number of workers, at least one.
      generation: Seconds in which a worker generates a frame.
      stations: Seconds that each shared station spends on a frame, by name; `learner` is one of them.
      orders: Orders that a worker has at a time. It generates them one after the other.

    An order that waits for its own worker is not in the network. With more than one order, a worker is another queue; it is
    approximated by as many orders as keep all workers busy, and throughput is bounded by `workers / generation`.
    """
    queue = dict.fromkeys(stations, 0.0)
    rate = 0.0
    for population in range(1, workers * orders + 1):
        times = {name: service * (1.0 + queue[name]) for name, service in stations.items()}
        rate = min(population / (generation + sum(times.values())), workers / generation)
        queue = {name: rate * time for name, time in times.items()}
    busy = {name: rate * service for name, service in stations.items()}
    busy["generation"] = rate * generation / workers
    return Throughput(workers, rate, 1.0 - busy["learner"], max(0.0, 1.0 - busy["generation"]), max(busy, key=busy.__getitem__))


def fit(workers: Floats, frames: Floats, learner: float, orders: int = 1) -> float:
    """Returns the seconds per frame of a worker that best explain measured throughputs.

    Args:
      workers: `[M]` the measured numbers of workers.
      frames: `[M]` frames per second with each.
      learner: Seconds that the learner spends on a frame, measured on its own.
      orders: Orders that a worker has at a time.
    """

    def errors(log_generation: Floats) -> Floats:
        generation = float(np.exp(log_generation[0]))
        predicted = [throughput(int(count), generation, {"learner": learner}, orders).frames for count in workers]
        return np.log(predicted) - np.log(frames)

    first = np.log(workers[0] / frames[0])
    return float(np.exp(least_squares(errors, np.array([first])).x[0]))
