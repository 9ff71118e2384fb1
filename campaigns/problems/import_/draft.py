"""A problem before it is one: what was read of a kernel and a reference, to be confirmed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

# What a case may give its setup.
Number = int | float | str | bool
# More example calls or workloads than these are not made cases.
MOST_CASES = 8
NO_KERNEL = "There is no kernel yet: v0 is the reference itself, run by torch eagerly."
# A problem without sizes: setup needs one parameter, and this one is not looked at.
NO_SIZE: Mapping[str, int] = {"draw": 1}
LONGEST_NAME = 50
# Stands before what is added to a kernel's file, so that another version of it can be given it too.
ADDED = "What follows was written by kopt."
OTHER = re.compile(r"[^A-Za-z0-9_]+")
# Answers that are typically smaller are compared as those near 1 are.
LARGE = 2.0
FLOATS = ("float64", "float32", "float16", "bfloat16")
INTEGERS = ("int64", "int32", "int16", "int8", "uint8", "bool")
DTYPES = (*FLOATS, *INTEGERS)
# Nothing computes in these: they are kept as their bits in uint8, and viewed where they are read.
FLOAT8 = ("float8_e4m3fn", "float8_e5m2")


class DraftError(ValueError):
    """What is missing or cannot be read. field: which input; message: one line for people."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class CallNeeded(DraftError):
    """No example call was found. proposed: one that the source's own words suggest, or ""."""

    def __init__(self, message: str, proposed: str) -> None:
        super().__init__("call", message)
        self.proposed = proposed


def slug_of(text: str) -> str:
    """A name as an address and a folder can have it; "" where nothing is left."""
    return OTHER.sub("_", text).strip("_").lower()[:LONGEST_NAME].rstrip("_")


def case_name(values: Iterable[Number]) -> str:
    """A case is called after its sizes; a long name ends in digits that tell it from others."""
    name = "x".join(slug_of(v) if isinstance(v, str) else str(v) for v in values) or "given"
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 9]}-{crc32(name.encode()):08x}"


class Role(StrEnum):
    """What an argument is for."""

    INPUT = "input"
    OUTPUT = "output"
    IN_PLACE = "in place"
    NUMBER = "number"


class Distribution(StrEnum):
    """How an input is drawn."""

    NORMAL = "normal"
    UNIFORM = "uniform"
    INTEGERS = "integers"
    PERMUTATION = "permutation"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class DraftArg:
    """One argument in call order.

    shape: sizes by name, or whole numbers; None where only a run of the reference tells it, as for
    an output that it returns. value: of a number, a size's name or a literal. low, high: of
    integers, high left out; high may be a size. dtype: "" where
    only a run tells it. source: of a tensor that is the same in each call, its sizes by name.
    after: what is done with what is drawn, as source with {} for it.
    steps: of an output of 8 bits, by how many values few elements may be off. bits: the float8 that
    these are, "" for integers. typical: how large the elements of an output are, where a run tells.
    """

    name: str
    role: Role
    dtype: str = "float32"
    shape: tuple[str | int, ...] | None = None
    draw: Distribution = Distribution.NORMAL
    value: str | int | float | bool = 0
    low: int = 0
    high: str | int = 2
    source: str = ""
    after: str = ""
    steps: int = 0
    bits: str = ""
    typical: float = 0.0

    @property
    def is_written(self) -> bool:
        return self.role in (Role.OUTPUT, Role.IN_PLACE)

    @property
    def is_returned(self) -> bool:
        """Whether only a run of the reference tells its shape."""
        return self.role is Role.OUTPUT and self.shape is None


class Returned(NamedTuple):
    """One answer. argument: the one that it is, or whose name it has; "" for neither.

    is_same: whether it lies in the memory of that argument.
    """

    argument: str = ""
    is_same: bool = False


@dataclass(frozen=True, slots=True)
class ReferenceCode:
    """What computes the right answer.

    text: the module as it was given. name: of a function or a class in it. takes: the arguments
    that it is called with, in order; own: its own names for them, where they differ. optional:
    those that have defaults. by_name: whether it can be called by `takes`. returns: whether it
    returns its
    outputs instead of writing them, `returned` what each of these is, and `places` the argument
    that each belongs to, "" for none; without places they are the outputs in order. updates: those
    of `takes` that it changes, as far as its source tells. made_with: of a class, the arguments of
    its constructor as source. fixed: what it alone is given, as source, the same in every call.
    """

    text: str
    name: str
    takes: tuple[str, ...]
    returns: bool
    optional: frozenset[str] = frozenset()
    by_name: bool = True
    is_module: bool = False
    made_with: str = ""
    returned: tuple[Returned, ...] = (Returned(),)
    updates: frozenset[str] = frozenset()
    places: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    fixed: tuple[tuple[str, str], ...] = ()

    @property
    def answers(self) -> int:
        """How many values it returns."""
        return len(self.returned)

    @property
    def needed(self) -> list[str]:
        """The arguments that have no defaults."""
        return [name for name in self.takes if name not in self.optional]


@dataclass(frozen=True, slots=True)
class ProblemDraft:
    """All of a problem. kernels: backend → (file name, text). cases: name → sizes.

    own_ref: the whole of ref.py, where it is not written from the rest. made_by: source of a call
    of sizes and `device` that gives the inputs by name, where the reference makes them itself.
    fixed: arguments that every call gives the same, as source; they are none of `args`.
    kept: sizes that hidden cases leave as they are.
    assumed: what was assumed, one sentence each, for the person who confirms it.
    """

    name: str
    title: str
    args: tuple[DraftArg, ...]
    reference: ReferenceCode
    cases: Mapping[str, Mapping[str, Number]]
    kernels: Mapping[str, tuple[str, str]]
    summary: str = ""
    own_ref: str = ""
    made_by: str = ""
    fixed: tuple[tuple[str, str], ...] = ()
    kept: tuple[str, ...] = ()
    assumed: tuple[str, ...] = field(default_factory=tuple)

    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of the sizes."""
        return tuple(dict.fromkeys(name for case in self.cases.values() for name in case))

    @property
    def named_float8(self) -> tuple[str, ...]:
        """The float8s that the reference or an argument of every call names."""
        named = (self.reference.text, *(source for _, source in self.fixed))
        return tuple(kind for kind in FLOAT8 if any(kind in one for one in named))

    @property
    def dtype(self) -> str:
        """What the answer is in: floats of the outputs, then of the inputs, else its integers."""
        tensors = [arg for arg in self.args if arg.role is not Role.NUMBER and arg.dtype]
        outputs = [arg.dtype for arg in tensors if arg.is_written]
        kinds = [*outputs, *(arg.dtype for arg in tensors)]
        first = next((kind for kind in kinds if kind in FLOATS), next(iter(kinds), "float32"))
        return "uint8" if first in ("bool", *FLOAT8) else first


@dataclass(frozen=True, slots=True)
class Given:
    """What a person gives. reference: a file's name and text; empty where the kernel's file has it.

    entry, function: the names of the kernel's and the reference's function, where they are not
    plain. calls: example calls as source, one each. outputs: names of what a call writes.
    keep: sizes that hidden cases leave as they are. path: where the kernel lies, if parts of files
    beside it may be put into it. tells_sizes: whether each size is made a number among the
    arguments.
    """

    file_name: str
    kernel: str
    reference_file: str = ""
    reference: str = ""
    entry: str = ""
    function: str = ""
    calls: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    name: str = ""
    title: str = ""
    keep: tuple[str, ...] = ()
    path: Path | None = None
    tells_sizes: bool = False


def as_read(draft: ProblemDraft, arguments: Sequence[Mapping[str, Any]]) -> ProblemDraft:
    """What a run of the reference tells: the arguments that no source says, and dtypes of outputs.

    arguments: in call order, as `described_problem` gives them.
    """
    made = {arg["name"]: arg for arg in arguments}
    if not draft.args:
        return _rounded(_sized(replace(draft, args=tuple(map(_arg, arguments))), made))
    args = tuple(
        replace(arg, dtype=made[arg.name]["dtype"])
        if arg.is_returned
        else replace(arg, shape=tuple(made[arg.name]["shape"]))
        if arg.source
        else arg
        for arg in draft.args
    )
    return _rounded(_sized(replace(draft, args=args), made))


def _sized(draft: ProblemDraft, made: Mapping[str, Mapping[str, Any]]) -> ProblemDraft:
    """With how large an answer is, where it is larger than numbers near 1.

    Sums of many products are, and where one of them comes out near 0 its rounding stays as large.
    """
    args, assumed = [], list(draft.assumed)
    for arg in draft.args:
        typical = float(made[arg.name].get("typical", 0.0)) if arg.is_written else 0.0
        if arg.dtype in FLOATS and typical >= LARGE:
            arg = replace(arg, typical=float(f"{typical:.1g}"))
            assumed.append(f"{arg.name} is about {arg.typical:g}: atol is as many times larger.")
        args.append(arg)
    return replace(draft, args=tuple(args), assumed=tuple(assumed))


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
    written = arg["role"]
    role = Role(written) if written in {*Role} else Role.IN_PLACE
    if role is Role.NUMBER:
        return DraftArg(arg["name"], role, value=arg["value"])
    return DraftArg(arg["name"], role, arg["dtype"], tuple(arg["shape"]))
