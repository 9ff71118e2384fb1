"""`asm FILE --problem DIR`: what a kernel is compiled to and how many fit; nothing is run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, ClassVar

from django.db import DatabaseError

from campaigns.devices.discover import Device
from campaigns.devices.explain import read_code
from campaigns.evaluator.contract import Function, Job, MachineCode, Resources, Source
from campaigns.management.base_command import Argument, ExitCode, argument
from campaigns.management.one_file import SOURCE, TARGET, OneFileCommand, whole_above_zero
from campaigns.profiles.isa import isa_targets
from campaigns.profiles.occupancy import Occupancy, SmLimits
from campaigns.records.explained.profiles import is_product
from campaigns.records.target.device_limits import CitedLimits, cited_limits
from campaigns.reports.kernel.code_sheet import CodeSheet, FunctionSheet, code_sheet
from campaigns.rules.verdict.report_words import (
    change_words,
    function_words,
    occupancy_words,
    resource_words,
    target_words,
    width_words,
)
from knowledge.lookup.listing import PLATFORM_HELP, platform_named
from knowledge.lookup.platform_names import of_architecture
from knowledge.lookup.value import unknown_words
from knowledge.specs.cited import UNKNOWN


class Command(OneFileCommand):
    help = (
        "Say what one file is compiled to, for a device that need not be here: instructions, "
        "registers, occupancy, targets. Exit 5: it cannot be built."
    )
    calls: ClassVar[bool] = False

    def arguments(self) -> tuple[Argument, ...]:
        return (
            *SOURCE,
            TARGET,
            argument(
                "--platform", help=f"whose SM it is: {PLATFORM_HELP}; default: the target's first"
            ),
            argument(
                "--threads", type=whole_above_zero, help="of a block, where the code has them not"
            ),
            argument("--against", type=Path, help="a file to compare it with"),
            argument("--listing", action="store_true", help="also each line with its instructions"),
            argument("--ptx", action="store_true", help="each line with its PTX, and no more"),
        )

    def run(self, **options: Any) -> None:
        limits, options["target"] = self._chip(options)
        # Compilers need no device, so none is taken from those who measure on it.
        spec, device, job = self.asked({**options, "device": "cpu"})
        if options["ptx"]:
            self._tell_ptx(job, device)
            return
        limits = limits or _limits_of(job.target)
        with self.served(job, device) as (job, service):
            code = read_code(job, service)
            self._require(code, job.candidate)
            other = None
            if job.incumbent:
                other = read_code(replace(job, candidate=job.incumbent), service)
                self._require(other, job.incumbent)
        functions = tuple(_with_threads(one, options["threads"]) for one in code.functions)
        limits = limits if any(one.resources for one in functions) else None
        sheet = code_sheet(
            replace(code, functions=functions),
            job.candidate.text,
            limits.holds if limits else SmLimits(),
            lambda one: isa_targets(one.functions, job.backend, multiplies=is_product(spec.op)),
            against=other,
        )
        facts = _facts(job, sheet, limits, options["listing"])
        lines = list(_lines(job, sheet, options["listing"]))
        if any(one.resources for one in functions):
            lines += _cited(limits, job.target)
        if other:
            facts["changes"] = [asdict(one) for one in sheet.changes]
            lines.append(f"against {options['against'].name}:")
            lines += [f"  {change_words(one)}" for one in sheet.changes] or ["  the same numbers"]
        self.emit(facts, "\n".join(lines))

    def _tell_ptx(self, job: Job, device: Device) -> None:
        with self.served(job, device) as (job, service):
            code = read_code(job, service, form="ptx")
        self._require(code, job.candidate)
        sheet = code_sheet(code, job.candidate.text, SmLimits(), lambda _: ())
        told = [_head(job, code)]
        for one in sheet.functions:
            told += [one.function.name, *_listing(one)]
        rows = [{"name": one.name, "lines": _line_facts(one)} for one in code.functions]
        facts = {"file": job.candidate.name, "tool": code.tool, "functions": rows}
        self.emit(facts, "\n".join(told))

    def _chip(self, options: dict[str, Any]) -> tuple[CitedLimits | None, str | None]:
        """The limits of the platform that was named, if any, and what to compile for."""
        target, slug = options["target"], options["platform"]
        if slug is None:
            return None, target
        row = platform_named(slug)
        if target and row not in of_architecture(target):
            self.fail(ExitCode.USAGE, f"platform: {row.slug} is a {row.target}, and not a {target}")
        return cited_limits(row), target or row.target

    def _require(self, code: MachineCode, source: Source) -> None:
        if not code.functions:
            self.fail(ExitCode.NOT_ACCEPTED, f"{source.name}: {code.note}")


def _limits_of(target: str) -> CitedLimits | None:
    """Limits of the first platform of this target; None without one or without a database."""
    try:
        row = min(of_architecture(target), key=lambda one: one.slug, default=None)
        return cited_limits(row) if row else None
    except DatabaseError:
        return None


def _with_threads(function: Function, threads: int | None) -> Function:
    used = function.resources
    if threads is None or used is None or used.threads is not None:
        return function
    return replace(function, resources=replace(used, threads=threads))


def _facts(job: Job, sheet: CodeSheet, limits: CitedLimits | None, listing: bool) -> dict[str, Any]:
    targets = [row.target for row in sheet.targets]
    return {
        "file": job.candidate.name,
        "target": job.target,
        "case": job.cases[0].name,
        "tool": sheet.code.tool,
        "platform": limits.platform.slug if limits else None,
        "functions": [_function(one, listing) for one in sheet.functions],
        "targets": [asdict(one) | {"is_met": one.is_met} for one in targets],
        "cited": [asdict(one) for one in limits.cited] if limits else [],
        "unknown": list(limits.unknown) if limits else [],
    }


def _function(one: FunctionSheet, listing: bool) -> dict[str, Any]:
    facts, found = asdict(one.function), one.occupancy
    facts.pop("listing")
    if listing:
        facts["lines"] = _line_facts(one.function)
    held = asdict(found) | {"share": found.share, "limiter": found.limiter} if found else None
    return {**facts, "occupancy": held}


def _lines(job: Job, sheet: CodeSheet, listing: bool) -> Iterator[str]:
    yield _head(job, sheet.code)
    for one in sheet.functions:
        yield one.function.name
        yield f"  {function_words(one.function)}"
        if widths := width_words(one.function):
            yield f"  moves: {widths}"
        if one.resources:
            yield f"  takes: {resource_words(one.resources)}"
            yield f"  occupancy: {_occupancy(one.occupancy, one.resources)}"
        yield from _listing(one) if listing else ()
    yield from (f"target {target_words(row.target)}" for row in sheet.targets)


def _head(job: Job, code: MachineCode) -> str:
    return f"{job.candidate.name} ({code.tool}), with the arguments of {job.cases[0].name}"


def _listing(one: FunctionSheet) -> Iterator[str]:
    for line in one.lines:
        yield f"{line.number:6} | {line.text if line.number else '(no line of the source)'}"
        yield from (f"         {instruction}" for instruction in line.instructions)


def _line_facts(one: Function) -> list[dict[str, Any]]:
    return [{"line": line, "instruction": text} for line, text in one.lines]


def _occupancy(found: Occupancy | None, used: Resources) -> str:
    if found is None and used.threads is None:
        return "unknown: the code does not say how many threads a block has; give --threads"
    return occupancy_words(found) if found else UNKNOWN


def _cited(limits: CitedLimits | None, target: str) -> list[str]:
    if limits is None:
        return [f"what an SM of a {target} holds: {UNKNOWN}"]
    row = limits.platform
    return [
        f"what an SM of {row.name} ({row.slug}) holds:",
        *(f"  {one.citation}" for one in limits.cited),
        *(f"  {name}: {unknown_words(row, name)}" for name in limits.unknown),
    ]
