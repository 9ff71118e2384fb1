"""`asm FILE --problem DIR`: what a kernel is compiled to and how many fit; nothing is run."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, ClassVar

from django.db import DatabaseError

from campaigns.devices.discover import Device
from campaigns.devices.explain import read_code
from campaigns.evaluator.contract import Function, Job, MachineCode, Source
from campaigns.management.base_command import Argument, ExitCode, argument
from campaigns.management.one_file import SOURCE, TARGET, OneFileCommand, whole_above_zero
from campaigns.profiles.isa import code_changes, isa_targets
from campaigns.profiles.occupancy import Occupancy, occupancy
from campaigns.records.explained.profiles import is_product
from campaigns.records.target.device_limits import CitedLimits, cited_limits, platform_of
from campaigns.rules.verdict.report_words import (
    change_words,
    function_words,
    occupancy_words,
    resource_words,
    target_words,
    width_words,
)
from knowledge.lookup.listing import platform_named
from knowledge.lookup.platform_names import of_architecture
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
            argument("--platform", help="whose SM it is: a slug; default: the target's first"),
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
        sheet = _CodeSheet(job, functions, limits, is_product(spec.op), options["listing"])
        facts, lines = sheet.facts(code), sheet.lines(code)
        if other:
            changes = code_changes(other.functions, functions)
            facts["changes"] = [asdict(one) for one in changes]
            lines.append(f"against {options['against'].name}:")
            lines += [f"  {change_words(one)}" for one in changes] or ["  the same numbers"]
        self.emit(facts, "\n".join(lines))

    def _tell_ptx(self, job: Job, device: Device) -> None:
        with self.served(job, device) as (job, service):
            code = read_code(job, service, form="ptx")
        self._require(code, job.candidate)
        told = [f"{job.candidate.name} ({code.tool}), with the arguments of {job.cases[0].name}"]
        for one in code.functions:
            told += [one.name, *_listing(one, job.candidate.text)]
        rows = [{"name": one.name, "lines": _lines(one)} for one in code.functions]
        facts = {"file": job.candidate.name, "tool": code.tool, "functions": rows}
        self.emit(facts, "\n".join(told))

    def _chip(self, options: dict[str, Any]) -> tuple[CitedLimits | None, str | None]:
        """The limits of the platform that was named, if any, and what to compile for."""
        target, slug = options["target"], options["platform"]
        if slug is None:
            return None, target
        row = platform_named(slug)
        if target and row not in of_architecture(target):
            self.fail(ExitCode.USAGE, f"platform: {slug} is a {row.target}, and not a {target}")
        return cited_limits(row), target or row.target

    def _require(self, code: MachineCode, source: Source) -> None:
        if not code.functions:
            self.fail(ExitCode.NOT_ACCEPTED, f"{source.name}: {code.note}")


def _limits_of(target: str) -> CitedLimits | None:
    """Of the first platform that compilers call so; None without one, or without a database."""
    try:
        row = platform_of(target)
        return cited_limits(row) if row else None
    except DatabaseError:
        return None


def _with_threads(function: Function, threads: int | None) -> Function:
    used = function.resources
    if threads is None or used is None or used.threads is not None:
        return function
    return replace(function, resources=replace(used, threads=threads))


class _CodeSheet:
    """What is said of one file. multiplies: whether its problem is a product of matrices."""

    def __init__(
        self,
        job: Job,
        functions: tuple[Function, ...],
        limits: CitedLimits | None,
        multiplies: bool,
        listing: bool,
    ) -> None:
        self._job, self._functions, self._limits = job, functions, limits
        self._targets = isa_targets(functions, multiplies=multiplies)
        self._listing = listing
        self._on_gpu = any(one.resources for one in functions)

    def facts(self, code: MachineCode) -> dict[str, Any]:
        limits = self._limits if self._on_gpu else None
        return {
            "file": self._job.candidate.name,
            "target": self._job.target,
            "case": self._job.cases[0].name,
            "tool": code.tool,
            "platform": limits.platform.slug if limits else None,
            "functions": [self._function(one) for one in self._functions],
            "targets": [asdict(one) | {"is_met": one.is_met} for one in self._targets],
            "cited": [asdict(one) for one in limits.cited] if limits else [],
            "unknown": list(limits.unknown) if limits else [],
        }

    def lines(self, code: MachineCode) -> list[str]:
        job = self._job
        told = [f"{job.candidate.name} ({code.tool}), with the arguments of {job.cases[0].name}"]
        for one in self._functions:
            told += [one.name, f"  {function_words(one)}"]
            if widths := width_words(one):
                told.append(f"  moves: {widths}")
            if one.resources:
                told.append(f"  takes: {resource_words(one.resources)}")
                told.append(f"  occupancy: {self._occupancy_words(one)}")
            if self._listing:
                told += _listing(one, job.candidate.text)
        told += [f"target {target_words(one)}" for one in self._targets]
        return told + (self._cited() if self._on_gpu else [])

    def _function(self, one: Function) -> dict[str, Any]:
        facts = asdict(one)
        facts.pop("listing")
        if self._listing:
            facts["lines"] = _lines(one)
        found = self._occupancy(one)
        held = asdict(found) | {"share": found.share, "limiter": found.limiter} if found else None
        return {**facts, "occupancy": held}

    def _occupancy(self, one: Function) -> Occupancy | None:
        if one.resources is None or self._limits is None:
            return None
        return occupancy(one.resources, self._limits.holds)

    def _occupancy_words(self, one: Function) -> str:
        if found := self._occupancy(one):
            return occupancy_words(found)
        if one.resources and one.resources.threads is None:
            return "unknown: the code does not say how many threads a block has; give --threads"
        return UNKNOWN

    def _cited(self) -> list[str]:
        limits = self._limits
        if limits is None:
            return [f"what an SM of a {self._job.target} holds: {UNKNOWN}"]
        row = limits.platform
        return [
            f"what an SM of {row.name} ({row.slug}) holds:",
            *(f"  {one.citation}" for one in limits.cited),
            *(f"  {name}: {UNKNOWN}" for name in limits.unknown),
        ]


def _lines(function: Function) -> list[dict[str, Any]]:
    return [{"line": line, "instruction": text} for line, text in function.lines]


def _listing(function: Function, text: str) -> list[str]:
    """The source's lines in their order, each before its instructions; 0 is of no line."""
    code, source = defaultdict(list), text.splitlines()
    for line, instruction in function.lines:
        code[line].append(instruction)
    told = []
    for line in sorted(code):
        words = source[line - 1] if 0 < line <= len(source) else "(no line of the source)"
        told.append(f"{line:6} | {words}")
        told += [f"         {instruction}" for instruction in code[line]]
    return told
