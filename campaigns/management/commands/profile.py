"""`profile`: what limits a kernel, read from a profiler's file; nothing is run and nothing kept."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

from campaigns.management.base_command import BaseCommand, ExitCode, Exits, Verb, argument
from campaigns.profiles.classify import Classified, classify
from campaigns.profiles.findings import ProfileFinding, findings
from campaigns.profiles.metrics import METRICS
from campaigns.profiles.ncu import KernelProfile, ProfileError, one_of, read_raw

LARGEST_BYTES = 64 << 20
Found = tuple[ProfileFinding, ...]


class Command(BaseCommand):
    help = "Profiles of kernels"
    exits: ClassVar[Exits] = {ProfileError: ExitCode.USAGE}

    def verbs(self) -> tuple[Verb, ...]:
        return (
            Verb(
                "read",
                "say what limits each kernel of a file, and what shows it",
                self.read,
                (
                    argument(
                        "file", type=Path, help="what `ncu --set full --csv --page raw` printed"
                    ),
                    argument("--kernel", help="the one whose name this pattern finds"),
                ),
            ),
        )

    def read(self, *, file: Path, kernel: str | None) -> None:
        try:
            with file.open("rb") as opened:
                data = opened.read(LARGEST_BYTES + 1)
        except OSError as error:
            self.fail(ExitCode.NOT_FOUND, f"{file.name}: {error.strerror}")
        if len(data) > LARGEST_BYTES:
            raise ProfileError(file.name, 1, f"over {LARGEST_BYTES >> 20} MiB; profile fewer")
        found = read_raw(data.decode(errors="replace"), file.name)
        shown = [one_of(found, kernel, file.name)] if kernel else list(found)
        looked = [(one, classify(one.values), findings(one)) for one in shown]
        self.emit([_facts(*each) for each in looked], "\n\n".join(_told(*each) for each in looked))


def _facts(profile: KernelProfile, kind: Classified, found: Found) -> dict[str, Any]:
    return {
        "kernel": profile.kernel,
        "class": kind.kind,
        "parts": [one for one in (kind.first, kind.second) if one],
        "why": kind.why,
        "findings": [asdict(one) for one in found],
        "values": profile.values,
        "odd": profile.odd,
    }


def _told(profile: KernelProfile, kind: Classified, found: Found) -> str:
    lines = [profile.kernel, f"  {kind.words}: {kind.why}"]
    for one in found:
        numbers = ", ".join(
            f"{name} {value:,.4g}{f' {unit}' if (unit := METRICS[name].unit) else ''}"
            for name, value in one.evidence.items()
        )
        at_most = "" if one.share is None else f"; at most {one.share:.0%} of the time (estimate)"
        lines.append(f"  - {one.name} ({one.confidence}): {one.words}{at_most}")
        lines.append(f"    {numbers}; try {', '.join(one.strategies)}")
    lines += [f"  no number: {name} is {text!r}" for name, text in profile.odd.items()]
    return "\n".join(lines)
