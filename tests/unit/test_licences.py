"""Everybody may use and ship every installed package."""

import pytest

from tests import audit


@pytest.mark.parametrize("name", audit.licences())
def test_a_package_has_a_licence_that_is_allowed(name: str) -> None:
    version, licence = audit.licences()[name]
    assert not audit.refused(licence), f"{name} {version} is under {licence}"


@pytest.mark.parametrize("licence", ["GPL-3.0-only", "MIT AND GPL-2.0", "unknown", "", "AGPL-3.0 OR GPL-3.0"])
def test_other_licences_are_refused(licence: str) -> None:
    assert audit.refused(licence)


def test_of_alternatives_one_is_enough() -> None:
    assert not audit.refused("GPL-2.0 OR MIT")
    assert not audit.refused("BSD-2-Clause AND Apache-2.0 WITH LLVM-exception")
