"""A lower bound on the exploitability of search, where the game is too large for an exact best response.

A responder (`search/responder.py`) plays whole games against the agent, in both seats, and its mean payoff is the bound. It
knows how the agent searches but not what it draws: nothing it does depends on the agent's sampled iterations or private state.
So it is a legitimate opponent, and on average it wins no more than a best response. It wins less because its plan leaves public
states out, and because beliefs differ: the agent's follow the iteration it drew, those of the responder's model the average.

Variance is low. Private states of both players are summed out, so payoffs inside a subgame are expectations, also over the
iterations the agent may draw there; only the beliefs below depend on the draw. The plan's leaf values are a control variate:
the planned value of the leaf that was drawn is subtracted, and its expectation added. That leaves the mean unchanged, whatever
the plan says (as in AIVAT).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from tacit.errors import TacitError
from tacit.search.batch import Batch
from tacit.search.odds import LeafOdds
from tacit.search.playthroughs import MAX_SEARCHES
from tacit.search.responder import NOT_OPENED, ResponseStage, meeting_sums, plan_response
from tacit.search.search import BatchSearch
from tacit.search.walk import GAME_OVER, leaf_states, reaches_below, sample_leaves
from tacit.tally import errors_95
from tacit.tree.search_space import SearchSpace

LEAST_GAMES = 2
"""Fewer games give no interval."""
PATHS_PER_GAME = 4
"""With this many, the responder's plan takes about as many searches as the games in both seats."""
LEAST_WEIGHT = 0.05
"""Games of a lower weight continue at random, in proportion to their weight; those that continue count this much."""


@dataclass(frozen=True)
class ResponseBound:
    """What an approximate best response wins from an agent.

    Attributes:
      exploitability: the responder's mean payoff over both seats: a sampled lower bound on the agent's exploitability.
      interval: the 95 % interval of `exploitability`.
      payoffs: the responder's mean payoff as player 0 and as player 1.
      games: the games played, both seats together.
    """

    kind: ClassVar[str] = "lower bound"

    exploitability: float
    interval: tuple[float, float]
    payoffs: tuple[float, float]
    games: int


def best_response_bound(
    search: BatchSearch,
    games: int,
    generator: np.random.Generator,
    progress: Callable[[int], None] = lambda _: None,
    width: int | None = None,
    safe: bool = True,
) -> ResponseBound:
    """Returns a sampled lower bound on the exploitability of the agent that plays by `search`.

    Args:
      search: the agent's search.
      games: games in each seat; four times as many halve the interval.
      generator: draws the agent's iterations, and the leaves that games reach.
      progress: called with the number of searches done.
      width: the most public paths that the responder opens at each stage; more make a better responder. None takes
        `PATHS_PER_GAME` times the games.
      safe: whether the agent plays a random iteration of each search, as ReBeL does, or the average.

    Raises:
      TacitError: there are too few games.
    """
    if games < LEAST_GAMES:
        raise TacitError(f"a bound with an interval takes at least {LEAST_GAMES} games in each seat, not {games}")
    plan = plan_response(search, PATHS_PER_GAME * games if width is None else width, progress)
    payoffs: list[list[np.ndarray]] = [[], []]
    done = sum(len(stage.public_class) for stage in plan)
    at_once = MAX_SEARCHES[torch.device(search.kernels.device).type] // 2
    for start in range(0, games, at_once):
        match = _Match(search, plan, min(at_once, games - start), generator, safe)
        while len(match.game):
            done += match.advance()
            progress(done)
        for seat in (0, 1):
            payoffs[seat].append(match.payoff[match.seat == seat].cpu().numpy())
    first, second = (np.concatenate(parts) for parts in payoffs)
    means = float(first.mean()), float(second.mean())
    error = 0.5 * float(np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / games))
    middle, half = sum(means) / 2, errors_95(games) * error
    return ResponseBound(middle, (middle - half, middle + half), means, 2 * games)


def max_bound_searches(space: SearchSpace, games: int) -> int:
    """Returns the most searches that `best_response_bound` can take with `games` games in each seat."""
    t = space.tables
    from_class, searched = np.repeat(np.arange(space.num_classes), np.diff(t.leaf_start)), np.zeros(space.num_classes, int)
    longest = np.ones_like(searched)  # searches from a class to the end of the game
    while not np.array_equal(searched, longest):
        searched = longest.copy()
        np.maximum.at(longest, from_class, 1 + searched[t.leaf_class])
    each_stage = PATHS_PER_GAME + 2 * 2  # in both seats, the agent searches and perhaps the responder
    return int(each_stage * games * longest[space.root_class].max())


class _Match:
    """Games of the responder against the agent, which advance together, one search at a time; `G` of them are still running.

    Attributes:
      seat: `[2 * games]` the responder's seat.
      payoff: `[2 * games]` the estimate of the responder's payoff.
      game: `[G]` the indices of the games still running.
    """

    def __init__(
        self, search: BatchSearch, plan: list[ResponseStage], games: int, generator: np.random.Generator, safe: bool
    ) -> None:
        self._search, self._generator, self._safe = search, generator, safe
        chance, self._device = search.space.root_chance, search.kernels.device
        self.seat = torch.arange(2 * games, device=self._device) % 2
        self.game = torch.arange(2 * games, device=self._device)
        self.payoff = torch.zeros(2 * games, dtype=torch.float64, device=self._device)
        # Games that end before anyone acts pay the two seats opposite amounts, which cancel: only their share matters.
        self._weight = torch.full((2 * games,), float(chance.sum()), device=self._device)
        self._planned_value = torch.zeros_like(self._weight)  # of the leaf that each game is at
        self._plan = plan[1:]
        path = torch.from_numpy(generator.choice(len(chance), 2 * games, p=chance / chance.sum())).to(self._device)
        self._followed = [(plan[0], self.game, path)]  # stages, the games `[n]` at each, and their paths `[n]` there
        self._agent_reaches = plan[0].reaches[path]  # [G, 2, H] what the agent believes
        self._real_reaches = self._agent_reaches  # [G, 2, H] from what both really play

    def advance(self) -> int:
        """Returns the searches of one more step, which adds up what each game's subgame pays and moves the game to a leaf."""
        search = self._search
        classes = np.zeros(len(self.game), np.int64)
        for stage, games, path in self._followed:
            classes[games.cpu().numpy()] = stage.public_class[path.cpu().numpy()]
        agent = search.run(classes, self._agent_reaches, search.iterations_at(self._generator.random(len(classes))))
        (chosen, believed), batch = agent.to_play(self._safe), agent.batch
        # A random iteration of regret matching pays on average what the average strategy pays.
        on_average = agent.average_strategy if chosen is agent.sampled_strategy else chosen
        (played, expected), leaf_values = self._respond(batch, chosen, on_average)
        returns, _, planned = self._outcomes(batch, expected, leaf_values)
        self.payoff[self.game] += (self._weight * (returns + planned.sum(1) - self._planned_value)).double()
        _, chances, planned = self._outcomes(batch, played, leaf_values)

        total = chances.sum(1)
        weight = self._weight * total
        draws, lottery = torch.from_numpy(self._generator.random((2, len(classes)), np.float32)).to(self._device)
        leaf = sample_leaves(chances / total.clamp_min(1e-30)[:, None], draws * (1.0 - 1e-6))
        leaf = torch.where(weight > LEAST_WEIGHT * lottery, leaf, GAME_OVER)
        _, real = leaf_states(search, batch, played, self._real_reaches, leaf)
        _, beliefs = leaf_states(search, batch, believed, self._agent_reaches, leaf)
        kept = leaf != GAME_OVER
        self._real_reaches, self._agent_reaches = real[kept], beliefs[kept]
        self._weight, self.game = weight.clamp_min(LEAST_WEIGHT)[kept], self.game[kept]
        self._planned_value = (planned / chances.clamp_min(1e-30))[kept, leaf[kept]]
        return len(classes) + self._follow(leaf)

    def _respond(self, batch: Batch, *strategies: Tensor) -> tuple[list[Tensor], Tensor]:
        """Returns strategies of the agent with the responder's own entries in place, and the planned values of leaves.

        Args:
          batch: the agent's searches.
          strategies: the agent's strategies in them.

        Returns:
          Entries in the layout of `batch`, and `[H, leaves]` infostate values of the responder.
        """
        tables, H = self._search.space.tables, self._real_reaches.shape[2]
        first_seat = batch.by_place(self.seat[self.game]) == 0
        merged = [strategy.clone() for strategy in strategies]
        values = merged[0].new_zeros(H, len(batch.leaf_class))
        for stage, games, path in self._followed:
            for group, source, column, is_here in stage.matches(batch, games, path):
                first = first_seat[group.games]
                player = torch.from_numpy(tables.entry_player[slice(*tables.entry_start[group.public_class :][:2])])
                responds = ((player.to(self._device)[:, None] == 0) == first) & is_here
                answers = stage.batch.view(stage.response, stage.batch.entry_offset, source)[:, column]
                for strategy in merged:
                    view = batch.view(strategy, batch.entry_offset, group)
                    view.copy_(torch.where(responds, answers, view))
                leaves, theirs = (b.leaf_offset[g.number : g.number + 2] for b, g in ((batch, group), (stage.batch, source)))
                worth = stage.leaf_values[:, slice(*theirs)].view(2, H, -1, source.size)[..., column]
                target = values[:, slice(*leaves)].view(H, -1, group.size)
                target.copy_(torch.where(is_here, torch.where(first, worth[0], worth[1]), target))
        return merged, values

    def _outcomes(self, batch: Batch, played: Tensor, leaf_values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Returns what each game's subgame pays, and the leaves it can lead to.

        Args:
          batch: the layout.
          played: what both players play.
          leaf_values: `[H, leaves]` infostate values of the responder.

        Returns:
          `[G]` the responder's expected payoff where the game ends, times the probability of that; `[G, L]` the probability of
          each leaf; and `[G, L]` that times the leaf's planned value.
        """
        space, device, H = self._search.space, self._device, self._real_reaches.shape[2]
        tables, table = space.tables, space.tables.players[0]
        reaches, first_seat = batch.by_place(self._real_reaches), batch.by_place(self.seat[self.game]) == 0
        below = reaches_below(self._search, batch, played, self._real_reaches)
        odds, most = LeafOdds(space, batch, device), max(1, int(np.diff(tables.leaf_start).max()))
        returns = torch.zeros(len(reaches), device=device)
        chances, planned = torch.zeros(2, len(reaches), most, device=device)
        for group in batch:
            c, first = group.public_class, first_seat[group.games]
            own, other = batch.rows(below, group)
            deals = torch.from_numpy(tables.deals[c]).to(device)
            total = ((reaches[group.games, 0] @ deals) * reaches[group.games, 1]).sum(1).clamp_min(1e-30)
            ends = torch.from_numpy(table.leaf[slice(*table.row_start[c : c + 2])] < 0).to(device)
            paid = (own * meeting_sums(table, c, other) * ends[:, None]).sum(0) / total
            returns[group.games] = torch.where(first, paid, -paid)
            mass = [odds.arrived(group.number, p, below[p]) * odds.of_rows(group.number, p, below[1 - p]) for p in (0, 1)]
            of_responder = torch.where(first, mass[0], mass[1]) / total  # [leaves, H, games]
            values = leaf_values[:, slice(*batch.leaf_offset[group.number :][:2])].view(H, -1, group.size)
            chances[group.games, : len(of_responder)] = of_responder.sum(1).T
            planned[group.games, : len(of_responder)] = (of_responder * values.transpose(0, 1)).sum(1).T
        return batch.by_game(returns), batch.by_game(chances), batch.by_game(planned)

    def _follow(self, leaf: Tensor) -> int:
        """Moves the games on to their next stages, from the leaves `[G]` they reached; returns how many searches that took."""
        number = (leaf != GAME_OVER).cumsum(0) - 1  # among the games still running
        before, planned, searches = self._followed, self._plan[:1], 0
        self._plan, self._followed = self._plan[1:], []
        for stage, all_games, all_paths in before:
            going_on = leaf[all_games] != GAME_OVER
            games, path = all_games[going_on], all_paths[going_on]
            below = stage.below[path, leaf[games]]
            opened = below != NOT_OPENED
            if opened.any():
                self._followed.append((planned[0], number[games[opened]], below[opened]))
            if not opened.all():
                new, which = torch.unique(torch.stack([leaf[games], path])[:, ~opened], dim=1, return_inverse=True)
                unplanned = ResponseStage(self._search, *stage.leaf_states(*new))
                unplanned.answer(None)
                self._followed.append((unplanned, number[games[~opened]], which))
                searches += new.shape[1]
        return searches
