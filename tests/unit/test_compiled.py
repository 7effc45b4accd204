"""Cached compiled code is dropped if any source it depends on changes: a small package, run by its own processes.

Also: functions that only compiled code may call are safe to call from Python.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tacit.compiled
from tacit.compiled import compiled, inner

CALLEE = "from small.compiled import compiled\n\n@compiled()\ndef one(x):\n    return x + {}\n"
CALLER = """
from small.compiled import compiled
from small.callee import one
from small.constants import FACTOR

@compiled()
def two(x):
    return FACTOR * one(x)
"""


def run(folder: Path) -> tuple[str, set[str]]:
    """Returns what the package prints, and the folders of compiled code that it leaves."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": ""}
    code = "from small.caller import two; print(two(1), two.stats.cache_hits)"
    done = subprocess.run([sys.executable, "-B", "-c", code], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip(), {path.name for path in (folder / "small" / "__pycache__").glob("kernels-*")}


def test_a_change_in_another_file_is_seen(tmp_path: Path) -> None:
    package = tmp_path / "small"
    package.mkdir()
    shutil.copy(tacit.compiled.__file__, package / "compiled.py")
    (package / "callee.py").write_text(CALLEE.format(1))
    (package / "caller.py").write_text(CALLER)
    (package / "constants.py").write_text("FACTOR = 10\n")
    (package / "words.py").write_text("WORD = 'a'\n")
    said, first = run(tmp_path)
    assert (said, len(first)) == ("20 Counter()", 1)
    (package / "words.py").write_text("WORD = 'b'\n")  # no compiled code uses it
    said, again = run(tmp_path)
    assert said.startswith("20 Counter({")  # loaded from the cache
    assert again == first
    (package / "callee.py").write_text(CALLEE.format(2))
    said, second = run(tmp_path)
    assert said == "30 Counter()"
    assert len(second) == 1  # old code is removed
    assert second != first
    (package / "constants.py").write_text("FACTOR = 100\n")
    assert run(tmp_path)[0] == "300 Counter()"


@inner()
def _next(number):  # type: ignore[no-untyped-def]
    return number + 1


@compiled()
def _twice(number):  # type: ignore[no-untyped-def]
    return 2 * _next(number)


def test_inner_functions_are_refused_to_python() -> None:
    """Even after compiled functions used them: otherwise numba would jump to code that does not exist."""
    for _ in range(2):
        with pytest.raises(TypeError, match="_next cannot be called from Python"):
            _next(3)
        assert _twice(3) == 8
