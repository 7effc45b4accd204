"""NFSP and DQN on compiled games, and NFSP on limit hold'em, as trainable systems.

The last has its own settings and networks, and so its own name in run folders; `tacit train nfsp limit_holdem` finds it.
"""

from __future__ import annotations

from typing import Any

from tacit.games import AnyGame
from tacit.games.holdem import is_full_limit_holdem
from tacit.nfsp.config import DQN_PRESETS, LIMIT_PRESETS, PRESETS, DqnConfig, LimitConfig, TabularConfig
from tacit.nfsp.limit.engine import LimitTrainer
from tacit.nfsp.progress import ExactProgress, WinRateProgress
from tacit.nfsp.tabular.engine import TabularTrainer
from tacit.training.system import System

NFSP = System(TabularConfig, TabularTrainer, PRESETS, ExactProgress)
DQN = System(DqnConfig, TabularTrainer, DQN_PRESETS, ExactProgress)
NFSP_LIMIT = System(LimitConfig, LimitTrainer, LIMIT_PRESETS, WinRateProgress)


def nfsp_system(game: AnyGame) -> System[Any, Any]:
    """Returns the NFSP system that can learn a game."""
    return NFSP_LIMIT if is_full_limit_holdem(game) else NFSP
