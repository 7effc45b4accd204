"""The pool of worker processes: searches run there, so the event loop never waits for one.

Each place (a desk of a browser tab, like `tab3/play`) belongs to one worker of a lane, at first the one with the fewest places.
A worker gets one message at a time, from its places in turn, so a place with many messages cannot hold up the others. A place
may have only a few messages waiting. A worker that dies is replaced, and its places are told.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from tacit.errors import TacitError
from tacit.processes import environment, limit_threads
from tacit.web import worker as says
from tacit.web.desk import SLOW, Frame, Message

Deliver = Callable[[str, Frame], None]
"""A function that takes a place and its frame or record."""


class _Process:
    """One worker process as the server sees it.

    Attributes:
      lane: The kind of work it does.
      places: The places that belong to it.
      waiting: The waiting messages of each place, with the places in the order of their turns.
      running: The place whose message is being answered, or None.
    """

    def __init__(self, lane: str) -> None:
        self.lane = lane
        self.places: set[str] = set()
        self.waiting: OrderedDict[str, deque[Message]] = OrderedDict()
        self.running: str | None = None
        self.ready = asyncio.Event()
        self.connection: Connection
        self.process: Any


class WorkerPool:
    """Starts workers, hands out messages and passes on the answers.

    Args:
      lanes: The number of processes of each lane, by name.
      context: The settings passed to every desk.
      deliver: Called with frames, on the event loop.
      keep: Called with records of finished hands, on the event loop.
      max_waiting: The most messages of one place that may wait.
    """

    def __init__(
        self, lanes: Mapping[str, int], context: Mapping[str, Any], deliver: Deliver, keep: Deliver, max_waiting: int = 4
    ) -> None:
        self._context, self._deliver, self._keep, self._max_waiting = dict(context), deliver, keep, max_waiting
        self._processes = [_Process(lane) for lane, count in lanes.items() for _ in range(count)]
        self._homes: dict[str, _Process] = {}
        self._stopping = False

    async def start(self) -> None:
        """Starts all processes; they are ready when `ready` returns."""
        self._loop = asyncio.get_running_loop()
        for process in self._processes:
            self._spawn(process)

    async def ready(self) -> None:
        """Waits until all processes answer."""
        await asyncio.gather(*(process.ready.wait() for process in self._processes))

    async def stop(self) -> None:
        """Ends all processes."""
        self._stopping = True
        for process in self._processes:
            self._tell(process, says.STOP, "", None)
        for process in self._processes:
            await asyncio.to_thread(process.process.join, 2.0)
            if process.process.is_alive():
                process.process.terminate()

    def submit(self, place: str, lane: str, message: Message) -> None:
        """Queues a message for a place; a new place is given a worker of the lane.

        Raises:
          TacitError: the place has too many messages waiting.
        """
        process = self._home(place, lane)
        queue = process.waiting.setdefault(place, deque())
        if len(queue) >= self._max_waiting:
            raise TacitError("too many messages are waiting: let the opponent catch up")
        queue.append(message)
        self._dispatch(process)
        if place in process.waiting and process.running != place:
            ahead = list(process.waiting).index(place) + 1
            self._deliver(place, {"type": "queued", "desk": message.get("desk"), "ahead": ahead})

    async def idle(self, place: str) -> None:
        """Waits until a place has no message waiting or being answered."""
        process = self._homes.get(place)
        while process is not None and (process.running == place or place in process.waiting):
            await asyncio.sleep(0.1)

    def cut(self, place: str) -> None:
        """Asks the work on a place's message to end soon."""
        if place in self._homes:
            self._tell(self._homes[place], says.CUT, place, None)

    def close(self, place: str) -> None:
        """Forgets a place, its waiting messages and its desk, and cuts short a search in progress."""
        process = self._homes.get(place)
        if process is not None:
            self.cut(place)
            del self._homes[place]
            process.places.discard(place)
            process.waiting.pop(place, None)
            self._tell(process, says.CLOSE, place, None)

    def load(self) -> dict[str, int]:
        """Returns how many places have work waiting or running, by lane."""
        counts: dict[str, int] = {}
        for process in self._processes:
            busy = len(process.waiting) + (process.running is not None)
            counts[process.lane] = counts.get(process.lane, 0) + busy
        return counts

    def _home(self, place: str, lane: str) -> _Process:
        """Returns the worker of a place, choosing one of the lane for a new place."""
        if place not in self._homes:
            candidates = [process for process in self._processes if process.lane == lane]
            self._homes[place] = min(candidates, key=lambda process: len(process.places) + (process.running is not None))
            self._homes[place].places.add(place)
        return self._homes[place]

    def _dispatch(self, process: _Process) -> None:
        """Gives a free worker the next message: the first of the place whose turn it is."""
        if process.running is not None or not process.waiting:
            return
        place, queue = process.waiting.popitem(last=False)
        message = queue.popleft()
        if queue:
            process.waiting[place] = queue  # at the end, behind the other places
        process.running = place
        self._tell(process, says.JOB, place, {**message, "busy": bool(process.waiting)})

    def _spawn(self, process: _Process) -> None:
        ours, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        with environment(limit_threads(1)):
            process.process = context.Process(target=says.work, args=(theirs, self._told(process)), daemon=True)
            process.process.start()
        theirs.close()
        process.connection = ours
        threading.Thread(target=self._listen, args=(process, ours), daemon=True).start()

    def _told(self, process: _Process) -> dict[str, Any]:
        return {**self._context, "is_slow": process.lane == SLOW}

    def _listen(self, process: _Process, connection: Connection) -> None:
        """Passes a worker's answers on to the event loop; runs in its own thread."""
        try:
            while True:
                self._loop.call_soon_threadsafe(self._hear, process, *connection.recv())
        except (EOFError, OSError):
            pass
        except RuntimeError:
            return  # the event loop has ended
        try:
            self._loop.call_soon_threadsafe(self._lost, process)
        except RuntimeError:
            return

    def _hear(self, process: _Process, what: str, place: str, payload: Any) -> None:
        if what == says.READY:
            process.ready.set()
        elif what == says.DONE:
            process.running = None
            self._dispatch(process)
        elif place in process.places:  # otherwise it has been closed
            (self._deliver if what == says.FRAME else self._keep)(place, payload)

    def _lost(self, process: _Process) -> None:
        """Replaces a worker that died, and tells its places to start again."""
        if self._stopping:
            return
        places, process.running = list(process.places), None
        process.waiting.clear()
        process.places.clear()
        self._homes = {place: home for place, home in self._homes.items() if home is not process}
        process.ready.clear()
        self._spawn(process)
        for place in places:
            message = "the opponent's process ended; the table starts again"
            self._deliver(place, {"type": "lost", "desk": place.partition("/")[2], "message": message})

    def _tell(self, process: _Process, what: str, place: str, payload: Any) -> None:
        with suppress(OSError):  # `_listen` notices a worker that has died
            process.connection.send((what, place, payload))
