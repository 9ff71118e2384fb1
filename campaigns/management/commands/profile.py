"""`profile`: what limits a kernel, from a profiler's files or counted here; nothing is kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

from campaigns.devices.explain import count_kernels
from campaigns.devices.ncu_report import imported, is_report
from campaigns.management.base_command import ExitCode, Exits, Verb, argument
from campaigns.management.one_file import FILE, OneFileCommand, whole_above_zero
from campaigns.profiles.amd import Card
from campaigns.profiles.classify import Classified, classify
from campaigns.profiles.collect import commands
from campaigns.profiles.findings import ProfileFinding, findings
from campaigns.profiles.kernel_profile import KernelProfile, ProfileError, Vendor, one_of
from campaigns.profiles.metrics import (
    UnknownMetricError,
    metric_of,
    metric_words,
    value_words,
    waits_for,
)
from campaigns.profiles.pattern import KernelWork
from campaigns.profiles.reading import read_files, read_profile
from campaigns.records.explained.profiles import is_product
from campaigns.records.target.device_limits import card_of
from campaigns.rules.wording import share
from knowledge.lookup.listing import PLATFORM_HELP, platform_named
from knowledge.lookup.value import unknown_words
from knowledge.specs.cited import Cited

LARGEST_BYTES = 64 << 20
# Instructions of a trace that are shown; `--json` has more.
HOTTEST = 5
Found = tuple[ProfileFinding, ...]
LEAST = argument(
    "--least-bytes", type=whole_above_zero, help="that one launch has to move at least"
)
METRIC = argument("--metric", help="say this one of each kernel, and no more")
READ = (
    argument(
        "files",
        nargs="+",
        metavar="FILE",
        type=Path,
        help="ncu's raw CSV or .ncu-rep, rocprofv3's counter_collection.csv (several are passes of "
        "one run) or its stats_….csv, or what `perf stat -x ,` wrote",
    ),
    argument("--kernel", help="the one whose name this pattern finds"),
    LEAST,
    argument("--multiplies", action="store_true", help="the kernel multiplies matrices"),
    argument("--platform", help=f"an AMD card, what its counters are shares of: {PLATFORM_HELP}"),
    METRIC,
)
SAVE = argument("--save", type=Path, metavar="FILE", help="write what the profiler wrote there")


class Command(OneFileCommand):
    help = "Profiles of kernels"
    exits: ClassVar[Exits] = {
        **OneFileCommand.exits,
        ProfileError: ExitCode.USAGE,
        UnknownMetricError: ExitCode.USAGE,
    }

    def verbs(self) -> tuple[Verb, ...]:
        return (
            Verb(
                "read", "say what limits each kernel of a file, and what shows it", self.read, READ
            ),
            Verb(
                "run",
                "count one candidate on this device, and say the same; exit 5 where nothing is "
                "counted",
                self.count,
                (*FILE, LEAST, METRIC, SAVE),
            ),
            Verb(
                "commands",
                "print what collects the counters on another host, for `profile read` to read",
                self.commands,
                (
                    argument("vendor", choices=[Vendor.NVIDIA.value, Vendor.AMD.value]),
                    argument("kernel", help="its name, as the source has it"),
                    argument("program", nargs="+", help="and its arguments"),
                ),
            ),
        )

    def read(
        self, *, files: list[Path], kernel: str | None, metric: str | None, **asked: Any
    ) -> None:
        card, cited = self._card(asked["platform"])
        # Passes of one run have the same name in folders of their own.
        names = [str(file) if len(files) > 1 else file.name for file in files]
        if twice := next((name for name in names if names.count(name) > 1), None):
            self.fail(ExitCode.USAGE, f"{twice}: given twice; accepted: each pass once")
        texts = dict(zip(names, map(self._text, files), strict=True))
        found = read_files(texts, card)
        if asked["platform"] and found[0].vendor is not Vendor.AMD:
            self.fail(ExitCode.USAGE, "platform: accepted with counters of AMD's cards alone")
        shown = [one_of(found, kernel, files[0].name)] if kernel else list(found)
        if metric:
            self._say_metric(metric, shown)
            return
        work = KernelWork(asked["multiplies"], asked["least_bytes"])
        looked = [(one, classify(one.values), findings(one, work)) for one in shown]
        told = "\n\n".join(_told(*each) for each in looked)
        lines = [f"  {one.citation}" for one in cited]
        facts = [_facts(*each) | ({"cited": lines} if lines else {}) for each in looked]
        self.emit(facts, "\n".join([told, *lines]))

    def commands(self, *, vendor: str, kernel: str, program: list[str]) -> None:
        found = commands(Vendor(vendor), kernel, program)
        self.emit(list(found), "\n".join(found))

    def count(
        self,
        *,
        least_bytes: int | None,
        metric: str | None,
        save: Path | None,
        **options: Any,
    ) -> None:
        spec, device, job = self.asked(options)
        with self.served(job, device) as (job, service):
            profile = count_kernels(job, None, service)
        if profile is None or not profile.text:
            why = profile.note if profile else f"no profiler counts {job.backend} on {device.name}"
            self.fail(ExitCode.NOT_ACCEPTED, f"no profile evidence: {why}")
        if save:
            try:
                save.write_text(profile.text)
            except OSError as error:
                self.fail(ExitCode.USAGE, f"{save}: {error.strerror}")
        found = read_profile(profile, KernelWork(is_product(spec.op), least_bytes))
        if metric:
            self._say_metric(metric, found.kernels)
            return
        # What was counted of the longest kernel, with what its problem says, and of the others.
        looked = [(found.main, found.limit, found.findings)]
        looked += [(one, classify(one.values), findings(one)) for one in found.kernels[1:]]
        head = f"{profile.tool}, {profile.case}, {profile.calls} calls"
        facts = [
            {"launches": launches, **_facts(*each)}
            for launches, each in zip(found.launches, looked, strict=True)
        ]
        told = "\n\n".join(_told(*each) for each in looked)
        data = {"tool": profile.tool, "case": profile.case, "calls": profile.calls}
        self.emit({**data, "kernels": facts}, f"{head}\n{told}")

    def _text(self, file: Path) -> str:
        try:
            with file.open("rb") as opened:
                data = opened.read(LARGEST_BYTES + 1)
        except OSError as error:
            self.fail(ExitCode.NOT_FOUND, f"{file.name}: {error.strerror}")
        if len(data) > LARGEST_BYTES:
            raise ProfileError(file.name, 1, f"over {LARGEST_BYTES >> 20} MiB; profile fewer")
        return imported(file) if is_report(file.name, data) else data.decode(errors="replace")

    def _card(self, slug: str | None) -> tuple[Card | None, tuple[Cited, ...]]:
        """What AMD's counters are shares of, and the lines that say so; nothing without a slug."""
        if slug is None:
            return None, ()
        row = platform_named(slug)
        found = card_of(row)
        if found is None:
            shown = unknown_words(row, "cu_count", "memory_bandwidth")
            self.progress(f"note: {row.slug}: compute units or memory_bandwidth of AMD: {shown}")
        return found or (None, ())

    def _say_metric(self, name: str, shown: Iterable[KernelProfile]) -> None:
        """One metric of each kernel. Raises UnknownMetricError where its vendor has it not."""
        facts, lines = [], []
        for one in shown:
            metric, value = metric_of(name, one.vendor), one.values.get(name)
            words = "not counted" if value is None else metric_words(name, value, one.vendor)
            known = {"metric": name, "unit": metric.unit, "counter": metric.counter}
            facts.append({"kernel": one.kernel, "value": value, **known})
            lines.append(f"{one.kernel}: {words} ({metric.counter})")
        self.emit(facts, "\n".join(lines))


def _facts(profile: KernelProfile, kind: Classified, found: Found) -> dict[str, Any]:
    parts = [one for one in (kind.first, kind.second) if one]
    limit = {"class": kind.kind, "parts": parts, "why": kind.why}
    return {**asdict(profile), **limit, "findings": [asdict(one) for one in found]}


def _told(profile: KernelProfile, kind: Classified, found: Found) -> str:
    lines = [profile.kernel, f"  {kind.words}: {kind.why}"]
    for one in found:
        numbers = ", ".join(
            f"{name} {value_words(name, value, profile.vendor)}"
            for name, value in one.evidence.items()
        )
        at_most = (
            "" if one.share is None else f"; at most {share(one.share)} of the time (estimate)"
        )
        lines.append(f"  - {one.name} ({one.confidence}): {one.words}{at_most}")
        lines.append(f"    {numbers}; try {', '.join(one.strategies)}")
    if profile.vendor is Vendor.CPU:
        # No rule reads them yet, so they are shown as they are.
        lines += [
            f"  {name} {value_words(name, value, profile.vendor)}"
            for name, value in profile.values.items()
        ]
    lines += [
        f"  {100 * line.share:.0f} % of the stalls at {line.source or '?'}: "
        f"{line.instruction or waits_for(line.stall, profile.vendor)}"
        for line in profile.lines[:HOTTEST]
    ]
    lines += [f"  no number: {name} is {text!r}" for name, text in profile.odd.items()]
    return "\n".join(lines)
