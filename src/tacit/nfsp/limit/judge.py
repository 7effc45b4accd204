"""The networks' win rates against bots in limit hold'em, over thousands of hands at once.

Every deal is played in both seats, and every evaluation plays the same deals. The bots are those of `agents/hand_policy.py`;
only the equities of `pot-odds` are sampled differently (`cards/torch_equity.py`).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tacit.cards.equity import RAISING_EQUITY
from tacit.cards.torch_equity import sampled_equities
from tacit.games.betting import BOARD_CARDS, CALL, FOLD
from tacit.games.limit_batch import NUM_ACTIONS, RAISE, STREETS, LimitHands, LimitRules, deal
from tacit.nfsp.limit.encoding import Encoder
from tacit.nfsp.limit.networks import Layers, strategy_probabilities
from tacit.nfsp.limit.selfplay import sample
from tacit.tally import WinRate, win_rate

Bot = Callable[[LimitHands, Tensor], Tensor]
"""Maps hands and their legal actions `[G, 3]` to a bot's probabilities of them `[G, 3]`."""


class LimitJudge:
    """Plays both players' networks against bots.

    Args:
      rules: the rules of the game, on the device to play on.
      deals: the number of deals.
      seed: the seed of the cards and of the players' random choices.
    """

    def __init__(self, rules: LimitRules, deals: int, seed: int) -> None:
        self._rules, self._seed, self._device = rules, seed, rules.raise_size.device
        self._encoder = Encoder(str(self._device))
        self._cards = deal(deals, self._generator(0)).repeat(2, 1)
        self._seat = torch.arange(2, device=self._device).repeat_interleave(deals)
        self.bots: dict[str, Bot] = {
            "always-call": lambda hands, _: _always(hands, CALL),
            "random": lambda _, legal: legal / legal.sum(1, keepdim=True),
            "always-fold": lambda hands, legal: torch.where(legal[:, :1], _always(hands, FOLD), _always(hands, CALL)),
            "pot-odds": self._pot_odds,
        }
        self._equity: Tensor | None = None

    def win_rate(self, layers: Layers, strategy: str, bot: str) -> WinRate:
        """Returns the win rate of a strategy of the networks (one of `STRATEGIES`) against a bot."""
        rules, generator, hands = self._rules, self._generator(1), self._rules.begin(self._cards)
        won = torch.zeros(len(self._seat), device=self._device)
        running = torch.ones_like(won, dtype=torch.bool)
        while running.any():
            legal = rules.legal(hands)
            played = self.bots[bot](hands, legal)
            for player in (0, 1):
                own = (running & (hands.actor == player) & (self._seat == player)).nonzero()[:, 0]
                inputs = self._encoder.encode(LimitHands(*(part[own] for part in hands)), hands.actor[own]).float()
                played[own] = strategy_probabilities(layers, strategy, player, inputs, legal[own])
            hands, over, payoff = rules.step(hands, sample(played, legal, generator))
            won += payoff * running
            running &= ~over
        by_deal = torch.where(self._seat == 0, won, -won).double().view(2, -1).mean(0) / rules.big_blind
        return win_rate(by_deal.cpu().numpy())

    def _pot_odds(self, hands: LimitHands, legal: Tensor) -> Tensor:
        if self._equity is None:
            self._equity = self._equities()
        equity = self._equity.gather(1, (hands.actor * STREETS + hands.street)[:, None])[:, 0]
        pot, asked = hands.spent.sum(1), hands.spent.amax(1) - hands.spent.amin(1)
        action = torch.where((asked == 0) | (equity * (pot + asked) > asked), CALL, FOLD)
        action = torch.where(legal[:, RAISE] & (equity >= RAISING_EQUITY), RAISE, action)
        return torch.nn.functional.one_hot(action, NUM_ACTIONS).float()

    def _equities(self) -> Tensor:
        """Returns `[2 * deals, 8]` the equities of both players' hands on each street."""
        cards = self._cards[: len(self._cards) // 2]
        equities = [
            sampled_equities(
                cards[:, 2 * player : 2 * player + 2], cards[:, 4 : 4 + BOARD_CARDS[street]], self._rules.strengths
            )
            for player in (0, 1)
            for street in range(STREETS)
        ]
        return torch.stack(equities, 1).repeat(2, 1)

    def _generator(self, stream: int) -> torch.Generator:
        return torch.Generator(self._device).manual_seed(2 * self._seed + stream)


def _always(hands: LimitHands, action: int) -> Tensor:
    chosen = torch.full_like(hands.actor, action)
    return torch.nn.functional.one_hot(chosen, NUM_ACTIONS).float()
