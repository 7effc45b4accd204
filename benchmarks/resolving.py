"""Exploitability of continual re-solving to the end of pot-limit Leduc, exact: `python benchmarks/resolving.py`."""

import time

from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.leaves.evaluators import ZeroLeaves
from tacit.search.config import SearchConfig
from tacit.search.resolving import resolving_strategy
from tacit.search.search import BatchSearch
from tacit.tree.compiler import compile_game
from tacit.tree.search_space import search_space


def main() -> None:
    game = load_game("pot_limit_leduc")
    tree = compile_game(game)
    space, passes = search_space(tree, None), make_passes(tree)
    for iterations in (50, 200, 500):
        for alternating in (False, True):
            for warm_up in (0, iterations // 2):
                config = SearchConfig("cfr+", iterations, None, alternating=alternating, warm_up=warm_up)
                start, done = time.perf_counter(), [0]
                strategy = resolving_strategy(BatchSearch(space, ZeroLeaves(), config), done.append, at_decisions=True)
                seconds = time.perf_counter() - start
                found = game.in_units(evaluate(passes, strategy).exploitability)["mbb"]
                how = "alternating" if alternating else "at once"
                print(
                    f"{iterations} iterations {how}, warm-up {warm_up}: {found:.2f} thousandths of the ante, "
                    f"{done[-1] / seconds:,.0f} searches/s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
