"""Self-play at hold'em: a betting round is searched on many boards at once, then play goes on below some of its leaves.

All games of a batch share the betting, so a leaf of the search is a leaf of every game. There the beliefs are those of a random
iteration, the next card is drawn for each game, and the next round is searched with its own leaf values or, on the river, to
the end. The values that this search finds at its root are the network's target at the leaf: they follow one card of all that
can come, so the target is noisy but has the right mean. Most of the noise is an effect of the card that a network of round
beginnings (`starts.py`) or, without one, the hands' odds can predict: it is replaced by its mean over all cards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from math import comb

import numpy as np
import torch
from torch import Tensor

from tacit.cards.board_tensors import BoardTensors
from tacit.cards.dealing import DealtBoards, Tables, deal, no_cards
from tacit.cards.deck import NUM_CARDS
from tacit.cards.suits import RENAMED_HANDS
from tacit.games.betting import BOARD_CARDS, PREFLOP, RIVER, Betting, NoLimitBetting
from tacit.games.menus import smaller_menus
from tacit.kernels.street_passes import StreetPasses
from tacit.nets.round_end_leaves import RoundEndLeaves
from tacit.nets.round_end_net import public_features
from tacit.nets.round_policies import RoundPolicies
from tacit.rebel.holdem.config import RANDOM, HoldemConfig
from tacit.rebel.holdem.situations import draw_ranges, draw_rules
from tacit.rebel.holdem.starts import RoundStarts
from tacit.solvers.driver import Driver, DriverOptions
from tacit.solvers.schedules import plain_schedule
from tacit.solvers.warm import STEADINESS, start_warm
from tacit.tree.betting_street import BettingStreet, betting_streets
from tacit.tree.subgame import ROUND


@dataclass
class RoundEndExamples:
    """Belief states at the ends of betting rounds, and the values that a search after the next card found for them.

    Attributes:
      kind: `[B]` the boards, as numbers of `canonical_boards`.
      public: `[B, P]` the public features.
      beliefs: `[B, 2, H]` times H, so that they are of order 1.
      odds: `[B, 2, H]` a hand's wins minus losses against the other's beliefs if nobody bet any more.
      met: `[B, 2, H]` the share of the other's beliefs that a hand can meet.
      beyond: `[B, 2, H]` what a hand wins beyond its odds, in units of what either player has put in; NaN where the card that
        came is the hand's own.
    """

    kind: Tensor
    public: Tensor
    beliefs: Tensor
    odds: Tensor
    met: Tensor
    beyond: Tensor

    def first(self, count: int) -> RoundEndExamples:
        """Returns the first `count` examples."""
        return RoundEndExamples(*(getattr(self, field.name)[:count] for field in fields(self)))


FLOPS = 64
"""Flops that an example before the flop is a mean over: a batch has several examples, at beliefs of different iterations."""
RARELY_MET = 1e-4
"""Hands that meet a smaller share of the other's beliefs have no value: it would be nothing but rounding errors."""
LARGEST = 100.0
"""The largest value beyond odds, in units of what either has put in; larger ones are clipped."""
Examples = dict[int, list[RoundEndExamples]]
"""Examples by the number of cards on their boards."""
OnSearch = Callable[[StreetPasses, DealtBoards, Tensor], None]
"""Called after a search with its games, their boards, and their average strategies."""


@dataclass
class Played:
    """The examples of a batch of hands.

    Attributes:
      ends: examples of the ends of betting rounds.
      starts: examples of the beginnings of betting rounds, which are free of noise.
    """

    ends: Examples = field(default_factory=dict)
    starts: Examples = field(default_factory=dict)


class HoldemSelfPlay:
    """Plays hands of hold'em, one batch at a time.

    Args:
      rules: the rules of the game that is trained for; stacks and bets are drawn around them.
      config: the settings of the run.
      leaves: values the ends of rounds.
      starts: values the beginnings of rounds.
      tables: the tables of boards.
      generator: draws everything random.
      on_search: called after every search; None for no call.

    Attributes:
      policies: The policies that searches start from, if any.
    """

    def __init__(
        self,
        rules: NoLimitBetting,
        config: HoldemConfig,
        leaves: RoundEndLeaves,
        starts: RoundStarts,
        tables: Tables,
        generator: np.random.Generator,
        on_search: OnSearch | None = None,
    ) -> None:
        self.policies: RoundPolicies | None = None
        self._on_search = on_search
        self.rules, self.config, self.leaves, self.starts, self.generator = rules, config, leaves, starts, generator
        self._device = str(next(iter(leaves.nets.values())).out.weight.device)
        self._tables, self._schedule, self.searches = tables, plain_schedule(config.solver), 0
        self._at_random, self._num_sizes = config.beliefs == RANDOM, rules.most_raises

    def advance(self) -> Played:
        """Returns the examples of one batch of hands."""
        rules = draw_rules(self.rules, self.config.perturbation, self.generator, self.config.fewer_bets)
        self._num_sizes = self.leaves.num_sizes = rules.most_raises
        self.starts.set_num_sizes(rules.most_raises)
        first = self._deal(self._no_cards(1 if rules.first_street == PREFLOP else self.config.games), rules.first_street)
        games, hands = first.lane.shape
        examples = Played()
        if self._at_random:
            self._branch(rules, self._street(rules, rules.start()), first, None, examples)
        else:
            uniform = torch.full((games, 2, hands), 1.0 / hands, device=first.lane.device)
            self._search(rules, rules.start(), first, uniform, examples)
        return examples

    def _search(self, rules: NoLimitBetting, betting: Betting, dealt: DealtBoards, reaches: Tensor, examples: Played) -> Tensor:
        """Returns `[2, G, H]` the values at a round's beginning, in units of what either has put in; plays on below it."""
        config, last = self.config, betting.street == RIVER
        street = self._street(rules, betting)
        passes = StreetPasses(street, dealt.boards, reaches, betting.facing, rules.stack)
        ends = DriverOptions() if last else DriverOptions(self.leaves, config.decomposition, config.recycle)
        driver = Driver(passes, self._schedule, ends)
        iterations = config.river_iterations if last else config.iterations
        if self.policies is not None:
            start_warm(driver, self.policies.propose(passes), config.warm_start, STEADINESS)
        beliefs = []
        count = 1 if dealt.boards.board.shape[1] else max(1, config.games // FLOPS)
        for moment in np.sort(self.generator.integers(driver.iteration + 1, iterations + 1, count)):
            driver.run(int(moment) - driver.iteration)
            if driver.valuation is not None:
                beliefs.append(driver.valuation.beliefs.clone())
        driver.run(iterations - driver.iteration)
        self.searches += len(dealt.boards)
        if self._on_search is not None:
            self._on_search(passes, dealt, passes.normalise(driver.average))
        values = torch.stack(driver.average_values())
        del driver, passes  # their memory is needed below
        if not last:
            self._branch(rules, street, dealt, None if self._at_random else torch.cat(beliefs, 2), examples)
        return values

    def _branch(
        self, rules: NoLimitBetting, street: BettingStreet, dealt: DealtBoards, beliefs: Tensor | None, examples: Played
    ) -> None:
        """Plays on below some leaves of a street, with beliefs `[2, L, G, H]` or, if there are none, with random ones."""
        chosen = self.generator.permutation(len(street.deals))[: self.config.branches]
        if not len(chosen):
            return
        bettings = [street.deals[leaf][1] for leaf in chosen]
        drawn = [self._random_beliefs(dealt) if beliefs is None else beliefs[:, leaf] for leaf in chosen]
        here, knows = torch.stack(drawn, 1), self.starts.knows(dealt.boards)
        expected = self.starts.expected(dealt.boards, bettings, rules.stack, here) if knows else None
        for number, betting in enumerate(bettings):
            mean = None if expected is None else expected[:, number]
            self._play_on(rules, betting, dealt, here[:, number], mean, examples)

    def _random_beliefs(self, dealt: DealtBoards) -> Tensor:
        """Returns `[2, G, H]` beliefs drawn uniformly from the simplex."""
        weights = self.generator.standard_exponential((2, *dealt.lane.shape), np.float32)
        return torch.from_numpy(weights / weights.sum(axis=2, keepdims=True)).to(dealt.lane.device)

    def _play_on(
        self,
        rules: NoLimitBetting,
        betting: Betting,
        before: DealtBoards,
        beliefs: Tensor,
        expected: Tensor | None,
        examples: Played,
    ) -> None:
        """Draws the next card below a leaf, searches from there, and adds what was found to the examples.

        Args:
          rules: the rules of the hand.
          betting: the betting at the leaf.
          before: the boards there.
          beliefs: `[2, G, H]`; before the flop one search serves all games, and these are those of some of its iterations.
          expected: `[2, G, H]` the mean over the next cards of the values by networks of beginnings; None without these.
          examples: receives the examples.
        """
        boards, after = before.boards, rules.deal(betting)
        moments = 0 if boards.board.shape[1] else beliefs.shape[1]
        unshaped = moments - round(self.config.shaped * moments)
        if moments:
            flops = self.config.games // moments
            beliefs = beliefs.repeat_interleave(flops, 1)
            self._shape(beliefs[:, unshaped * flops :])
            boards = self._no_cards(beliefs.shape[1])
        count = BOARD_CARDS[after.street] - boards.board.shape[1]
        dealt = self._deal(boards, after.street)
        lane = dealt.lane.expand(2, -1, -1)
        reaches = beliefs.gather(2, lane)
        values = self._search(rules, after, dealt, reaches.transpose(0, 1).contiguous(), examples)
        share = 1.0 if expected is None else self.config.surprise
        if expected is None:
            expected, known = boards.leads(beliefs.flip(0)), dealt.boards.leads(reaches.flip(0))
        else:
            known = self.starts.values(dealt.boards, [betting], rules.stack, reaches[:, None])[:, 0]
            total = reaches.sum(2, keepdim=True).clamp(min=1e-12)
            start = self._examples(dealt, betting, rules.stack, reaches / total, values / total.flip(0))
            examples.starts.setdefault(dealt.boards.board.shape[1], []).append(start)
        surprise = torch.full(beliefs.shape, torch.nan, device=beliefs.device)
        surprise.scatter_(2, lane, share * card_factor(boards, count) * (values - known))
        at_end = before if not moments else DealtBoards(boards, before.kind.expand(moments), before.lane)
        new = self._examples(at_end, betting, rules.stack, beliefs, expected + surprise)
        if moments:
            new = _mean_over_flops(new, moments).first(unshaped)
        if len(new.kind):
            examples.ends.setdefault(boards.board.shape[1], []).append(new)

    def _shape(self, beliefs: Tensor) -> None:
        """Multiplies beliefs `[2, G, 1326]` by ranges drawn for each game; where nothing would be left, they stay."""
        _, games, hands = beliefs.shape
        drawn = torch.from_numpy(draw_ranges(2 * games, self.generator)).to(beliefs.device).view(2, games, hands)
        shaped = beliefs * drawn
        total = shaped.sum(2, keepdim=True)
        beliefs.copy_(torch.where(total > 0, shaped / total.where(total > 0, 1.0), beliefs))

    def _examples(self, dealt: DealtBoards, betting: Betting, stack: int, beliefs: Tensor, values: Tensor) -> RoundEndExamples:
        """Returns games as examples, from beliefs and counterfactual values `[2, G, H]`, which are NaN where unknown."""
        boards, other = dealt.boards, beliefs.flip(0)
        leads, met = boards.leads(other), boards.meetings(other).clamp(min=1e-9)
        beyond = ((values - leads) / met).clamp(-LARGEST, LARGEST).masked_fill(met < RARELY_MET, torch.nan)
        parts = (beliefs * beliefs.shape[2], leads / met, met, beyond)
        public = public_features(boards, [betting], stack, self._num_sizes)[0]
        return RoundEndExamples(dealt.kind, public, *(part.transpose(0, 1).half() for part in parts))

    def _street(self, rules: NoLimitBetting, betting: Betting) -> BettingStreet:
        """Returns the betting of a street, with as many bets as the settings' `nodes` allow."""
        cards, depth = BOARD_CARDS[betting.street], None if betting.street == RIVER else ROUND
        streets = (betting_streets(menu, cards, betting, depth=depth)[0] for menu in smaller_menus(rules))
        for street in streets:
            if len(street.kind) <= self.config.nodes:
                break
        return street

    def _deal(self, boards: BoardTensors, street: int) -> DealtBoards:
        return deal(boards, BOARD_CARDS[street] - boards.board.shape[1], self.generator, self._tables)

    def _no_cards(self, games: int) -> BoardTensors:
        return no_cards(games, self._device)


def _mean_over_flops(examples: RoundEndExamples, count: int) -> RoundEndExamples:
    """Returns `count` examples before the flop, each the mean over equally many alike games and over all renamings of suits."""
    suits = torch.from_numpy(RENAMED_HANDS).to(examples.beyond.device)

    def mean(part: Tensor) -> Tensor:  # half precision overflows when hundreds are summed
        alike: Tensor = part.float().unflatten(0, (count, -1)).nanmean(1)[..., suits].nanmean(2)  # type: ignore[no-untyped-call]
        return alike.half()

    parts = (mean(part) for part in (examples.beliefs, examples.odds, examples.met, examples.beyond))
    return RoundEndExamples(examples.kind, examples.public[:count], *parts)


def card_factor(boards: BoardTensors, count: int) -> float:
    """Returns the factor on a mean over the cards that leave a hand: the other hand may hold some of them."""
    left = NUM_CARDS - boards.board.shape[1]
    return comb(left - 2, count) / comb(left - 4, count)
