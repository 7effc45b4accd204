"""Players of hold'em who can say what they do with every hand: what a local best response asks, and what plays by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from tacit.agents.base import Agent, Sight
from tacit.agents.bots import PokerBot, RandomBot
from tacit.agents.translation import translated
from tacit.cards.deck import parse_cards
from tacit.cards.equity import RAISING_EQUITY, random_hand_equities
from tacit.cards.hands import NUM_HANDS, hand_index
from tacit.games.betting import CALL, FOLD
from tacit.games.holdem import Holdem
from tacit.games.public_hand import PublicHand
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.public_tree import Floats


class HandPolicy(Protocol):
    """What is played with every hand."""

    def probabilities(self, public: PublicHand) -> Floats:
        """Returns `[A, 1326]`: for each legal action how often each hand takes it; columns of impossible hands mean nothing."""
        ...


@runtime_checkable
class FoldPolicy(Protocol):
    """A policy that says at once how often it folds to several raises, which costs it less than one answer after the other."""

    def fold_shares(self, public: PublicHand, raises: Sequence[int]) -> Floats:
        """Returns `[raises, 1326]` how often each hand folds to each raise of the player who acts."""
        ...


def fold_shares(policy: HandPolicy, public: PublicHand, raises: Sequence[int]) -> Floats:
    """Returns `[raises, 1326]` how often each hand of a policy folds to each raise of the player who acts."""
    if raises and isinstance(policy, FoldPolicy):
        return policy.fold_shares(public, raises)
    after = [public.after(action) for action in raises]
    return np.array([policy.probabilities(state)[state.actions.index(FOLD)] for state in after]).reshape(-1, NUM_HANDS)


def played(policy: HandPolicy, public: PublicHand) -> Floats:
    """Returns `[A, 1326]` what a policy plays, as probabilities; zero for hands with which it plays nothing."""
    weights = policy.probabilities(public)
    total = weights.sum(axis=0)
    shares: Floats = np.divide(weights, total, out=np.zeros(weights.shape), where=total > 0)
    return shares


@dataclass(frozen=True)
class FirstPolicy:
    """Takes the first of some actions that is legal, with every hand."""

    preferred: tuple[int, ...]

    def probabilities(self, public: PublicHand) -> Floats:
        played = np.zeros((len(public.actions), NUM_HANDS))
        played[next(public.actions.index(action) for action in self.preferred if action in public.actions)] = 1.0
        return played


class UniformPolicy:
    """Plays every legal action equally often."""

    def probabilities(self, public: PublicHand) -> Floats:
        num_actions = len(public.actions)
        return np.full((num_actions, NUM_HANDS), 1.0 / num_actions)


class PotOddsPolicy:
    """Calls when its equity against a random hand beats the pot odds; bets and raises about the pot when that is high.

    It believes that everyone holds anything, whatever they did: a plain player who can be run over by big bets.
    """

    def probabilities(self, public: PublicHand) -> Floats:
        equity, betting, actions = random_hand_equities(public.board), public.betting, public.actions
        call = equity * (betting.pot + betting.to_call) > betting.to_call if betting.to_call else np.ones(NUM_HANDS, bool)
        played = np.zeros((len(actions), NUM_HANDS))
        played[actions.index(CALL)] = call
        if FOLD in actions:
            played[actions.index(FOLD)] = ~call
        raises = [action for action in actions if action > CALL]
        if raises:
            chosen = nearest_to_pot(public, raises)
            played[:, equity >= RAISING_EQUITY] = 0.0
            played[actions.index(chosen), equity >= RAISING_EQUITY] = 1.0
        return played


@dataclass(frozen=True)
class SolvedPolicy:
    """Plays a solved strategy of hold'em from a board on; bets that it does not know are translated."""

    strategy: HandStrategy

    def probabilities(self, public: PublicHand) -> Floats:
        return translated(self.strategy, public)


HAND_POLICIES: dict[str, HandPolicy] = {
    "random": UniformPolicy(),
    "always-call": FirstPolicy((CALL,)),
    "always-fold": FirstPolicy((FOLD, CALL)),
    "pot-odds": PotOddsPolicy(),
}
"""What the bots do with every hand."""


class HandWalk:
    """Follows a hand of hold'em by what one seat sees.

    Attributes:
      public: What everyone knows.
      hand: The own hand.
    """

    def __init__(self, game: Holdem) -> None:
        self._game = game
        self.start()

    def start(self) -> None:
        """Goes back to before the deal."""
        self.public, self.hand = PublicHand.start(self._game), 0

    def observe(self, sight: Sight) -> None:
        """Follows what the seat sees."""
        for word in sight.private:
            self.hand = hand_index(*parse_cards(word))
        for word in sight.public:
            self.public = self.public.hear(word)


class HandAgent:
    """Plays hold'em by a policy."""

    def __init__(self, game: Holdem, policy: HandPolicy, generator: np.random.Generator, name: str) -> None:
        self.name, self.policy = name, policy
        self.walk, self._generator = HandWalk(game), generator

    def start(self, player: int) -> None:
        del player
        self.walk.start()

    def observe(self, sight: Sight) -> None:
        self.walk.observe(sight)

    def act(self) -> int:
        weights = self.weights()
        return int(self._generator.choice(self.walk.public.actions, p=weights / weights.sum()))

    def weights(self) -> Floats:
        """Returns `[A]` how often its hand takes each legal action."""
        return self.policy.probabilities(self.walk.public)[:, self.walk.hand]

    def view(self) -> None:
        return None


def policy_of(agent: Agent) -> HandPolicy | None:
    """Returns what an agent does with every hand of hold'em, or None where that cannot be asked."""
    if isinstance(agent, RandomBot | PokerBot):
        return HAND_POLICIES[agent.name]
    policy: HandPolicy | None = getattr(agent, "policy", None)
    return policy


def nearest_to_pot(public: PublicHand, raises: list[int]) -> int:
    """Returns the raise whose size is nearest to the pot after the call, the smaller of equally near ones."""
    return min(raises, key=lambda action: (abs(action - 3 * public.betting.facing), action))
