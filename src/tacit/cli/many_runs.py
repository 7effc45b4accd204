"""Several runs of one command: seeds and sweeps, in sequence or in parallel processes, and one table of their results."""

from __future__ import annotations

import math
import os
import shlex
import signal
import statistics
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.common import logger, plain_table, print_json, print_lines, printer, program, progress_bar, say
from tacit.cli.pace import preparation_shown
from tacit.cli.session import run_session
from tacit.errors import DivergedError, StoppedError, TacitError
from tacit.files import check_writable
from tacit.processes import limit_threads, num_cores

if TYPE_CHECKING:
    from tacit.cli.looks import Look
    from tacit.games import AnyGame
    from tacit.training.folder import RunFolder
    from tacit.training.plan import PlannedRun, RunPlan
    from tacit.training.settings import Settings
    from tacit.training.system import System

POLL = 0.2
"""Seconds between checks of the processes."""


@dataclass
class ManyRuns:
    """The runs of a plan.

    Attributes:
      plan: The runs that were asked for.
      path: The folder that holds all of them.
      rules: The game.
      system: The system that is trained.
      look: How its progress is shown.
      device: `cpu` or `cuda`.
      workers: Processes that train at once; with one, runs are trained in this process, one after the other.
      failed: Why runs ended early, by their names.
    """

    plan: RunPlan
    path: Path
    rules: AnyGame
    system: System[Any, Any]
    look: Look
    device: str
    workers: int
    failed: dict[str, str]

    def train(self) -> dict[str, Any]:
        """Returns the report of all runs, after training those that are not finished.

        Raises:
          StoppedError: Ctrl-C; everything is kept.
        """
        from tacit.training.settings import find_preset

        runs = self.plan.runs()
        preset: Settings = find_preset(self.system.presets, self.plan.preset)
        configs = {run.name: preset.with_settings(run.settings) for run in runs}  # refused before any run starts
        check_writable(self.path / "plan.json")
        self.plan.save(self.path)
        waiting = [run for run in runs if not self._is_done(run, configs[run.name])]
        if len(waiting) < len(runs):
            logger().print(f"{len(runs) - len(waiting)} of {len(runs)} runs are done")
        if self.workers == 1:
            self._in_sequence(waiting, configs, len(runs))
        else:
            self._in_processes(waiting, len(runs))
        return self.report()

    def report(self) -> dict[str, Any]:
        """Returns the results of all runs, after drawing their learning curves."""
        runs = [self._run_report(run) for run in self.plan.runs()]
        groups: dict[str, list[dict[str, Any]]] = {}
        for run in runs:
            groups.setdefault(_in_words(run["settings"]), []).append(run)
        curves = {name: self._curve([run["run"] for run in group]) for name, group in groups.items()}
        plot = self.path / "curves.png"
        drawn = any(curves.values())
        if drawn:
            from tacit.plots import seed_curves

            seed_curves(curves, str(self.rules), f"{self.look.figure_name} ({self.look.kind})", plot)
        return {
            "game": str(self.rules), "system": self.plan.system, "run": str(self.path), "preset": self.plan.preset,
            "figure": self.look.figure_name, "kind": self.look.kind, "finished": all(run["finished"] for run in runs),
            "runs": runs, "summary": [_summary(group) for group in groups.values()], "plot": str(plot) if drawn else None,
        }  # fmt: skip

    def _folder(self, run: PlannedRun) -> RunFolder[Any, Any]:
        from tacit.training.folder import RunFolder

        return RunFolder(self.path / run.name, self.system)

    def _is_done(self, run: PlannedRun, config: Settings) -> bool:
        """Returns whether a run has trained all its epochs or used up its time."""
        folder = self._folder(run)
        last_epoch = folder.checkpoint_epoch() if folder.config.exists() else None
        if last_epoch is None:
            return False
        epochs = config.epochs or folder.asked_for()[1].epochs
        return last_epoch >= epochs or self._seconds_left(folder) == 0.0

    def _seconds_left(self, folder: RunFolder[Any, Any]) -> float | None:
        """Returns how long a run may still train, None where there is no limit."""
        if self.plan.time_limit is None:
            return None
        history = folder.history()
        return max(0.0, self.plan.time_limit - (history[-1].seconds if history else 0.0))

    def _in_sequence(self, waiting: list[PlannedRun], configs: dict[str, Settings], total: int) -> None:
        """Trains runs in this process, one after the other."""
        from tacit.training.run import opened_run

        for run in waiting:
            folder, config = self._folder(run), configs[run.name]
            logger().print(f"run {total - len(waiting) + waiting.index(run) + 1} of {total}: {run.name}", soft_wrap=True)
            try:
                with ExitStack() as held:
                    with preparation_shown(f"preparing {self.rules}"):
                        trainer: Any = held.enter_context(opened_run(folder, self.rules, config, self.device, say))
                    limit = self._seconds_left(folder)
                    run_session(trainer, folder, self.look, run.name, self.device, self.again(), limit)
            except DivergedError as error:
                self.failed[run.name] = str(error)
                logger().print(f"{run.name}: {error}", soft_wrap=True)

    def _in_processes(self, waiting: list[PlannedRun], total: int) -> None:
        """Trains runs in processes that share the cores. They stop when this process ends, however it ends."""
        environment = {**os.environ, **limit_threads(max(1, num_cores() // self.workers))}
        pending, working = list(waiting), dict[str, subprocess.Popen[bytes]]()
        empty: dict[str, Any] = {"rate": "", "note": ""}
        with progress_bar() as bars:
            task = bars.add_task(self.plan.system, total=total, completed=total - len(waiting), unit="runs", **empty)
            try:
                while pending or working:
                    while pending and len(working) < self.workers:
                        run = pending.pop(0)
                        working[run.name] = self._start(run, environment)
                        bars.console.print(f"training {run.name}", soft_wrap=True)
                    time.sleep(POLL)
                    for name in [name for name, process in working.items() if process.poll() is not None]:
                        self._note_end(name, working.pop(name).returncode)
                        bars.console.print(f"{name}: {self.failed.get(name, 'done')}", soft_wrap=True)
                        bars.advance(task)
                    bars.update(task, note=", ".join(working))
            except KeyboardInterrupt:
                bars.console.print("stopping after these epochs")
                raise StoppedError(f"everything is kept; resume with: {self.again()}") from None
            finally:
                for process in working.values():
                    assert process.stdin is not None
                    process.stdin.close()
                for process in working.values():
                    process.wait()

    def _start(self, run: PlannedRun, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        """Starts a run's process. It reads from a pipe that closes when this process ends."""
        folder = self._folder(run)
        settings = [part for pair in run.settings.items() for part in ("--set", "=".join(pair))]
        left = self._seconds_left(folder)
        arguments = [
            "train", self.plan.system, self.plan.game, "--run", str(folder.path), "--preset", self.plan.preset, *settings,
            "--device", self.device, *(["--resume"] if folder.holds_run() else []),
            *([] if left is None else ["--time-limit", f"{left}s"]),
        ]  # fmt: skip
        folder.path.mkdir(parents=True, exist_ok=True)
        with open(folder.path / "log.txt", "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-c", "from tacit.cli.many_runs import work; work()", *arguments],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log, env=environment, start_new_session=True,
            )  # fmt: skip

    def _note_end(self, name: str, code: int) -> None:
        """Records why a run failed: the last line it wrote."""
        if code:
            lines = (self.path / name / "log.txt").read_text(errors="replace").strip().splitlines()
            self.failed[name] = lines[-1].removeprefix("tacit: ") if lines else f"ended with code {code}"

    def again(self) -> str:
        """Returns the command that resumes these runs."""
        named = f"{program()} train {self.plan.system} {shlex.quote(self.plan.game)} --run {shlex.quote(str(self.path))}"
        limit = "" if self.plan.time_limit is None else f" --time-limit {2 * self.plan.time_limit:g}s"
        return f"{named} --resume{limit}{'' if self.workers == 1 else f' --workers {self.workers}'}"

    def _run_report(self, run: PlannedRun) -> dict[str, Any]:
        folder = self._folder(run)
        history = folder.history()
        evaluated = [epoch for epoch in history if self.look.evaluated(epoch)]
        epochs = folder.asked_for()[1].epochs if folder.config.exists() else None
        return {
            "run": run.name, "settings": run.swept, "seed": int(run.settings["seed"]),
            "epoch": history[-1].epoch if history else 0, "seconds": history[-1].seconds if history else 0.0,
            "finished": bool(history) and history[-1].epoch == epochs, "failed": self.failed.get(run.name),
            "figure": self.look.figure(evaluated[-1]) if evaluated else None,
        }  # fmt: skip

    def _curve(self, names: list[str]) -> list[tuple[int, list[float]]]:
        """Returns the figures of the named runs at every epoch that all of them evaluated."""
        from tacit.training.folder import RunFolder

        by_run = []
        for name in names:
            history = RunFolder(self.path / name, self.system).history()
            by_run.append({epoch.epoch: self.look.figure(epoch) for epoch in history if self.look.evaluated(epoch)})
        shared = sorted(set.intersection(*(set(figures) for figures in by_run)))
        return [(epoch, [figures[epoch] for figures in by_run]) for epoch in shared]


def show_many(report: dict[str, Any], as_json: bool, again: str, game: str) -> None:
    """Prints the results of several runs; `game` is the text the user typed.

    Raises:
      TacitError: a run failed.
    """
    if as_json:
        print_json(report)
    else:
        _print_table(report)
        if not report["finished"]:
            print_lines(f"to continue: {again}")
        print_lines(f"play against one: {program()} play {shlex.quote(game)} --agent {_first(report)}")
        if report["plot"] is not None:
            print_lines(f"learning curves: {report['plot']}")
    failed = [run for run in report["runs"] if run["failed"]]
    if failed:
        raise TacitError(f"{len(failed)} of {len(report['runs'])} runs failed; {failed[0]['run']}: {failed[0]['failed']}")


def _print_table(report: dict[str, Any]) -> None:
    table = plain_table("settings", "runs", f"{report['figure']} ({report['kind']})", "spread", "least", "most", "seconds")
    for line in report["summary"]:
        numbers = (line["mean"], line["spread"], line["least"], line["most"])
        table.add_row(
            _in_words(line["settings"]) or "-", str(line["runs"]), *("-" if n is None else f"{n:.4g}" for n in numbers),
            f"{line['seconds']:.0f}",
        )  # fmt: skip
    printer().print(table)


def _summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns mean and spread (the standard deviation over runs) of the runs that share one combination of settings."""
    figures = [run["figure"] for run in runs if run["figure"] is not None and math.isfinite(run["figure"])]
    return {
        "settings": runs[0]["settings"], "seeds": [run["seed"] for run in runs], "runs": len(figures),
        "mean": statistics.fmean(figures) if figures else None,
        "spread": statistics.stdev(figures) if len(figures) > 1 else None,
        "least": min(figures, default=None), "most": max(figures, default=None),
        "seconds": statistics.fmean(run["seconds"] for run in runs),
    }  # fmt: skip


def _first(report: dict[str, Any]) -> str:
    return shlex.quote(str(Path(report["run"]) / report["runs"][0]["run"]))


def _in_words(settings: dict[str, str]) -> str:
    return " ".join(f"{key}={value}" for key, value in settings.items())


def work() -> None:
    """Trains one run in a process started by `ManyRuns`; it stops after an epoch once its parent is gone."""
    from tacit.cli.main import main

    def watch() -> None:
        os.read(0, 1)  # returns when the pipe closes
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=watch, daemon=True).start()
    main(sys.argv[1:])
