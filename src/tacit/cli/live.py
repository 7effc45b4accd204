"""What people see while a run trains: a live line of the epoch, one of the evaluation, and a line that stays for each bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tacit.cli.common import WIDE, StopRequest, logger, progress_bar

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from tacit.rebel.folder import RunFolder
    from tacit.rebel.train import Progress, Trainer


def train_live(trainer: Trainer, folder: RunFolder, name: str, time_limit: float | None = None) -> tuple[Progress, bool]:
    """Returns the last progress of a run that is trained before the user's eyes, and whether the user stopped it."""
    from tacit.rebel.run import train

    with progress_bar("epochs") as bars, StopRequest(bars.console.print) as stop, _events(folder, trainer.epoch) as write:
        display = _Display(bars, trainer, name)

        def show(progress: Progress) -> None:
            display.epoch(progress)
            write(progress)

        last = train(
            trainer,
            folder,
            time_limit=time_limit,
            on_epoch=show,
            on_search=display.search,
            should_stop=lambda: stop.requested,
        )
    return last, stop.requested and trainer.epoch < trainer.config.epochs


class _Display:
    """Two live lines, and a growing table of the epochs that were evaluated."""

    def __init__(self, bars: Bars, trainer: Trainer, name: str) -> None:
        from tacit.search.playthroughs import max_searches

        config = trainer.config
        self._bars, self._bound = bars, ""
        self._wide = bars.console.width >= WIDE
        self._searches = max_searches(trainer.space) * config.playthroughs
        self._training = bars.add_task(name, total=config.epochs, completed=trainer.epoch, rate="", note="")
        self._evaluating = bars.add_task("evaluating", total=None, visible=False, rate="", note="", unit="searches")
        bars.console.print(
            f"training {trainer.game}: epochs {trainer.epoch + 1} to {config.epochs}, {config.solver} with "
            f"{config.iterations} iterations, {config.games:,} games at once; evaluated by {config.playthroughs} playthroughs",
            soft_wrap=True,
        )
        bars.console.print(f"{'epoch':>7}{'seconds':>9}{'examples':>12}{'loss':>9}{'exploitability':>16}")

    def epoch(self, now: Progress) -> None:
        if now.exploitability is not None:
            self._bound = f", {'exploitability ' if self._wide else ''}<= {now.exploitability:.4f}"
            self._bars.console.print(
                f"{now.epoch:>7}{now.seconds:>9.0f}{now.examples:>12,}{now.loss:>9.4f}   <= {now.exploitability:.4f}"
            )
        self._bars.update(self._evaluating, visible=False, completed=0)
        self._bars.update(
            self._training,
            completed=now.epoch,
            rate=f"{now.examples_per_second:,.0f} {'examples' if self._wide else 'ex'}/s",
            note=f"loss {now.loss:.4f}{self._bound}",
        )

    def search(self, done: int) -> None:
        self._bars.update(self._evaluating, visible=True, completed=done, total=max(self._searches, done))


@contextmanager
def _events(folder: RunFolder, epoch: int) -> Iterator[Callable[[Progress], None]]:
    """Yields what writes TensorBoard events, or says that there will be none."""
    from tacit.rebel.events import EventWriter

    try:
        writer = EventWriter(folder.path, epoch)
    except ImportError:
        logger().print("no TensorBoard events: the package tensorboard is not installed")
        yield lambda _: None
        return
    try:
        yield writer.add
    finally:
        writer.close()
