"""What a problem's `ref.py` gives for one case: `python -m …evaluator.problem.describe FOLDER`.

Reads the case as JSON on standard input and prints its arguments and its least work as JSON. Exit 1
with one line on stderr when the problem's code does not keep its contract.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from campaigns.evaluator.contract import Case
from campaigns.evaluator.errors import BadReference
from campaigns.evaluator.judge.correctness.reference import Reference
from campaigns.evaluator.layout import ScalarArg, TensorArg
from campaigns.evaluator.problem.work import work_of


def main(folder: Path, wanted: Mapping[str, Any]) -> int:
    try:
        reference = Reference(folder)
        case = Case(wanted["name"], wanted["params"])
        arguments = [_argument(arg) for arg in reference.layout(case, "cpu").args]
        operations, moved = work_of(reference, case)
    except BadReference as error:
        print(error.reason, file=sys.stderr)
        return 1
    work = {"operations": operations, "bytes": moved, "counted": not reference.has_work}
    print(json.dumps({"case": case.name, "arguments": arguments, "work": work}))
    return 0


def _argument(arg: TensorArg | ScalarArg) -> dict[str, Any]:
    if isinstance(arg, ScalarArg):
        return {"name": arg.name, "role": "number", "value": arg.value}
    role = "input" if not arg.output else "output, updated in place" if arg.update else "output"
    return {"name": arg.name, "role": role, "dtype": arg.dtype, "shape": list(arg.shape)}


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), json.load(sys.stdin)))
