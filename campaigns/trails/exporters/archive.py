"""The whole trail as one archive: the same records make the same bytes."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping

from campaigns.models import Campaign
from campaigns.trails.exporters.atrex import memory_files
from campaigns.trails.exporters.judged_rounds import ExportedCampaign, trail_of
from campaigns.trails.exporters.kernel_optimize import round_files, verdict_text
from campaigns.trails.exporters.kopt import record_files
from campaigns.trails.exporters.text_templates import TrailFormat, text_of
from campaigns.trails.exporters.workspace import (
    BENCH,
    bench_text,
    version_sources,
    workspace_files,
)

# Format → its files: those of a template below templates/trails, and those of data.
FORMATS: Mapping[str, TrailFormat] = {
    "workspace": TrailFormat({"README.md": "workspace/README.md"}, workspace_files),
    "atrex": TrailFormat(
        {
            "plans/{one.version}_plan.md": "atrex/plan.md",
            "baseline_report.md": "atrex/baseline_report.md",
        },
        memory_files,
    ),
    "kernel-optimize": TrailFormat(
        {
            "logs/optimize.md": "kernel_optimize/optimize.md",
            "logs/performance_trend.md": "kernel_optimize/performance_trend.md",
            "{one.folder}/summary.md": "kernel_optimize/summary.md",
        },
        round_files,
    ),
    "kernel-opt-skill": TrailFormat(
        {
            "{one.version}/correctness.md": "kernel_opt_skill/correctness.md",
            "{one.version}/ncu_summary.md": "kernel_opt_skill/ncu_summary.md",
            "{one.version}/ncu_details.md": "kernel_opt_skill/ncu_details.md",
            "{one.version}/hypothesis.txt": "kernel_opt_skill/hypothesis.txt",
            "env_check.md": "kernel_opt_skill/env_check.md",
            "benchmark.md": "kernel_opt_skill/benchmark.md",
            "final_report.md": "kernel_opt_skill/final_report.md",
        },
        version_sources,
    ),
    "kernel-opt": TrailFormat({"performance.md": "kernel_opt/performance.md"}),
    "kopt": TrailFormat(data=record_files),
    "tips": TrailFormat({"tips.md": "tips/tips.md"}),
}
# The oldest time that an archive can hold: when a file was written says nothing here.
NO_TIME = (1980, 1, 1, 0, 0, 0)
PLAIN_FILE = 0o644 << 16
# Names come from records; none may lead out of the folder that an archive is opened in.
SAFE = re.compile(r"(?!\.)[\w.+-]+(/(?!\.)[\w.+-]+)*", re.ASCII)


def trail_files(campaign: Campaign) -> Mapping[str, str]:
    """Path → text of every file, in the order of the formats. ValueError for an unsafe name."""
    trail: ExportedCampaign = trail_of(campaign)
    found: dict[str, str] = {}
    for written in FORMATS.values():
        for path, text in written.files(trail):
            if not SAFE.fullmatch(path) or path in found:
                raise ValueError(f"trail: {path!r} can not be a file of an archive")
            found[path] = text
    return found


def trail_name(campaign: Campaign) -> str:
    """The archive's folder, and its own name without the suffix."""
    words = f"{campaign.problem.slug}_{campaign.backend}_{campaign.platform.slug}"
    return f"{words}_{campaign.created_at:%Y%m%d}"


def trail_archive(campaign: Campaign) -> bytes:
    """All files in one .zip, below one folder."""
    return packed(trail_name(campaign), trail_files(campaign))


def reproducer_archive(campaign: Campaign, number: int) -> bytes:
    """One round in one folder that runs by itself. Raises LookupError where there is none."""
    files = dict(reproducer_files(trail_of(campaign), number))
    return packed(f"{trail_name(campaign)}_round-{number}", files)


def packed(folder: str, files: Mapping[str, str]) -> bytes:
    """A .zip of these files below a folder: the same bytes wherever it is made."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{folder}/{path}", NO_TIME)
            entry.external_attr = PLAIN_FILE
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)
    return file.getvalue()


def reproducer_files(trail: ExportedCampaign, number: int) -> Iterator[tuple[str, str]]:
    """(path, text) of each. Raises LookupError for a round without a source, or not closed yet."""
    found = {one.number: one for one in trail.rounds if one.candidate}
    if number not in found:
        known = ", ".join(map(str, found)) or "none yet"
        raise LookupError(f"round {number}: no closed round with a source; accepted: {known}")
    one, code = found[number], found[number].candidate
    rival = found.get(one.against or 0) if one.against != number else None
    assert code is not None
    yield "README.md", text_of("reproducer/README.md", trail=trail, one=one, rival=rival)
    for name, text in sorted(trail.campaign.problem.files.items()):
        yield f"problem/{name}", text
    shown = [one, rival] if rival else [one]
    for each in shown:
        assert each.candidate is not None
        yield each.snapshot, each.candidate.text
    yield f"{one.folder}/artifacts/verdict.json", verdict_text(one)
    yield BENCH.name, BENCH.read_text()
    against = rival.number if rival else None
    yield "bench.json", bench_text(trail, shown, round=number, against=against)
