"""The list of mutants is up to date: each can be made, and the tests that should notice it exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants import MUTANTS, ROOT, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_can_be_made(mutant: Mutant) -> None:
    source = (ROOT / "src" / "tacit" / mutant.file).read_text()
    assert source.count(mutant.right) == 1, "its text must stand once"
    assert mutant.wrong != mutant.right
    for test in mutant.tests.split():
        file, _, name = test.partition("::")
        path = Path(ROOT / "tests" / "unit" / file)
        assert path.exists(), test
        assert not name or f"def {name.partition('[')[0]}(" in path.read_text(), test
