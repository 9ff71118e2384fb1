"""One argument of a kernel, from what the example calls give for it."""

from __future__ import annotations

from campaigns.problems.import_.calls.example_calls import TensorValue, Value
from campaigns.problems.import_.calls.sizes import Sizes
from campaigns.problems.import_.draft import FLOAT8, FLOATS, DraftArg, DraftError, Draw, Role
from campaigns.problems.import_.given import Given
from campaigns.problems.import_.read_sources import OUTPUT_NAMES

SAME = "accepted: one text, with names for the sizes that differ: 'N = 64; f(torch.arange(3) * N)'"


def read_argument(
    given: Given, name: str, values: list[Value], names: Sizes, assumed: list[str]
) -> DraftArg:
    first = values[0]
    if not isinstance(first, TensorValue):
        kind = "float32" if isinstance(first, float) else "int32"
        return DraftArg(name, Role.NUMBER, kind, value=names.number(values))
    tensors = [value for value in values if isinstance(value, TensorValue)]
    if first.source:
        if any(value.source != first.source for value in tensors):
            raise DraftError("call", f"{name}: {first.source} differs between calls; {SAME}")
        assumed.append(f"{name} is {first.source} in every call.")
        return DraftArg(name, Role.INPUT, first.dtype, (), Draw.NONE, source=first.source)
    shape = names.shape(tensors)
    if first.dtype in FLOAT8:
        assumed.append(f"{name} comes as the bits of {first.dtype} in uint8, and is viewed as it.")
    named = name in given.outputs if given.outputs else name in OUTPUT_NAMES
    if named and first.is_blank:
        return DraftArg(name, Role.OUTPUT, first.dtype, shape)
    role = Role.IN_PLACE if named else Role.INPUT
    draw, shift, scale = first.draw, first.shift, first.scale
    if draw is Draw.NONE and first.dtype in (*FLOATS, *FLOAT8):
        draw, scale = Draw.NORMAL, 1.0
        assumed.append(
            f"{name} is drawn around {shift:g}: with one number everywhere a kernel that "
            "ignores it would pass."
        )
    elif draw is Draw.NONE:
        draw = Draw.INTEGERS
    high = names.bound([tensor.high for tensor in tensors])
    return DraftArg(name, role, first.dtype, shape, draw, 0, first.low, high, scale, shift)
