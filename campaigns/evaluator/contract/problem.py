"""A problem: what a kernel must compute, as problem.toml says it (`problem_words`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

from campaigns.evaluator.contract import Case, Param
from campaigns.evaluator.contract.errors import ProblemError as ProblemError

# Where Triton kernels are checked without a GPU: a program takes some tenth of a millisecond there,
# so problems for real devices are too large for it.
INTERPRETER = "interpreter"
# What products of short floats are summed up in. float16 lets a kernel use float16 sums, too.
ACCUMULATES = ("float32", "float16")
# Input sets beyond what `setup` draws, made by the judge from it. Those by default fit most
# problems; a set on which the reference is not finite is left out.
USUAL_SETS = (
    *("zeros", "constant", "large", "tiny", "negative", "positive", "spiked", "last"),
    *("lowered", "sparse", "ends"),
)
# What base addresses are multiples of in a check: enough for vector loads of 16 bytes.
ALIGN = 16


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
