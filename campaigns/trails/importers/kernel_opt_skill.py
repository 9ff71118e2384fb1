"""A run of kernel-opt-skill: a folder v<n> a version, two reports, and experiences.json."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from campaigns.trails.importers.claims import (
    FORMATS,
    Claim,
    ClaimedCampaign,
    ClaimedRound,
    System,
    lacking,
    named,
    refused,
)
from campaigns.trails.importers.documents import LinedDocument, read_json_records
from campaigns.trails.importers.markdown_reader import (
    facts,
    figure,
    said,
    sections,
    tables,
    title_of,
    value_of,
)
from knowledge.exchange.formats import Format
from knowledge.specs.citation import split_lines

FOLDER = re.compile(r"v(\d{1,6})/([^/]+)")
SOURCE = (".cu", ".py", ".cpp")
LABEL = re.compile(r"\s*(Hypothesis|Bottleneck|Rationale|Expected)\s*:\s*(.*)", re.IGNORECASE)
# A bottleneck is told by later files alone.
LABELS = ("hypothesis", "rationale", "expected")
STATUS = re.compile(r"\b(PASS(?:ED)?|FAIL(?:ED)?)\b", re.IGNORECASE)
BEST = re.compile(r"\b(v\d+)\b")
PAIR = re.compile(r"\bv\d+\s*(?:→|->)\s*(v\d+)\b")
STOP = re.compile(r"\s*[-*]?\s*\**stop\w*[^:]*:\**\s*(.+)", re.IGNORECASE)
MILLISECONDS = "ms"
METRIC = "execution time"
CONVENTION = (
    "mean of CUDA events of the profiling script, caches warm, in ms; lower is better. Its "
    "benchmark.md is timed otherwise, and differently from version to version of the system"
)
LOG = "experiences.json"
OUTCOMES = ("success", "failure", "neutral")
ATTEMPT_METRIC = "execution time after the change, each of a kernel of its own"
ATTEMPT_CONVENTION = (
    "latency in ms as its author entered it; lower is better. The speedup is the latency before "
    "over the one after, with two decimals"
)


class ClaimedTime(NamedTuple):
    """A figure and where it stands."""

    value: float | None
    path: str
    line: int


def read(files: Mapping[str, str]) -> ClaimedCampaign:
    """The whole output folder. Raises TrailRefused."""
    folders: dict[int, list[str]] = {}
    for name in sorted(files):
        found = FOLDER.fullmatch(name)
        if found:
            folders.setdefault(int(found[1]), []).append(name)
    report = files.get("final_report.md", "")
    compared = _compared(report)
    versions = tuple(_round(n, names, files, compared) for n, names in sorted(folders.items()))
    log = next((path for path in sorted(files) if path.rpartition("/")[2] == LOG), "")
    entries = read_json_records(log, files[log]) if log else []
    experiences = [_attempt(n, one) for n, one in enumerate(entries, 1)]
    environment = facts("env_check.md", files.get("env_check.md", ""))
    environment |= facts("final_report.md", report)
    best, stopped = _ended(report)
    chip = next((environment[n] for n in ("gpu", "gpu name", "device") if n in environment), None)
    suffix = {one.kernel.rpartition(".")[2] for one in versions if one.kernel}
    backend = {"cu": "cuda", "py": "triton"}.get(next(iter(suffix)), "") if len(suffix) == 1 else ""
    known = {
        "environment check": "env_check.md" if "env_check.md" in files else "",
        "final report": report and "final_report.md",
        "best version": best,
        "stopping reason": stopped,
        "GPU": chip and str(chip.value),
    }
    return ClaimedCampaign(
        System.SKILL,
        (*versions, *experiences),
        title=title_of(report),
        platform=str(chip.value) if chip else "",
        backend=backend,
        incumbent=best,
        stop_reason=stopped,
        claims=tuple(environment.values()),
        figures=_figures_of(experiences),
        missing=(*lacking(known.items()), "operator"),
    )


def _round(
    number: int, names: list[str], files: Mapping[str, str], compared: Mapping[str, ClaimedTime]
) -> ClaimedRound:
    own = {name.partition("/")[2]: name for name in names}
    claims: list[Claim] = []
    for part in ("correctness.md", "ncu_summary.md", "ncu_details.md"):
        if part in own:
            claims += facts(own[part], files[own[part]]).values()
    idea = _hypothesis(own.get("hypothesis.txt", ""), files)
    claims += idea.values()
    summary = own.get("ncu_summary.md", "")
    time, timed = compared.get(f"v{number}"), facts(summary, files.get(summary, ""))
    if claim := timed.get("execution time"):
        time = _milliseconds(summary, claim.line, "Execution Time", str(claim.value))
    told = STATUS.search(files.get(own.get("correctness.md", ""), ""))
    status = told[1].upper()[:4] if told else ""
    kernel = next((own[name] for name in own if name.endswith(SOURCE)), "")
    known = {
        "source": kernel,
        "correctness": status,
        "profile": summary,
        "execution time": time and time.value,
    }
    if number:
        known |= {name: value_of(idea, name) for name in LABELS}
    place = (time.path, time.line) if time else (names[0], 1)
    return ClaimedRound(
        name=f"v{number}",
        path=place[0],
        line=place[1],
        number=number,
        title=value_of(idea, "hypothesis"),
        hypothesis=value_of(idea, "hypothesis"),
        rationale=value_of(idea, "rationale"),
        status=status,
        # Every version is preserved and the next one starts from any: nobody says what was kept.
        kept=None,
        figure=time.value if time else None,
        unit=MILLISECONDS,
        metric=METRIC,
        convention=CONVENTION,
        kernel=kernel,
        claims=tuple(claims),
        missing=(*lacking(known.items()), "kept", "masked"),
    )


def _hypothesis(path: str, files: Mapping[str, str]) -> dict[str, Claim]:
    """The labelled lines of hypothesis.txt; a line without a label goes on with the last."""
    found: dict[str, tuple[int, list[str]]] = {}
    label = ""
    for number, line in enumerate(split_lines(files.get(path, "")), 1):
        marked = LABEL.match(line)
        if marked:
            label = marked[1].lower()
            if label in found:
                raise refused(path, number, f"{marked[1]}: stands twice", "each label once")
            found[label] = (number, [marked[2]])
        elif line.strip():
            if not label:
                accepted = "lines that begin with Hypothesis:, Bottleneck:, Rationale: or Expected:"
                raise refused(path, number, f"{line.strip()[:60]!r}", accepted)
            found[label][1].append(line.strip())
    return {
        name: Claim(name, text, path, line)
        for name, (line, parts) in found.items()
        if (text := said(" ".join(parts)))
    }


def _milliseconds(path: str, line: int, name: str, text: str) -> ClaimedTime:
    value, unit = figure(path, line, name, text)
    if unit not in ("", MILLISECONDS):
        raise refused(path, line, f"{name}: the unit {unit!r}", MILLISECONDS)
    return ClaimedTime(value, path, line)


def _compared(report: str) -> dict[str, ClaimedTime]:
    """Version → the time that the final report's comparison has for it."""
    found: dict[str, ClaimedTime] = {}
    for table in tables("final_report.md", report):
        named = [BEST.match(name) for name in table.head]
        for row in table.rows if any(named) else ():
            if "time" in row.cells[0].lower():
                for known, name, cell in zip(named, table.head, row.cells, strict=True):
                    if known:
                        told = _milliseconds("final_report.md", row.line, name, cell)
                        found.setdefault(known[1], told)
    return found


def _ended(report: str) -> tuple[str, str]:
    """The best version and why it stopped, by what the report concludes; each may be empty."""
    best: list[str] = []
    stopped: list[str] = []
    for one in sections(report):
        if "best version" in one.title.lower():
            # From the first to the best: of two the second is the one that it ends with.
            best += PAIR.findall(one.text)[:1] or BEST.findall(f"{one.title} {one.text}")[:1]
            found = [STOP.match(line) for _, line in one.body]
            stopped += [said(line[1]) for line in found if line]
    return next(iter(best), ""), next(iter(stopped), "")


def _attempt(place: int, one: LinedDocument) -> ClaimedRound:
    number = one.number("id")
    outcome = one.word("outcome", OUTCOMES)
    time = one.number("metrics_after.latency_ms")
    optimization, hypothesis = one.text("optimization"), one.text("hypothesis")
    kernel = f"{one.text('kernel')} [{one.text('backend')}]" if one.text("kernel") else ""
    known = {
        "kernel": kernel,
        "outcome": outcome,
        "optimization": optimization,
        "latency after": time,
        "speedup": one.number("speedup"),
    }
    return ClaimedRound(
        name=f"experience {number if number is not None else place}",
        path=one.path,
        line=one.line("outcome"),
        number=number if isinstance(number, int) else None,
        title=": ".join(filter(None, (kernel, optimization))),
        hypothesis=hypothesis,
        status=outcome,
        figure=time,
        unit=MILLISECONDS,
        metric=ATTEMPT_METRIC,
        convention=ATTEMPT_CONVENTION,
        at=one.text("date"),
        claims=one.claims,
        missing=(*lacking(known.items()), "source", "kept", "masked"),
    )


def _figures_of(attempts: Sequence[ClaimedRound]) -> tuple[Claim, ...]:
    """How many there are by outcome, and the largest gain that one of them claims."""
    if not attempts:
        return ()
    path = attempts[0].path
    counts = Counter(one.status or "without an outcome" for one in attempts)
    words = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    found = [Claim("experiences", f"{len(attempts)} ({words})", path, 1)]
    gains = [one.gain for one in attempts if one.gain is not None]
    if gains:
        largest = max(gains, key=lambda claim: float(claim.value))
        found.append(Claim("largest claimed gain", largest.value, path, largest.line, "×"))
    return tuple(found)


FORMATS.append(
    Format(
        System.SKILL,
        f"v<n>/correctness.md, ncu_summary.md or hypothesis.txt, or {LOG}",
        named(rf"v\d+/(correctness\.md|ncu_summary\.md|hypothesis\.txt)|(.+/)?{re.escape(LOG)}"),
        read,
    )
)
