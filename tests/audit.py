"""Checks the installed packages: known vulnerabilities, and licences.

    make audit      runs pip-audit and writes docs/licences.md

Without a network nothing can be checked; the output says so, and the exit code stays 0.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = ROOT / "docs" / "licences.md"
TOOL = ROOT / ".venv" / "audit"
PIP_AUDIT = "pip-audit==2.10.1"
SECONDS = 120
"""Seconds after which the network counts as absent."""

ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSD",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-CMU",
    "MPL-2.0",
    "PSF-2.0",
    "Zlib",
}
"""Licences that let everyone use and ship this project. MPL-2.0 only covers changes to its own files."""
NAMES = {
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "ISC License": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "3-Clause BSD License": "BSD-3-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
}
"""SPDX names for the licence names that other packages use."""
SAID_ELSEWHERE = {"axe-playwright-python": "MIT"}
"""Licences of packages whose metadata names none."""


def licence_of(package: Distribution) -> str:
    """Returns the licence of an installed package, as an SPDX expression where possible."""
    about = package.metadata
    if about["Name"] in SAID_ELSEWHERE:
        return SAID_ELSEWHERE[about["Name"]]
    classes = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or [] if line.startswith("License ::")]
    candidates = [about["License-Expression"], *classes, (about["License"] or "").strip().partition("\n")[0]]
    said = next((candidate for candidate in candidates if candidate), "unknown")
    return NAMES.get(said, said)


def refused(licence: str) -> list[str]:
    """Returns the parts of an expression that are not allowed. One allowed alternative of an OR is enough."""
    if " OR " in licence:
        return [] if any(not refused(part) for part in licence.split(" OR ")) else [licence]
    return [part for part in re.split(r" AND ", licence.strip("()")) if part.strip() not in ALLOWED]


def licences() -> dict[str, tuple[str, str]]:
    """Returns version and licence of every installed package except ours, by name."""
    found = {package.metadata["Name"]: (package.version, licence_of(package)) for package in distributions()}
    return {name: found[name] for name in sorted(found, key=str.lower) if name != "tacit"}


def write_list() -> None:
    """Writes the page of licences."""
    rows = [f"| {name} | {version} | {licence} |" for name, (version, licence) in licences().items()]
    head = [
        "# Licences of the installed packages", "",
        "Of all extras, as pinned in `constraints.txt`. Written by `make audit`; a test refuses licences that are not in",
        "`tests/audit.py: ALLOWED`. The project itself is under the MIT licence and ships none of these packages.", "",
        "| package | version | licence |", "|---|---|---|",
    ]  # fmt: skip
    LIST.write_text("\n".join([*head, *rows]) + "\n")


def weaknesses() -> tuple[int, list[str]]:
    """Returns how many packages could be checked, and one line for each known vulnerability."""
    try:
        if not (TOOL / "bin" / "pip-audit").exists():
            subprocess.run([sys.executable, "-m", "venv", TOOL], check=True, timeout=SECONDS)
            install = [TOOL / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PIP_AUDIT]
            subprocess.run(install, check=True, timeout=SECONDS, capture_output=True)
        packages = next(path for path in map(Path, sys.path) if path.name == "site-packages")
        command = [TOOL / "bin" / "pip-audit", "--path", packages, "--progress-spinner", "off", "--format", "json"]
        answer = subprocess.run(command, check=False, timeout=SECONDS, capture_output=True, text=True)
        known = [package for package in json.loads(answer.stdout)["dependencies"] if "vulns" in package]  # others were skipped
    except (OSError, subprocess.SubprocessError, ValueError, LookupError):
        return 0, []
    return len(known), [
        f"{package['name']} {package['version']}: {one['id']}, mended in {', '.join(one['fix_versions']) or 'no version yet'}"
        for package in known
        for one in package["vulns"]
    ]


def main() -> int:
    """Returns 1 if an installed package has a known vulnerability or a licence that is not allowed."""
    write_list()
    print(f"{len(licences())} packages, their licences are in {LIST.relative_to(ROOT)}")
    unfit = [f"{name}: {licence} is not allowed" for name, (_, licence) in licences().items() if refused(licence)]
    asked, known = weaknesses()
    if asked:
        print(f"pip-audit was asked about {asked} of them and knows of {len(known)} weaknesses")
    else:
        print("pip-audit could not be had, or not ask its database, for lack of a network: weaknesses are not known")
    for line in (*unfit, *known):
        print(line)
    return 1 if unfit or known else 0


if __name__ == "__main__":
    sys.exit(main())
