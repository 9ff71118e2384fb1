"""Machine code as a page shows it: what it takes, its targets, what changed, and line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import prod

from campaigns.evaluator.contract import Function, KernelLaunch, MachineCode, Resources
from campaigns.profiles.isa import CodeChange, IsaTarget, code_changes
from campaigns.profiles.kernel_profile import KernelProfile, plain_name
from campaigns.profiles.occupancy import Occupancy, SmLimits, occupancy


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of the source with what it was compiled to; number 0 is code of no line of it.

    share: of what warps wait, at this line; None where no profile says it.
    """

    number: int
    text: str
    instructions: tuple[str, ...]
    share: float | None = None

    @property
    def code(self) -> str:
        return "\n".join(self.instructions)


@dataclass(frozen=True, slots=True)
class FunctionSheet:
    """occupancy: None where its block or the platform is not known. cut: instructions unlisted.

    is_counted: whether it is the kernel that the profile is about.
    """

    function: Function
    resources: Resources | None
    occupancy: Occupancy | None
    lines: tuple[SourceLine, ...]
    cut: int
    is_counted: bool = False


@dataclass(frozen=True, slots=True)
class TargetRow:
    """One target, with its value in another round; None where that has none."""

    target: IsaTarget
    before: float | None


@dataclass(frozen=True, slots=True)
class CodeSheet:
    code: MachineCode
    functions: tuple[FunctionSheet, ...]
    targets: tuple[TargetRow, ...]
    changes: tuple[CodeChange, ...]

    @property
    def met(self) -> int:
        return sum(row.target.is_met for row in self.targets)


@dataclass(frozen=True, slots=True)
class Ran:
    """What is known of a run. launch: as it was traced; it tells a block's threads where the
    listing does not. counted: the kernel that took longest; it comes first.
    """

    launch: KernelLaunch | None = None
    counted: KernelProfile | None = None


def code_sheet(
    code: MachineCode,
    source: str,
    limits: SmLimits,
    targets_of: Callable[[MachineCode], tuple[IsaTarget, ...]],
    *,
    ran: Ran | None = None,
    against: MachineCode | None = None,
) -> CodeSheet:
    """source: the text that it was compiled from. targets_of: a code's, as of `isa_targets`."""
    lines = source.splitlines()
    other = targets_of(against) if against else ()
    before = {one.name: one.value for one in other}
    targets = tuple(TargetRow(one, before.get(one.name)) for one in targets_of(code))
    ran = ran or Ran()
    kernel = plain_name(ran.counted.kernel) if ran.counted else ""
    named = [one for one in code.functions if plain_name(one.name) == kernel]
    # Of several that differ in parameters alone none is known to be the one.
    counted = named[0] if len(named) == 1 else None
    functions = (
        _function(one, lines, limits, ran if one is counted else Ran(ran.launch))
        for one in code.functions
    )
    return CodeSheet(
        code,
        tuple(sorted(functions, key=lambda one: not one.is_counted)),
        targets,
        code_changes(against.functions, code.functions) if against else (),
    )


def _function(function: Function, source: list[str], limits: SmLimits, ran: Ran) -> FunctionSheet:
    """ran: with what was counted, where it was this function."""
    used, launch, counted = function.resources, ran.launch, ran.counted
    if used and used.threads is None and counted and "block" in counted.values:
        used = replace(used, threads=int(counted.values["block"]))
    elif used and used.threads is None and launch and launch.registers == used.registers:
        threads = prod(launch.block)
        shared_bytes = max(used.shared_bytes or 0, launch.shared_bytes)
        used = replace(used, threads=threads, shared_bytes=shared_bytes)
    shares: dict[int, float] = {}
    for one in counted.lines if counted else ():
        shares.setdefault(one.line, one.share)
    return FunctionSheet(
        function,
        used,
        occupancy(used, limits) if used else None,
        tuple(_by_line(function, source, shares)),
        function.instructions - len(function.lines),
        counted is not None,
    )


def _by_line(
    function: Function, source: list[str], shares: Mapping[int, float]
) -> Iterable[SourceLine]:
    """In the order of the source; within a line in the order of the code."""
    found: dict[int, list[str]] = {}
    for number, text in function.lines:
        found.setdefault(number if number <= len(source) else 0, []).append(text)
    for number in sorted(found):
        text = source[number - 1] if number else ""
        share = shares.get(number) if number else None
        yield SourceLine(number, text, tuple(found[number]), share)
