"""A game as an agent-environment-cycle (AEC) environment: PettingZoo's interface for turn-based games.

- An observation is a dictionary: `observation`, a vector of what the player to act knows followed by two numbers for its seat,
  and `action_mask`, 1 for legal moves. A waiting player sees its observation from its last decision and a mask of zeros.
- Rewards are 0 until the game is over; then both players get their payoffs.
- Chance moves inside the environment. `reset(seed)` reseeds its random numbers; `reset()` continues them.
- Simultaneous moves are moves in turn that the other player does not see, as in all games here.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, Space
from gymnasium.utils import EzPickle
from pettingzoo import AECEnv

from tacit.errors import TacitError
from tacit.games import AnyGame, load_game
from tacit.games.base import CHANCE, TERMINAL
from tacit.pettingzoo.encoders import make_encoder
from tacit.tree.observations import Arrival, draw_chance
from tacit.tree.public_tree import NO_ACTION

AGENTS = ("player_0", "player_1")
Observation = dict[str, np.ndarray[Any, Any]]


class GameEnv(AECEnv, EzPickle):  # type: ignore[misc]  # PettingZoo has no types
    """The environment without wrappers; `tacit.pettingzoo.env` adds PettingZoo's usual ones.

    Args:
      game: The game, or its name.
      render_mode: `ansi`, or None.

    Attributes:
      game: The rules.
      worst_payoff: The smallest payoff that a player can get.

    Raises:
      TacitError: the game is unknown or too large to encode, or there is no such render mode.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "is_parallelizable": False, "name": "tacit"}

    def __init__(self, game: AnyGame | str, *, render_mode: str | None = None) -> None:
        EzPickle.__init__(self, game, render_mode=render_mode)
        super().__init__()
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise TacitError(f"there is no render mode {render_mode!r}: choose ansi or None")
        self.game: AnyGame = load_game(game) if isinstance(game, str) else game
        self.render_mode = render_mode
        self._encoder = make_encoder(self.game)
        self._generator = np.random.default_rng()
        self.worst_payoff = self._encoder.worst_payoff
        self.metadata = {**self.metadata, "name": f"tacit {self.game}"}  # type: ignore[misc]
        self.possible_agents = list(AGENTS)
        low, high = (0.0, 1.0) if self._encoder.bounded else (-np.inf, np.inf)
        self._size, self._num_moves = self._encoder.num_features + len(AGENTS), self._encoder.num_actions
        self.action_spaces = {agent: Discrete(self._num_moves) for agent in AGENTS}
        self.observation_spaces = {
            agent: Dict(
                {
                    "observation": Box(low, high, (self._size,), np.float32),
                    "action_mask": Box(0, 1, (self._num_moves,), np.int8),
                }
            )
            for agent in AGENTS
        }

    def observation_space(self, agent: str) -> Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        del options  # there are none
        if seed is not None:
            self._generator = np.random.default_rng(seed)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self._known = [self._nothing_yet(player) for player in range(len(AGENTS))]
        self._seen: list[str] = []
        self._encoder.start()
        self._arrive(CHANCE, NO_ACTION, self.game.initial_state())
        self._accumulate_rewards()

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None or int(action) not in self._legal:
            raise TacitError(f"{self.game}: {action!r} is not a legal action here; action_mask shows those that are")
        mover, taken = self._arrival.actor, self._legal[int(action)]
        self._arrive(mover, taken, self.game.apply(self._arrival.state, taken))
        self._accumulate_rewards()

    def observe(self, agent: str) -> Observation:
        mask = np.zeros(self._num_moves, np.int8)
        if agent == self.agent_selection:
            mask[list(self._legal)] = 1
        return {"observation": self._known[AGENTS.index(agent)].copy(), "action_mask": mask}

    def action_names(self) -> dict[int, str]:
        """Returns the names of the legal moves of the player to act."""
        return {move: self.game.action_name_at(self._arrival.state, action) for move, action in self._legal.items()}

    def render(self) -> str | None:
        """Returns what everyone sees, as text, in render mode `ansi`."""
        if self.render_mode is None:
            return None
        return self.game.drawing(self._arrival.state) or " / ".join(self._seen)

    def _arrive(self, mover: int, action: int, state: Any) -> None:
        """Lets chance move and advances to the next decision or to the end."""
        self._arrival: Arrival = draw_chance(self.game, state, self._generator)
        self._seen.extend(self._arrival.public)
        actor = self._arrival.actor
        self._legal: dict[int, int] = {}
        if actor == TERMINAL:
            self.terminations = dict.fromkeys(AGENTS, True)
            self.rewards = dict(zip(AGENTS, map(float, self.game.returns(self._arrival.state)), strict=True))
            self.agent_selection = AGENTS[0]
            return
        self._encoder.follow(mover, action, self._arrival)
        self._known[actor][: -len(AGENTS)] = self._encoder.encode(self._arrival)
        self._legal = self._encoder.legal_moves(self._arrival.state)
        self.agent_selection = AGENTS[actor]

    def _nothing_yet(self, player: int) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Returns the vector of a player who has not moved yet: only its seat is set."""
        vector = np.zeros(self._size, np.float32)
        vector[player - len(AGENTS)] = 1.0
        return vector
