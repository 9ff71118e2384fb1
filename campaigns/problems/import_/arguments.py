"""The arguments of a kernel in Python, C++ or CUDA, from its entry and the example calls.

The sizes of their tensors get names: those of the example calls, else one for equal sizes.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from campaigns.problems.import_.call_values import Value
from campaigns.problems.import_.draft import (
    FLOAT8,
    FLOATS,
    NO_SIZE,
    Distribution,
    DraftArg,
    DraftError,
    Given,
    ReferenceCode,
    Role,
    case_name,
)
from campaigns.problems.import_.read_sources import OUTPUT_NAMES, PointerArg, PythonEntry
from campaigns.problems.import_.written import TensorValue

SIZE_NAMES = ("N", "D", "K", "M", "H", "L", "P", "Q", "R", "S")
# A few classes may be as many as rows by chance.
LEAST_BOUND = 16
WORD = re.compile(r"[^\W\d]\w*")
Example = Mapping[str, Value]


class Sizes:
    """Sizes that the calls name alike are one, and so are equal ones without a name."""

    def __init__(self, examples: Sequence[Example], usual: Sequence[str] = ()) -> None:
        """usual: what sizes are called, in order, where the calls do not name them."""
        self._examples = examples
        self._usual = (*usual, *SIZE_NAMES)
        # By name, one for each example; those that other sizes are written with are the first.
        self._values: dict[str, tuple[int, ...]] = dict(_in_expressions(examples))
        self._apart = frozenset(self._values)

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(self._values)

    @property
    def cases(self) -> dict[str, dict[str, int]]:
        """The sizes of each example call, under a name made of them."""
        found: dict[str, dict[str, int]] = {}
        for index in range(len(self._examples)):
            sizes = {name: values[index] for name, values in self._values.items()}
            found[case_name(sizes.values())] = sizes or {**NO_SIZE}
        return found

    def called(self, name: str) -> str | None:
        """The size of that name, however it is spelt."""
        return next((size for size in self.known if size.lower() == name.lower()), None)

    def shape(self, tensors: list[TensorValue]) -> tuple[str | int, ...]:
        if len({len(one.shape) for one in tensors}) > 1 or len(tensors) < len(self._examples):
            raise DraftError("call", "the example calls give one argument different dimensions")
        names = tensors[0].names or ("",) * len(tensors[0].shape)
        alike = all(one.names == tensors[0].names for one in tensors)
        return tuple(
            self._size(tuple(one.shape[axis] for one in tensors), names[axis] if alike else "")
            for axis in range(len(names))
        )

    def known_shape(self, tensors: Sequence[TensorValue]) -> tuple[str | int, ...]:
        """The shape of what only the kernel has: no size is new because of it."""
        first = tensors[0]
        found: list[str | int] = []
        for axis, written in enumerate(first.names):
            values = tuple(one.shape[axis] for one in tensors)
            found.append(written if self._is_known(written) else self._of(values) or values[0])
        return tuple(found)

    def number(self, values: list[Value]) -> str | int | float | bool:
        """A size where the numbers are those of one, else the number itself."""
        first = values[0]
        texts = {getattr(value, "text", "") for value in values}
        if len(texts) == 1 and self._is_known(text := texts.pop()):
            return text
        whole = tuple(v for v in values if isinstance(v, int) and not isinstance(v, bool))
        if len(whole) == len(values) and (size := self._of(whole)):
            return size
        if any(value != first for value in values):
            raise DraftError("call", f"a number differs between calls and is no size: {values}")
        if isinstance(first, bool | float):
            return first
        return int(first) if isinstance(first, int) else 0

    def _is_known(self, text: str) -> bool:
        """Whether every name that a size is written with is a size."""
        return bool(text) and {*WORD.findall(text)} <= self._values.keys()

    def bound(self, values: Sequence[int]) -> str | int:
        """What integers stay below: a size, such as a vocabulary's, where it is one."""
        return (values[0] >= LEAST_BOUND and self._of(tuple(values))) or values[0]

    def _size(self, values: tuple[int, ...], written: str) -> str | int:
        if values == (1,) * len(values):
            return 1
        if not written.isidentifier() and self._is_known(written):
            return written
        if written.isidentifier() and self._values.get(written, values) == values:
            self._values[written] = values
            return written
        if found := self._of(values):
            return found
        name = next(name for name in self._usual if name not in self._values)
        self._values[name] = values
        return name

    def _of(self, values: tuple[int, ...]) -> str | None:
        known = {name: value for name, value in self._values.items() if name not in self._apart}
        return next((name for name, value in known.items() if value == values), None)


def _in_expressions(examples: Sequence[Example]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Names that sizes are written with beside other names and numbers, with their values."""
    found = [
        dict(pair for each in one.values() if isinstance(each, TensorValue) for pair in each.named)
        for one in examples
    ]
    for name in found[0] if found else ():
        if all(name in one for one in found):
            yield name, tuple(one[name] for one in found)


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
        return DraftArg(name, Role.INPUT, first.dtype, (), Distribution.NONE, source=first.source)
    shape = names.shape(tensors)
    if len({(one.dtype, one.draw, one.after, one.fill) for one in tensors}) > 1:
        assumed.append(f"{name} is {first.dtype} and drawn as in the first call in every case.")
    if first.dtype in FLOAT8:
        assumed.append(f"{name} comes as the bits of {first.dtype} in uint8, and is viewed as it.")
    named = name in given.outputs if given.outputs else name in OUTPUT_NAMES
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
            with contextlib.suppress(ValueError):
                usual = ast.literal_eval(defaults[name])
                values = [usual if isinstance(usual, int | float | bool) else None]
            values = values or [None]
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
        name = f"out{number}"
        name += "_" if any(arg.name == name for arg in args) else ""
        args.append(DraftArg(name, Role.OUTPUT, "", None))
    assumed.append("What the reference returns is the output, in its shape and dtype.")
    if entry.answers > count:
        assumed.append(
            f"{entry.name} returns {entry.answers}, its reference {count}: the first count."
        )


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


def c_arguments(
    given: Given,
    listed: Sequence[PointerArg],
    reference: ReferenceCode,
    examples: list[Example],
    assumed: list[str],
) -> tuple[list[DraftArg], dict[str, dict[str, int]], ReferenceCode]:
    """Arguments and cases, and the reference with its arguments by the names of `solve`'s."""
    given_numbers = {name for example in examples for name in example}
    whole = [arg.name for arg in listed if not arg.pointer and arg.dtype.startswith(("int", "ui"))]
    names = Sizes(examples, [name for name in whole if name not in given_numbers])
    inputs = [arg for arg in listed if arg.pointer and not _is_output(given, arg)]
    tensors = [n for n in reference.takes if isinstance(examples[0].get(n), TensorValue)]
    by_pointer = {arg.name: arg.name for arg in inputs if arg.name in tensors}
    rest = [n for n in tensors if n not in by_pointer.values()]
    for arg in inputs:
        if arg.name not in by_pointer and rest:
            by_pointer[arg.name] = rest.pop(0)
            assumed.append(f"{arg.name} is what the reference calls {by_pointer[arg.name]}.")
    args: list[DraftArg] = []
    for arg in listed:
        if not arg.pointer:
            args.append(_c_number(arg, examples, names))
        elif arg.name in by_pointer:
            values = [example[by_pointer[arg.name]] for example in examples]
            made = read_argument(given, arg.name, values, names, assumed)
            args.append(replace(made, dtype=arg.dtype, role=Role.INPUT))
        elif _is_output(given, arg):
            args.append(DraftArg(arg.name, Role.OUTPUT, arg.dtype, None))
        else:
            raise DraftError("call", f"{arg.name}: no example call gives it")
    if not any(arg.role is Role.INPUT for arg in args):
        pointers = ", ".join(arg.name for arg in listed if arg.pointer)
        raise DraftError("outputs", f"which of these does a call write? {pointers}")
    if not any(arg.role is Role.OUTPUT for arg in args):
        raise DraftError("outputs", "every pointer of solve is const; which one does it write?")
    takes = tuple(
        next((mine for mine, theirs in by_pointer.items() if theirs == name), name)
        for name in reference.takes
    )
    return args, names.cases, replace(reference, takes=takes, by_name=False)


def _c_number(arg: PointerArg, examples: list[Example], names: Sizes) -> DraftArg:
    """A number of `solve`: a size of that name, or what the calls give."""
    values = [example[arg.name] for example in examples if arg.name in example]
    if values:
        return DraftArg(arg.name, Role.NUMBER, arg.dtype, value=names.number(values))
    size = names.called(arg.name)
    if size is None:
        listed = ", ".join(names.known) or "none"
        raise DraftError(
            "call",
            f"{arg.name}: is it a size? Equal ones are taken as one, so name them in the call: "
            f'"{arg.name} = 64; f(torch.randn(32, {arg.name}))"; sizes so far: {listed}',
        )
    return DraftArg(arg.name, Role.NUMBER, arg.dtype, value=size)


def _is_output(given: Given, arg: PointerArg) -> bool:
    return arg.name in given.outputs if given.outputs else arg.written
