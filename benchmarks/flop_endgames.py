"""Exact exploitability on three fixed flop endgames: `python benchmarks/flop_endgames.py [NAME] [--device cuda] [--only N]`.

The first has all hands; the other two have the ranges of a raise and a call before the flop. Each has 3.5 pots behind, and bets
and raises of the pot and all-in. Figures are in per cent of the pot. A hold'em network takes some minutes for each on one core,
mostly for the 147 turns that it solves.
"""

import argparse
import time

from tacit import artifacts, load_game

BETS = "pot=500,stack=2000,bets=1|allin,raises=1|allin"
CALLER = "22-TT|A2s-AJs|K6s-KQs|Q8s-QJs|J8s-JTs|T8s-T9s|97s-98s|86s-87s|76s|65s|54s|A8o-AJo|KTo-KQo|QTo-QJo|JTo"
RAISER = "22+|A2s+|K2s+|Q4s+|J6s+|T6s+|96s+|85s+|75s+|64s+|54s|A2o+|K7o+|Q8o+|J8o+|T8o+|98o"
ENDGAMES = (
    f"no_limit_holdem(board=3s7hTd,{BETS})",
    f"no_limit_holdem(board=Kh9c4s,{BETS},range0={CALLER},range1={RAISER})",
    f"no_limit_holdem(board=8d7d5h,{BETS},range0={CALLER},range1={RAISER})",
)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("name", nargs="?", default="pretrained:no_limit_holdem")
    parser.add_argument("--device")
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--only", type=int, help="1, 2 or 3")
    given = parser.parse_args()
    for number, name in enumerate(ENDGAMES, 1):
        if given.only in (None, number):
            began = time.perf_counter()
            artifact = artifacts.open(given.name, load_game(name))
            found = artifact.evaluate("exploitability", iterations=given.iterations, device=given.device)
            print(
                f"{number}: {100 * found.figure / 500:.2f} % of the pot, {time.perf_counter() - began:.0f} s  {name}",
                flush=True,
            )
