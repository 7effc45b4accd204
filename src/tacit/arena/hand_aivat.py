"""AIVAT (Burch et al. 2018) in hold'em: along the cards and actions of a hand, with a vector over hands for each player.

`arena/aivat.py` explains the estimate. Here a known player's hand is never looked at: what counts is its reach, how likely
it comes to the present state with each of the 1,326 hands. An unknown player has the one hand it held. With
`W` the sum over pairs of hands of both reaches times a value function (`arena/hand_values.py`) and `w` the sum of the reaches
alone, the value of a state is `V = W / w`, and

    estimate = V(end) + sum over cards of  V(before) - V(after)
                      + sum over known players' actions of  sum_a W(a) / sum_a w(a) - V(after),

and for the hand dealt to an unknown player, V(no hand dealt to it) - V(that hand). Nothing is needed of a tree of the whole
game, so this works from before the flop on; in turn and river endgames the value function can be a tree's.

The unknown player's hand has to be known in all hands, folded ones included: leaving out those where it is not would be biased.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.hand_policy import HandPolicy, SolvedPolicy, played, policy_of
from tacit.agents.hand_search import HandSearch
from tacit.agents.table import Table
from tacit.arena.hand_values import CheckDown, HandValues, TreeValues, fits_tree, tabulate_game
from tacit.arena.match import Estimator
from tacit.cards.deck import parse_cards
from tacit.cards.hands import NUM_HANDS, hand_index, meetings, possible_hands
from tacit.errors import TacitError
from tacit.games.holdem import Holdem
from tacit.games.public_hand import CARD, PublicHand
from tacit.tree.public_tree import Floats

Reaches = tuple[Floats, Floats]


def hand_estimate(end: PublicHand, hands: Sequence[int], policies: Sequence[HandPolicy | None], values: HandValues) -> float:
    """Returns what a hand was worth to player 0, with most of the luck taken out.

    Args:
      end: the end of the hand and how it came there.
      hands: both players' hands; that of a known player is not used.
      policies: what both play with every hand, None for a player of whom that is not known; one has to be.
      values: any value function that was fixed before the hand.

    Raises:
      TacitError: neither is known, or a player did what its policy never does.
    """
    unknown = [player for player in (0, 1) if policies[player] is None]
    if len(unknown) == 2:
        raise TacitError("AIVAT needs what one player does with every hand: a saved solve, or a bot")
    state = PublicHand.start(end.game).dealt(end.game.known_board)
    reaches: Reaches = end.game.ranges
    now, total = _value(values, state, reaches), 0.0
    for player in unknown:
        held = np.zeros(NUM_HANDS)
        held[hands[player]] = 1.0
        reaches = _with(reaches, player, held)
        total += now
        now = _value(values, state, reaches)
        total -= now
    for player, steps in _steps(end):
        if player == CARD:
            state = state.dealt(steps)
            possible = possible_hands(state.board)
            reaches = reaches[0] * possible, reaches[1] * possible
            total += now
            now = _value(values, state, reaches)
            total -= now
            continue
        action, policy = steps[0], policies[player]
        if policy is None:
            state = state.after(action)
            now = _value(values, state, reaches)
            continue
        expected, now, reaches = _choice(policy, values, state, reaches, action)
        total += expected - now
        state = state.after(action)
    return total + now


def _choice(
    policy: HandPolicy, values: HandValues, state: PublicHand, reaches: Reaches, taken: int
) -> tuple[float, float, Reaches]:
    """Returns the value expected before a known player's action, the value after it, and the reaches after it."""
    player, met = state.betting.actor, meetings(reaches[1 - state.betting.actor])
    worth, weight = {}, {}
    after: dict[int, Reaches] = {}
    for action, shares in zip(state.actions, played(policy, state), strict=True):
        after[action] = _with(reaches, player, reaches[player] * shares)
        weight[action] = float(after[action][player] @ met)
        worth[action] = values.worth(state.after(action), after[action], 1 - player) if weight[action] > 0 else 0.0
    if not weight.get(taken, 0.0) > 0:
        raise TacitError(f"player {player} made a move, {taken}, that its policy never makes: AIVAT needs the one it played by")
    return sum(worth.values()) / sum(weight.values()), worth[taken] / weight[taken], after[taken]


def _value(values: HandValues, state: PublicHand, reaches: Reaches) -> float:
    return values.worth(state, reaches, 1) / float(reaches[0] @ meetings(reaches[1]))


def _with(reaches: Reaches, player: int, reach: Floats) -> Reaches:
    return (reach, reaches[1]) if player == 0 else (reaches[0], reach)


def _steps(end: PublicHand) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yields the steps of a hand, cards that come together as one."""
    for dealt, steps in groupby(end.path, lambda step: step[0] == CARD):
        if dealt:
            yield CARD, tuple(card for _, card in steps)
        else:
            yield from ((player, (action,)) for player, action in steps)


class HandAivatEstimator(Estimator):
    """Values the hands of a match of hold'em in which one agent at least can say what it does with every hand.

    In turn and river endgames the value function is self-play of a known agent, a saved solve if there is one, else checking
    down. Where both agents are known and alike the estimate hardly varies: their exact result could be computed.

    Attributes:
      values_by: what the value function is, in words.
    """

    def __init__(self, game: Holdem, agents: Sequence[Agent]) -> None:
        """Prepares the value functions.

        Raises:
          TacitError: neither agent can say.
        """
        self._game, self._policies = game, [policy_of(agent) for agent in agents]
        if self._policies == [None, None]:
            names = " nor ".join(agent.name for agent in agents)
            raise TacitError(f"AIVAT needs what a player does with every hand: neither {names} can say")
        self._values: Sequence[HandValues] = (CheckDown(),) * 2
        self.values_by = "checking down"
        chosen = _self_player(game, self._policies)
        if chosen is not None:
            policy = self._policies[chosen]
            assert policy is not None
            tree, strategy = tabulate_game(policy, game)
            self._values = [TreeValues(tree, strategy, chosen), TreeValues(tree, strategy, 1 - chosen)]
            self.values_by = f"self-play of {agents[chosen].name}"
        self.watcher(0)

    def watcher(self, seat: int) -> Callable[[Table], None]:
        self._seat, self._public, self._hands = seat, PublicHand.start(self._game), [0, 0]
        return self._watch

    def estimate(self, payoff: float) -> float:
        del payoff  # it is in the estimate, with its luck taken out
        policies = self._policies if self._seat == 0 else self._policies[::-1]
        found = hand_estimate(self._public, self._hands, policies, self._values[self._seat])
        return found if self._seat == 0 else -found

    def _watch(self, table: Table) -> None:
        for player, sight in enumerate(table.sights):
            assert sight is not None
            for word in sight.private:
                self._hands[player] = hand_index(*parse_cards(word))
            for word in sight.public if player == 0 else ():
                self._public = self._public.hear(word)


def _self_player(game: Holdem, policies: Sequence[HandPolicy | None]) -> int | None:
    """Returns the agent whose self-play is the value function, or None where no tree can be had of it."""
    if not fits_tree(game):
        return None
    solved = [number for number, policy in enumerate(policies) if isinstance(policy, SolvedPolicy)]
    quick = [n for n, policy in enumerate(policies) if policy is not None and not isinstance(policy, HandSearch)]
    return next(iter((*solved, *quick)), None)
