"""`tool`: one number at a time: a share of the peak, a copy's bandwidth, a kernel's time."""

from __future__ import annotations

import argparse
import contextlib
import math
from dataclasses import asdict
from typing import Any, ClassVar

from django.db import DatabaseError

from campaigns.devices.discover import Device, this_device
from campaigns.devices.passport import measured_now
from campaigns.evaluator.contract.ceilings import CeilingsError, MeasuredCeiling, Result
from campaigns.management.base_command import ExitCode, Exits, Verb, argument
from campaigns.management.one_file import DEVICE, FILE, OneFileCommand, whole_above_zero
from campaigns.records.cases import quantiles_of
from campaigns.records.target.utilisation import TimedCall, utilisation_of
from campaigns.rules.target.utilisation import AbovePeakError
from campaigns.rules.wording import amount, share
from knowledge.lookup.listing import PLATFORM_HELP, platform_named
from knowledge.lookup.value import (
    ACCUMULATES,
    MEASURED_BANDWIDTHS,
    bandwidth_ceilings,
    platform_for_device,
    unknown_words,
)
from knowledge.specs.cited import UNKNOWN, Cited
from knowledge.specs.metrics import DTYPES

COPY = "copy_bandwidth"
# R5: what the bytes of a rate are, said with every one.
BYTES_CONVENTION = "read + written"
COPIED_ARRAYS = 2


def above_zero(text: str) -> float:
    """A finite number above zero, such as 1.5e12."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text}; accepted: a finite number above zero")
    return value


USED = (
    argument("--platform", required=True, help=PLATFORM_HELP),
    argument("--dtype", required=True, choices=DTYPES, help="data type of the operations"),
    argument("--accumulate", choices=ACCUMULATES, default=ACCUMULATES[0], help="of their sums"),
    argument("--time-us", type=above_zero, required=True, help="time of one call, in µs"),
    argument("--flops", type=above_zero, help="operations of one call, of all its blocks"),
    argument("--bytes", type=above_zero, help="bytes that one call moves to and from memory"),
    argument("--blocks", type=whole_above_zero, help="over which the work is spread evenly"),
)
SIZE = argument(
    "--bytes",
    type=whole_above_zero,
    required=True,
    help="all that is read and written; each of the two arrays has half of it",
)


class Command(OneFileCommand):
    help = "Single numbers: how much of the peak a time uses, bandwidths of copies, a kernel's time"
    exits: ClassVar[Exits] = {
        **OneFileCommand.exits,
        AbovePeakError: ExitCode.USAGE,
        CeilingsError: ExitCode.USAGE,
    }

    def verbs(self) -> tuple[Verb, ...]:
        return (
            Verb(
                "utilisation",
                "the share of the cited peaks that a time uses; exit 4 where one is unknown, "
                "1 where it would be above one",
                self.utilisation,
                USED,
            ),
            Verb("bandwidth", "of copies on this device, size by size", self.bandwidth, (DEVICE,)),
            Verb(
                "ceiling",
                "of a copy of one size on this device, beside the cited one",
                self.ceiling,
                (SIZE, DEVICE),
            ),
            Verb("time", "p20, p50 and p80 of one kernel through the judge", self.time, FILE),
        )

    def utilisation(self, *, platform: str, dtype: str, accumulate: str, **work: Any) -> None:
        asked = TimedCall(**work)
        if not asked.needs:
            self.fail(ExitCode.USAGE, "work: accepted: --flops, --bytes or both")
        row = platform_named(platform)
        sheet = utilisation_of(row, dtype, asked, accumulate)
        self.emit({"platform": row.slug, "dtype": dtype, **sheet.facts}, "\n".join(sheet.lines))
        if sheet.missing:
            told = " ".join(f"{one.message} {one.how_to_obtain}." for one in sheet.missing)
            self.fail(ExitCode.NO_APPROVED_VALUE, told)

    def bandwidth(self, *, device: str | None) -> None:
        found, result = self._measured(device)
        rows = [one for one in result.ceilings if one.metric == COPY and one.array_bytes]
        lines = [f"{found.name} ({result.device}), bytes {BYTES_CONVENTION}"]
        lines += [_copy_line(one) for one in rows]
        data = {"copies": [_copy_facts(one) for one in rows], "notes": list(result.notes)}
        self.emit({**_where(found, result), **data}, "\n".join(lines))

    def ceiling(self, *, bytes: int, device: str | None) -> None:
        found, result = self._measured(device, -(-bytes // COPIED_ARRAYS))
        (copy,) = result.ceilings
        if copy.cache == "warm":
            self.progress("note: both arrays stay in the cache; cold is a line of `tool bandwidth`")
        cited: list[Cited] = []
        unknown = UNKNOWN
        # Without a database there is no platform to ask about.
        with contextlib.suppress(DatabaseError):
            if platform := platform_for_device(found.name):
                cited = bandwidth_ceilings(platform)
                names = () if cited else (*MEASURED_BANDWIDTHS, "memory_bandwidth")
                unknown = unknown_words(platform, *names)
        lines = [f"{found.name} ({result.device}), bytes {BYTES_CONVENTION}", _copy_line(copy)]
        lines += [f"{share(copy.rate / one.value)} of {one.citation}" for one in cited]
        lines += [] if cited else [f"cited bandwidth: {unknown}"]
        beside = [asdict(one) | {"share": copy.rate / one.value} for one in cited]
        data = {"copy": _copy_facts(copy), "cited": beside, "notes": list(result.notes)}
        self.emit({**_where(found, result), "asked_bytes": bytes, **data}, "\n".join(lines))

    def time(self, **options: Any) -> None:
        spec, device, job = self.asked(options)
        with self.served(job, device) as (job, service):
            report = service.evaluate(job, self.phase_printer())
        # No time of what is not right on every case (law 3).
        self.require_passed(report)
        rows = [row for row in map(quantiles_of, report.cases) if row]
        if not rows:
            self.fail(ExitCode.NOT_ACCEPTED, f"{job.backend} is not timed on {device.name}")
        lines = [f"{spec.name}, {job.candidate.name} on {device.name} ({device.device})"]
        lines += [f"  {row.case:16} {row.words}" for row in rows]
        data = {"problem": spec.name, "candidate": job.candidate.name, "device": device.device}
        cases = [asdict(row) for row in rows]
        self.emit({**data, "device_name": device.name, "cases": cases}, "\n".join(lines))

    def _measured(
        self, choice: str | None, array_bytes: int | None = None
    ) -> tuple[Device, Result]:
        """The device and what was measured of it now; nothing is stored."""
        device = this_device(choice)
        self.progress(f"measuring {device.device} ({device.name}) …")
        result = measured_now(device, array_bytes)
        for note in result.notes:
            self.progress(f"note: {note}")
        return device, result


def _where(device: Device, result: Result) -> dict[str, Any]:
    return {
        "device": result.device,
        "device_name": device.name,
        "measured_at": result.measured_at,
        "bytes_convention": BYTES_CONVENTION,
    }


def _copy_facts(copy: MeasuredCeiling) -> dict[str, Any]:
    """One size. A copy reads as many bytes as it writes."""
    return {
        "working_set_bytes": COPIED_ARRAYS * copy.array_bytes,
        "array_bytes": copy.array_bytes,
        "bytes_per_s": copy.rate,
        "read_bytes_per_s": copy.rate / COPIED_ARRAYS,
        "written_bytes_per_s": copy.rate / COPIED_ARRAYS,
        "median_bytes_per_s": copy.median_rate,
        "cache": copy.cache or None,
        "basis": copy.basis,
    }


def _copy_line(copy: MeasuredCeiling) -> str:
    size, rate = amount(COPIED_ARRAYS * copy.array_bytes, "B"), amount(copy.rate, "B/s")
    return f"  {size:>8}  {rate:>10}  {copy.cache or '–':4}  {copy.basis}"
