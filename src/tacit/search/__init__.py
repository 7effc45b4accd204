"""Depth-limited search from public belief states, many at once.

The names below are public: use them to run searches by hand, or to write your own leaf evaluators and systems.
"""

from tacit.games.boards import make_boards, position_after
from tacit.kernels.base import LeafEvaluator
from tacit.leaves.evaluators import OracleLeaves, ZeroLeaves
from tacit.search.boards.search import BoardSearch, BoardSearchConfig, UniformBoards
from tacit.search.config import SearchConfig
from tacit.search.playthroughs import playthrough_quality
from tacit.search.queries import random_situations
from tacit.search.search import BatchSearch, SearchResult
from tacit.tree.beliefs import PublicBeliefState, belief_state, initial_belief_state
from tacit.tree.class_facts import ClassFacts, class_facts
from tacit.tree.search_space import SearchSpace, game_space, search_space

__all__ = [
    "BatchSearch",
    "BoardSearch",
    "BoardSearchConfig",
    "ClassFacts",
    "LeafEvaluator",
    "OracleLeaves",
    "PublicBeliefState",
    "SearchConfig",
    "SearchResult",
    "SearchSpace",
    "UniformBoards",
    "ZeroLeaves",
    "belief_state",
    "class_facts",
    "game_space",
    "initial_belief_state",
    "make_boards",
    "playthrough_quality",
    "position_after",
    "random_situations",
    "search_space",
]
