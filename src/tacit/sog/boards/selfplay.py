"""Sound self-play on boards: games played by search, and positions that the network was asked about, searched again.

Every step searches the positions of all games, and with them some *queries*: positions that the network was asked about inside
earlier searches. A game gives examples when it ends: each of its positions with the policy that was found there, and a value
mixed from the outcome, TD(1), and the value that the search found. A query gives one at once, with the value and the policy
that its search found, so the network also learns about positions off the line of play.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tacit.games.base import TERMINAL
from tacit.games.boards import Positions
from tacit.search.boards.forest import BoardForest
from tacit.search.boards.search import BoardResult, BoardSearch

Floats = NDArray[np.float32]

FIRST_ROOM = 64
"""The moves of a game that there is room for initially."""


@dataclass
class BoardExamples:
    """Positions and what there is to learn about them.

    Attributes:
      position: `[n, W]` int64 the positions.
      policy: `[n, A]` the policies that search found.
      value: `[n]` the values for the player to act.
    """

    position: Tensor
    policy: Tensor
    value: Tensor


@dataclass
class Story:
    """The games in play, with everything that their examples will need.

    Attributes:
      position: `[G, W]` the current position of each game.
      length: `[G]` moves so far.
      past: `[G, T, W]` the positions that were searched.
      policy: `[G, T, A]` the policies that searches found at `past` positions.
      value: `[G, T]` the values for player 0 that searches found at `past` positions.
    """

    position: Positions
    length: NDArray[np.int64]
    past: Positions
    policy: Floats
    value: Floats

    def make_room(self) -> None:
        """Doubles the room for moves when a game has used it up."""
        if self.length.max() == self.past.shape[1]:
            self.past, self.policy, self.value = (
                np.concatenate([part, np.zeros_like(part)], 1) for part in (self.past, self.policy, self.value)
            )


class BoardSelfPlay:
    """Plays many games together, one move at a time.

    Attributes:
      search: The search that plays.
      story: The games in play.
      queries: `[Q, W]` positions waiting for the solver.
      games_played: Games that ended so far.
    """

    def __init__(self, search: BoardSearch, num_games: int, uniform_mix: float, queries: float, outcome_share: float) -> None:
        """Starts games.

        Args:
          search: the search that plays.
          num_games: `G`.
          uniform_mix: how often a move is drawn uniformly.
          queries: the queries solved per game and step.
          outcome_share: the weight of the outcome in the value of a game's positions.
        """
        boards = search.boards
        self.search, self._mix, self._share = search, uniform_mix, outcome_share
        self._num_queries = round(queries * num_games)
        self.story = Story(
            boards.start(num_games),
            np.zeros(num_games, np.int64),
            np.zeros((num_games, FIRST_ROOM, boards.num_words), np.int64),
            np.zeros((num_games, FIRST_ROOM, boards.num_actions), np.float32),
            np.zeros((num_games, FIRST_ROOM), np.float32),
        )
        self.queries: Positions = np.zeros((0, boards.num_words), np.int64)
        self.games_played = 0

    def advance(self, generator: np.random.Generator) -> BoardExamples:
        """Returns the examples of one more move in every game."""
        story, count = self.story, len(self.story.position)
        result = self.search.run(np.concatenate([story.position, self.queries]), generator)
        solved = self._examples(self.queries, result.policy[count:], result.values[count:])
        self.queries = self._draw_queries(result.forest, generator)
        games = np.arange(count)
        story.make_room()
        story.past[games, story.length] = story.position
        story.policy[games, story.length] = result.policy[:count]
        story.value[games, story.length] = result.values[:count]
        story.length += 1
        story.position = self.search.boards.apply(story.position, self._draw_moves(result, generator))
        actor, payoff = self.search.boards.outcomes(story.position)
        over = np.flatnonzero(actor == TERMINAL)
        ended = self._end(over, payoff[over])
        return BoardExamples(*(torch.cat(pair) for pair in zip(vars(solved).values(), vars(ended).values(), strict=True)))

    def _draw_moves(self, result: BoardResult, generator: np.random.Generator) -> NDArray[np.int64]:
        """Returns `[G]` moves drawn from the searches' policies, mixed with uniform play."""
        count = len(self.story.position)
        legal = self.search.boards.legal(self.story.position).astype(np.float64)
        uniform = legal / legal.sum(1, keepdims=True)
        chances = ((1.0 - self._mix) * result.policy[:count] + self._mix * uniform) * legal
        chances /= chances.sum(1, keepdims=True)
        drawn = (chances.cumsum(1) <= generator.random(count)[:, None]).sum(1)
        last = legal.shape[1] - 1 - legal[:, ::-1].argmax(1)  # legal move, for draws beyond the total after rounding
        moves: NDArray[np.int64] = np.minimum(drawn, last)
        return moves

    def _draw_queries(self, forest: BoardForest, generator: np.random.Generator) -> Positions:
        """Returns `[Q, W]` positions that the network was asked about, from random trees."""
        tree = generator.integers(0, len(forest.num_nodes), self._num_queries)
        node = (generator.random(self._num_queries) * forest.num_nodes[tree]).astype(np.int64)
        asked = forest.actor[tree, node] >= 0
        return forest.position[tree[asked], node[asked]]

    def _end(self, over: NDArray[np.int64], payoff: Floats) -> BoardExamples:
        """Returns the examples of games that are over, and starts new ones in their places."""
        story = self.story
        length = story.length[over]
        game, move = np.repeat(over, length), np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
        outcome = np.repeat(payoff, length)
        value = self._share * outcome + (1.0 - self._share) * story.value[game, move]
        examples = self._examples(story.past[game, move], story.policy[game, move], value)
        story.position[over] = self.search.boards.start(len(over))
        story.length[over] = 0
        self.games_played += len(over)
        return examples

    def _examples(self, positions: Positions, policy: Floats, value: Floats) -> BoardExamples:
        actor, _ = self.search.boards.outcomes(positions)
        own = np.where(actor == 0, value, -value).astype(np.float32)
        return BoardExamples(torch.from_numpy(positions.copy()), torch.from_numpy(policy.copy()), torch.from_numpy(own))
