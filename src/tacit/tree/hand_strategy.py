"""Strategies of hold'em: the actions taken with every hand, and the range that reaches a spot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from tacit.cards.deck import NUM_CARDS, card_names, parse_cards
from tacit.cards.hands import HANDS, NUM_HANDS, hand_index, hand_name, meetings, possible_hands
from tacit.cards.run_outs import run_out_margins
from tacit.errors import TacitError
from tacit.tree.base import Decision, Floats, Spot, Strategy, who_acts
from tacit.tree.hand_tree import FULL_BOARD, START, HandTree
from tacit.tree.node_view import NodeView, PlayerView

_NOTHING = 1e-12
"""Share of a range below which the opposing weight that a hand can meet is a rounding error."""


@dataclass(frozen=True, repr=False)
class HandStrategy(Strategy):
    """Both players' strategies in a tree of hold'em; hands are numbered among the 1,326.

    Attributes:
      tree: The tree that the entries belong to.
    """

    tree: HandTree

    def played(self, spot: Spot) -> Floats:
        """Returns `[A, 1326]` the action probabilities of every hand at a spot; zero for impossible hands."""
        spread = np.zeros((int(self.tree.num_actions[spot.node]), NUM_HANDS))
        spread[:, self.tree.hands(spot)] = self.tree.decision(self.probabilities, spot.node)
        return spread

    def range_at(self, spot: Spot, player: int) -> Floats:
        """Returns `[1326]` a player's own reach of a spot with each hand: its weight at the start times its actions."""
        tree, above = self.tree, START
        weights = np.zeros(NUM_HANDS)
        weights[tree.blocks.hands(0)] = tree.root_reach[player]
        for actor, move in tree.path(spot):
            if actor == player:
                weights *= self.played(above)[tree.actions(above.node).index(move)]
            above = tree.after(above, move)
        possible = np.zeros(NUM_HANDS)
        possible[tree.hands(spot)] = 1.0
        return weights * possible

    def view(self, spot: Spot) -> NodeView:
        tree, node = self.tree, spot.node
        actor, block = who_acts(tree, spot), int(tree.block[node])
        hands, ranges = tree.hands(spot), [self.range_at(spot, player) for player in (0, 1)]
        met = [_met(ranges[1 - player])[hands] for player in (0, 1)]
        likely = [ranges[player][hands] * met[player] * tree.pair_weight[block] for player in (0, 1)]
        probability = float(likely[0].sum())
        players = []
        for player in (0, 1):
            kept = np.flatnonzero(ranges[player][hands] > 0)
            faced = met[player][kept]
            lead = self._leads(block, ranges[1 - player][hands])[kept]
            equity = 0.5 + 0.5 * np.divide(lead, faced, out=np.full(len(kept), np.nan), where=faced > 0)
            weight = likely[player][kept] / probability if probability > 0 else np.full(len(kept), np.nan)
            names, reach = [hand_name(hand) for hand in hands[kept].tolist()], ranges[player][hands][kept]
            players.append(PlayerView(names, kept, reach, faced * tree.pair_weight[block], weight, None, equity))
        shares = tree.decision(self.probabilities, node).T[players[actor].rows].astype(np.float64)
        return NodeView(
            str(tree.game), tree.label(spot), card_names(tree.board(spot)), actor, tree.action_names(node), shares,
            (players[0], players[1]), probability, tree.steps_after(spot), hands[players[actor].rows],
        )  # fmt: skip

    def __getitem__(self, key: tuple[int, str, str]) -> Decision:
        player, line, private = key
        cards = parse_cards(private)
        if len(cards) != 2:
            raise TacitError(f"{private!r} is not a hand: write two cards, like AsKd")
        return super().__getitem__((player, line, hand_name(hand_index(*cards))))

    def _leads(self, block: int, opponent_reach: Floats) -> Floats:
        """Returns for each lane of a block the reach of the hands it beats minus that of the hands that beat it.

        This is the mean over all cards still to come. The lanes are those of the block's own board, whose suits may be renamed.
        """
        blocks = self.tree.blocks
        board, hands = blocks.board[block], blocks.hands(block)
        if len(board) < FULL_BOARD:
            places = np.searchsorted(np.flatnonzero(possible_hands(board)), hands)
            held = np.flatnonzero(opponent_reach > 0)
            return np.asarray(run_out_margins(board)[np.ix_(places, places[held])] @ opponent_reach[held])
        tie, cards = blocks.tie[blocks.lane_start[block] : blocks.lane_start[block + 1]], HANDS[hands]
        below = np.zeros((len(hands) + 1, NUM_CARDS + 1))  # summed reach of the first lanes: all hands, then by card
        below[1:, 0] = opponent_reach
        np.put_along_axis(below[1:], cards + 1, opponent_reach[:, None], axis=1)
        below = below.cumsum(axis=0)
        weaker, beaten = below[tie], below[np.searchsorted(tie, tie, side="right")]
        lead = weaker + beaten - below[-1]
        return np.asarray(lead[:, 0] - np.take_along_axis(lead, cards + 1, axis=1).sum(axis=1))

    def decision(self, infostate: int) -> Decision:
        number = int(np.searchsorted(self._starts, infostate, side="right")) - 1
        return next(islice(self._decisions(self.tree.decision_spots[number]), infostate - int(self._starts[number]), None))

    def __iter__(self) -> Iterator[Decision]:
        return (decision for spot in self.tree.decision_spots for decision in self._decisions(spot))

    def __len__(self) -> int:
        return int(self._starts[-1])

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """`[spots + 1]` the first infostate at each spot, counting all real cards."""
        widths = [self.tree.blocks.width(int(self.tree.block[spot.node])) for spot in self.tree.decision_spots]
        return np.concatenate([[0], np.cumsum(widths)])

    def _decisions(self, spot: Spot) -> Iterator[Decision]:
        """Yields the decision of each hand at a spot."""
        tree, node = self.tree, spot.node
        player, label, names = int(tree.actor[node]), tree.label(spot), tree.action_names(node)
        hands = tree.hands(spot).tolist()
        for hand, shares in zip(hands, tree.decision(self.probabilities, node).T.tolist(), strict=True):
            yield Decision(player, label, hand_name(hand), dict(zip(names, shares, strict=True)))


def _met(reach: Floats) -> Floats:
    """Returns `[1326]` the total opposing reach that shares no card with each hand; rounding errors become zero."""
    met = meetings(reach)
    return np.where(met > _NOTHING * reach.sum(), met, 0.0)
