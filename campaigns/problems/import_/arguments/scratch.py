"""Memory that a kernel is given to work in: no input, no answer, and nothing of its reference's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from campaigns.problems.import_.calls.example_calls import TensorValue, Value
from campaigns.problems.import_.calls.sizes import WORD, Sizes
from campaigns.problems.import_.draft import DraftArg, ReferenceCode, Role
from campaigns.problems.import_.given import Given
from campaigns.problems.import_.read_sources import PythonEntry


def is_scratch(
    given: Given, name: str, value: Value, entry: PythonEntry, reference: ReferenceCode
) -> bool:
    """Whether an argument is blank in the example, no output that is named, and not looked at.

    Where the reference has other names than the kernel nothing tells it from an input.
    """
    needed = {one for one in reference.takes if one not in reference.optional}
    blank = isinstance(value, TensorValue) and value.is_blank
    outputs = set(given.outputs)
    by_name = needed <= set(entry.takes)
    return blank and bool(outputs) and by_name and name not in outputs | set(reference.takes)


def made_in_a_call(
    scratch: Mapping[str, Sequence[TensorValue]], args: Sequence[DraftArg], names: Sizes
) -> dict[str, str]:
    """Source that makes it, of the shapes of the arguments that a call gets."""
    tensors = [arg for arg in args if arg.shape is not None and arg.role is not Role.NUMBER]
    sizes: dict[str, str] = {}
    for arg in tensors:
        for axis, size in enumerate(arg.shape or ()):
            if isinstance(size, str) and size.isidentifier():
                sizes.setdefault(size, f"{arg.name}.shape[{axis}]")
    found = {}
    for name, values in scratch.items():
        shape = names.known_shape(values)
        text = ", ".join(WORD.sub(lambda one: sizes.get(one[0], one[0]), str(one)) for one in shape)
        maker = "empty" if values[0].is_empty else "zeros"
        device = f"{tensors[0].name}.device"
        found[name] = f"torch.{maker}(({text},), dtype=torch.{values[0].dtype}, device={device})"
    return found
