"""Exact exploitability on three fixed flop endgames: `python benchmarks/flop_endgames.py [NAME] [--rounds 1] [--only N]`.

From the flop, searches look to the end of the turn; with `--rounds 1` or `--device cuda` those of a hold'em network end with
the flop, as they do at the table. Turns are solved to the end.

The first has all hands; the other two have the ranges of a raise and a call before the flop. Each has 3.5 pots behind, and bets
and raises of the pot and all-in. Figures are in per cent of the pot. A hold'em network takes some minutes for each on one core,
mostly for the 147 turns that it solves.
"""

import argparse
import time

from tacit import artifacts, load_game
from tacit.agents.hand_search import HandSearch, RoundEnds
from tacit.arena.endgames import endgame_quality
from tacit.games.betting import BOARD_CARDS, FLOP
from tacit.games.holdem import require_holdem
from tacit.rebel.holdem.trained import load_holdem

BETS = "pot=500,stack=2000,bets=1|allin,raises=1|allin"
CALLER = "22-TT|A2s-AJs|K6s-KQs|Q8s-QJs|J8s-JTs|T8s-T9s|97s-98s|86s-87s|76s|65s|54s|A8o-AJo|KTo-KQo|QTo-QJo|JTo"
RAISER = "22+|A2s+|K2s+|Q4s+|J6s+|T6s+|96s+|85s+|75s+|64s+|54s|A2o+|K7o+|Q8o+|J8o+|T8o+|98o"
ENDGAMES = (
    f"no_limit_holdem(board=3s7hTd,{BETS})",
    f"no_limit_holdem(board=Kh9c4s,{BETS},range0={CALLER},range1={RAISER})",
    f"no_limit_holdem(board=8d7d5h,{BETS},range0={CALLER},range1={RAISER})",
)


def one_round(network: str, name: str, iterations: int) -> float:
    """Returns the exploitability in chips of searches that end with the flop."""
    game, trained = require_holdem(load_game(name), "this benchmark"), load_holdem(network)
    ends = RoundEnds(trained.leaves(game), trained.config.decomposition, (BOARD_CARDS[FLOP],), looks_further=False)
    search = HandSearch(game, solver=trained.config.solver, iterations=iterations, ends=ends)
    return endgame_quality(game, [search]).exploitability


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("name", nargs="?", default="pretrained:no_limit_holdem")
    parser.add_argument("--device")
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--rounds", type=int, choices=(1, 2), default=2)
    parser.add_argument("--only", type=int, help="1, 2 or 3")
    given = parser.parse_args()
    if given.rounds == 1 and given.device:
        parser.error("--rounds 1 is for the CPU: with --device cuda searches end with the flop anyway")
    for number, name in enumerate(ENDGAMES, 1):
        if given.only in (None, number):
            began = time.perf_counter()
            if given.rounds == 1:
                figure = one_round(given.name, name, given.iterations)
            else:
                artifact = artifacts.open(given.name, load_game(name))
                figure = artifact.evaluate("exploitability", iterations=given.iterations, device=given.device).figure
            took = time.perf_counter() - began
            print(f"{number}: {100 * figure / 500:.2f} % of the pot, {took:.0f} s  {name}", flush=True)
