"""One hand between a person and an agent, and its record: what each saw, the moves, and the agent's thoughts."""

from __future__ import annotations

from typing import Any

from tacit.agents.base import Agent, Sight
from tacit.agents.table import Table
from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.base import TERMINAL
from tacit.tree.observations import Draws
from tacit.web.play.mind import mind_data
from tacit.web.play.scenes import Scene, Stage, narrate


class Hand:
    """A hand in progress.

    Frames for the browser are made from `seen`, the person's own sights. The agent's sights are used only after the hand.

    Attributes:
      seat: The person's seat.
      seen: The person's sights so far.
      both: Both players' sights at every state, for the luck-adjusted result.
      steps: One entry for each decision, with scene, words and view, for the replay.
    """

    def __init__(self, game: AnyGame, stage: Stage, agent: Agent, seat: int, draws: Draws) -> None:
        self.seat, self._stage, self._agent = seat, stage, agent
        self.seen: list[Sight] = []
        self.both: list[tuple[Any, Any]] = []
        self.steps: list[dict[str, Any]] = []
        self._theirs: list[Sight] = []
        agent.start(1 - seat)
        self._table = Table(game, draws)
        self._look()

    @property
    def is_over(self) -> bool:
        """Whether the hand has ended."""
        return self._table.actor == TERMINAL

    @property
    def is_mine(self) -> bool:
        """Whether the person is to act."""
        return self._table.actor == self.seat

    @property
    def payoff(self) -> float:
        """The person's payoff, once the hand is over."""
        return self._table.returns[self.seat]

    @property
    def now(self) -> Sight:
        """The person's latest sight."""
        return self.seen[-1]

    def play(self, action: int) -> None:
        """Makes the person's move.

        Raises:
          TacitError: it is not legal.
        """
        if not self.is_mine:
            raise TacitError("it is not your turn")
        self._make(action)

    def reply(self) -> None:
        """Lets the agent move, and keeps what it thought."""
        action = self._agent.act()
        self.think()
        self._make(action)

    def think(self) -> dict[str, Any] | None:
        """Returns what the agent thinks at the current decision, and keeps it for the replay."""
        step = self.steps[-1]
        if step["mind"] is None:
            step["mind"] = mind_data(self._agent.view(), self.seat, self._held_word(), self.now.chips)
        mind: dict[str, Any] | None = step["mind"]
        return mind

    def scene(self) -> Scene:
        """Returns what the person sees now."""
        return {"kind": self._stage.kind, **self._stage.scene(self.seat, self.seen)}

    def log(self) -> list[dict[str, str]]:
        """Returns the events so far, in words."""
        return narrate(self.seat, self.seen)

    def choices(self) -> list[dict[str, Any]]:
        """Returns the person's legal moves."""
        sight = self.now
        if not self.is_mine:
            return []
        names = sight.action_names if sight.chips is None else [sight.chips.name(action) for action in sight.legal_actions]
        return [{"action": action, "label": name} for action, name in zip(sight.legal_actions, names, strict=True)]

    def sizes(self) -> dict[str, int] | None:
        """Returns the free bet sizes: smallest, largest, the bet faced, the pot after a call, and a bet of that pot."""
        chips = self.now.chips
        if not self.is_mine or chips is None or chips.free_sizes is None:
            return None
        least, most = chips.free_sizes
        facing, after = chips.bets[1 - chips.actor], sum(chips.spent) + chips.to_call
        return {"least": least, "most": most, "facing": facing, "after": after, "pot": min(most, max(least, facing + after))}

    def read(self, text: str) -> int:
        """Returns the action that the person typed, read as at the terminal.

        Raises:
          TacitError: the text means nothing, or something that is not allowed.
        """
        word = " ".join(text.split()).casefold()
        for choice in self.choices():
            if word == " ".join(choice["label"].split()).casefold():
                return int(choice["action"])
        action = None if self.now.chips is None else self.now.chips.read(word)
        if action is None:
            raise TacitError(f"no move {word!r} here")
        return action

    def theirs(self) -> Any:
        """Returns what the agent held, once the hand is over.

        Raises:
          TacitError: the hand is not over.
        """
        if not self.is_over:
            raise TacitError("the hand is not over")
        return self._stage.held(1 - self.seat, self._theirs)

    def _held_word(self) -> str:
        """Returns the person's private state in the words of the agent's view."""
        return "".join(word for sight in self.seen for word in sight.private)

    def _make(self, action: int) -> None:
        step = self.steps[-1]
        chips = self.now.chips
        self._table.play(action)
        label = next((choice["label"] for choice in step["choices"] if choice["action"] == action), None)
        step["action"], step["taken"] = action, chips.name(action) if chips else label
        self._look()

    def _look(self) -> None:
        """Shows both players what is new, and adds a step to the record."""
        self.both.append(self._table.sights)
        mine, theirs = self._table.sights[self.seat], self._table.sights[1 - self.seat]
        if mine is not None:
            self.seen.append(mine)
        if theirs is not None:
            self._theirs.append(theirs)
            self._agent.observe(theirs)
        self.steps.append(
            {"actor": "over" if self.is_over else "you" if self.is_mine else "it", "scene": self.scene(), "log": self.log(),
             "choices": self.choices(), "action": None, "taken": None, "mind": None}
        )  # fmt: skip
