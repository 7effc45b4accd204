"""All targets by name."""

from __future__ import annotations

from tests.fuzz.lies import RULES
from tests.fuzz.pages import PAGES
from tests.fuzz.stored import STORED
from tests.fuzz.target import Target
from tests.fuzz.wires import WIRES
from tests.fuzz.words import WORDS

TARGETS: dict[str, Target] = {target.name: target for target in (*WORDS, *STORED, *WIRES, *PAGES, *RULES)}
