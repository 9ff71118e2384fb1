"""What a run of the reference tells of arguments that no source says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from campaigns.problems.import_.draft import FLOAT8, FLOATS, DraftArg, ProblemDraft, Role

ROLES = {"input": Role.INPUT, "output": Role.OUTPUT, "number": Role.NUMBER}


def as_read(draft: ProblemDraft, arguments: Sequence[Mapping[str, Any]]) -> ProblemDraft:
    """The same draft with the arguments that its own code made, and outputs in their dtypes.

    arguments: in call order, as `described_problem` gives them.
    """
    made = {arg["name"]: arg for arg in arguments}
    if not draft.args:
        return _rounded(replace(draft, args=tuple(_arg(arg) for arg in arguments)))
    args = tuple(
        replace(arg, dtype=made[arg.name]["dtype"])
        if arg.is_returned
        else replace(arg, shape=tuple(made[arg.name]["shape"]))
        if arg.source
        else arg
        for arg in draft.args
    )
    return _rounded(replace(draft, args=args))


def _rounded(draft: ProblemDraft) -> ProblemDraft:
    """Let few elements be a value off where floats are rounded to 8 bits.

    A sum in another order rounds to the neighbour at times. Which float8 the bits are is known
    where the reference names one alone; where it names two, they are compared exactly.
    """
    if not any(
        arg.dtype in (*FLOATS, *FLOAT8)
        for arg in draft.args
        if arg.role in (Role.INPUT, Role.IN_PLACE)
    ):
        return draft
    args, assumed = [], list(draft.assumed)
    for arg in draft.args:
        if arg.is_written and (kind := _rounded_to(arg, draft)):
            arg = replace(arg, steps=1, bits=kind if kind in FLOAT8 else "")
            assumed.append(f"{arg.name} is rounded to {kind}: 1 % of it may be off by one value.")
        args.append(arg)
    return replace(draft, args=tuple(args), assumed=tuple(assumed))


def _rounded_to(arg: DraftArg, draft: ProblemDraft) -> str:
    """The dtype of 8 bits that an output is rounded to; "" where it is none, or could be two."""
    if arg.dtype in FLOAT8 or arg.dtype == "int8":
        return arg.dtype
    named = draft.named_float8
    if arg.dtype != "uint8" or len(named) > 1:
        return ""
    return named[0] if named else arg.dtype


def _arg(arg: Mapping[str, Any]) -> DraftArg:
    role = ROLES.get(arg["role"], Role.IN_PLACE)
    if role is Role.NUMBER:
        return DraftArg(arg["name"], role, value=arg["value"])
    return DraftArg(arg["name"], role, arg["dtype"], tuple(arg["shape"]))
