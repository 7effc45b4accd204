"""The finished runs of a comparison, kept in a folder so that a comparison can be killed at any moment and continued."""

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

    A file's name contains a digest of everything its run depends on, so a run of another game, time or setting is never reused.

    Args:
      folder: where the runs are kept; None keeps nothing.
      plan: what the runs have in common.
    """

    def __init__(self, folder: str | Path | None, plan: ComparisonPlan) -> None:
        self._folder, self._plan = None if folder is None else Path(folder), plan
        if self._folder is not None:
            check_writable(self._folder / "runs" / "any.json")

    def find(self, system: str, seed: int) -> Run | None:
        """Returns the run of a system with a seed, None if it is not kept.

        Raises:
          TacitError: its file is damaged.
        """
        path = self._path(system, seed)
        if path is None or not path.exists():
            return None
        try:
            return Run.of(parse_json(path.read_bytes()))
        except (ValueError, TypeError, KeyError, OSError):
            raise TacitError(f"{path} is damaged: remove it, and the run is repeated") from None

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
