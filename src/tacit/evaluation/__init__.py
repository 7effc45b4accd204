"""How good a strategy is: values, best responses and exploitability, all exact, on the passes that also solve."""

from tacit.evaluation.exact import (
    BestResponse,
    Quality,
    best_response,
    evaluate,
    evaluate_exactly,
    evaluate_weights,
    infostate_values,
)
from tacit.evaluation.node_views import StrategyViews

__all__ = [
    "BestResponse",
    "Quality",
    "StrategyViews",
    "best_response",
    "evaluate",
    "evaluate_exactly",
    "evaluate_weights",
    "infostate_values",
]
