"""A problem: what a kernel must compute, as problem.toml says it, and which words that accepts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, prod
from pathlib import Path
from typing import Any

from campaigns.evaluator.contract import Case, Param

# How the rows of a grouped operator are spread over its groups, and what has to be tried (R22). A
# kernel that is quick where every group has as many rows may be slow, or wrong, where one group has
# most of them and another none. `setup`, `reference`'s inputs and `work` are made for one: they get
# its name under this key, and `setup` says beside inputs and outputs, as `group_sizes`, how many
# rows each group has, which is held against the name.
PARAM = "distribution"
SKEWED, EMPTY = "half_in_one", "empty_group"
# Even; two groups a row with no room to spare; one group a row with a quarter to spare; at least
# half of all rows in one group; at least one group without any.
DISTRIBUTIONS = ("uniform", "k2_cf1.0", "k1_cf1.25", SKEWED, EMPTY)
# Words of an `op` that say that it is grouped, whatever the problem declares.
GROUPED_WORDS = frozenset(("grouped", "ragged", "moe", "varlen"))
SCHEMA = 1
DEVICE_KINDS = ("cpu", "gpu")
# Where Triton kernels are checked without a GPU: a program takes some tenth of a millisecond there,
# so problems for real devices are too large for it.
INTERPRETER = "interpreter"
CASE_KINDS = (*DEVICE_KINDS, INTERPRETER)
DIRECTIONS = ("forward", "backward")
REFRESHES = ("setup", "shift")
# The precision that an answer has to have. tfloat32: float32 tensors whose products may be in TF32.
DTYPES = (
    *("float64", "float32", "tfloat32", "float16", "bfloat16"),
    *("int64", "int32", "int16", "int8", "uint8"),
)
# What products of short floats are summed up in. float16 lets a kernel use float16 sums, too.
ACCUMULATES = ("float32", "float16")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.=,x-]{0,79}")
REQUIRED = {"name": str, "title": str, "op": str, "dtype": str}
OPTIONAL = {
    *("schema", "summary", "refresh", "config_class", "files", "flags", "tolerance", "case"),
    *("accumulate", "check", "weights", "representative", "grouped", "library"),
}
TOLERANCES = ("atol", "rtol", "norm")
# More steps than that are a lower precision, not another way to round.
MOST_STEPS = 4
BITS = ("float8_e4m3fn", "float8_e5m2")
CHECKS = ("sets", "free", "align")
OF_A_CASE = ("name", "on", "params", "protected", "step", "direction", PARAM)
# Input sets beyond what `setup` draws, made by the judge from it. Those by default fit most
# problems; a set on which the reference is not finite is left out.
USUAL_SETS = (
    *("zeros", "constant", "large", "tiny", "negative", "positive", "spiked", "last"),
    *("lowered", "sparse", "ends"),
)
SETS = (*USUAL_SETS, "shifted")
# What base addresses are multiples of in a check: enough for vector loads of 16 bytes.
ALIGN, ALIGNMENTS = 16, (1, 2, 4, 8, 16, 32, 64, 128, 256)


def distribution_of(params: Mapping[str, object]) -> str:
    """The distribution of a case, "" without one."""
    return str(params.get(PARAM, ""))


def is_grouped(op: str, declared: object) -> bool:
    """Whether rows of this operator belong to groups of different sizes."""
    return declared is True or bool(GROUPED_WORDS & set(op.lower().replace("-", "_").split("_")))


def missing(found: Iterable[str]) -> tuple[str, ...]:
    """The distributions that a grouped operator is not tried on."""
    known = set(found)
    return tuple(name for name in DISTRIBUTIONS if name not in known)


def complaint(name: str, sizes: object) -> str:
    """Why rows per group are not of this distribution; "" where they are."""
    if not isinstance(sizes, Sequence) or not sizes or not all(_is_count(n) for n in sizes):
        return f"{sizes!r:.60}; needed: a list with how many rows each group has"
    mean = sum(sizes) / len(sizes)
    wanted = {
        "uniform": (max(sizes) - min(sizes) <= 1, "as many rows in each group, but for one"),
        "k2_cf1.0": (max(sizes) <= ceil(mean), "no group above the mean"),
        "k1_cf1.25": (max(sizes) <= ceil(1.25 * mean), "no group above 1.25 times the mean"),
        SKEWED: (2 * max(sizes) >= sum(sizes) > 0, "at least half of all rows in one group"),
        EMPTY: (min(sizes) == 0 < max(sizes), "at least one group without rows"),
    }
    holds, words = wanted[name]
    return "" if holds else f"{list(sizes)!r:.60} is not {name}; needed: {words}"


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


class ProblemError(ValueError):
    """A problem folder that cannot be used; one line naming file and field."""


@dataclass(frozen=True, slots=True)
class ProblemCase:
    """One case with what it is meant for (CASE_KINDS); `protected` cases may not regress (R13).

    step, direction: of a problem that trains, whose forward and backward case of a shape are one
    step (R14); both empty elsewhere.
    """

    name: str
    params: Mapping[str, Param]
    on: tuple[str, ...]
    protected: bool
    step: str = ""
    direction: str = ""

    @property
    def case(self) -> Case:
        return Case(name=self.name, params=self.params)

    @property
    def size(self) -> int:
        """The product of its whole numbers, which orders cases of a problem well enough."""
        return prod(one for one in self.params.values() if isinstance(one, int) and one > 0)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far an answer may be off, by element and by norm. None leaves it to the dtype.

    steps: of an output of 8 bits, in values of `bits`, or integers where that is "".
    """

    atol: float | None = None
    rtol: float | None = None
    norm: float | None = None
    steps: int | None = None
    bits: str = ""


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """What is checked beyond the declared cases.

    sets: names from SETS. free: the integer parameters that hidden cases may move a little; None
    stands for every one that is not small. align: what all base addresses are multiples of, bytes.
    """

    sets: tuple[str, ...] = USUAL_SETS
    declared: bool = False
    free: tuple[str, ...] | None = None
    align: int = ALIGN


@dataclass(frozen=True, slots=True)
class ProblemSpec:
    """What problem.toml says. refresh: how the judge makes each timed call's inputs new.

    representative: names of the cases that stand for all others in screening (R18). Of a config
    class without one, and where none is named, its first case does.
    cases: a `distribution` of one stands in its params; `grouped = true`, and many an op, asks for
    all of them (R22; `complaint`).
    bounds: the tolerance of outputs that have one of their own, by name; "" holds for all others.
    weights: inputs that keep address and values over many calls in real use, until a new version.
    flags: by backend, the compiler flags that its v0 is built with.
    call_of_library: of torch, the library's kernel for it, by the names of the arguments.
    """

    folder: Path
    name: str
    title: str
    op: str
    dtype: str
    summary: str
    refresh: str
    atol: float
    rtol: float
    files: Mapping[str, str]
    config_class: tuple[str, ...]
    cases: tuple[ProblemCase, ...]
    accumulate: str = ACCUMULATES[0]
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    representative: tuple[str, ...] = ()
    check: CheckSpec = field(default_factory=CheckSpec)
    weights: tuple[str, ...] = ()
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    call_of_library: str = ""

    def cases_on(self, kind: str) -> tuple[ProblemCase, ...]:
        return tuple(case for case in self.cases if kind in case.on)

    def cases_of(self, backend: str, kind: str) -> tuple[ProblemCase, ...]:
        """What a kernel of `backend` is tried on; in an interpreter its own cases, if there are."""
        own = self.cases_on(INTERPRETER) if (backend, kind) == ("triton", "cpu") else ()
        return own or self.cases_on(kind)


@dataclass(frozen=True, slots=True)
class ProblemOrder:
    """what: "works", "described" or "checked". files: of the problem, as base64.

    policy: a `Policy` as one line. shipped: whether the problem came with kopt.
    """

    what: str
    folder: str
    files: Mapping[str, str]
    cases: tuple[Mapping[str, Any], ...]
    policy: str
    shipped: bool
    limit_s: float
