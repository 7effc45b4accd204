"""Hold'em hands in two independent implementations, translated into our terms, to compare ours with.

Known differences, all outside the comparison:
- pokerkit names a raise by the chips put in on the street; OpenSpiel and we use those put in over the whole hand. OpenSpiel's
  limit game has a single raise action.
- pokerkit's cash games let a player fold where a check is free (with a warning); its tournaments, OpenSpiel and we do not.
- pokerkit's limit game allows four raises on every street; the competition's rules (OpenSpiel, we) three before the flop.
- with equal blinds pokerkit lets player 0 act first before the flop; OpenSpiel and we keep to the button.
- to reach the start of an endgame, pokerkit and OpenSpiel play a raise, a call and checks.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tacit.cards.deck import card_names
from tacit.games.betting import CALL, FOLD, PREFLOP, Betting
from tacit.games.holdem import Holdem, LimitHoldem

Limits = tuple[int, int] | None
View = tuple[int, bool, Limits]
"""Who acts, whether a fold is allowed, and the smallest and largest raise as totals over the hand."""


class Pokerkit:
    """A hand in pokerkit, in our terms. Players have our numbers: 0 posts the big blind."""

    def __init__(self, game: Holdem) -> None:
        kit = pytest.importorskip("pokerkit")
        auto = kit.Automation
        automations = (
            auto.ANTE_POSTING,
            auto.BET_COLLECTION,
            auto.BLIND_OR_STRADDLE_POSTING,
            auto.HOLE_CARDS_SHOWING_OR_MUCKING,
            auto.HAND_KILLING,
            auto.CHIPS_PUSHING,
            auto.CHIPS_PULLING,
        )
        rules = game.rules
        self.limit = isinstance(game, LimitHoldem)
        self.start_stack = 1_000 if self.limit else rules.stack
        sizes = (rules.big_blind, 2 * rules.big_blind) if self.limit else (rules.big_blind,)
        variant = kit.FixedLimitTexasHoldem if self.limit else kit.NoLimitTexasHoldem
        blinds = (rules.small_blind, rules.big_blind)
        self.state = variant.create_state(automations, True, 0, blinds, *sizes, (self.start_stack,) * 2, 2)
        self.waiting: list[int] = []

    def hands(self, cards: tuple[int, ...]) -> None:
        self.state.deal_hole(card_names(cards[:2]))
        self.state.deal_hole(card_names(cards[2:]))

    def card(self, card: int) -> None:
        self.waiting.append(card)
        if len(self.state.board_cards) >= 3 or len(self.waiting) == 3:
            self.state.burn_card("??")
            self.state.deal_board(card_names(self.waiting))
            self.waiting = []

    def earlier_streets(self) -> int:
        player = self.state.actor_index
        return int(self.start_stack - self.state.stacks[player] - self.state.bets[player])

    def view(self, betting: Betting) -> View:
        state, limits = self.state, None
        if state.can_complete_bet_or_raise_to() and not (self.limit and betting.street == PREFLOP and betting.num_raises == 3):
            smallest = state.min_completion_betting_or_raising_to_amount + self.earlier_streets()
            limits = smallest, state.max_completion_betting_or_raising_to_amount + self.earlier_streets()
        return state.actor_index, state.can_fold(), limits

    def act(self, action: int) -> None:
        if action == FOLD:
            self.state.fold()
        elif action == CALL:
            self.state.check_or_call()
        else:
            self.state.complete_bet_or_raise_to(action - self.earlier_streets())

    def returns(self) -> list[float]:
        assert not self.state.status
        return [float(payoff) for payoff in self.state.payoffs]


@cache
def universal_poker(limit: bool, stack: int, small_blind: int, big_blind: int) -> Any:
    """The competition's game definition, with any raise allowed."""
    pyspiel = pytest.importorskip("pyspiel")
    kind, more = "nolimit", f"stack={stack} {stack},bettingAbstraction=fullgame"
    if limit:
        small, large = big_blind, 2 * big_blind
        kind, more = "limit", f"raiseSize={small} {small} {large} {large},maxRaises=3 4 4 4"
    return pyspiel.load_game(
        f"universal_poker(betting={kind},numPlayers=2,numRounds=4,blind={big_blind} {small_blind},firstPlayer=2 1 1 1,"
        f"numSuits=4,numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1,{more})"
    )


class OpenSpiel:
    """A hand in OpenSpiel's universal_poker, which wraps the competition's server."""

    def __init__(self, game: Holdem) -> None:
        rules = game.rules
        self.limit = isinstance(game, LimitHoldem)
        self.state = universal_poker(
            self.limit, 0 if self.limit else rules.stack, rules.small_blind, rules.big_blind
        ).new_initial_state()

    def hands(self, cards: tuple[int, ...]) -> None:
        for card in cards:
            self.card(card)

    def card(self, card: int) -> None:
        assert self.state.is_chance_node()
        self.state.apply_action(card)

    def view(self, betting: Betting) -> View:
        actions = self.state.legal_actions()
        raises = [action for action in actions if action > CALL]
        limits = (raises[0], raises[-1]) if raises else None
        if limits is not None and self.limit:
            limits = (betting.facing + betting.raise_size,) * 2  # the comparison of payoffs checks the sizes
        elif limits is not None:
            assert len(raises) == limits[1] - limits[0] + 1  # all sizes in between are legal
        assert CALL in actions
        return self.state.current_player(), FOLD in actions, limits

    def act(self, action: int) -> None:
        self.state.apply_action(2 if self.limit and action > CALL else action)

    def returns(self) -> list[float]:
        assert self.state.is_terminal()
        return list(self.state.returns())
