"""How subgames are searched."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.errors import TacitError
from tacit.solvers.valuation import CFR_AVE, CFR_D, DECOMPOSITIONS, MODIFIED_CFR_AVE
from tacit.tree.subgame import Depth

__all__ = ["CFR_AVE", "CFR_D", "DECOMPOSITIONS", "MODIFIED_CFR_AVE", "SearchConfig"]


@dataclass(frozen=True)
class SearchConfig:
    """How subgames are searched.

    Attributes:
      solver: the schedule: `linear-cfr`, `cfr+`, `dcfr`, ... match regrets; `fp`, `linear-fp`, `flop` are fictitious play.
      iterations: how many to run; each updates both players, so the papers' 1,024 alternating iterations are 512.
      depth: actions to look ahead, `round` for the rest of the betting round, None for the rest of the game.
      decomposition: the beliefs at which regret matching values leaves: those of the current strategies (`cfr-d`), or of their
        average (`cfr-ave`, which needs an oracle, and `modified-cfr-ave`, which does not; ReBeL, appendix E). Fictitious play
        always values them at the averages.
      alternating: whether player 1 answers player 0's new strategy within an iteration.
      warm_up: how many initial iterations are left out of the averages.
      recycle: how many iterations use the same leaf values before the leaves are evaluated again.
    """

    solver: str = "linear-cfr"
    iterations: int = 512
    depth: Depth = 2
    decomposition: str = CFR_D
    alternating: bool = True
    recycle: int = 1
    warm_up: int = 0

    def __post_init__(self) -> None:
        if self.decomposition not in DECOMPOSITIONS:
            raise TacitError(f"unknown decomposition {self.decomposition!r}: choose one of {', '.join(DECOMPOSITIONS)}")
        if self.iterations < 1:
            raise TacitError(f"a search takes at least 1 iteration, not {self.iterations}")
        if isinstance(self.depth, int) and self.depth < 1:
            raise TacitError(f"a search looks at least 1 action ahead, not {self.depth}")
        if not 0 <= self.warm_up < self.iterations:
            raise TacitError(f"a warm-up must be shorter than the search's {self.iterations} iterations, not {self.warm_up}")
        if self.warm_up and self.decomposition != CFR_D:
            raise TacitError(f"{self.decomposition} values leaves at averages, which a warm-up leaves empty: set warm_up to 0")
        if self.recycle < 1:
            raise TacitError(f"recycle must be at least 1, not {self.recycle}")
