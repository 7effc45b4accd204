"""NFSP and DQN on compiled games, and NFSP on limit hold'em, as systems that train."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tacit.games import AnyGame
from tacit.nfsp.config import DQN_PRESETS, LIMIT_PRESETS, PRESETS, DqnConfig, LimitConfig, NfspConfig, TabularConfig
from tacit.nfsp.engine import Engine
from tacit.nfsp.limit.engine import LimitEngine
from tacit.nfsp.progress import ExactProgress, NfspProgress, WinRateProgress
from tacit.nfsp.tabular.engine import TabularEngine
from tacit.nfsp.train import NfspTrainer
from tacit.training.system import System

C = TypeVar("C", bound=NfspConfig)


def _trainer(
    system: str, engine: Callable[[AnyGame, C, str], Engine], progress: type[NfspProgress]
) -> Callable[[AnyGame, C, str], NfspTrainer]:
    """Returns what makes a new run of a system from a game, settings and a device."""

    def begin(game: AnyGame, config: C, device: str = "cpu") -> NfspTrainer:
        return NfspTrainer(system, game, config, engine(game, config, device), progress)

    return begin


NFSP = System("nfsp", TabularConfig, PRESETS, ExactProgress, _trainer("nfsp", TabularEngine, ExactProgress))
DQN = System("dqn", DqnConfig, DQN_PRESETS, ExactProgress, _trainer("dqn", TabularEngine, ExactProgress))
NFSP_LIMIT = System(
    "nfsp-limit", LimitConfig, LIMIT_PRESETS, WinRateProgress, _trainer("nfsp-limit", LimitEngine, WinRateProgress)
)
"""A system of its own, since its settings and networks are not those of `nfsp`; `tacit train nfsp limit_holdem` finds it."""
