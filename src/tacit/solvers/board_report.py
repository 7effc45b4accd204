"""Solves one hold'em spot on many boards and reports the play on its first street.

A *spot* is a game whose board leaves cards open: `no_limit_holdem(board=3s7hTd?,pot=2000,...)`. A player's EV is the number of
chips it gets out of the pot on average, less its own later bets: the game's return plus the half of the pot that it had put in
before. Both players' EVs sum to the pot, and checking down is worth the equity times the pot.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.cards.boards import OPEN, DrawnBoard, draw_boards, parse_open_board
from tacit.cards.deck import NUM_CARDS, card_names
from tacit.cards.equity import range_equity
from tacit.errors import TacitError
from tacit.games import load_game
from tacit.games.holdem import Holdem, require_holdem
from tacit.kernels.numba_hands import HandPasses
from tacit.solvers.result import SolveResult
from tacit.tree.hand_builder import build_hand_tree
from tacit.tree.hand_strategy import HandStrategy
from tacit.tree.hand_tree import DECIDES, Spot
from tacit.tree.subgame import ROUND

FIRST_LINES = ("", "check")
"""The lines to player 0's and player 1's first decisions."""
_TRIES = 20
"""Random boards to try until one leaves both players a possible hand."""
_PASSIVE = ("fold", "check", "call")
_BOARD = re.compile(r"(?<![\w])board\s*=\s*([^,()]*)")


@dataclass(frozen=True)
class OpenSpot:
    """A spot to be solved on many boards.

    Attributes:
      text: The game, with some cards of its board left open.
      boards: The boards to solve.
      complete: Whether these are all possible boards.
    """

    text: str
    boards: list[DrawnBoard]
    complete: bool

    def game(self, board: DrawnBoard) -> Holdem:
        """Returns the game on one board."""
        return require_holdem(load_game(_with_board(self.text, str(board))), "a report")


@dataclass(frozen=True)
class LinePlay:
    """The play at the end of a betting line.

    Attributes:
      line: The steps that lead there, empty for the start.
      player: The player who acts.
      reached: How often the line is played.
      frequency: How often each action is taken, by name.
      ev: The actor's EV when it takes each action, by name; NaN for actions that are never taken.
    """

    line: str
    player: int
    reached: float
    frequency: dict[str, float]
    ev: dict[str, float]

    @property
    def bet_frequency(self) -> float:
        """How often the actor bets or raises."""
        return sum(share for name, share in self.frequency.items() if name not in _PASSIVE)


@dataclass(frozen=True)
class BoardPlay:
    """A spot solved on one board.

    Attributes:
      game: The game with this board.
      board: The board.
      count: The number of the report's boards that this one stands for.
      weight: The probability of these boards, on any scale.
      ev: Both players' EVs; they sum to the pot.
      equity: Both players' equities if everyone checks down.
      exploitability: The exploitability of the solution, in chips.
      iterations: The number of iterations of the solve.
      seconds: The time of the solve.
      lines: The play at each line.
    """

    game: str
    board: str
    count: int
    weight: float
    ev: tuple[float, float]
    equity: tuple[float, float]
    exploitability: float
    iterations: int
    seconds: float
    lines: tuple[LinePlay, ...]


def open_spot(text: str, most: int, seed: int) -> OpenSpot:
    """Returns a spot with the boards of a report.

    Args:
      text: a game of hold'em with `?` for each open card of the board.
      most: the largest number of boards.
      seed: the seed for drawing boards if there are more.

    Raises:
      TacitError: The game cannot be read, or leaves no card open.
    """
    match = _BOARD.search(text)
    if match is None or OPEN not in match[1]:
        raise TacitError(f"{text!r} leaves no card of the board open: write ? for each, as board=3s7hTd? or board=????")
    known, num_open = parse_open_board(match[1].strip())
    game = _on_some_board(text, known, num_open)
    boards, complete = draw_boards(known, num_open, game.written_ranges, most, seed)
    return OpenSpot(text, boards, complete)


def find_lines(game: Holdem, lines: Sequence[str] | None = None) -> dict[str, int]:
    """Returns lines of the first street with the player who acts after each; by default both players' first decisions.

    Raises:
      TacitError: A line does not exist on the first street, or no player acts after it.
    """
    tree = build_hand_tree(game, game.rules, game.known_board, game.ranges, depth=ROUND)  # the first street alone
    players = {}
    for line in FIRST_LINES if lines is None else lines:
        spot = tree.find(line)
        if tree.kind[spot.node] != DECIDES:
            raise TacitError(f"nobody acts after {line!r}: choose a line that ends where somebody acts on the first street")
        players[line] = int(tree.actor[spot.node])
    return players


def board_play(board: DrawnBoard, result: SolveResult, lines: Sequence[str]) -> BoardPlay:
    """Returns the play of a solve on the first street of one board.

    Args:
      board: the board.
      result: a solve of the spot on this board.
      lines: the lines to report, like `check / bet to 2000`; empty for the start.
    """
    strategy = result.strategy
    assert isinstance(strategy, HandStrategy)
    tree, game = strategy.tree, require_holdem(strategy.tree.game, "a report")
    probabilities = tree.normalise(strategy.probabilities.astype(np.float64))
    exact, passes, half = HandStrategy(tree, probabilities), HandPasses(tree, np.float64), game.rules.pot / 2
    spots = [tree.find(line) for line in lines]
    plays: dict[int, LinePlay] = {}
    for player in (0, 1):
        entries = passes.entries(probabilities)
        passes.values(player, entries, passes.reach(1 - player, entries))
        for number, spot in enumerate(spots):
            if tree.actor[spot.node] == player:
                plays[number] = _line_play(exact, passes, spot, lines[number], half)
    value, equity = result.value, range_equity(*game.ranges, game.known_board).equity
    return BoardPlay(
        str(game), str(board), board.count, board.weight, (value + half, half - value), (equity, 1.0 - equity),
        result.exploitability, result.iterations, result.seconds, tuple(plays[number] for number in range(len(lines))),
    )  # fmt: skip


def _line_play(strategy: HandStrategy, passes: HandPasses, spot: Spot, line: str, half: float) -> LinePlay:
    """Returns the actor's play at a spot; the latest pass must have been for the actor's values."""
    tree, node = strategy.tree, spot.node
    player, hands = int(tree.actor[node]), tree.hands(spot)
    own, shares = strategy.range_at(spot, player)[hands], strategy.played(spot)[:, hands]
    entries = passes.entries(strategy.probabilities)
    likely = own * passes.node_likelihood(player, node, passes.reach(1 - player, entries))
    reached, frequency, ev = float(likely.sum()), {}, {}
    for name, action, share in zip(tree.action_names(node), tree.actions(node), shares, strict=True):
        taken = float(likely @ share)
        worth = float((own * share) @ passes.node_values(player, tree.after(spot, action).node))
        frequency[name] = taken / reached if reached else float("nan")
        ev[name] = worth / taken + half if taken else float("nan")
    return LinePlay(line, player, reached, frequency, ev)


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> tuple[float, float]:
    """Returns a weighted mean over boards and half the width of its 95 % interval, as if boards were drawn at random.

    NaN values are left out.
    """
    numbers, shares = np.array(values, float), np.array(weights, float)
    known = ~np.isnan(numbers)
    numbers, shares = numbers[known], shares[known]
    if not len(numbers):
        return float("nan"), float("nan")
    mean = float(numbers @ shares / shares.sum())
    error = float(np.sqrt(((shares * (numbers - mean)) ** 2).sum()) / shares.sum())
    return mean, 1.96 * error if len(numbers) > 1 else float("nan")


def _with_board(text: str, board: str) -> str:
    return _BOARD.sub(f"board={board}", text, count=1)


def _on_some_board(text: str, known: tuple[int, ...], num_open: int) -> Holdem:
    """Returns the game on some board that leaves both players a possible hand."""
    generator, left = np.random.default_rng(0), [card for card in range(NUM_CARDS) if card not in known]
    problem = TacitError("")
    for _ in range(_TRIES):
        rest = generator.choice(left, min(num_open, len(left)), replace=False).tolist()
        try:
            return require_holdem(load_game(_with_board(text, card_names((*known, *rest)))), "a report")
        except TacitError as error:
            problem = error
    raise problem
