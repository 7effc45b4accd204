"""Installs the built package into an empty environment and uses it as a new user would: `make release`.

The wheel is built from the sdist, so both are tried. The environment sees neither the source tree nor a compiler.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
COMPILERS = ("cc", "gcc", "clang", "c++", "g++")
MOST_MEGABYTES = 20


class Installed:
    """A separate environment with the wheel installed.

    Args:
      folder: Where to create it.
      wheel: The wheel to install.
    """

    def __init__(self, folder: Path, wheel: Path) -> None:
        self._folder, self._bin = folder, folder / "env" / "bin"
        venv.create(folder / "env", with_pip=True)
        no_programs = folder / "nothing"
        no_programs.mkdir()
        self._environment = {"PATH": f"{self._bin}:{no_programs}", "HOME": str(folder), "LANG": "C.UTF-8"}
        pip = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        command = [self._bin / "python", "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", f"{wheel}[web]"]
        subprocess.run(command, check=True, env=pip, stderr=subprocess.DEVNULL)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Starts a `tacit` command and returns its process."""
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        place = {"cwd": self._folder, "env": self._environment}
        return subprocess.Popen([self._bin / "tacit", *arguments], text=True, **pipes, **place)  # type: ignore[call-overload]

    def run(self, *arguments: str, typed: str = "") -> str:
        """Runs a `tacit` command and returns what it prints."""
        process = self.start(*arguments)
        printed, told = process.communicate(typed, timeout=300)
        assert process.returncode == 0, f"tacit {' '.join(arguments)}: {process.returncode}\n{told}"
        return printed

    def has(self, program: str) -> bool:
        """Returns whether a program can be found in the environment."""
        found = subprocess.run([sys.executable, "-c", f"import shutil; print(shutil.which({program!r}))"],
                               env=self._environment, capture_output=True, text=True, check=True)  # fmt: skip
        return found.stdout.strip() != "None"


def try_out(installed: Installed) -> None:
    """Uses every entry point once."""
    assert not any(installed.has(compiler) for compiler in COMPILERS)
    assert installed.run("--version").startswith("tacit ")
    assert "leduc_poker" in installed.run("games")
    solved = json.loads(installed.run("solve", "kuhn_poker", "--solver", "lp", "--json"))
    assert abs(solved["value"] + 1 / 18) < 1e-9, solved
    assert json.loads(installed.run("solve", "leduc_poker", "--iterations", "200", "--json"))["exploitability"] < 0.01
    judged = json.loads(installed.run("evaluate", "pretrained:liars_dice_1x4f", "--playthroughs", "4", "--json"))
    assert judged["exploitability"] < 0.3, judged
    assert "you hold" in installed.run("play", "liars_dice(dice=1,faces=4)", "--seat", "0", typed="q\n")
    installed.run("train", "rebel", "kuhn_poker", "--run", "run", "--preset", "smoke", "--json")
    serve(installed)


def serve(installed: Installed) -> None:
    """Starts the browser app and fetches its page."""
    process = installed.start("serve", "--port", "0", "--no-warm")
    stopper = threading.Timer(60, process.kill)
    stopper.start()
    try:
        assert process.stderr is not None
        address = next((word for line in process.stderr for word in line.split() if word.startswith("http://")), None)
        assert address is not None, "tacit serve said no address"
        with urllib.request.urlopen(address, timeout=30) as page:
            assert b"<title>" in page.read()
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
    finally:
        stopper.cancel()
        process.kill()


def main(wheel: Path, sdist: Path) -> None:
    """Tries the wheel out; prints each step, the sizes and the times."""
    sizes = {file.name: file.stat().st_size / 1e6 for file in (wheel, sdist)}
    for name, size in sizes.items():
        print(f"{name}: {size:.1f} MB", flush=True)
        assert size < MOST_MEGABYTES, f"{name} is larger than {MOST_MEGABYTES} MB"
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        installed = Installed(Path(folder), wheel.resolve())
        ready = time.monotonic()
        installed.run("play", "kuhn_poker", typed="q\n")
        answered = time.monotonic()
        try_out(installed)
    print(
        f"installed in {ready - began:.0f} s, tacit play answered {answered - ready:.0f} s later; "
        "games, solve, evaluate, train and serve work"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
