"""Finished runs of a comparison in a folder, so that a comparison can be killed at any moment and continued."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from tacit.comparison.marks import Run
from tacit.comparison.plan import ComparisonPlan
from tacit.errors import TacitError
from tacit.files import check_writable, json_text, parse_json, write_whole


class KeptRuns:
    """The runs in a folder, one file each.

    A file is named after what its run depends on, so other games, times or settings never meet the wrong run.

    Args:
      folder: where they are; None keeps nothing.
      plan: what they have in common.
    """

    def __init__(self, folder: str | Path | None, plan: ComparisonPlan) -> None:
        self._folder, self._plan = None if folder is None else Path(folder), plan
        if self._folder is not None:
            check_writable(self._folder / "runs" / "any.json")

    def find(self, system: str, seed: int) -> Run | None:
        """Returns the run of a system with a seed, None if it is not there.

        Raises:
          TacitError: its file is damaged.
        """
        path = self._path(system, seed)
        if path is None or not path.exists():
            return None
        try:
            return Run.of(parse_json(path.read_bytes()))
        except (ValueError, TypeError, KeyError, OSError):
            raise TacitError(f"{path} is damaged: remove it, and its run is made again") from None

    def add(self, run: Run) -> None:
        """Writes a run to its file."""
        path = self._path(run.system, run.seed)
        if path is not None:
            write_whole(path, json_text(asdict(run)).encode())

    def _path(self, system: str, seed: int) -> Path | None:
        """Returns the file of a run."""
        if self._folder is None:
            return None
        plan = self._plan
        depends = [plan.game, plan.seconds, plan.preset, plan.settings.get(system, {}), system, seed]
        digest = hashlib.blake2b(json.dumps(depends, sort_keys=True).encode(), digest_size=6).hexdigest()
        name = "".join(letter if letter.isalnum() or letter in "+-." else "_" for letter in system)[-40:]
        return self._folder / "runs" / f"{name}-{seed}-{digest}.json"
