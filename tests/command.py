"""The command line inside the test process: starting Python and importing torch would take seconds each time."""

import contextlib
import io
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.cli.main import main


def tacit(
    *arguments: str, cwd: Path | None = None, typed: str = "", errors: io.StringIO | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a command with `typed` as its input; returns what it printed and its exit code. `errors` can receive stderr."""
    out, err = io.StringIO(), errors or io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(sys, "stdin", io.StringIO(typed))
        patch.chdir(cwd or Path.cwd())
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
    code = ended.value.code
    assert isinstance(code, int)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())
