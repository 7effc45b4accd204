"""Exact values, best responses and exploitability of strategies, computed with the passes that solvers use."""

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
