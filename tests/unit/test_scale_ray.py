"""Workers on a Ray cluster: real nodes on this machine, real kills."""

from __future__ import annotations

import http.server
import itertools
import json
import math
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import TacitError
from tacit.scale.orders import AHEAD, Orders
from tests.command import tacit as command
from tests.jobs import Sums

pytest.importorskip("ray")
from tacit.scale.ray_crew import RayCluster, RayCrew

PATIENCE = 60.0
"""Seconds of silence after which a test fails."""
RUN = ("train", "rebel", "kuhn_poker", "--preset", "smoke", "--set", "evaluate_every=0", "--json")
NODE = {"num_cpus": 2, "object_store_memory": 80 * 2**20}


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """Yields a cluster of one node; tests may add others."""
    told = {
        "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0", "RAY_health_check_initial_delay_ms": "0",
        "RAY_health_check_period_ms": "500", "RAY_health_check_timeout_ms": "1000", "RAY_health_check_failure_threshold": "3",
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        for name, value in told.items():
            patch.setenv(name, value)
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
        try:
            yield cluster
        finally:
            cluster.shutdown()


def test_actors_answer_every_order_once_though_one_is_killed_and_one_stands_still(nodes: Any) -> None:
    with RayCluster(nodes.address) as cluster:
        cluster.require_room(2, 0)
        crew = RayCrew(cluster, Sums(), 2)
        with Orders(crew, ({"number": number} for number in range(300)), PATIENCE) as orders:
            orders.share({}, add=1_000)
            answers = list(itertools.islice(orders, 20))
            os.kill(answers[-1].facts["pid"], signal.SIGKILL)
            answers += itertools.islice(orders, 100)
            assert (orders.deaths, len({answer.facts["pid"] for answer in answers[30:]}) >= 1) == (1, True)
            os.kill(stopped := answers[-1].facts["pid"], signal.SIGSTOP)
            answers += orders
            os.kill(stopped, signal.SIGCONT)
        assert sorted(answer.order for answer in answers) == list(range(300))
        assert all(answer.facts["sum"] == 1_000 + answer.order for answer in answers)


def test_what_is_shared_is_one_object_and_workers_hear_of_the_next(nodes: Any) -> None:
    with RayCluster(nodes.address) as cluster:
        crew = RayCrew(cluster, Sums(), 2)
        with Orders(crew, itertools.repeat({"number": 0}), PATIENCE) as orders:
            for version in range(1, 4):
                orders.share({}, add=version)
                later = list(itertools.islice(orders, 2 * 2 * AHEAD))
                assert (later[-1].facts["sum"], later[-1].age) == (version, 0)
                assert max(answer.age for answer in later) <= 1


def test_the_work_of_a_lost_node_is_done_by_the_others(nodes: Any) -> None:
    node, last = nodes.add_node(**NODE), [math.inf]
    numbers = itertools.takewhile(lambda facts: facts["number"] < last[0], ({"number": n} for n in itertools.count()))
    with RayCluster(nodes.address) as cluster:
        cluster.require_room(4, 0)
        with Orders(RayCrew(cluster, Sums(), 4), numbers, PATIENCE) as orders:
            answers = [orders.next()]
            while len(orders.ready) < 4:
                answers.append(orders.next())
            nodes.remove_node(node, allow_graceful=False)
            while orders.deaths < 2:
                answers.append(orders.next())
            last[0] = len(answers) + 100
            answers += orders
            assert len(orders.ready) == 2
        done = [answer.order for answer in answers if answer]
        assert sorted(done) == list(range(len(answers)))


def test_a_run_is_trained_on_a_cluster_and_goes_on_without_it(nodes: Any, tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    on_ray = ("--engine", "ray", "--ray-address", nodes.address, "--workers", "2")
    first = command(*RUN, "--run", run, "--set", "epochs=2", *on_ray)
    assert first.returncode == 0, first.stderr
    report = json.loads(first.stdout)
    assert (report["epoch"], report["workers"], report["worker_deaths"]) == (2, 2, 0)
    assert 0 <= report["learner_wait_share"] <= 1
    assert report["weights_age"] <= report["oldest_weights"]
    again = command("train", "rebel", "kuhn_poker", "--run", run, "--resume", "--set", "epochs=3", "--json")
    assert json.loads(again.stdout)["epoch"] == 3


def test_wrong_uses_are_told_in_one_line_before_a_folder_is_made(nodes: Any, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = f"127.0.0.1:{closed.getsockname()[1]}"
    server = http.server.ThreadingHTTPServer(("", 0), http.server.BaseHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    other = f"{nodes.address.rpartition(':')[0]}:{server.server_address[1]}"
    for options, told in (
        (("--ray-address", nobody), "no Ray cluster answers at"),
        (("--ray-address", other), "no Ray cluster answers at"),
        (("--ray-address", "ray://head:10001"), "write HOST:PORT of the cluster's head"),
        (
            ("--ray-address", nodes.address, "--workers", "3"),
            "has room for 2 workers with 1 CPU each, not for 3: use --workers 2",
        ),
        (("--ray-address", nodes.address, "--gpus-per-worker", "1"), "--gpus-per-worker is for --device cuda"),
    ):
        refused = command(*RUN, "--run", str(tmp_path / "no"), "--engine", "ray", *options)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert told in refused.stderr.splitlines()[-1]
    server.shutdown()
    assert not (tmp_path / "no").exists()


def test_a_lost_head_ends_the_command_with_a_line_and_a_run_that_goes_on(tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    process = subprocess.Popen(
        [sys.executable, "-m", "tacit", *RUN, "--run", run, "--set", "epochs=100000", "--engine", "ray"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "RAY_AUTH_MODE": "disabled"},
    )  # fmt: skip
    try:
        metrics = tmp_path / "run" / "metrics.jsonl"
        waited = threading.Event()
        while process.poll() is None and not (metrics.exists() and metrics.read_text()):
            waited.wait(0.1)
        head = subprocess.run(["pgrep", "-P", str(process.pid), "gcs_server"], capture_output=True, text=True, check=True)
        os.kill(int(head.stdout.split()[0]), signal.SIGKILL)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out) == (2, ""), err
    last = err.strip().splitlines()[-1]
    assert "the head of the Ray cluster" in last
    assert "--resume" in last
    again = command("train", "rebel", "kuhn_poker", "--run", run, "--resume", "--set", "epochs=2", "--json")
    assert again.returncode == 0


def test_the_error_of_a_job_names_its_worker(nodes: Any) -> None:
    with (
        RayCluster(nodes.address) as cluster,
        Orders(RayCrew(cluster, Sums(), 1), [{"letter": 1}], PATIENCE) as orders,
        pytest.raises(TacitError, match="worker 0: KeyError: 'number'"),
    ):
        orders.next()
