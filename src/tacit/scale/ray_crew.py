"""Workers as actors of a Ray cluster: a new one on this machine, or one that is already running.

A shared frame is one object in the cluster's store, which every node fetches once. Ray does not restart actors: `Orders` does,
and the new one may find room on another node. While the crew works, the cluster's head is checked for signs of life, because
Ray's own calls wait forever without a head.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tacit.errors import TacitError
from tacit.processes import limit_threads
from tacit.scale.crew import READY

if TYPE_CHECKING:
    from tacit.processes import Job
    from tacit.scale.job import Worker

HEAD_PATIENCE = 5.0
"""Seconds without a sign of life after which the head of the cluster counts as lost."""
_SIGN_OF_LIFE = 1.0
_GREETING, _SETTINGS = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x04"
_THIS_MACHINE = ("localhost", "127.0.0.1", "[::1]")
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_NUM_REDIS_GET_RETRIES": "1",  # each takes forty seconds
}


class _Actor:
    """A worker in a process of a cluster."""

    def __init__(self, job: Job, number: int, life: int, threads: dict[str, str]) -> None:
        os.environ.update(threads)
        import torch

        from tacit.scale.job import Worker

        torch.set_num_threads(1)
        self._worker: Worker = Worker(job, number, life)

    def ready(self) -> bytes:
        """Returns `READY`, once the worker has started."""
        return READY

    def answer(self, order: bytes, shared: list[Any]) -> bytes:
        """Returns the answer to an order, after passing the worker the shared frames that are new to it."""
        import ray

        for reference in shared:
            self._worker.hear(ray.get(reference).tobytes())
        return self._worker.answer(order)


class RayCluster:
    """A cluster that this process joins; leaving it ends everything that was started on it.

    Args:
      address: `HOST:PORT` of its head; None starts one on this machine that ends with this process.

    Attributes:
      ray: the Ray module, connected to the cluster.
      lost: whether the head is gone.

    Raises:
      TacitError: Ray is not installed, or nothing answers at the address.
    """

    def __init__(self, address: str | None = None) -> None:
        self.ray = _import_ray()
        self._head = _connect(self.ray, address)
        self._asked, self.lost = 0.0, False

    def __enter__(self) -> RayCluster:
        return self

    def __exit__(self, *_: object) -> None:
        _within(_SIGN_OF_LIFE if self.lost else HEAD_PATIENCE, self.ray.shutdown)

    def require_room(self, workers: int, gpus: float) -> None:
        """Checks that the cluster could hold this many workers if it were empty.

        Raises:
          TacitError: it could not.
        """
        room = room_on(self.ray.nodes(), gpus)
        if workers > room:
            each = "1 CPU" + (f" and {gpus:g} GPUs" if gpus else "")
            hint = f": use --workers {room}" if room else ""
            raise TacitError(f"the Ray cluster has room for {room} workers with {each} each, not for {workers}{hint}")

    def look_at_head(self) -> None:
        """Checks the head for a sign of life, unless that was done in the last second.

        Raises:
          TacitError: there is none within `HEAD_PATIENCE`.
        """
        if time.monotonic() - self._asked > _SIGN_OF_LIFE:
            self.require_head()

    def require_head(self) -> None:
        """Waits for a sign of life from the head.

        Raises:
          TacitError: there is none within `HEAD_PATIENCE`.
        """
        ends = time.monotonic() + HEAD_PATIENCE
        while not _answers(self._head, _SIGN_OF_LIFE):
            if time.monotonic() > ends:
                self.lost = True
                raise TacitError(f"the head of the Ray cluster at {self._head} is gone")
            time.sleep(_SIGN_OF_LIFE / 4)
        self._asked = time.monotonic()


class RayCrew:
    """Workers that are actors of a cluster.

    Args:
      cluster: the cluster.
      job: the job to work on.
      size: the number of workers.
      gpus: GPUs of each worker; with half a GPU each, two share one.

    Attributes:
      size: the number of workers.
      cause: Ray's message about the last worker to die.
      actors: the actors by number.
    """

    def __init__(self, cluster: RayCluster, job: Job, size: int, gpus: float = 0.0) -> None:
        self._cluster, self._ray = cluster, cluster.ray
        self._job, self.size, self._gpus = job, size, gpus
        self._pending: dict[Any, int] = {}
        self._shared: tuple[int, list[Any]] = (-1, [])
        self._known = [-1] * size
        self.cause = ""
        self.actors: dict[int, Any] = {}

    def start(self, number: int, life: int) -> None:
        self._cluster.require_head()
        self._end(number)
        actor = self._ray.remote(_Actor).options(num_cpus=1, num_gpus=self._gpus, max_restarts=0, max_task_retries=0)
        self.actors[number] = actor.remote(self._job, number, life, limit_threads(1))
        self._known[number] = -1
        self._pending[self.actors[number].ready.remote()] = number

    def share(self, version: int, frame: bytes) -> None:
        import numpy as np

        self._shared = version, [self._ray.put(np.frombuffer(frame, np.uint8))]

    def send(self, number: int, order: bytes) -> None:
        version, shared = self._shared
        new = self._known[number] != version
        self._known[number] = version
        self._pending[self.actors[number].answer.remote(order, shared if new else [])] = number

    def wait(self, seconds: float) -> tuple[int, bytes | None] | None:
        self._cluster.look_at_head()
        ready, _ = self._ray.wait(list(self._pending), num_returns=1, timeout=seconds)
        if not ready:
            return None
        number = self._pending.pop(ready[0])
        try:
            return number, self._ray.get(ready[0], timeout=HEAD_PATIENCE)
        except (self._ray.exceptions.RayError, TimeoutError) as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            self.cause = next((line.strip() for line in reversed(lines) if "Error: " in line), lines[0])
            self._forget(number)
            return number, None

    def close(self) -> None:
        actors, self.actors = list(self.actors.values()), {}
        self._pending.clear()
        if not self._cluster.lost:
            _within(HEAD_PATIENCE, lambda: [self._ray.kill(actor) for actor in actors])

    def _end(self, number: int) -> None:
        """Ends the worker with that number, if there is one."""
        actor = self.actors.pop(number, None)
        self._forget(number)
        if actor is not None:
            _within(HEAD_PATIENCE, lambda: self._ray.kill(actor))

    def _forget(self, number: int) -> None:
        """Stops listening to a worker."""
        self._pending = {reference: whose for reference, whose in self._pending.items() if whose != number}


def room_on(nodes: list[dict[str, Any]], gpus: float) -> int:
    """Returns how many workers with one CPU and `gpus` GPUs each the live nodes could hold if they were empty."""
    room = 0
    for node in nodes:
        if node["Alive"]:
            cpus, cards = node["Resources"].get("CPU", 0.0), node["Resources"].get("GPU", 0.0)
            by_gpu = cpus if not gpus else cards // gpus if gpus >= 1 else cards * int(1 / gpus + 1e-9)
            room += int(min(cpus, by_gpu))
    return room


def _within(seconds: float, call: Callable[[], Any]) -> None:
    """Calls a function that may wait for a head that is gone, and returns after `seconds` at the latest."""

    def quiet() -> None:
        with suppress(Exception):
            call()

    thread = threading.Thread(target=quiet, daemon=True)
    thread.start()
    thread.join(seconds)


def _import_ray() -> Any:
    """Returns the Ray module.

    Raises:
      TacitError: Ray is not installed.
    """
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise TacitError('--engine ray needs Ray: pip install "tacit[ray]"') from None
    return ray


def _connect(ray: Any, address: str | None) -> str:
    """Returns the address of a cluster's head after joining or starting it; not in the main thread Ray would hang later.

    Raises:
      TacitError: there is no cluster at the address, or it does not let us join within a minute.
    """
    if address is not None:
        _check_address(ray, address)
        os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", "86400")  # or Ray ends this process itself
    where = {"address": address} if address else {"address": "local", "include_dashboard": False}
    try:
        ray.init(**where, log_to_driver=False, configure_logging=False)
    except Exception as error:
        place = "cannot start Ray on this machine" if address is None else f"cannot join the Ray cluster at {address}"
        raise TacitError(f"{place}: {str(error).splitlines()[0]}") from None
    return str(ray.get_runtime_context().gcs_address)


def _check_address(ray: Any, address: str) -> None:
    """Checks that a cluster's head answers at an address.

    Raises:
      TacitError: the address cannot be read, or nothing answers there.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or "/" in host:
        raise TacitError(
            f"cannot read the address {address!r}: write HOST:PORT of the cluster's head, as `ray start` prints it"
        )
    if host in _THIS_MACHINE:
        address = f"{ray.util.get_node_ip_address()}:{port}"  # Ray itself does not join through the loopback address
    if not _answers(address, HEAD_PATIENCE):
        raise TacitError(f"no Ray cluster answers at {address}: is its head running there?")


def _answers(address: str, seconds: float) -> bool:
    """Returns whether an address answers in HTTP/2, as Ray's calls use; even a process that hangs accepts connections."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=seconds) as line:
            line.sendall(_GREETING + bytes(3) + _SETTINGS + bytes(5))
            return line.recv(4)[3:] == _SETTINGS
    except (OSError, OverflowError):
        return False
