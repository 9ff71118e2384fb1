"""What a problem's author should know, from a few draws of its inputs."""

from __future__ import annotations

from pathlib import Path

from campaigns.evaluator.contract import Case
from campaigns.evaluator.judge.correctness.draws import Draws
from campaigns.evaluator.judge.correctness.reference import Reference
from campaigns.evaluator.judge.correctness.tolerance import tolerances
from campaigns.evaluator.problem import load_problem
from campaigns.evaluator.reference.code import ProblemCode

SEEDS = (1, 2, 3)


def checked(code: ProblemCode, folder: Path, case: Case) -> list[str]:
    """Notes for people. folder: of the problem. Raises BadReference."""
    notes: list[str] = []
    reference = Reference(code, notes.append)
    layout = reference.layout(case, "cpu")
    draws = Draws(layout, tolerances(load_problem(folder), layout))
    for seed in SEEDS:
        example = reference.example(case, seed, "cpu")
        given = {arg.name: example.inputs[arg.name].clone() for arg in layout.given}
        draws.see(given, reference.one(example.inputs, example.outputs))
    return [*notes, *draws.notes()]
