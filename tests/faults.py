"""Disks that fail: small ones in a private mount namespace, which vanishes with its process."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class Disk:
    """A disk in memory.

    Attributes:
      path: Where this process can reach it.
    """

    def __init__(self, holder: "subprocess.Popen[str]", inside: Path) -> None:
        self._holder, self._inside = holder, inside
        self.path = Path(f"/proc/{holder.pid}/root", str(inside).lstrip("/"))
        self._filler = self.path / "filler"

    def fill(self) -> None:
        """Fills the disk to the last byte."""
        with open(self._filler, "ab", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                return

    def free(self) -> None:
        """Frees what `fill` took."""
        self._filler.unlink()

    def remount(self, options: str) -> bool:
        """Remounts the disk, for example read-only (`ro`); returns whether that worked."""
        mount = ["mount", "-o", f"remount,{options}", str(self._inside)]
        enter = ["nsenter", "-m", "-t", str(self._holder.pid)]
        return subprocess.run([*enter, *mount], check=False, capture_output=True).returncode == 0


@contextmanager
def small_disk(inside: Path, size: int) -> Iterator[Disk]:
    """Yields a disk of `size` bytes; skips the test where we may not mount one."""
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        pytest.skip("no unshare")
    inside.mkdir()
    script = 'mount -t tmpfs -o "size=$1" tmpfs "$0" && echo ready && exec cat'
    command = ["unshare", "-m", "sh", "-c", script, str(inside), str(size)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, **pipes) as holder:  # type: ignore[call-overload]
        assert holder.stdout is not None
        try:
            if holder.stdout.readline() != "ready\n":
                pytest.skip("we may not mount a disk")
            yield Disk(holder, inside)
        finally:
            holder.communicate()
