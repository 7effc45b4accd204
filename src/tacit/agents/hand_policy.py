"""Hold'em policies, which give the strategy of every hand at a public state, and agents that play them.

A local best response needs such a policy of its opponent.
"""

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
    """A strategy for every hand at any public state of hold'em."""

    def probabilities(self, public: PublicHand) -> Floats:
        """Returns `[A, 1326]` how often each hand takes each legal action; columns of impossible hands mean nothing."""
        ...


@runtime_checkable
class FoldPolicy(Protocol):
    """A policy that computes how often it folds to several raises at once, cheaper than one raise at a time."""

    def fold_shares(self, public: PublicHand, raises: Sequence[int]) -> Floats:
        """Returns `[raises, 1326]` how often each hand folds to each raise of the player to act."""
        ...


def fold_shares(policy: HandPolicy, public: PublicHand, raises: Sequence[int]) -> Floats:
    """Returns `[raises, 1326]` how often a policy folds each hand to each raise of the player to act."""
    if raises and isinstance(policy, FoldPolicy):
        return policy.fold_shares(public, raises)
    after = [public.after(action) for action in raises]
    return np.array([policy.probabilities(state)[state.actions.index(FOLD)] for state in after]).reshape(-1, NUM_HANDS)


def played(policy: HandPolicy, public: PublicHand) -> Floats:
    """Returns `[A, 1326]` a policy's probabilities, normalised over actions; zero for hands whose weights are all zero."""
    weights = policy.probabilities(public)
    total = weights.sum(axis=0)
    shares: Floats = np.divide(weights, total, out=np.zeros(weights.shape), where=total > 0)
    return shares


@dataclass(frozen=True)
class FirstPolicy:
    """Takes the first legal action in a list of preferred ones, with every hand."""

    preferred: tuple[int, ...]

    def probabilities(self, public: PublicHand) -> Floats:
        shares = np.zeros((len(public.actions), NUM_HANDS))
        shares[next(public.actions.index(action) for action in self.preferred if action in public.actions)] = 1.0
        return shares


class UniformPolicy:
    """Plays each legal action with equal probability."""

    def probabilities(self, public: PublicHand) -> Floats:
        num_actions = len(public.actions)
        return np.full((num_actions, NUM_HANDS), 1.0 / num_actions)


class PotOddsPolicy:
    """Calls when its equity against a random hand beats the pot odds; bets and raises about the pot when the equity is high.

    It assumes that opponents hold a random hand whatever they did, so big bets can run it over.
    """

    def probabilities(self, public: PublicHand) -> Floats:
        equity, betting, actions = random_hand_equities(public.board), public.betting, public.actions
        call = equity * (betting.pot + betting.to_call) > betting.to_call if betting.to_call else np.ones(NUM_HANDS, bool)
        shares = np.zeros((len(actions), NUM_HANDS))
        shares[actions.index(CALL)] = call
        if FOLD in actions:
            shares[actions.index(FOLD)] = ~call
        raises = [action for action in actions if action > CALL]
        if raises:
            chosen = nearest_to_pot(public, raises)
            shares[:, equity >= RAISING_EQUITY] = 0.0
            shares[actions.index(chosen), equity >= RAISING_EQUITY] = 1.0
        return shares


@dataclass(frozen=True)
class SolvedPolicy:
    """Plays a hold'em strategy solved from a given board on, and translates off-tree bets."""

    strategy: HandStrategy

    def probabilities(self, public: PublicHand) -> Floats:
        return translated(self.strategy, public)


HAND_POLICIES: dict[str, HandPolicy] = {
    "random": UniformPolicy(),
    "always-call": FirstPolicy((CALL,)),
    "always-fold": FirstPolicy((FOLD, CALL)),
    "pot-odds": PotOddsPolicy(),
}
"""The policies of the bots, by name."""


class HandWalk:
    """Follows a hand of hold'em from what one seat sees.

    Attributes:
      public: What everyone knows.
      hand: The index of the seat's own hand.
    """

    def __init__(self, game: Holdem) -> None:
        self._game = game
        self.start()

    def start(self) -> None:
        """Resets to before the deal."""
        self.public, self.hand = PublicHand.start(self._game), 0

    def observe(self, sight: Sight) -> None:
        """Updates the hand and the public state with a new sight."""
        for word in sight.private:
            self.hand = hand_index(*parse_cards(word))
        for word in sight.public:
            self.public = self.public.hear(word)


class HandAgent:
    """Plays hold'em by sampling from a policy."""

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
        """Returns `[A]` the weight of each legal action with the agent's hand."""
        return self.policy.probabilities(self.walk.public)[:, self.walk.hand]

    def view(self) -> None:
        return None


def policy_of(agent: Agent) -> HandPolicy | None:
    """Returns an agent's hold'em policy, or None if it has none."""
    if isinstance(agent, RandomBot | PokerBot):
        return HAND_POLICIES[agent.name]
    policy: HandPolicy | None = getattr(agent, "policy", None)
    return policy


def nearest_to_pot(public: PublicHand, raises: list[int]) -> int:
    """Returns the raise nearest to the size of the pot after the call; of two equally near, the smaller."""
    return min(raises, key=lambda action: (abs(action - 3 * public.betting.facing), action))
