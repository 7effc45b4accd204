"""Reads runs on disk for the browser: settings, progress, and commands to continue. It imports no training code.

Lines of `metrics.jsonl` are read from the byte where the browser stopped, so a page that watches a long run asks for little. A
resumed run has dropped its latest lines; the browser is then told to start again.
"""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import Any

from tacit.reproduce.published import published_figure
from tacit.training.listing import epochs_in, read_json, run_folders

MOST_RUNS = 200
"""The most runs that are listed; these are the latest ones."""
MOST_BYTES = 2 * 2**20
"""The most bytes of metrics that one answer reads."""
LIVE_SECONDS = 60.0
"""A run counts as live if its metrics were written within this time, or within the time of three epochs."""


class RunList:
    """The runs below a folder.

    Args:
      folder: The folder, which need not exist yet.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def listed(self) -> list[dict[str, Any]]:
        """Returns the runs, the latest first, ready for JSON."""
        runs = [run for path in run_folders(self._folder) if (run := self._run(path)) is not None]
        return sorted(runs, key=lambda run: -run["changed"])[:MOST_RUNS]

    def metrics(self, name: str, after: int = 0) -> dict[str, Any]:
        """Returns the epochs of a run that were written after a byte of its metrics.

        Args:
          name: The run's name in `listed`.
          after: `next` of the previous answer.

        Returns:
          `epochs`, each with its numbers; `next`; and `anew`, whether the file has become shorter, so that all epochs are sent.
        """
        known = {self._name(path): path for path in run_folders(self._folder)}
        if name not in known:
            return {"problem": f"no run {name!r} in {self._folder}", "epochs": [], "next": 0, "anew": True}
        try:
            with open(known[name] / "metrics.jsonl", "rb") as file:
                anew = not 0 < after <= file.seek(0, 2)
                start = 0 if anew else after
                file.seek(start)
                text = file.read(MOST_BYTES)
        except FileNotFoundError:
            return {"epochs": [], "next": 0, "anew": True}
        whole = text[: text.rfind(b"\n") + 1]
        return {"epochs": list(epochs_in(whole)), "next": start + len(whole), "anew": anew}

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self._folder)) if path != self._folder else path.name

    def _run(self, path: Path) -> dict[str, Any] | None:
        config = read_json(path / "config.json")
        if config is None or not {"system", "game"} <= config.keys():
            return None
        metrics = path / "metrics.jsonl"
        changed = max(_changed(metrics), _changed(path / "config.json"))
        epochs = list(epochs_in(_tail(metrics)))
        judged = [epoch for epoch in epochs if epoch.get("exploitability") is not None]
        system, game, folder = str(config["system"]), str(config["game"]), shlex.quote(str(path))
        trains = config.get("own_system") or system
        figure = published_figure(system, game, str(config.get("solver", "")))
        last = epochs[-1] if epochs else {}
        done, asked = _whole(last.get("epoch")), config.get("epochs")
        age = time.time() - changed
        return {
            "name": self._name(path), "path": str(path), "system": system, "game": game, "seed": config.get("seed"),
            "settings": {key: value for key, value in config.items() if key not in ("system", "game")},
            "epoch": done, "epochs": asked, "seconds": last.get("seconds"), "changed": changed,
            "live": age < max(LIVE_SECONDS, 3 * _epoch_seconds(epochs)) and not (isinstance(asked, int) and done >= asked),
            "exploitability": judged[-1]["exploitability"] if judged else None,
            "kind": judged[-1].get("kind") if judged else None,
            "published": None if figure is None else figure._asdict(),
            "playable": (path / "checkpoints" / "network.safetensors").exists(),
            "commands": {
                "Resume": f"tacit train {shlex.quote(str(trains))} {shlex.quote(game)} --run {folder} --resume",
                "Evaluate": f"tacit evaluate {folder}",
                "Play": f"tacit play {shlex.quote(game)} --agent {folder}",
            },
        }  # fmt: skip


def _whole(value: Any) -> int:
    """Returns a count, or 0 for anything that is not a whole number."""
    return value if type(value) is int else 0


def _tail(path: Path, size: int = 65_536) -> bytes:
    """Returns the last whole lines of a file."""
    try:
        with open(path, "rb") as file:
            start = max(0, file.seek(0, 2) - size)
            file.seek(start)
            text = file.read()
    except OSError:
        return b""
    return text[text.find(b"\n") + 1 :] if start else text


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _epoch_seconds(epochs: list[dict[str, Any]]) -> float:
    """Returns how long the latest epoch took."""
    times = [epoch["seconds"] for epoch in epochs[-2:] if isinstance(epoch.get("seconds"), float)]
    return float(times[-1] - times[0]) if len(times) == 2 else 0.0
