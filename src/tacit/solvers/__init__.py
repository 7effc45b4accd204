"""Tabular solvers: the CFR and fictitious-play families and the sequence-form linear program."""

from tacit.solvers.locks import Lock
from tacit.solvers.result import Point, SolveResult, load_result
from tacit.solvers.schedules import SCHEDULES
from tacit.solvers.solve import solve

__all__ = ["SCHEDULES", "Lock", "Point", "SolveResult", "load_result", "solve"]
