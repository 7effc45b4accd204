"""How far a network of the turn's round ends is from the truth: the solved rivers after every card, always on the same states.

The states are ends of the turn's betting on random boards with random stacks and bets, at the beliefs of a random iteration of
a search that only knows odds. So they do not depend on the network, and figures of different networks can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from tacit.cards.board_tensors import BoardTensors
from tacit.cards.dealing import deal, no_cards
from tacit.games.betting import BOARD_CARDS, TURN, Betting, NoLimitBetting
from tacit.kernels.street_passes import StreetPasses, StreetStates
from tacit.leaves.solved_hands import SolvedHandLeaves
from tacit.leaves.solved_streets import SolvedRivers
from tacit.nets.round_end_leaves import RoundEndLeaves
from tacit.nets.round_end_net import RoundEndNet
from tacit.rebel.holdem.situations import draw_rules
from tacit.solvers.driver import Driver, DriverOptions
from tacit.solvers.schedules import plain_schedule
from tacit.solvers.valuation import MODIFIED_CFR_AVE
from tacit.tally import errors_95
from tacit.tree.betting_street import betting_streets
from tacit.tree.subgame import ROUND

POT, STACK = 2_000, 20_000
"""Chips in the pot when the turn begins, and of either player at the start of the hand; stacks are drawn around the latter."""
PERTURBATION = 0.1
SEARCH = 64
"""Iterations of the searches whose beliefs are taken."""
BOARDS_AT_ONCE = 8
"""Boards that share the betting; a GPU solves all their rivers together."""


@dataclass(frozen=True)
class RoundEndError:
    """Errors on solved round ends in units of what either player has put in, hands weighted by how likely they are held.

    Attributes:
      absolute: the network's mean absolute error.
      interval: a 95 % interval for it.
      odds: the error of odds alone.
      states: how many belief states were compared.
    """

    absolute: float
    interval: tuple[float, float]
    odds: float
    states: int


def round_end_error(
    leaves: RoundEndLeaves,
    rules: NoLimitBetting,
    samples: int,
    iterations: int,
    seed: int,
    device: str,
    on_sample: Callable[[int], None] = lambda _: None,
) -> RoundEndError:
    """Returns how far values of the turn's round ends are from solved rivers.

    Args:
      leaves: the evaluator to judge.
      rules: the rules of the game, for its bets.
      samples: belief states, rounded up to whole batches.
      iterations: the iterations of a river's search.
      seed: the seed of the states.
      device: where rivers are solved.
      on_sample: called with the states done.
    """
    # One batch of all rivers suits a GPU; on the CPU one tree for each turn is solved twenty times as fast.
    solved = SolvedHandLeaves if device == "cpu" else SolvedRivers
    errors: list[float] = []
    blind: list[float] = []
    generator = np.random.default_rng(seed)
    endgame = replace(rules, stack=STACK, first_street=TURN, pot=POT)
    while len(errors) < samples:
        for drawn, betting, boards, beliefs in _states(endgame, generator, device):
            states = StreetStates(boards, [betting], betting.facing, drawn.stack)
            truth = solved(drawn, iterations).evaluate(states, beliefs[:, None])[:, 0]
            predicted, other = leaves.evaluate(states, beliefs[:, None])[:, 0], beliefs.flip(0)
            weight = beliefs * boards.meetings(other)
            for values, figures in ((predicted, errors), (boards.leads(other), blind)):
                # Counterfactual values contain the likelihood of meeting the other's hands, and so do weights.
                wrong = ((values - truth).abs() * beliefs).sum(2) / weight.sum(2)
                figures.extend(wrong.mean(0).tolist())
            on_sample(len(errors))
    mean, count = float(np.mean(errors)), len(errors)
    margin = errors_95(count) * float(np.std(errors, ddof=1)) / count**0.5
    return RoundEndError(mean, (mean - margin, mean + margin), float(np.mean(blind)), count)


def _states(
    rules: NoLimitBetting, generator: np.random.Generator, device: str
) -> Iterator[tuple[NoLimitBetting, Betting, BoardTensors, Tensor]]:
    """Yields two ends of one betting round: rules, betting, boards, and beliefs `[2, G, H]`."""
    drawn = draw_rules(rules, PERTURBATION, generator)
    boards = deal(no_cards(BOARDS_AT_ONCE, device), BOARD_CARDS[TURN], generator).boards
    street, start = betting_streets(drawn, BOARD_CARDS[TURN], depth=ROUND)[0], drawn.start()
    odds = RoundEndNet(1, 1, 1).to(device)
    torch.nn.init.zeros_(odds.out.weight)
    reaches = torch.full((len(boards), 2, boards.hand.shape[1]), 1.0 / boards.hand.shape[1], device=device)
    passes = StreetPasses(street, boards, reaches, start.facing, drawn.stack)
    ends = DriverOptions(RoundEndLeaves({BOARD_CARDS[TURN]: odds}, dtype=torch.float32), MODIFIED_CFR_AVE)
    driver = Driver(passes, plain_schedule("dcfr"), ends)
    driver.run(int(generator.integers(8, SEARCH + 1)))
    assert driver.valuation is not None
    for leaf in generator.permutation(len(street.deals))[:2]:
        yield drawn, street.deals[leaf][1], boards, driver.valuation.beliefs[:, leaf].clone()
