"""Tabular solvers: the CFR and fictitious-play families and the sequence-form linear program."""

from tacit.solvers.result import Point, SolveResult, load_result
from tacit.solvers.schedules import SCHEDULES
from tacit.solvers.solve import solve

__all__ = ["SCHEDULES", "Point", "SolveResult", "load_result", "solve"]
