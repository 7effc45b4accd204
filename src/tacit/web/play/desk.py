"""The Play page's desk: opens a table, plays hands, and shows what the opponent thinks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.agents.base import Agent
from tacit.agents.budget import Watcher, watched
from tacit.errors import TacitError
from tacit.games import AnyGame, load_game
from tacit.web.desk import Message, Outlet, flag_of, number_of, refuse_code, text_of
from tacit.web.play.ending import judge_hand
from tacit.web.play.hand import Hand
from tacit.web.play.luck import Luck
from tacit.web.play.opponents import open_artifact, opponents_for, play_options, refuse_paths
from tacit.web.play.scenes import Stage, make_stage

SEATS = {"0": (0,), "1": (1,), "random": (0, 1)}
FIRST_PROGRESS, NEXT_PROGRESS = 0.4, 0.15
"""The seconds before the first report that a search is running, and between later ones."""


class PlayDesk:
    """One person's table (see `Desk`)."""

    def __init__(self, context: Mapping[str, Any]) -> None:
        self._context, self._seconds = context, float(context.get("seconds", 2.0))
        self._generator = np.random.default_rng(context.get("seed"))
        self._training = False
        self._hand: Hand | None = None
        self._seats: tuple[int, ...] = (0, 1)
        self._number = 0
        self._game: AnyGame
        self._stage: Stage
        self._agent: Agent
        self._luck: Luck

    def handle(self, message: Message, out: Outlet) -> None:
        do = message["do"]
        actions = {"open": self._open, "load": self._load, "next": self._next, "act": self._act, "train": self._train}
        if do not in actions:
            raise TacitError(f"the table does not know {do!r}")
        if do not in ("open", "load") and self._hand is None:
            raise TacitError("open a table first")
        with watched(_progress(out)):
            actions[do](message, out)

    def close(self) -> None:
        self._hand = None

    def _open(self, message: Message, out: Outlet) -> None:
        seat = text_of(message, "seat", "random")
        if seat not in SEATS:
            raise TacitError(f"unknown seat {seat!r}: choose 0, 1 or random")
        name, opponent = text_of(message, "game"), text_of(message, "opponent", "default")
        refuse_code(self._context, name, opponent)
        refuse_paths(self._context, opponent)
        out.frame("opening", text="Setting the table", done=None)
        game = load_game(name)
        artifact = open_artifact(game, opponent, out)
        options = play_options(artifact, min(self._seconds, number_of(message, "seconds", self._seconds)))
        agent = artifact.agent(np.random.default_rng(self._generator.integers(2**63)), options)
        self._game, self._agent, self._stage, self._seats = game, agent, make_stage(game), SEATS[seat]
        self._luck, self._training, self._number, self._hand = Luck(game, agent), flag_of(message, "training"), 0, None
        out.frame(
            "opened", game=str(game), asked=name, opponent=agent.name, seat=seat, kind=self._stage.kind,
            opponents=opponents_for(game, self._context.get("runs", "")), luck=self._luck.reason, training=self._training,
        )  # fmt: skip
        self._deal(out)

    def _load(self, message: Message, out: Outlet) -> None:
        """Loads an opponent and, if the message asks for it, has it play a hand, so that a table opens at once later."""
        name, opponent = text_of(message, "game"), text_of(message, "opponent", "default")
        refuse_code(self._context, name, opponent)
        refuse_paths(self._context, opponent)
        game = load_game(name)
        artifact = open_artifact(game, opponent, out)
        if flag_of(message, "plays"):
            agent = artifact.agent(self._generator, play_options(artifact, self._seconds))
            hand = Hand(game, make_stage(game), agent, 0, self._generator)
            while not hand.is_over:
                hand.play(int(self._generator.choice(hand.now.legal_actions))) if hand.is_mine else hand.reply()
            judge_hand(game, hand, lambda _: None)
            Luck(game, agent).adjusted(hand.both, hand.seat)

    def _next(self, message: Message, out: Outlet) -> None:
        del message
        self._deal(out)

    def _act(self, message: Message, out: Outlet) -> None:
        hand = self._current()
        if not hand.is_mine:
            raise TacitError("it is not your turn")
        action = message.get("action")
        if action is None:
            action = hand.read(text_of(message, "say"))
        if not isinstance(action, int) or isinstance(action, bool):
            raise TacitError("an action must be a number")
        hand.play(action)
        self._go_on(out)

    def _train(self, message: Message, out: Outlet) -> None:
        self._training = flag_of(message, "on")
        out.frame("training", on=self._training)
        if self._training and not self._current().is_over:
            self._think(out)

    def _deal(self, out: Outlet) -> None:
        """Begins a hand; a hand in progress is dropped and does not count."""
        if self._hand is None or self._hand.is_over:
            self._number += 1
        seat = int(self._generator.choice(self._seats))
        self._hand = Hand(self._game, self._stage, self._agent, seat, self._generator)
        self._go_on(out)

    def _go_on(self, out: Outlet) -> None:
        """Lets the opponent move until the person is to act or the hand is over.

        While the person thinks, it computes the opponent's view of the decision, unless other tabs wait for this worker.
        """
        hand = self._current()
        while not hand.is_mine and not hand.is_over:
            self._show(out)
            hand.reply()
        self._show(out)
        if hand.is_over:
            self._end(out)
        elif self._training:
            self._think(out)
        elif not out.is_busy():
            hand.think()

    def _show(self, out: Outlet) -> None:
        """Sends the table as the person sees it."""
        hand = self._current()
        over = {"payoff": hand.payoff, "held": hand.theirs()} if hand.is_over else None
        out.frame(
            "table", number=self._number, seat=hand.seat, turn=hand.steps[-1]["actor"], scene=hand.scene(),
            choices=hand.choices(), sizes=hand.sizes(), log=hand.log(), over=over,
        )  # fmt: skip

    def _end(self, out: Outlet) -> None:
        """Sends the replay, then the judgement; the server keeps both."""
        hand = self._current()
        over = {"payoff": hand.payoff, "held": hand.theirs()}
        out.frame("replay", number=self._number, steps=hand.steps, over=over)
        note = judge_hand(self._game, hand, lambda text: out.frame("judging", text=text))
        adjusted = self._luck.adjusted(hand.both, hand.seat)
        out.frame(
            "judged", number=self._number, steps=[step["judgement"] for step in hand.steps], note=note, luck=self._luck.reason
        )
        out.record(
            game=str(self._game), opponent=self._agent.name, seat=hand.seat, payoff=hand.payoff, adjusted=adjusted,
            kind=self._stage.kind, over=over, steps=hand.steps, note=note,
        )  # fmt: skip

    def _think(self, out: Outlet) -> None:
        out.frame("mind", number=self._number, mind=self._current().think())

    def _current(self) -> Hand:
        assert self._hand is not None
        return self._hand


def _progress(out: Outlet) -> Watcher:
    """Returns a watcher that reports the progress of a slow search to the browser and passes on the browser's cuts."""
    due = time.monotonic() + FIRST_PROGRESS

    def progress(share: float) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due:
            due = now + NEXT_PROGRESS
            out.frame("thinking", done=round(share, 3))

    return Watcher(out.is_cut, progress)
