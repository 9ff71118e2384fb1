"""Finds the knobs of a Triton source: numbers and options of launches, and what a tuner chooses."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import libcst as cst

from campaigns.evaluator.contract import Param
from campaigns.spaces import ladders
from campaigns.spaces.constraints import Demand, DeviceLimits, demand, product_of
from campaigns.spaces.expressions import python_expression
from campaigns.spaces.space import KnobList, Site
from campaigns.spaces.triton_reading import (
    OPTIONS,
    KernelFacts,
    Tuner,
    arguments,
    assertions,
    kernel_facts,
    module_constant,
    repetitions,
    tuner_of,
)
from campaigns.syntax.triton_source import Launch, Number, Span, TritonSource, read_triton

# What Triton takes on NVIDIA where the launch does not say.
UNSAID = {"num_warps": 4, "num_stages": 3, "maxnreg": 0}


@dataclass(frozen=True, slots=True)
class TritonLaunch:
    """One launch: what its kernel does, and what stands for each of its numbers in expressions."""

    facts: KernelFacts
    bound: Mapping[str, ast.expr]


@dataclass(frozen=True, slots=True)
class TritonKnobs:
    """What was found. variables: what stands for each variable of the file that is a knob.

    tuners: the switch of each tuner, with the present values of what it chooses.
    """

    launches: tuple[TritonLaunch, ...] = ()
    variables: Mapping[str, ast.expr] = field(default_factory=dict)
    tuners: Mapping[str, Mapping[str, Param]] = field(default_factory=dict)
    asserted: tuple[str, ...] = ()


def find_triton_knobs(text: str, knobs: KnobList, *, limits_registers: bool) -> TritonKnobs:
    """Add the knobs of a source to the list; none where it does not parse.

    limits_registers: whether the device takes `maxnreg` where the source does not say it.
    """
    source = read_triton(text)
    return _Finder(source, knobs, limits_registers).found() if source else TritonKnobs()


class _Finder:
    """Walks through the launches of one file."""

    def __init__(self, source: TritonSource, knobs: KnobList, limits_registers: bool) -> None:
        self.source, self.knobs = source, knobs
        self.options = [name for name in OPTIONS if name != "maxnreg" or limits_registers]
        self.launches = [at for at in source.launches if at.kernel in source.kernels]
        names = {launch.kernel for launch in self.launches}
        self.prefixed = len(names) > 1
        self.facts = {name: kernel_facts(source.kernels[name]) for name in names}
        self.readers = self._readers()
        self.places: dict[Span, ast.expr] = {}
        self.variables: dict[str, ast.expr] = {}
        self.globals: dict[str, ast.expr] = {}
        self.switches: dict[str, str] = {}
        self.tuners: dict[str, dict[str, Param]] = {}

    def found(self) -> TritonKnobs:
        self._module_constants()
        chosen: dict[str, dict[str, ast.expr]] = {}
        launches = []
        for launch in self.launches:
            tuner = tuner_of(self.source, self.source.kernels[launch.kernel])
            if tuner is not None and not tuner.values:
                continue
            if tuner is not None and launch.kernel not in chosen:
                chosen[launch.kernel] = self._take_over(launch.kernel, tuner)
            bound = self._bound(launch, chosen.get(launch.kernel, {}))
            launches.append(TritonLaunch(self.facts[launch.kernel], self.globals | bound))
        asserted = tuple(assertions(self.source))
        variables = self.globals | self.variables
        return TritonKnobs(tuple(launches), variables, self.tuners, asserted)

    def _readers(self) -> dict[Span, set[str]]:
        """The parameters that each number of the file reaches."""
        readers: dict[Span, set[str]] = {}
        for launch in self.launches:
            for name, node in arguments(self.source, launch):
                number = self.source.number(node)
                if number is not None:
                    readers.setdefault(number.span, set()).add(name)
        return readers

    def _bound(self, launch: Launch, chosen: Mapping[str, ast.expr]) -> dict[str, ast.expr]:
        """What stands for each number of a launch; knobs are added for those that are new."""
        bound = dict(chosen)
        for name, node in arguments(self.source, launch):
            number = self.source.number(node)
            if number is not None:
                bound[name] = self._number(launch, name, number)
        stars = {arg.star for arg in launch.call.args}
        for option in self.options if launch.call.args and "**" not in stars else ():
            # A product's tile says how many registers it takes; a limit on them only spills.
            spoken_for = option == "maxnreg" and self.facts[launch.kernel].has_dot
            if not spoken_for and option not in bound and option not in launch.keywords:
                bound[option] = self._absent(launch, option)
        return bound

    def _absent(self, launch: Launch, option: str) -> ast.expr:
        present, switch = UNSAID[option], self.switches.get(launch.kernel)
        when = (switch, False) if switch else None
        site = Site(launch.end, launch.end, f", {option}={{}}", says=present, when=when)
        knob = self.knobs.add(self._label(launch, option), OPTIONS[option], present, site)
        if switch and isinstance(knob, ast.Name):
            self.tuners[switch][knob.id] = present
        return knob

    def _number(self, launch: Launch, name: str, number: Number) -> ast.expr:
        if number.span in self.places:
            return self.places[number.span]
        tied = repetitions(self.source, launch, name, number)
        span, value = number.span, number.value
        readers = self.readers[span]
        if tied is None or not 1 <= value <= ladders.MOST:
            found: ast.expr = ast.Constant(value)
        else:
            values = _values(name, value, self.facts[launch.kernel])
            label = self._label(launch, name) if len(readers) == 1 else number.name
            sites = [Site(s.start, s.end, says=value) for s in (span, *tied)]
            found = self.knobs.add(label, values, value, *sites)
        self.places[span] = found
        if number.name:
            self.variables[number.name] = found
        return found

    def _label(self, launch: Launch, name: str) -> str:
        return f"{launch.kernel}_{name}" if self.prefixed else name

    def _take_over(self, kernel: str, tuner: Tuner) -> dict[str, ast.expr]:
        """One switch for the decorator, and one knob for each number that it chooses."""
        launches = [launch for launch in self.launches if launch.kernel == kernel]
        ends = [launch.end for launch in launches]
        fixed = "".join(f", {n}={v[0]!r}" for n, v in tuner.values.items() if len(v) == 1)
        written = [Site(end, end, fixed, says=True) for end in ends if fixed]
        lines = Site(tuner.lines.start, tuner.lines.end, "", says=True)
        label = self._label(launches[0], "autotune")
        name = ast.unparse(self.knobs.add(label, (True, False), True, lines, *written))
        self.switches[kernel], self.tuners[name] = name, {}
        bound: dict[str, ast.expr] = {}
        for number, listed in tuner.values.items():
            sites = [Site(end, end, f", {number}={{}}", when=(name, False)) for end in ends]
            label = self._label(launches[0], number)
            bound[number] = self.knobs.add(label, _ordered(listed), listed[0], *sites)
            if isinstance(bound[number], ast.Name):
                self.tuners[name][ast.unparse(bound[number])] = listed[0]
        return bound

    def _module_constants(self) -> None:
        """Add `NAME: tl.constexpr = 64` and `NAME = tl.constexpr(64)` of the module."""
        for line in self.source.module.body:
            for small in line.body if isinstance(line, cst.SimpleStatementLine) else ():
                name, value = module_constant(small)
                number = self.source.number(value) if value is not None else None
                uses = [facts for facts in self.facts.values() if name in facts.tiles]
                if number is not None and uses and 1 <= number.value <= ladders.MOST:
                    values = _values(name, number.value, uses[0])
                    site = Site(number.span.start, number.span.end, says=number.value)
                    found = self.knobs.add(name, values, number.value, site)
                    self.globals[name] = self.places[number.span] = found


def _values(name: str, value: int, facts: KernelFacts) -> tuple[int, ...]:
    if name in OPTIONS:
        return ladders.with_present(tuple(filter(None, OPTIONS[name])), value)
    if name not in facts.tiles:
        return ladders.ladder(value, ladders.COUNTS)
    if facts.has_dot:
        return ladders.strict_ladder(value, ladders.TILES)
    if facts.axes > 1:
        return ladders.ladder(value, ladders.TILES)
    return ladders.ladder(value, ladders.STRIPES)


def _ordered(values: tuple[Param, ...]) -> tuple[Param, ...]:
    """Numbers by size, so that neighbours are near; anything else as listed."""
    numbers = [value for value in values if isinstance(value, int | float)]
    return tuple(sorted(numbers)) if len(numbers) == len(values) else values


# TRITON_MAX_TENSOR_NUMEL in triton/language/core.py.
MOST_ELEMENTS = 1 << 20
# Beyond it code outgrows instruction caches, and a compiler works on it for ten seconds to minutes.
MOST_UNROLLED = 4096
SINGLE_BYTES = 4


def triton_demands(
    found: TritonKnobs, limits: DeviceLimits, element_bytes: int
) -> Iterator[Demand]:
    """What the launches of a Triton source demand."""
    for switch, chosen in found.tuners.items():
        same = " and ".join(f"{name} == {value!r}" for name, value in chosen.items())
        if same:
            reason = "as long as the source's own tuner stays, it is the one that chooses"
            yield Demand(python_expression(f"not {switch} or ({same})"), reason)
    for text in found.asserted:
        yield demand(text, f"the source asserts {text}", found.variables)
    for launch in found.launches:
        for text in launch.facts.asserted:
            yield demand(text, f"the kernel asserts {text}", launch.bound)
        yield from _thread_demands(launch, limits)
        yield from _tile_demands(launch, limits)
        yield from _shared_demand(launch, limits, element_bytes)
        if launch.facts.is_exact and element_bytes >= SINGLE_BYTES:
            yield from _unrolled_demand(launch, limits)


def _thread_demands(launch: TritonLaunch, limits: DeviceLimits) -> Iterator[Demand]:
    warp = limits.threads_per_warp
    if limits.max_warps is not None:
        reason = f"a block has at most {limits.max_warps} warps"
        yield demand(f"num_warps <= {limits.max_warps}", reason, launch.bound)
    if limits.threads_per_block is not None:
        reason = f"a block has at most {limits.threads_per_block} threads"
        text = f"num_warps * {warp} <= {limits.threads_per_block}"
        yield demand(text, reason, launch.bound)
    if limits.registers_per_block is not None:
        reason = f"maxnreg allows more than the {limits.registers_per_block} registers of a block"
        text = f"maxnreg * num_warps * {warp} <= {limits.registers_per_block}"
        yield demand(text, reason, launch.bound)


def _tile_demands(launch: TritonLaunch, limits: DeviceLimits) -> Iterator[Demand]:
    """Tensors that Triton takes, and sums of products that fit the registers of their threads."""
    facts = launch.facts
    reason = f"a tensor has at most {MOST_ELEMENTS} elements"
    for sides in combinations(facts.extents, min(facts.axes, len(facts.extents))):
        yield demand(f"{product_of(sides)} <= {MOST_ELEMENTS}", reason, launch.bound)
    if facts.sums is None or not (limits.sums_in_registers or facts.is_exact):
        return
    if limits.registers_per_block is not None:
        reason = "the sums of a tile alone need more registers than a block has"
        text = f"{product_of(facts.sums)} < {limits.registers_per_block}"
        yield demand(text, reason, launch.bound)
    if limits.registers_per_thread is not None:
        reason = "the sums of a tile alone need more registers than its threads have"
        each = limits.registers_per_thread * limits.threads_per_warp
        yield demand(f"{product_of(facts.sums)} < num_warps * {each}", reason, launch.bound)


def _shared_demand(
    launch: TritonLaunch, limits: DeviceLimits, element_bytes: int
) -> Iterator[Demand]:
    """The stages of both operands of a product in a loop, which wait in shared memory.

    Triton 3.7 holds one stage fewer than it is told, or just as many where the units that multiply
    read shared memory themselves: this is the lesser, so that nothing is refused that runs.
    """
    facts = launch.facts
    if facts.sums is None or facts.depth is None or limits.shared_bytes_per_block is None:
        return
    rows, columns = facts.sums
    most = limits.shared_bytes_per_block
    operands = f"(({ast.unparse(rows)}) + ({ast.unparse(columns)})) * ({ast.unparse(facts.depth)})"
    reason = f"the stages of a tile need more than {most} bytes of shared memory"
    for stages in ("(num_stages - 1) * ", ""):
        yield demand(f"{stages}{operands} * {element_bytes} <= {most}", reason, launch.bound)


def _unrolled_demand(launch: TritonLaunch, limits: DeviceLimits) -> Iterator[Demand]:
    """What a thread multiplies in one turn of a loop, where no matrix unit does: all unrolled."""
    facts = launch.facts
    if facts.sums is not None and facts.depth is not None:
        reason = f"a turn of the loop is more than {MOST_UNROLLED} multiply-adds of each thread"
        each = limits.threads_per_warp * MOST_UNROLLED
        text = f"{product_of((*facts.sums, facts.depth))} <= num_warps * {each}"
        yield demand(text, reason, launch.bound)
