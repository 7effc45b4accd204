"""How training is shown: live lines of the epoch, the evaluation and the crew; a line stays for each evaluated epoch."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from typing import TYPE_CHECKING, Any

from tacit.cli.common import WIDE, StopRequest, logger, progress_bar
from tacit.cli.crew_line import crew_line
from tacit.cli.pace import Pace

if TYPE_CHECKING:
    from tacit.cli.bars import Bars
    from tacit.cli.looks import Look
    from tacit.scale.engine import Engine
    from tacit.training.events import EventWriter
    from tacit.training.folder import RunFolder
    from tacit.training.system import C, M, Trainer


def train_live(
    trainer: Trainer[C, M],
    folder: RunFolder[C, M],
    look: Look,
    name: str,
    time_limit: float | None = None,
    on_epoch: Callable[[M], None] | None = None,
    engine: Engine | None = None,
) -> tuple[M, bool]:
    """Trains a run while showing it live; returns its last progress and whether the user stopped it.

    Args:
      trainer: the run.
      folder: the folder that keeps it.
      look: how it is shown.
      name: the title of its progress bar.
      time_limit: stop after this many more seconds.
      on_epoch: called after every epoch of a run that is evaluated elsewhere, later; with None, the run evaluates itself.
      engine: the workers that generate examples, shown in a line of their own; None if the run generates them itself.
    """
    from tacit.training.preparing import preparations_told
    from tacit.training.run import train

    with ExitStack() as held:
        bars = held.enter_context(progress_bar())
        stop = held.enter_context(StopRequest(bars.console.print))
        events = held.enter_context(_events(folder, trainer.epoch))
        display = _Display(bars, trainer, look, name, engine)
        held.enter_context(preparations_told(display.prepare))

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

    def __init__(self, bars: Bars, trainer: Any, look: Look, name: str, engine: Engine | None = None) -> None:
        self._bars, self._look, self._bound = bars, look, ""
        self._wide = bars.console.width >= WIDE
        self._pace = Pace() if bars.disable else None
        self._epochs, self._epoch = trainer.config.epochs, trainer.epoch
        self._searches = look.searches(trainer)
        empty: dict[str, Any] = {"rate": "", "note": ""}
        self._training = bars.add_task(name, total=trainer.config.epochs, completed=trainer.epoch, unit="epochs", **empty)
        self._evaluating = bars.add_task("evaluating", total=None, visible=False, unit=look.unit, **empty)
        self._preparing = ""
        self._crew: Callable[[], str] = (lambda: "") if engine is None else lambda: crew_line(engine.report())
        bars.below = self._crew
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
        crew = self._crew()
        self._say(f"epoch {now.epoch} of {self._epochs} done, {rate}, {loss}" + (f"; {crew}" if crew else ""))

    def prepare(self, what: str, share: float | None) -> None:
        line = what if share is None else f"{what}, {share:.0%}"
        self._bars.update(self._training, note=line, refresh=True)
        if what != self._preparing:
            self._preparing = what
            self._bars.console.print(f"  {what}", soft_wrap=True)
        else:
            self._say(line)

    def share(self, done: float) -> None:
        self._bars.update(self._training, completed=self._epoch + done)
        self._say(f"epoch {self._epoch + 1} of {self._epochs}, {done:.0%} of it done")

    def search(self, done: int) -> None:
        self._bars.update(self._evaluating, visible=True, completed=done, total=max(self._searches, done))
        self._say(f"evaluating after epoch {self._epoch + 1}, {done:,} {self._look.unit}")

    def _say(self, line: str) -> None:
        """Prints a line, at growing intervals, where no bar can be drawn."""
        if self._pace is not None and self._pace.due():
            self._bars.console.print(f"  {line} ({self._pace.seconds:.0f} s)", soft_wrap=True)


def _events(folder: RunFolder[Any, Any], epoch: int) -> AbstractContextManager[EventWriter | None]:
    """Returns a writer of TensorBoard events; without the package, prints that there will be none."""
    from tacit.training.events import EventWriter

    try:
        return closing(EventWriter(folder.path, epoch))
    except ImportError:
        logger().print("no TensorBoard events: the package tensorboard is not installed")
        return nullcontext()
