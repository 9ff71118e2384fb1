"""The arguments of a kernel in Python, from its signature and the example calls."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Mapping, Sequence

from campaigns.problems.import_.arguments.one_argument import read_argument
from campaigns.problems.import_.calls.example_calls import TensorValue, Value
from campaigns.problems.import_.calls.sizes import WORD, Example, Sizes
from campaigns.problems.import_.draft import DraftArg, DraftError, ReferenceCode, Role
from campaigns.problems.import_.given import Given
from campaigns.problems.import_.read_sources import PythonEntry


def python_arguments(
    given: Given,
    entry: PythonEntry,
    reference: ReferenceCode,
    examples: list[Example],
    assumed: list[str],
) -> tuple[list[DraftArg], dict[str, dict[str, int]], dict[str, str]]:
    """Arguments, cases, and the source of memory to work in, by the names of arguments."""
    names = Sizes(examples)
    scratch: dict[str, list[TensorValue]] = {}
    defaults = dict(entry.defaults)
    args: list[DraftArg] = []
    fixed = dict(entry.fixed)
    for name in (one for one in entry.takes if one not in fixed):
        values = [example[name] for example in examples if name in example]
        if not values and name in defaults and name in reference.takes:
            values = [_default(defaults[name])]
        if not values and name in defaults:
            continue
        if not values:
            raise DraftError("call", f"{name}: no example call gives it")
        if values[0] is None:
            continue
        if is_scratch(given, name, values[0], entry, reference):
            scratch[name] = [value for value in values if isinstance(value, TensorValue)]
            assumed.append(f"{name} is memory to work in: each call makes it, which is timed.")
            continue
        args.append(read_argument(given, name, values, names, assumed))
    if entry.returns:
        _add_answers(args, entry, reference, assumed)
    elif not any(arg.role in (Role.OUTPUT, Role.IN_PLACE) for arg in args):
        listed = ", ".join(arg.name for arg in args if arg.role is Role.INPUT)
        raise DraftError("outputs", f"which of these does a call write? {listed}")
    _require_taken(reference, args, fixed)
    return args, names.cases, made_in_a_call(scratch, args, names)


def _add_answers(
    args: list[DraftArg], entry: PythonEntry, reference: ReferenceCode, assumed: list[str]
) -> None:
    """Add a place for each answer that is returned."""
    count = reference.answers if reference.returns else entry.answers
    for number in range(1, count + 1) if count > 1 else [""]:
        args.append(DraftArg(_free(f"out{number}", args), Role.OUTPUT, "", None))
    assumed.append("What the reference returns is the output, in its shape and dtype.")
    if entry.answers > count:
        assumed.append(
            f"{entry.name} returns {entry.answers}, its reference {count}: the first count."
        )


def _default(source: str) -> Value:
    with contextlib.suppress(ValueError):
        value = ast.literal_eval(source)
        return value if isinstance(value, int | float | bool) else None
    return None


def _free(name: str, args: Sequence[DraftArg]) -> str:
    taken = {arg.name for arg in args}
    return name if name not in taken else f"{name}_"


def _require_taken(
    reference: ReferenceCode, args: Sequence[DraftArg], fixed: Mapping[str, str]
) -> None:
    """The reference's arguments are the kernel's, by name or, where they differ, by order."""
    known = [arg.name for arg in args if arg.role is not Role.OUTPUT or arg.shape is not None]
    known += fixed
    needed = [name for name in reference.takes if name not in reference.optional]
    if not set(needed) <= set(known) and len(needed) > len(known):
        raise DraftError(
            "reference",
            f"{reference.name} takes {', '.join(needed)}; the kernel has {', '.join(known)}",
        )


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
