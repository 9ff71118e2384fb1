"""A workspace of atrex-kernel-agent: README.md, memory/v<N>.json with masks, plans/."""

from __future__ import annotations

import re
from collections.abc import Mapping

from campaigns.trails.importers.claims import (
    FORMATS,
    ClaimedCampaign,
    ClaimedRound,
    System,
    lacking,
    named,
    refused,
)
from campaigns.trails.importers.documents import read_json
from campaigns.trails.importers.markdown_reader import facts, sections, title_of, value_of
from knowledge.exchange.formats import Format

FILE = re.compile(r"memory/v(\d{1,6})\.json")
GATE = ("PASS", "FAIL", "TIMEOUT_FAIL")
ERRORS = ("compilation", "runtime", "accuracy", "performance", "timeout")
METRIC = "latency"
CONVENTION = "do_bench, median (p50) of a call, in µs; lower is better"
NUMBERS = (
    *("latency_us", "tflops", "bandwidth_gbps"),
    *("tflops_peak_utilization_pct", "bandwidth_peak_utilization_pct"),
)
TOLD = ("profile_evidence.evidence_summary", "profile_evidence.evidence_chain", "timestamp")


def read(files: Mapping[str, str]) -> ClaimedCampaign:
    """The whole workspace. Raises TrailRefused."""
    names = sorted(name for name in files if name.startswith("memory/"))
    numbered = {}
    for name in names:
        found = FILE.fullmatch(name)
        if not found:
            raise refused(name, 0, "the file's name", "memory/v<N>.json")
        numbered[int(found[1])] = name
    rounds = tuple(_round(n, name, files) for n, name in sorted(numbered.items()))
    readme = facts("README.md", files.get("README.md", ""))
    about = {
        "platform": value_of(readme, "platform"),
        "framework": value_of(readme, "framework"),
        "kernel type": value_of(readme, "kernel type"),
    }
    return ClaimedCampaign(
        System.ATREX,
        rounds,
        title=title_of(files.get("README.md", "")),
        operator=about["kernel type"],
        platform=about["platform"],
        backend=about["framework"],
        claims=tuple(readme.values()),
        # Nothing in its files says either; which version is the best is for its readers to find.
        missing=(*lacking(about.items()), "incumbent", "stop reason", "source of each version"),
    )


def _round(number: int, path: str, files: Mapping[str, str]) -> ClaimedRound:
    sheet = read_json(path, files[path])
    if sheet.text("version") != f"v{number}":
        raise sheet.error("version", f"v{number}, as the file is called")
    figures = {name: sheet.number(f"performance.{name}") for name in NUMBERS}
    gate = sheet.word("quality_gate.result", GATE)
    correct = sheet.word("correctness.status", GATE)
    sheet.number("correctness.rel_err")
    for index, _ in enumerate(sheet.list("pitfalls_and_fixes")):
        sheet.part("pitfalls_and_fixes", index).word("error_type", ERRORS)
    action = sheet.text("optimization.action_description")
    known = {
        "masked": sheet.flag("masked"),
        **{f"performance.{name}": value for name, value in figures.items()},
        "correctness.status": correct,
        "quality_gate.result": gate,
        "optimization.action_description": action,
        **{name: sheet.text(name) for name in TOLD},
        "git_commit_hash": sheet.text("git_commit_hash"),
    }
    category = sheet.text("optimization.action_category")
    # What the plan of this version wants to do.
    plan = sections(files.get(f"plans/v{number}_plan.md", ""))
    planned = (one.text for one in plan if "action" in one.title.lower())
    return ClaimedRound(
        name=f"v{number}",
        path=path,
        line=sheet.line("performance.latency_us"),
        number=number,
        title=category or action,
        hypothesis=action or next(planned, ""),
        rationale=sheet.text("profile_evidence.evidence_chain"),
        status=gate or correct,
        kept=gate == "PASS" if gate else None,
        masked=sheet.flag("masked"),
        figure=figures["latency_us"],
        unit="us",
        metric=METRIC,
        convention=CONVENTION,
        at=sheet.text("timestamp"),
        claims=sheet.claims,
        missing=lacking(known.items()),
    )


FORMATS.append(Format(System.ATREX, "memory/v<N>.json", named(r"memory/[^/]+\.json"), read))
