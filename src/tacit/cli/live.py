"""What people see while a run trains: a live line of the epoch, one of the evaluation, and a line that stays for each bound."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from tacit.cli.common import WIDE, StopRequest, logger, progress_bar

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from tacit.cli.looks import Look
    from tacit.training.events import EventWriter
    from tacit.training.folder import RunFolder
    from tacit.training.system import C, M, Trainer


FIRST_PAUSE, LONGEST_PAUSE = 2.0, 60.0
"""Seconds between lines of progress where no bar can be drawn: each pause is twice the one before."""


class _Pace:
    """Says when the next line of progress is due, where no bar can be drawn."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._pause = clock, FIRST_PAUSE
        self._start = self._last = clock()

    @property
    def seconds(self) -> float:
        """Seconds since the work began."""
        return self._clock() - self._start

    def due(self) -> bool:
        """Returns whether a line is due; then the next one comes later."""
        now = self._clock()
        if now - self._last < self._pause:
            return False
        self._last, self._pause = now, min(2 * self._pause, LONGEST_PAUSE)
        return True


class _Preparation:
    """Shows what is being prepared: in a terminal by a live line, else by a line for each step and its progress."""

    def __init__(self, bars: Bars, task: TaskID) -> None:
        self._bars, self._task, self._what = bars, task, ""
        self._pace = _Pace()

    def __call__(self, what: str, share: float | None) -> None:
        new, self._what = what != self._what, what
        line = what if share is None else f"{what}, {share:.0%}"
        self._bars.update(self._task, note=line, refresh=True)
        if self._bars.disable and (self._pace.due() or new):
            self._bars.console.print(f"  {line} ({self._pace.seconds:.0f} s)", soft_wrap=True)


@contextmanager
def preparation_shown(title: str) -> Iterator[None]:
    """Shows what is prepared meanwhile."""
    from tacit.training.preparing import preparations_told

    with progress_bar() as bars:
        if bars.disable:
            bars.console.print(f"{title} ...", soft_wrap=True)
        with preparations_told(_Preparation(bars, bars.add_task(title, total=None, unit="", rate="", note=""))):
            yield


def train_live(
    trainer: Trainer[C, M],
    folder: RunFolder[C, M],
    look: Look,
    name: str,
    time_limit: float | None = None,
    on_epoch: Callable[[M], None] | None = None,
) -> tuple[M, bool]:
    """Returns the last progress of a run that is trained before the user's eyes, and whether the user stopped it.

    Args:
      trainer: the run.
      folder: where it is kept.
      look: how it is shown.
      name: what it is called.
      time_limit: stop after this many more seconds.
      on_epoch: called after every epoch of a run that is not evaluated, because others judge it; None evaluates it.
    """
    from tacit.training.preparing import preparations_told
    from tacit.training.run import train

    with ExitStack() as held:
        bars = held.enter_context(progress_bar())
        stop = held.enter_context(StopRequest(bars.console.print))
        events = held.enter_context(_events(folder, trainer.epoch))
        display = _Display(bars, trainer, look, name)
        held.enter_context(preparations_told(display.preparation))

        def show(now: M) -> None:
            display.epoch(now)
            if on_epoch is not None:
                on_epoch(now)
            if events is not None:
                events.add(now)

        last = train(
            trainer,
            folder,
            time_limit=time_limit,
            on_epoch=show,
            on_search=display.search,
            on_share=display.share,
            should_stop=lambda: stop.requested,
            judges=on_epoch is None,
        )
    return last, stop.requested and trainer.epoch < trainer.config.epochs


class _Display:
    """Two live lines, and a growing table of the epochs that were evaluated."""

    def __init__(self, bars: Bars, trainer: Any, look: Look, name: str) -> None:
        self._bars, self._look, self._bound = bars, look, ""
        self._wide = bars.console.width >= WIDE
        self._pace = _Pace() if bars.disable else None
        self._epochs, self._epoch = trainer.config.epochs, trainer.epoch
        self._searches = look.searches(trainer)
        empty: dict[str, Any] = {"rate": "", "note": ""}
        self._training = bars.add_task(name, total=trainer.config.epochs, completed=trainer.epoch, unit="epochs", **empty)
        self._evaluating = bars.add_task("evaluating", total=None, visible=False, unit=look.unit, **empty)
        self.preparation = _Preparation(bars, self._training)
        bars.console.print(look.intro(trainer), soft_wrap=True)
        bars.console.print(look.columns)

    def epoch(self, now: Any) -> None:
        if self._look.evaluated(now):
            self._bound = f", {self._look.bound(now, self._wide)}"
            self._bars.console.print(self._look.row(now))
        self._bars.update(self._evaluating, visible=False, completed=0)
        rate, loss = self._look.status(now, self._wide)
        self._bars.update(self._training, completed=now.epoch, rate=rate, note=f"{loss}{self._bound}")
        self._epoch = now.epoch
        self._say(f"epoch {now.epoch} of {self._epochs} done, {rate}, {loss}")

    def share(self, done: float) -> None:
        self._bars.update(self._training, completed=self._epoch + done)
        self._say(f"epoch {self._epoch + 1} of {self._epochs}, {done:.0%} of it done")

    def search(self, done: int) -> None:
        self._bars.update(self._evaluating, visible=True, completed=done, total=max(self._searches, done))
        self._say(f"evaluating after epoch {self._epoch}, {done:,} {self._look.unit}")

    def _say(self, line: str) -> None:
        """Prints a line where no bar can be drawn, less and less often."""
        if self._pace is not None and self._pace.due():
            self._bars.console.print(f"  {line} ({self._pace.seconds:.0f} s)", soft_wrap=True)


def _events(folder: RunFolder[Any, Any], epoch: int) -> AbstractContextManager[EventWriter | None]:
    """Returns what writes TensorBoard events, or says that there will be none."""
    from tacit.training.events import EventWriter

    try:
        return closing(EventWriter(folder.path, epoch))
    except ImportError:
        logger().print("no TensorBoard events: the package tensorboard is not installed")
        return nullcontext()
