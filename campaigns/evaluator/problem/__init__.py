"""A problem: what a kernel must compute, read from its folder."""

from campaigns.evaluator.problem.reader import load_problem
from campaigns.evaluator.problem.spec import (
    ACCUMULATES,
    CASE_KINDS,
    CHECKS,
    DIRECTIONS,
    DTYPES,
    OF_A_CASE,
    OPTIONAL,
    REFRESHES,
    REQUIRED,
    SETS,
    TOLERANCES,
    Bounds,
    CheckSpec,
    ProblemCase,
    ProblemError,
    ProblemSpec,
)

__all__ = [
    "ACCUMULATES",
    "CASE_KINDS",
    "CHECKS",
    "DIRECTIONS",
    "DTYPES",
    "OF_A_CASE",
    "OPTIONAL",
    "REFRESHES",
    "REQUIRED",
    "SETS",
    "TOLERANCES",
    "Bounds",
    "CheckSpec",
    "ProblemCase",
    "ProblemError",
    "ProblemSpec",
    "load_problem",
]
