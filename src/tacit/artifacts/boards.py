"""Student of Games' networks for board games: run folders, network files, and networks that are shipped."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.board_planner import BoardPlanner
from tacit.agents.options import SearchOptions
from tacit.agents.search import SearchAgent
from tacit.artifacts.base import Artifact, Evaluation, Monitor, trained_game
from tacit.games import AnyGame
from tacit.search.boards.match import pair_interval, play_match
from tacit.search.boards.search import BoardSearch, BoardSearchConfig, UniformBoards
from tacit.sog.boards.config import BoardConfig
from tacit.sog.boards.trained import load_board
from tacit.training.folder import system_of

PLAY_EXPANSIONS = 400
"""Default number of positions that an agent opens at each move."""


class BoardArtifact(Artifact):
    """A network that plays by search with growing trees."""

    search_options = ("expansions",)

    def __init__(self, name: str, game: AnyGame | None = None, monitor: Monitor | None = None) -> None:
        self._trained = load_board(name)
        super().__init__(name, trained_game(name, self._trained.game, game, self._trained.source), monitor)

    def search(self, growth: BoardSearchConfig | None = None, device: str = "cpu") -> BoardSearch:
        """Returns the search that uses its network, by default with the settings of its training."""
        return self._trained.search(self.game, growth, device)

    def make_agent(self, generator: np.random.Generator, options: SearchOptions) -> Agent:
        search = self.search(self._growth(options.expansions or PLAY_EXPANSIONS))
        return SearchAgent(BoardPlanner(self.game, search, generator), generator, self.name)

    def measures(self) -> dict[str, Callable[..., Evaluation]]:
        return {"score": self.score}

    def score(
        self, *, expansions: int = PLAY_EXPANSIONS, playthroughs: int = 100, device: str = "cpu", seed: int = 0
    ) -> Evaluation:
        """Returns the mean payoff against the same search without a network, in both seats, with its 95 % interval.

        Args:
          expansions: positions that both searches open at each move.
          playthroughs: number of games.
          device: `cpu` or `cuda`.
          seed: seed of the openings and the searches.
        """
        growth = self._growth(expansions)
        search = self.search(growth, device)
        plain = BoardSearch(search.boards, UniformBoards(search.boards), growth)

        def show(done: int) -> None:
            self.monitor.step("playing against search without a network", done, playthroughs, "games")

        payoffs = play_match(search, plain, playthroughs, np.random.default_rng(seed), show)
        return self.evaluation(
            "score", float(payoffs.mean()), "sampled", interval=pair_interval(payoffs), playthroughs=playthroughs,
            expansions=expansions, epoch=self._trained.epoch,
        )  # fmt: skip

    def _growth(self, expansions: int) -> BoardSearchConfig:
        config = self._trained.config
        return BoardSearchConfig(expansions, config.per_update, config.puct)


def find(name: str, game: AnyGame | None, monitor: Monitor | None) -> Artifact | None:
    """Returns the artifact of a folder or file, or None unless it was trained on a board game."""
    return BoardArtifact(name, game, monitor) if system_of(name) == BoardConfig.system else None
