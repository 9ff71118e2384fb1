"""manifest.yaml, rounds/ and logs/: one folder a round, two logs that only grow.

The layout is that of kernel-optimize's campaign folder. Each row of its trend table is of its
round's own session.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from campaigns.models.transitions import CampaignState
from campaigns.records.campaigns import goal_of, intake_of, stop_policy_of
from campaigns.records.cases import dispatch_of
from campaigns.records.values import verdict_value
from campaigns.records.verdicts import classes_of
from campaigns.reports.course import KINDS
from campaigns.reports.sheet import BASELINE
from campaigns.reports.totals import TrendRow, audit_of, moves_bytes, trend_of
from campaigns.rules.noise.gain import Gain
from campaigns.rules.stop.intake import SKILL, Intake
from campaigns.rules.wording import change, duration
from campaigns.trails.exporters.counted import limit_words, search_table
from campaigns.trails.exporters.judged_rounds import ExportedCampaign, ExportedRound
from campaigns.trails.exporters.markdown import NOTHING, Part, facts, page, said, table

BEFORE = ("Round", "Status", "Description", "Fwd Avg", "Fwd Peak", "Bwd Avg", "Bwd Peak")
BEHIND = ("vs Baseline", "Key Finding")
NO_BACKWARD = "-"


def round_files(trail: ExportedCampaign) -> Iterator[tuple[str, str]]:
    """(path, text) of each."""
    yield "manifest.yaml", _manifest(trail)
    yield "logs/optimize.md", _history(trail)
    yield "logs/performance_trend.md", _trend(trail)
    for one in trail.rounds:
        yield f"{one.folder}/summary.md", _summary(trail, one)
        if one.candidate:
            yield one.snapshot, one.candidate.text
        yield f"{one.folder}/artifacts/verdict.json", verdict_text(one)
        if one.stored:
            yield f"{one.folder}/artifacts/report.json", _json(one.stored)
        if one.report and one.report.build_log:
            yield f"{one.folder}/artifacts/build.log", one.report.build_log


def verdict_text(one: ExportedRound) -> str:
    """verdict.json of a round."""
    known: dict[str, Any] = {
        "round": one.number,
        "status": status(one),
        "verdict": one.word.words,
        "dispatch": dispatch_of(one.round).facts,
    }
    if one.verdict is not None:
        known |= msgspec.to_builtins(verdict_value(one.verdict))
        known |= {"decided_at": one.verdict.decided_at.isoformat()}
        del known["word"]
    return _json(known)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def status(one: ExportedRound) -> str:
    """As the trend table writes it."""
    if one.is_baseline:
        return "BASELINE"
    return "ACCEPTED" if one.is_kept else "ROLLBACK"


def gain_words(gain: Gain | None, against: str) -> str:
    """A change with what law 9 asks for: baseline, interval and count."""
    return "not compared" if gain is None else gain.against(against)


def _trend(trail: ExportedCampaign) -> str:
    trend = trend_of(trail.sheet)
    rows = [
        (one.number, status(one), one.title, *_timed(trend.of(one.number)), one.sentence)
        for one in trail.rounds
    ]
    about = "There is no backward direction, so the combined step is the forward one."
    if trend.has_backward:
        about = "The combined step is the work of both directions over the time of both."
    return page(
        f"# Performance trend: {said(trail.campaign.title)}",
        f"Rates in {trend.unit}, by the problem's work model: the geometric mean over the cases, "
        f"and the best of them. {about}",
        table((*BEFORE, f"Combined Step {trend.unit}", *BEHIND), rows),
    )


def _timed(row: TrendRow | None) -> tuple[str, ...]:
    """The rates of each direction and of both, and the gain over v0 where it was beside it."""
    if row is None:
        return (*[NO_BACKWARD] * 5, "—")
    halves = [
        f"{value:.3f}" if rates else NO_BACKWARD
        for rates in (row.forward, row.backward)
        for value in ((rates.mean, rates.best) if rates else (0, 0))
    ]
    step = f"{row.step.mean:.3f}" if row.step else NO_BACKWARD
    gain = row.gain if row.row.against == 1 else None
    return (*halves, step, f"{change(gain.gain)} (paired, n={gain.pairs})" if gain else "—")


def _history(trail: ExportedCampaign) -> str:
    campaign, best, found = trail.campaign, trail.best, audit_of(trail.sheet)
    about = {
        "Operator": campaign.problem.op,
        "Backend": campaign.backend,
        "Platform": campaign.platform.name,
        "Target": trail.sheet.goal_words,
        "Cases": ", ".join(map(str, campaign.cases)),
        "Protocol": str(campaign.protocol),
    }
    current: Part = NOTHING
    if best:
        mean = " (geometric mean over the cases)" if len(best.times) > 1 else ""
        shown = trail.sheet.shown
        where = "the final session, beside v0" if trail.sheet.final else "its own session"
        time = f"{duration(shown.time_us)}{mean}, in {where}" if shown.time_us else ""
        current = facts([("Round", best.number), ("Kernel", best.title), ("Time", time)])
    lost = [(one.title, one.number, one.sentence) for one in trail.rounds if not one.is_kept]
    audit: list[Part] = ["Nothing was accepted after the baseline."]
    if found is not None:
        reach = {
            "kernel work": found.structural,
            "weight caches, bounded": found.weights,
            "not counted": found.uncounted,
        }
        parts = [(n, ", ".join(map(str, part.rounds)) or "–") for n, part in reach.items()]
        final = f"Final gain: {gain_words(found.whole, BASELINE)}"
        audit = [final, table(("part", "rounds"), parts)]
    ended = f"Not ended: {trail.sheet.phase}, {len(trail.rounds)} rounds closed."
    if campaign.state == CampaignState.DONE:
        ended = said(f"{campaign.stop_reason}: {campaign.stop_sentence}")
    elif campaign.is_finished:
        ended = said(f"aborted: {campaign.stop_sentence or campaign.stop_reason}")
    return page(
        f"# {said(campaign.title)}",
        *("## Basic information", facts(about.items())),
        "## Optimization history",
        *(block for one in trail.rounds for block in _entry(one)),
        *("## Current best", current),
        "## Verified ineffective directions",
        table(("direction", "round", "reason"), lost, "None so far."),
        *("## Transfer to real use", *audit),
        "## Rounds without a gain",
        [f"- {said(event.message)}" for event in trail.events if event.kind in KINDS]
        or "Nothing had to be done about them.",
        *("## Termination check", ended),
    )


def _entry(one: ExportedRound) -> tuple[Part, Part]:
    told = {
        "Closed": f"{one.closed} UTC" if one.closed else "",
        "Hypothesis": one.title,
        "Change": one.hypothesis.change if one.hypothesis else "none: the problem's own v0",
        "Result": gain_words(one.gain, f"round {one.against}"),
        "Decision": one.word.told(one.sentence),
        "Data": f"{one.folder}/artifacts/",
    }
    return f"### round-{one.number}: {status(one)}", facts(told.items())


def _summary(trail: ExportedCampaign, one: ExportedRound) -> str:
    idea, rival = one.hypothesis, f"round {one.against}"
    change = (idea.change or idea.title) if idea else ""
    marks = {True: "yes", False: "no", None: "–"}
    gates = [
        (gate["name"], marks[gate["passed"]], gate["found"], gate["limit"])
        for gate in (one.verdict.gates if one.verdict else [])
    ]
    parts: list[Part] = [
        f"# Round {one.number}: {said(one.title)}",
        "## Hypothesis",
        said(idea.rationale) if idea else "The baseline tries nothing.",
        "## Bottleneck",
        facts(_limits(one)),
        *(("## Search log", search_table(one)) if idea else ()),
        "## Single change",
        said(change) if idea else "None.",
        "## Results",
        table(("case", "median", "95 % interval", "vs last accepted", "correct"), _results(one)),
        facts([("Expectation", one.borne)]) if one.borne else "",
        f"Over all cases: {said(gain_words(one.gain, rival))}",
        *_tables(one, rival),
        "## Decision",
        said(f"{one.word.words} ({one.reason}). {one.sentence}"),
        "## Attribution",
        table(("gate", "passed", "found", "limit"), gates),
    ]
    if idea:
        parts += ["## Transfer to real use", facts([("Bucket", idea.declared.words)])]
    if not one.is_kept:
        kept = trail.kept_before(one)
        back = f"round {kept.number}: {kept.title}" if kept else ""
        told = {
            "Change": change, "Expected": one.expected, "Actual": one.sentence, "Back to": back
        }  # fmt: skip
        parts += ["## Rollback analysis", facts(told.items())]
    return page(*parts)


def _limits(one: ExportedRound) -> Iterator[tuple[str, str]]:
    """What limits the incumbent that it started from, and its own kernel, by counters."""
    if one.hypothesis:
        yield "Of the incumbent", limit_words(one.rival.profiled, one.rival.note)
    yield "Of this kernel", limit_words(one.explained.profiled, one.explained.note)


def _results(one: ExportedRound) -> Iterator[tuple[object, ...]]:
    correct = {case.case: case.correct for case in one.report.cases} if one.report else {}
    for result in one.results:
        time = result.time
        yield (
            result.case,
            duration(time.median) if time else NOTHING,
            f"{duration(time.low)} to {duration(time.high)}, n={time.n}" if time else NOTHING,
            gain_words(result.gain, "the incumbent"),
            "yes" if correct.get(result.case) else "no",
        )


def _tables(one: ExportedRound, rival: str) -> Iterator[Part]:
    """What not every round has: gains by config class, a kernel for each of them, repairs."""
    classes = [
        (found.name, ", ".join(found.cases), gain_words(found.gain, rival))
        for found in (classes_of(one.verdict) if one.verdict else ())
    ]
    if classes:
        yield from ("## By config class", table(("class", "cases", "gain"), classes))
    dispatch = dispatch_of(one.round)
    if dispatch.when:
        yield "## Kernel of each class"
        yield said(f"The specialised kernel runs where {dispatch.when}.")
        runs = [(run.name, f"round {run.number}") for run in dispatch.runs]
        yield table(("class", "kernel of"), runs)
    repairs = [
        (
            *(repair.failed.candidate.label, repair.failed.outcome, repair.failed.reason),
            repair.candidate.label if repair.candidate else f"none: {repair.why}",
        )
        for repair in one.repairs
    ]
    if repairs:
        yield from ("## Repairs", table(("failed", "outcome", "reason", "repair"), repairs))


def _manifest(trail: ExportedCampaign) -> str:
    """YAML, each value of which is written as JSON, as YAML allows.

    Of what people can say of a campaign it has what is not the usual.
    """
    campaign = trail.campaign
    cases = {case.name: case.params for case in campaign.problem.cases.all()}
    best = trail.best or trail.baseline
    commit = best.commit if best else None
    stated, usual = intake_of(campaign).stored, Intake().stored
    names = ("guard", "reference_project", "constraints", "notes")
    known = {
        "target_op": campaign.problem.op,
        "target_backend": campaign.backend,
        "target_lang": best.file_name.rpartition(".")[2] if best else "",
        "target_gpu": campaign.platform.name,
        "execution_mode": "workspace",
        "project_skill": SKILL,
        "performance_target": goal_of(campaign).typed,
        "primary_metric": "GB/s" if moves_bytes(trail.sheet) else "TFLOPS",
        "target_shapes": {name: cases.get(name, {}) for name in map(str, campaign.cases)},
        "kernel_source": f"best/{best.file_name}" if best else "",
        "test_command": "python quick_test_bench.py --repeats 0",
        "benchmark_command": f"python manage.py campaign run --problem {campaign.problem.slug}"
        f" --backend {campaign.backend}",
        "quick_command": "python quick_test_bench.py",
        "representative_shapes": list(map(str, campaign.cases)),
        "git_commit": commit.sha if commit else None,
        "git_branch": commit.branch if commit else None,
        "max_iterations": stop_policy_of(campaign).max_rounds,
        **{name: stated[name] for name in names if stated[name] != usual[name]},
        "created": campaign.created_at.isoformat(timespec="minutes"),
    }
    return "".join(
        f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in known.items()
    )
