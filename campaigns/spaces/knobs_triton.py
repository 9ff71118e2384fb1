"""Finds the knobs of a Triton source: numbers and options of launches, and what a tuner chooses."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import libcst as cst
import libcst.matchers as m

from campaigns.evaluator.contract import Param
from campaigns.spaces import ladders
from campaigns.spaces.autotuned import Tuner, tuner_of
from campaigns.spaces.knob_list import KnobList
from campaigns.spaces.space import Site
from campaigns.spaces.triton_facts import KernelFacts, kernel_facts
from campaigns.syntax.triton_source import Launch, Number, Span, TritonSource, code, read_triton

OPTIONS: Mapping[str, tuple[int, ...]] = {
    "num_warps": ladders.WARPS,
    "num_stages": ladders.STAGES,
    "maxnreg": ladders.REGISTERS,
}
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
            launches.append(TritonLaunch(self.facts[launch.kernel], self.variables | bound))
        asserted = tuple(_assertions(self.source))
        return TritonKnobs(tuple(launches), self.variables, self.tuners, asserted)

    def _readers(self) -> dict[Span, set[str]]:
        """The parameters that each number of the file reaches."""
        readers: dict[Span, set[str]] = {}
        for launch in self.launches:
            for name, node in self._arguments(launch):
                number = self.source.number(node)
                if number is not None:
                    readers.setdefault(number.span, set()).add(name)
        return readers

    def _arguments(self, launch: Launch) -> Iterator[tuple[str, cst.BaseExpression]]:
        """The compile-time arguments and options of a launch that are given one by one."""
        kernel = self.source.kernels[launch.kernel]
        for at, arg in enumerate(launch.call.args):
            starred = any(before.star for before in launch.call.args[: at + 1])
            if arg.keyword is not None:
                name = arg.keyword.value
            elif not starred and at < len(kernel.parameters):
                name = kernel.parameters[at]
            else:
                continue
            if name in kernel.constexprs or name in OPTIONS:
                yield name, arg.value

    def _bound(self, launch: Launch, chosen: Mapping[str, ast.expr]) -> dict[str, ast.expr]:
        """What stands for each number of a launch; knobs are added for those that are new."""
        bound = dict(chosen)
        for name, node in self._arguments(launch):
            number = self.source.number(node)
            if number is not None:
                bound[name] = self._number(launch, name, number)
        stars = {arg.star for arg in launch.call.args}
        for option in self.options if launch.call.args and "**" not in stars else ():
            if option not in bound and option not in launch.keywords:
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
        tied = self._tied(launch, name, number)
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

    def _tied(self, launch: Launch, name: str, number: Number) -> tuple[Span, ...] | None:
        """Where the grid repeats a number, to be written along with it; None if that is not clear.

        Clear is a grid that divides by it in `cdiv`, where no other argument has that value.
        """
        grid = self._grid(launch)
        same = [n for n in m.findall(grid, m.Integer()) if self._value(n) == number.value]
        if not same or name in OPTIONS:
            return ()
        divisors = {
            call.args[1].value
            for call in m.findall(grid, m.Call())
            if isinstance(call, cst.Call) and len(call.args) == 2 and "cdiv" in code(call.func)
        }
        alike = [n for n, node in self._arguments(launch) if self._value(node) == number.value]
        if set(same) <= divisors and [n for n in alike if n not in OPTIONS] == [name]:
            return tuple(self.source.spans[node] for node in same)
        return () if number.name else None

    def _grid(self, launch: Launch) -> cst.CSTNode:
        index = cst.ensure_type(launch.call.func, cst.Subscript).slice[0].slice
        return self.source.resolved(index.value if isinstance(index, cst.Index) else index)

    def _value(self, node: cst.CSTNode) -> int | None:
        number = self.source.number(node)
        return number.value if number is not None else None

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
                name, value = _constant(small)
                number = self.source.number(value) if value is not None else None
                uses = [facts for facts in self.facts.values() if name in facts.tiles]
                if number is not None and uses and 1 <= number.value <= ladders.MOST:
                    values = _values(name, number.value, uses[0])
                    site = Site(number.span.start, number.span.end, says=number.value)
                    found = self.knobs.add(name, values, number.value, site)
                    self.variables[name] = self.places[number.span] = found


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


def _constant(node: cst.BaseSmallStatement) -> tuple[str, cst.BaseExpression | None]:
    """Name and value of a module's compile-time constant; None as value for anything else."""
    if isinstance(node, cst.AnnAssign) and isinstance(node.target, cst.Name):
        if "constexpr" in code(node.annotation.annotation):
            return node.target.value, node.value
    elif isinstance(node, cst.Assign) and isinstance(node.targets[0].target, cst.Name):
        call = node.value
        if isinstance(call, cst.Call) and code(call.func).endswith("constexpr") and call.args:
            return node.targets[0].target.value, call.args[0].value
    return "", None


def _assertions(source: TritonSource) -> Iterator[str]:
    """The conditions of `assert` outside kernels."""
    kernels = [kernel.node for kernel in source.kernels.values()]
    inside = {found for node in kernels for found in m.findall(node, m.Assert())}
    for node in m.findall(source.module, m.Assert()):
        if isinstance(node, cst.Assert) and node not in inside:
            yield code(node.test)
