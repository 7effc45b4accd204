"""A strategy's winnings from two bots in the abstract game, in compiled code: a quick check of training progress.

The bots see buckets and the blueprint's own bets. `pot-odds` uses the equity of its bucket in place of its hand's, so it is
nearly, not exactly, the bot of that name at the table. Every deal is played in both seats.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.blueprint.betting_tree import FOLD_END, LANES, WIDTH, BettingTree
from tacit.blueprint.buckets import CardAbstraction
from tacit.blueprint.deals import BATCH, DealTables, deal, make_deals
from tacit.blueprint.features import BINS, street_features
from tacit.blueprint.mccfr import draw_action
from tacit.cards.equity import RAISING_EQUITY
from tacit.cards.grid import CELLS
from tacit.cards.run_outs import run_out_margins
from tacit.compiled import compiled, inner
from tacit.games.betting import CALL, FLOP, RIVER
from tacit.random_numbers import make_streams
from tacit.tally import WinRate, win_rate

NO_RAISE = -1
BOTS = ("always_call", "pot_odds")


class Choices(NamedTuple):
    """The choices of bots at each node of a betting tree.

    Attributes:
      call: `[N]` int8, the index of a call or check among the actions.
      pot_raise: `[N]` int8, the index of the raise nearest to the pot, or `NO_RAISE`.
      odds: `[N]` float32, the smallest equity with which a call pays.
    """

    call: NDArray[np.int8]
    pot_raise: NDArray[np.int8]
    odds: NDArray[np.float32]


class AbstractJudge:
    """Plays strategies against bots, always on the same deals."""

    def __init__(self, tree: BettingTree, abstraction: CardAbstraction, tables: DealTables, deals: int, seed: int) -> None:
        self._tree, self._tables, self._deals, self._seed = tree, tables, deals, seed
        self._choices = _choices(tree)
        equities = bucket_equities(abstraction)
        self._equity = np.zeros((4, max(map(len, equities))), np.float32)
        for street, part in enumerate(equities):
            self._equity[street, : len(part)] = part

    def win_rate(self, strategy: NDArray[np.float32], bot: str) -> WinRate:
        """Returns a strategy `[E]`'s win rate against one of `BOTS`."""
        equity, raising = (self._equity, RAISING_EQUITY) if bot == "pot_odds" else (np.ones_like(self._equity), 2.0)
        won, streams = np.zeros(self._deals), make_streams(self._seed, 1)
        street = self._tree.rules.first_street
        _play(self._tree.nodes, self._choices, street, self._tables, strategy, equity, raising, streams, won)
        return win_rate(won)


def bucket_equities(abstraction: CardAbstraction) -> list[NDArray[np.float64]]:
    """Returns for each street `[K]` about each bucket's equity against a random hand; empty before the first street."""
    kinds = 0.5 + 0.5 * run_out_margins(()).sum(axis=1) / 1_225  # the number of hands that share no card with a hand
    found = [np.bincount(CELLS, kinds, 169) / np.bincount(CELLS, minlength=169)]
    for street in range(FLOP, RIVER + 1):
        centres = abstraction.centres[street - FLOP]
        if abstraction.num_buckets[street] and centres is None:
            boards = abstraction.boards(street).boards.tolist()
            centres = np.concatenate([street_features(tuple(board)) for board in boards])
        if centres is None:
            found.append(np.zeros(0))
        else:
            found.append(centres.mean(axis=1) if street == RIVER else 1.0 - (centres.sum(axis=1) + 0.5) / BINS)
    return found


def _choices(tree: BettingTree) -> Choices:
    call, pot_raise, odds = [], [], []
    for betting, actions in zip(tree.states, tree.actions, strict=True):
        raises = [action for action in actions if action > CALL]
        nearest = min(raises, key=lambda action: (abs(action - 3 * betting.facing), action), default=None)
        call.append(actions.index(CALL) if actions else 0)
        pot_raise.append(NO_RAISE if nearest is None else actions.index(nearest))
        odds.append(betting.to_call / (betting.pot + betting.to_call))
    return Choices(np.array(call, np.int8), np.array(pot_raise, np.int8), np.array(odds, np.float32))


@inner(_nrt=False)
def _answer(choices, node, equity, raising):  # type: ignore[no-untyped-def]
    """Returns a bot's action at a node, given its equity."""
    if equity >= raising and choices.pot_raise[node] != NO_RAISE:
        return np.int64(choices.pot_raise[node])
    return np.int64(choices.call[node]) if equity > choices.odds[node] else 0


@compiled(nogil=True)
def _play(nodes, choices, first_street, tables, strategy, equity, raising, streams, won):  # type: ignore[no-untyped-def]
    """Fills in `won` `[deals]`, the strategy's mean winnings over both seats, in big blinds."""
    deals, bounds = make_deals(), np.zeros(WIDTH, np.float32)
    for begin in range(0, len(won), BATCH):
        some = min(len(won) - begin, BATCH)
        deal(tables, first_street, streams, 0, deals, some)
        for n in range(some):
            for seat in range(2):
                node = np.int64(0)
                while nodes.node[node].kind < FOLD_END:
                    player, street = nodes.node[node].kind, nodes.node[node].street
                    count, own = np.int64(nodes.node[node].num_actions), deals.bucket[n, player, street]
                    if player == seat:
                        first = LANES * (nodes.node[node].first_block + own * nodes.stride[player, street])
                        bounds[:] = strategy[first : first + count].sum()
                        bounds[:count] = strategy[first : first + count].cumsum()
                        action = draw_action(bounds, count, streams, 0)
                    else:
                        action = _answer(choices, node, equity[street, own], raising)
                    node = np.int64(nodes.node[node].first_child) + action
                payoff = nodes.node[node].payoff * (1.0 if nodes.node[node].kind == FOLD_END else deals.winner[n])
                won[begin + n] += 0.5 * (payoff if seat == 0 else -payoff)
