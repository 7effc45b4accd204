"""A run of NFSP on limit hold'em in memory (Heinrich & Silver 2016, section 4.3).

Where we differ: hands advance in step and networks change between steps only; a memory is learnt from as soon as it fills a
batch. The game is too large for exact exploitability, so what is judged is what the strategies win from bots.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.holdem import LimitHoldem, is_full_limit_holdem
from tacit.nfsp.epochs import SelfPlayTrainer
from tacit.nfsp.limit.config import LimitConfig
from tacit.nfsp.limit.judge import Judge
from tacit.nfsp.limit.networks import Layers
from tacit.nfsp.limit.rounds import Rounds
from tacit.nfsp.players import AVERAGE, BEST_RESPONSE, GREEDY_AVERAGE
from tacit.nfsp.progress import SelfPlayProgress
from tacit.threads import one_thread

NAME = "nfsp-limit"
"""What run folders and network files call it: settings and networks are not those of `nfsp`."""


@dataclass(frozen=True)
class LimitProgress(SelfPlayProgress):
    """A line of `metrics.jsonl`: where a run stands after an epoch.

    Win rates are in thousandths of a big blind a hand, sampled, every deal in both seats; `*_half` is half of a 95 % interval.

    Attributes:
      always_call: what the average strategies win from that bot, where they were evaluated.
      random: likewise.
      always_fold: likewise.
      pot_odds: likewise.
      best_response_pot_odds: what the greedy strategies of the action values win from that bot.
      greedy_average_pot_odds: what the average strategies' likeliest actions do.
    """

    always_call: float | None = None
    always_call_half: float | None = None
    random: float | None = None
    random_half: float | None = None
    always_fold: float | None = None
    always_fold_half: float | None = None
    pot_odds: float | None = None
    pot_odds_half: float | None = None
    best_response_pot_odds: float | None = None
    best_response_pot_odds_half: float | None = None
    greedy_average_pot_odds: float | None = None
    greedy_average_pot_odds_half: float | None = None

    @property
    def exploitability(self) -> None:
        """Not known: the game is too large."""
        return


MATCHES = {
    "always_call": (AVERAGE, "always-call"),
    "random": (AVERAGE, "random"),
    "always_fold": (AVERAGE, "always-fold"),
    "pot_odds": (AVERAGE, "pot-odds"),
    "best_response_pot_odds": (BEST_RESPONSE, "pot-odds"),
    "greedy_average_pot_odds": (GREEDY_AVERAGE, "pot-odds"),
}
"""For each win rate the strategy and the bot it plays."""


class LimitTrainer(SelfPlayTrainer[LimitConfig, LimitProgress]):
    """Two players that learn from hands against each other, on one device."""

    def __init__(self, game: AnyGame, config: LimitConfig, device: str = "cpu") -> None:
        if not isinstance(game, LimitHoldem) or not is_full_limit_holdem(game):
            raise TacitError(f"this NFSP plays limit_holdem from the blinds on, not {game}")
        super().__init__(NAME, game, config, LimitProgress)
        self.rounds = Rounds(game, config, device)
        self._judge: Judge | None = None

    def judged(self, metrics: LimitProgress, on_search: Callable[[int], None] = lambda _: None) -> LimitProgress:
        """Returns an epoch's progress with what the strategies win from bots; `on_search` hears of finished matches."""
        if self._judge is None:
            self._judge = Judge(self.rounds.selfplay.rules, self.config.deals, self.config.seed)
        found: dict[str, Any] = {}
        on_search(0)
        for number, (name, (strategy, bot)) in enumerate(MATCHES.items(), 1):
            with one_thread():
                rate = self._judge.win_rate(self.rounds.layers, strategy, bot)
            found |= {name: rate.mbb, f"{name}_half": rate.half}
            on_search(number)
        return replace(metrics, **found)

    def weights(self) -> dict[str, Tensor]:
        """Returns both players' networks."""
        return named_weights(self.rounds.layers)

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Returns the tensors and the header that `restore` needs: networks, optimizers, memories, hands, random numbers."""
        kept = {name: tensor.clone() for name, tensor in self._kept().items()}
        return {**kept, "generator": self.rounds.generator.get_state()}, self.header()

    def _take(self, tensors: dict[str, Tensor]) -> None:
        for name, tensor in self._kept(tensors).items():
            tensor.copy_(tensors[name])
        self.rounds.generator.set_state(tensors["generator"])

    def _kept(self, saved: dict[str, Tensor] | None = None) -> dict[str, Tensor]:
        """Returns the tensors that change, by name; of memories only what is filled, now or in what was `saved`."""
        rounds, config = self.rounds, self.config
        kept = {**named_weights(rounds.layers), **named_weights(rounds.target, "target.")}
        if rounds.adam is not None:
            kept |= named_weights(rounds.adam.moments, "moments.")
        groups: dict[str, Any] = {"counters": rounds.counters, "hands": rounds.selfplay.hands, "seats": rounds.selfplay.seats}
        for group, tensors in groups.items():
            kept |= {f"{group}.{name}": tensor for name, tensor in tensors._asdict().items()}
        memories = (("transitions", rounds.transitions, config.transitions), ("behaviour", rounds.behaviour, config.behaviour))
        for group, memory, capacity in memories:
            offered = memory.offered if saved is None else saved[f"{group}.offered"]
            filled = min(int(offered.max()), capacity)
            for name, column in memory._asdict().items():
                kept[f"{group}.{name}"] = column if name == "offered" else column[:, :filled]
        return kept

    def _forget_losses(self) -> None:
        self.rounds.counters.loss.zero_()
        self.rounds.counters.steps.zero_()

    def _play(self, first: int, count: int) -> None:
        del first
        with one_thread():  # products are small, and the numbers are then the same whatever the machine has
            self.rounds.play(count)

    def _losses(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        counters = self.rounds.counters
        return counters.loss.sum(0).cpu().numpy(), counters.steps.sum(0).cpu().numpy()

    def _games_finished(self) -> int:
        return int(self.rounds.selfplay.seats.finished)


def named_weights(layers: Layers, prefix: str = "") -> dict[str, Tensor]:
    """Returns the tensors of layers by names."""
    return {f"{prefix}{place}.{name}": part for place, layer in enumerate(layers) for name, part in layer._asdict().items()}
