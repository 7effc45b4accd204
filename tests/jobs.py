"""Crew jobs for tests that need no game."""

from __future__ import annotations

import os
from typing import Any

from tacit.errors import TacitError


class Sums:
    """Adds the last shared number to the ordered one, and reports the process and GPU that did it."""

    def open(self, number: int, life: int) -> Sums:
        self.shared = 0
        return self

    def hear(self, shared: tuple[dict[str, Any], dict[str, Any]]) -> None:
        self.shared = shared[1]["add"]

    def answer(self, order: tuple[dict[str, Any], dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
        number = order[1]["number"]
        if number == "bad":
            raise TacitError("no number")
        return {}, {"sum": number + self.shared, "pid": os.getpid(), "gpu": os.environ.get("CUDA_VISIBLE_DEVICES")}
