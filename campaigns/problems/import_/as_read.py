"""What a run of the reference tells of arguments that no source says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from campaigns.problems.import_.draft import DraftArg, ProblemDraft, Role

ROLES = {"input": Role.INPUT, "output": Role.OUTPUT, "number": Role.NUMBER}


def as_read(draft: ProblemDraft, arguments: Sequence[Mapping[str, Any]]) -> ProblemDraft:
    """The same draft with the arguments that its own code made, and outputs in their dtypes.

    arguments: in call order, as `described_problem` gives them.
    """
    made = {arg["name"]: arg for arg in arguments}
    if not draft.args:
        return replace(draft, args=tuple(_arg(arg) for arg in arguments))
    return replace(
        draft,
        args=tuple(
            replace(arg, dtype=made[arg.name]["dtype"])
            if arg.role is Role.OUTPUT and arg.shape is None
            else replace(arg, shape=tuple(made[arg.name]["shape"]))
            if arg.source
            else arg
            for arg in draft.args
        ),
    )


def _arg(arg: Mapping[str, Any]) -> DraftArg:
    role = ROLES.get(arg["role"], Role.IN_PLACE)
    if role is Role.NUMBER:
        return DraftArg(arg["name"], role, value=arg["value"])
    return DraftArg(arg["name"], role, arg["dtype"], tuple(arg["shape"]))
