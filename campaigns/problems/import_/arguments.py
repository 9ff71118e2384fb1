"""The arguments of a kernel in Python, C++ or CUDA, from its entry and the example calls.

The sizes of their tensors get names (`sizes.py`).
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from campaigns.problems.import_.call_values import Value
from campaigns.problems.import_.draft import (
    DTYPES,
    FLOAT8,
    FLOATS,
    Distribution,
    DraftArg,
    DraftError,
    Given,
    Number,
    ReferenceCode,
    Role,
)
from campaigns.problems.import_.read_sources import OUTPUT_NAMES, PythonEntry, parsed
from campaigns.problems.import_.sizes import WORD, Example, Sizes, powers_of_two, side_names
from campaigns.problems.import_.updates import called_like, require_places
from campaigns.problems.import_.written import TensorValue

RETURNED = "What the reference returns is the output, in its shape and dtype."
BEFORE = "accepted: a number of that name before the call: '{0} = 64; f(…)'"
SAME = "accepted: one text, with names for the sizes that differ: 'N = 64; f(torch.arange(3) * N)'"


def read_argument(
    given: Given,
    name: str,
    values: list[Value],
    names: Sizes,
    assumed: list[str],
    *,
    updated: bool = False,
) -> DraftArg:
    """updated: whether the reference changes it."""
    first = values[0]
    if not isinstance(first, TensorValue):
        kind = "float32" if isinstance(first, float) else "int32"
        return DraftArg(name, Role.NUMBER, kind, value=names.number(values))
    tensors = [value for value in values if isinstance(value, TensorValue)]
    if first.source:
        if any(value.source != first.source for value in tensors):
            raise DraftError("call", f"{name}: {first.source} differs between calls; {SAME}")
        assumed.append(f"{name} is {first.source} in every call.")
        return DraftArg(name, Role.INPUT, first.dtype, (), Distribution.NONE, source=first.source)
    shape = names.shape(name, tensors)
    if len({(one.dtype, one.draw, one.after, one.fill) for one in tensors}) > 1:
        assumed.append(f"{name} is {first.dtype} and drawn as in the first call in every case.")
    if first.dtype in FLOAT8:
        assumed.append(f"{name} comes as the bits of {first.dtype} in uint8, and is viewed as it.")
    named = updated or name in (given.outputs or OUTPUT_NAMES)
    if named and first.blank:
        return DraftArg(name, Role.OUTPUT, first.dtype, shape)
    role = Role.IN_PLACE if named else Role.INPUT
    draw, low, after = first.draw, first.low, first.after
    high = names.bound([tensor.high for tensor in tensors])
    if first.fill is not None:
        draw, around = Distribution.NORMAL, f"around {first.fill:g}"
        if first.dtype not in (*FLOATS, *FLOAT8):
            low, draw = int(first.fill) if first.dtype != "bool" else 0, Distribution.INTEGERS
            high, around = low + 2, f"from {low} and {low + 1}"
        elif first.fill:
            after = f"({{}} + {first.fill!r})"
        assumed.append(
            f"{name} is drawn {around}: with one number everywhere a kernel that ignores it "
            "would pass."
        )
    return DraftArg(name, role, first.dtype, shape, draw, 0, low, high, after=after)


def python_arguments(
    given: Given,
    entry: PythonEntry,
    reference: ReferenceCode,
    examples: list[Example],
    assumed: list[str],
) -> tuple[list[DraftArg], Sizes, ReferenceCode, PythonEntry]:
    """Arguments and sizes, the reference with a place for each answer, and the entry.

    What these are given beside the arguments is fixed in them, memory to work in too.
    """
    tree = parsed(given.kernel, given.file_name)
    sides = {
        **side_names(parsed(reference.text, given.file_name), reference.name),
        **side_names(tree, entry.name),
    }
    names = Sizes(examples, taken=dict(entry.defaults), sides=sides)
    scratch: dict[str, list[TensorValue]] = {}
    args: list[DraftArg] = []
    fixed = dict(entry.fixed)
    if not {*reference.needed} <= {*entry.takes}:
        own = [n for n in entry.takes if n not in fixed and any(n in one for one in examples)]
        reference = called_like(reference, dict(zip(reference.takes, own, strict=False)))
    for name in (one for one in entry.takes if one not in fixed):
        values = [example[name] for example in examples if name in example]
        if not values and (number := names.named(name, given.calls)) is not None:
            args.append(DraftArg(name, Role.NUMBER, value=number))
            continue
        values = values or [_usual(name, entry, reference)]
        if values[0] is None:
            continue
        if is_scratch(given, name, values[0], entry, reference):
            scratch[name] = [value for value in values if isinstance(value, TensorValue)]
            assumed.append(f"{name} is memory to work in: each call makes it, which is timed.")
            continue
        updated = name in reference.updates
        args.append(read_argument(given, name, values, names, assumed, updated=updated))
    if needed := sorted(powers_of_two(tree, entry.name) & {*names.known}):
        names.keep(needed)
        assumed.append(
            f"{', '.join(needed)} stays as it is in hidden cases: tl.arange needs a power of two."
        )
    written = [arg.name for arg in args if arg.is_written]
    if not written and not entry.returns:
        listed = ", ".join(arg.name for arg in args if arg.role is Role.INPUT)
        raise DraftError("outputs", f"which of these does a call write? {listed}")
    alone = [n for n in reference.takes if n not in entry.takes and not _is_tensor(n, examples)]
    reference = replace(reference, fixed=reference_alone(alone, examples, names))
    _require_taken(reference, args, fixed | dict(reference.fixed))
    if written:
        reference, entry = _placed(args, entry, reference, assumed)
    else:
        _add_answers(args, reference.answers if reference.returns else entry.answers)
        assumed += _counts(entry, reference)
    fixed |= made_in_a_call(scratch, args, names)
    return args, names, reference, replace(entry, fixed=tuple(fixed.items()))


def _usual(name: str, entry: PythonEntry, reference: ReferenceCode) -> Value:
    """A number's default, where the reference takes it too; None for what may be left out.

    Raises DraftError for an argument that has to be given.
    """
    default = dict(entry.defaults).get(name)
    if default is None:
        raise DraftError("call", f"{name}: no example call gives it; {BEFORE.format(name)}")
    usual = None
    if name in reference.takes:
        with contextlib.suppress(ValueError):
            usual = ast.literal_eval(default)
    return usual if isinstance(usual, int | float | bool) else None


def _is_tensor(name: str, examples: Sequence[Example]) -> bool:
    return any(isinstance(one.get(name), TensorValue) for one in examples)


def _add_answers(args: list[DraftArg], count: int) -> list[str]:
    """Add a place for each answer that is returned; their names."""
    added = []
    for number in range(1, count + 1) if count > 1 else [""]:
        name = f"out{number}"
        name += "_" if any(arg.name == name for arg in args) else ""
        args.append(DraftArg(name, Role.OUTPUT, "", None))
        added.append(name)
    return added


def _counts(entry: PythonEntry, reference: ReferenceCode) -> Iterator[str]:
    yield RETURNED
    if reference.returns and entry.answers > reference.answers:
        yield (
            f"{entry.name} returns {entry.answers}, its reference {reference.answers}: the first "
            "count."
        )


def _placed(
    args: list[DraftArg], entry: PythonEntry, reference: ReferenceCode, assumed: list[str]
) -> tuple[ReferenceCode, PythonEntry]:
    """Both for a call that writes some of its arguments; what it returns besides is added.

    Raises DraftError.
    """
    written = [arg.name for arg in args if arg.is_written]
    places = require_places(reference, args, assumed)
    own = [
        number
        for number, one in enumerate(entry.returned if entry.returns else ())
        if not one.is_same and one.argument not in written
    ]
    more = places.count(None) if own else 0
    added = iter(_add_answers(args, more) if more else ())
    if more:
        assumed.append(RETURNED)
    elif own or None in places:
        assumed.append(f"What is returned beside {', '.join(written)} is not compared.")
    filled = tuple(next(added, "") if one is None else one for one in places)
    taken = replace(entry, returns=bool(more), taken=tuple(own[:more]))
    return replace(reference, places=filled), taken


def _require_taken(
    reference: ReferenceCode, args: Sequence[DraftArg], fixed: Mapping[str, str]
) -> None:
    """The reference's arguments are the kernel's, by name or, where they differ, by order."""
    known = [arg.name for arg in args if arg.role is not Role.OUTPUT or arg.shape is not None]
    known += fixed
    needed = reference.needed
    if not set(needed) <= set(known) and len(needed) > len(known):
        raise DraftError(
            "reference",
            f"{reference.name} takes {', '.join(needed)}; the kernel has {', '.join(known)}",
        )


def reference_alone(
    names: Sequence[str], examples: Sequence[Example], sizes: Sizes
) -> tuple[tuple[str, str], ...]:
    """What the reference is given that the kernel lacks, as source. Raises DraftError.

    names: those of its arguments that are no tensors.
    """
    found = dict(fixed_arguments(names, examples))
    for name in names:
        values = [example[name] for example in examples if name in example]
        if name not in found and values:
            found[name] = str(sizes.number(values))
    return tuple(found.items())


def fixed_arguments(takes: Sequence[str], examples: Sequence[Example]) -> Iterator[tuple[str, str]]:
    """Arguments that are texts, tuples, dtypes or None, and their source. Raises DraftError."""
    for name in takes:
        values = [example[name] for example in examples if name in example]
        if values and (values[0] is None or isinstance(values[0], str | tuple)):
            if any(value != values[0] for value in values):
                raise DraftError("call", f"{name}: differs between calls; accepted: one value")
            yield name, f"torch.{values[0]}" if values[0] in (*DTYPES, *FLOAT8) else repr(values[0])


def is_scratch(
    given: Given, name: str, value: Value, entry: PythonEntry, reference: ReferenceCode
) -> bool:
    """Whether an argument is blank in the example, no output that is named, and not looked at.

    Where the reference has other names than the kernel nothing tells it from an input.
    """
    blank = isinstance(value, TensorValue) and bool(value.blank)
    outputs = set(given.outputs)
    by_name = {*reference.needed} <= set(entry.takes)
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
        maker = values[0].blank
        device = f"{tensors[0].name}.device"
        found[name] = f"torch.{maker}(({text},), dtype=torch.{values[0].dtype}, device={device})"
    return found


def told_sizes(args: Sequence[DraftArg], names: Sizes) -> Iterator[DraftArg]:
    """An argument for each size that none tells: a kernel in C++ knows no other."""
    taken = {arg.name for arg in args} | {arg.value for arg in args if arg.role is Role.NUMBER}
    for name, size in next(iter(names.cases.values())).items():
        if name in names.known and name not in taken and type(size) is int:
            yield DraftArg(name, Role.NUMBER, "int32", value=name)


def squares(args: Sequence[DraftArg], sizes: Mapping[str, Number]) -> list[str]:
    """One sentence on tensors of which two sides have one name; none where there are none."""
    found: list[str] = []
    for arg in args:
        sides = [side for side in arg.shape or () if sizes.get(str(side), 1) != 1]
        if twice := next((side for side in sides if sides.count(side) > 1), None):
            found.append(f"{arg.name} ({twice} by {twice})")
    if not found:
        return []
    return [
        f"Sides of equal size are one size: {', '.join(found)}; no case tells rows from columns "
        "there, unless an example call gives them different sizes."
    ]
