"""A few mutations of every input from outside: a failure is a crash, a hang or a leak that an outsider could cause."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.fuzz.mutations import mutate
from tests.fuzz.target import attempt
from tests.fuzz.targets import TARGETS


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """Yields a folder that targets may change into, and restores the working directory."""
    before = Path.cwd()
    yield tmp_path
    os.chdir(before)


@pytest.mark.parametrize("name", TARGETS)
def test_every_input_is_taken_or_refused_in_a_line(name: str, scratch: Path) -> None:
    target = TARGETS[name]
    prepared = target.prepare(scratch)
    for seed in prepared.seeds:
        attempt(prepared.run, seed, 60.0)  # valid inputs; the first may compile kernels

    @settings(
        max_examples=target.examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(prepared.seeds), st.randoms(use_true_random=False))
    def check(seed: bytes, random: object) -> None:
        attempt(prepared.run, mutate(seed, prepared.seeds, random), 5 * target.seconds)  # type: ignore[arg-type]

    check()


def test_the_harness_notices_what_it_is_for(tmp_path: Path) -> None:
    """It must notice crashes, hangs that catch exceptions, and refusals that say nothing."""
    from tacit.errors import TacitError
    from tests.fuzz.target import SlowError

    def crash(data: bytes) -> None:
        raise KeyError(data)

    def hang(data: bytes) -> None:
        while True:
            try:
                sum(range(1000))
            except Exception:
                continue

    def silent(data: bytes) -> None:
        raise TacitError("")

    failures: tuple[tuple[Callable[[bytes], None], type[BaseException]], ...] = (
        (crash, KeyError), (hang, SlowError), (silent, AssertionError),
    )  # fmt: skip
    for run, failure in failures:
        with pytest.raises(failure):
            attempt(run, b"x", 0.2)
