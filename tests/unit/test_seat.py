"""An agent in hands that are dealt elsewhere sees what our own table would show it; scores in big blinds."""

from typing import Any

import numpy as np
import pytest

from tacit.agents.base import Sight
from tacit.agents.bots import RandomBot
from tacit.agents.table import play_game
from tacit.arena.score import Score
from tacit.arena.seat import Seat
from tacit.cards.deck import parse_cards
from tacit.errors import TacitError
from tacit.games.betting import CALL, FOLD
from tacit.games.holdem import Holdem, LimitHoldem, NoLimitHoldem

NO_LIMIT, LIMIT = NoLimitHoldem(), LimitHoldem()


class Watcher(RandomBot):
    """Plays at random and records what it saw."""

    def __init__(self, generator: np.random.Generator) -> None:
        super().__init__(generator)
        self.seen: list[Any] = []

    def start(self, player: int) -> None:
        self.seen.append(player)

    def observe(self, sight: Sight) -> None:
        super().observe(sight)
        self.seen.append(sight._replace(told=(), chips=None))  # these fields are for people at tables


@pytest.mark.parametrize("game", [NO_LIMIT, LIMIT])
@pytest.mark.parametrize("steps", [True, False])
def test_a_seat_sees_what_a_table_shows(game: Holdem, steps: bool) -> None:
    for seed in range(30):
        at_table = [Watcher(np.random.default_rng([seed, player])) for player in (0, 1)]
        states: list[Any] = []
        play_game(game, at_table, np.random.default_rng(seed), lambda table, states=states: states.append(table._state))
        end, actions = states[-1], [sight.action for sight in at_table[0].seen[1:]]
        others = [sight.action for sight in at_table[1].seen[1:]]
        played = [a if a is not None else b for a, b in zip(actions, others, strict=True)][1:]
        for player in (0, 1):
            watcher = Watcher(np.random.default_rng(0))
            seat = Seat(game, watcher)
            seat.start(player, end.hands[2 * player : 2 * player + 2])
            for number in range(len(played) + 1) if steps else [len(played)]:
                seat.follow(played[:number], end.board)
            assert watcher.seen == at_table[player].seen


def test_a_seat_follows_raises_off_the_menu() -> None:
    watcher = Watcher(np.random.default_rng(0))
    seat = Seat(NO_LIMIT, watcher)
    seat.start(0, parse_cards("AsKd"))
    seat.follow((777,), ())
    sight = watcher.seen[-1]
    assert sight.public == ("raise to 777",)
    assert sight.legal_actions == (FOLD, CALL, 1554, 2331, 3885, 20_000)  # 0.5, 1 and 2 pots on top, and all-in
    with pytest.raises(TacitError, match="needs more"):
        seat.follow((777, CALL), parse_cards("2c3c"))
    seat.follow((777, CALL), parse_cards("2c3c4d"))  # a mistake by the other side does no lasting harm
    assert watcher.seen[-1].public == ("call", "4d3c2c")
    with pytest.raises(TacitError, match="dealt twice"):
        seat.follow((777, CALL), parse_cards("2c3cAs"))


def test_scores() -> None:
    score = Score(100)
    found = score.as_dict()
    assert (found["mbb_per_hand"], found["interval"], str(score)) == (None, None, "no hands")
    for winnings in (100, -50, 250, 0):
        score.add(winnings)
    mean, deviation = 75.0, np.std([100, -50, 250, 0], ddof=1)
    found = score.as_dict()
    assert found["mbb_per_hand"] == 750.0
    error = 3.182446 * deviation / 2  # Student's t with three degrees of freedom
    assert found["interval"] == pytest.approx([10 * (mean - error), 10 * (mean + error)])
