"""Several runs in one folder: one for each requested seed and combination of settings.

    plan.json                the request
    seed-0/ seed-1/ ...      a run for each seed, or
    hidden=64,depth=2/       a folder for each combination of swept settings, with `seed-0/ ...` in it if there are seeds

Every run has a folder of its own (`folder.py`), so everything can be killed at any moment and continued.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tacit.errors import TacitError
from tacit.files import check_readable, parse_json, write_whole

PLAN = "plan.json"
MOST_RUNS = 10_000
"""The most runs in one plan."""


@dataclass(frozen=True)
class PlannedRun:
    """One run of a plan.

    Attributes:
      name: The run's folder, inside that of the plan.
      swept: The run's values of the swept settings.
      settings: All settings of the run that differ from the preset, its seed included.
    """

    name: str
    swept: dict[str, str]
    settings: dict[str, str]


@dataclass(frozen=True)
class RunPlan:
    """The request for several runs.

    Attributes:
      system: The system that trains, by its name on the command line.
      game: The game, as the user wrote it.
      preset: The preset of all runs.
      settings: The settings that differ from the preset in all runs.
      sweep: The values of every swept setting.
      seeds: The number of seeds; None for one run per combination, without a folder for its seed.
      seed: The first seed.
      time_limit: Seconds of training after which each run ends, over all its sessions; None for no limit.
    """

    system: str
    game: str
    preset: str
    settings: dict[str, str]
    sweep: dict[str, list[str]]
    seeds: int | None
    seed: int
    time_limit: float | None = None

    def runs(self) -> list[PlannedRun]:
        """Returns all runs: combination after combination, each with all seeds.

        Raises:
          TacitError: two runs would have the same folder, or there are too many.
        """
        runs = []
        count = math.prod(len(values) for values in self.sweep.values()) * (1 if self.seeds is None else self.seeds)
        if count > MOST_RUNS:
            raise TacitError(f"that is {count:,} runs, and one folder holds at most {MOST_RUNS:,}: sweep fewer values or seeds")
        for values in itertools.product(*self.sweep.values()):
            swept = dict(zip(self.sweep, values, strict=True))
            combination = _folder_name(swept)
            for number in range(1 if self.seeds is None else self.seeds):
                parts = [part for part in (combination, "" if self.seeds is None else f"seed-{self.seed + number}") if part]
                runs.append(PlannedRun("/".join(parts), swept, {"seed": str(self.seed + number), **self.settings, **swept}))
        (name, times), *_ = [*Counter(run.name for run in runs).most_common(1), ("", 0)]
        if times > 1:
            raise TacitError(f"two runs would share the folder {name}: give every swept value once")
        return runs

    def save(self, folder: Path) -> None:
        """Writes the plan into its folder."""
        write_whole(folder / PLAN, json.dumps(asdict(self), indent=1).encode())

    def continued(self, folder: Path, asked: RunPlan, unsaid: Collection[str]) -> RunPlan:
        """Returns the plan to continue with: only the number of epochs and the time limit may change.

        Args:
          folder: the plan's folder.
          asked: the user's new request.
          unsaid: the attributes of `asked` that the user did not give.

        Raises:
          TacitError: something else differs.
        """
        for key in ("system", "game", "preset", "seeds", "seed"):
            known, given = getattr(self, key), getattr(asked, key)
            if key not in unsaid and given != known:
                told = f"without {key}" if known is None else f"with {key} {known}"
                raise TacitError(f"{folder} holds runs {told}, not {given}: leave it unchanged to continue")
        settings = dict(asked.settings)
        epochs = {"epochs": settings.pop("epochs")} if "epochs" in settings and "epochs" not in self.sweep else {}
        kept: dict[str, Any] = {**self.settings, **self.sweep}
        given_now: dict[str, Any] = {**settings, **asked.sweep}
        for key, value in given_now.items():
            if kept.get(key) != value:
                known = "of the preset" if key not in kept else _in_words(kept[key])
                raise TacitError(f"{folder} holds runs with {key} {known}, not {_in_words(value)}: only epochs can be changed")
        limit = self.time_limit if asked.time_limit is None else asked.time_limit
        return replace(self, settings={**self.settings, **epochs}, time_limit=limit)


def read_plan(folder: Path) -> RunPlan | None:
    """Returns the plan in a folder; None if there is none.

    Raises:
      TacitError: it cannot be read.
    """
    path = folder / PLAN
    if not path.exists():
        return None
    check_readable(path)
    try:
        plan = RunPlan(**parse_json(path.read_bytes()))
    except (ValueError, TypeError):
        plan = None
    if plan is None or not _is_plan(plan):
        raise TacitError(f"{path} is damaged: the runs cannot be continued")
    return plan


def _is_plan(plan: RunPlan) -> bool:
    """Returns whether a plan that was read has the types that `save` writes."""
    texts: list[Any] = [plan.system, plan.game, plan.preset]
    if not isinstance(plan.settings, dict) or not isinstance(plan.sweep, dict):
        return False
    texts += plan.settings.values()
    for values in plan.sweep.values():
        if not isinstance(values, list) or not values:
            return False
        texts += values
    limit = plan.time_limit
    return (
        all(isinstance(text, str) for text in texts)
        and type(plan.seed) is int
        and (plan.seeds is None or (type(plan.seeds) is int and plan.seeds > 0))
        and (limit is None or (isinstance(limit, int | float) and 0 < limit < math.inf))
    )


def split_sweep(settings: dict[str, str]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Returns settings with one value, and those that list several: `key=a,b,c`. Commas in brackets do not separate values.

    Raises:
      TacitError: a list has an empty or a repeated value.
    """
    plain, sweep = dict[str, str](), dict[str, list[str]]()
    for key, text in settings.items():
        values = re.split(r",(?![^()]*\))", text)
        if len(values) == 1:
            plain[key] = text
            continue
        if not all(values):
            raise TacitError(f"cannot read the values of {key} in {text!r}: write {key}=a,b,c")
        if len(set(values)) < len(values):
            raise TacitError(f"{key} has a value twice in {text!r}: give every value once")
        sweep[key] = values
    return plain, sweep


def _folder_name(swept: dict[str, str]) -> str:
    """Returns a combination's folder name: its settings, with dashes for characters that file systems do not allow."""
    return re.sub(r"[^\w.,=+()-]", "-", ",".join(f"{key}={value}" for key, value in swept.items()))


def _in_words(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ",".join(value)
