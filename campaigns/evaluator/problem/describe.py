"""What a problem's `ref.py` gives for one case: its arguments and its least work."""

from __future__ import annotations

from typing import Any

from campaigns.evaluator.contract import Case
from campaigns.evaluator.judge.correctness.reference import Reference
from campaigns.evaluator.layout import ScalarArg, TensorArg
from campaigns.evaluator.problem.work import work_of
from campaigns.evaluator.reference.code import ProblemCode


def described(code: ProblemCode, case: Case) -> dict[str, Any]:
    """As a page shows it. Raises BadReference."""
    reference = Reference(code)
    arguments = [_argument(arg) for arg in reference.layout(case, "cpu").args]
    operations, moved = work_of(code, reference, case)
    work = {"operations": operations, "bytes": moved, "counted": not code.has_work}
    return {"case": case.name, "arguments": arguments, "work": work}


def _argument(arg: TensorArg | ScalarArg) -> dict[str, Any]:
    if isinstance(arg, ScalarArg):
        return {"name": arg.name, "role": "number", "value": arg.value}
    role = "input" if not arg.output else "output, updated in place" if arg.update else "output"
    return {"name": arg.name, "role": role, "dtype": arg.dtype, "shape": list(arg.shape)}
