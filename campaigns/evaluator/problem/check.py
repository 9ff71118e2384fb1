"""What a problem's author should know: `python -m …evaluator.problem.check FOLDER`.

Reads a case as JSON on standard input, draws its inputs a few times and prints notes as JSON. Exit
1 with one line on stderr when the problem's code does not keep its contract.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from campaigns.evaluator.contract import Case
from campaigns.evaluator.errors import BadReference
from campaigns.evaluator.judge.correctness.draws import Draws
from campaigns.evaluator.judge.correctness.reference import Reference
from campaigns.evaluator.judge.correctness.tolerance import tolerances
from campaigns.evaluator.problem import load_problem

SEEDS = (1, 2, 3)


def main(folder: Path, wanted: Mapping[str, Any]) -> int:
    notes: list[str] = []
    try:
        reference = Reference(folder, notes.append)
        case = Case(wanted["name"], wanted["params"])
        layout = reference.layout(case, "cpu")
        draws = Draws(layout, tolerances(load_problem(folder), layout))
        for seed in SEEDS:
            inputs = dict(reference.example(case, seed, "cpu").inputs)
            given = {arg.name: inputs[arg.name].clone() for arg in layout.given}
            reference.expected(inputs, tuple(arg.name for arg in layout.outputs))
            draws.see(given, {arg.name: inputs[arg.name] for arg in layout.outputs})
    except BadReference as error:
        print(error.reason, file=sys.stderr)
        return 1
    print(json.dumps({"notes": [*notes, *draws.notes()]}))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), json.load(sys.stdin)))
