"""manifest.yaml, rounds/ and logs/: one folder a round, two logs that only grow.

The layout is that of kernel-optimize's campaign folder. Numbers of its trend table are those of the
pages: v0's medians over the paired gains since.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from campaigns.models.transitions import CampaignState
from campaigns.records.campaigns import intake_of, stop_policy_of
from campaigns.records.cases import dispatch_of
from campaigns.records.values import verdict_value
from campaigns.records.verdicts import classes_of
from campaigns.reports.course import KINDS
from campaigns.reports.totals import Trend, TrendRow, audit_of, moves_bytes, trend_of
from campaigns.rules.noise.gain import Gain
from campaigns.rules.stop.intake import Intake
from campaigns.rules.verdict.decision import VerdictWord as Word
from campaigns.rules.wording import duration
from campaigns.trails.exporters.judged_rounds import ExportedCampaign, ExportedRound
from campaigns.trails.exporters.markdown import NOTHING, facts, page, said, table

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
    return _json(_verdict(one))


def status(one: ExportedRound) -> str:
    """As the trend table writes it."""
    if one.is_baseline:
        return "BASELINE"
    return "ACCEPTED" if one.is_kept else "ROLLBACK"


def gain_words(gain: Gain | None, against: str) -> str:
    """A change with what law 9 asks for: baseline, interval and count."""
    if gain is None:
        return "not compared"
    return gain.against(against)


def _trend(trail: ExportedCampaign) -> str:
    trend = trend_of(trail.sheet)
    rows = [
        (
            *(one.number, status(one), one.title),
            *_timed(trend, trend.of(one.number)),
            one.row.sentence,
        )
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


def _timed(trend: Trend, row: TrendRow | None) -> tuple[str, ...]:
    """The rates of each direction and of both, and the change in speed from round 1."""
    if row is None:
        return (*[NO_BACKWARD] * 5, "—")
    halves = [
        f"{value:.3f}" if rates else NO_BACKWARD
        for rates in (row.forward, row.backward)
        for value in ((rates.mean, rates.best) if rates else (0, 0))
    ]
    step = f"{row.step.mean:.3f}" if row.step else NO_BACKWARD
    # Alone, the change is written as this log always wrote it.
    told = row.change if trend.has_backward else row.change.replace(" %", "%")
    return (*halves, step, f"{told} (paired, n={row.n})" if told else "—")


def _history(trail: ExportedCampaign) -> str:
    campaign, best = trail.campaign, trail.best
    lost = [one for one in trail.rounds if not one.is_kept]
    blocks = [block for one in trail.rounds for block in _entry(trail, one)]
    return page(
        f"# {said(campaign.title)}",
        "## Basic information",
        facts(
            [
                ("Operator", campaign.problem.op),
                ("Backend", campaign.backend),
                ("Platform", campaign.platform.name),
                ("Target", trail.sheet.goal_words),
                ("Cases", ", ".join(map(str, campaign.cases))),
                ("Protocol", str(campaign.protocol)),
            ]
        ),
        "## Optimization history",
        *blocks,
        "## Current best",
        facts([("Round", best.number), ("Kernel", best.title), ("Time", _time(best))])
        if best
        else NOTHING,
        "## Verified ineffective directions",
        table(
            ("direction", "round", "reason"),
            [(one.title, one.number, one.row.sentence) for one in lost],
            "None so far.",
        ),
        "## Transfer to real use",
        *_audit(trail),
        "## Rounds without a gain",
        [f"- {said(event.message)}" for event in trail.events if event.kind in KINDS]
        or "Nothing had to be done about them.",
        "## Termination check",
        _termination(trail),
    )


def _entry(trail: ExportedCampaign, one: ExportedRound) -> Iterator[list[str] | str]:
    closed = one.row.round.closed_at
    yield f"### round-{one.number}: {status(one)}"
    yield facts(
        [
            ("Closed", f"{closed:%Y-%m-%d %H:%M} UTC" if closed else ""),
            ("Hypothesis", one.title),
            ("Change", one.hypothesis.change if one.hypothesis else "none: the problem's own v0"),
            ("Result", gain_words(one.gain, f"round {one.row.against}")),
            ("Decision", one.row.word.told(one.row.sentence)),
            ("Data", f"{one.folder}/artifacts/"),
        ]
    )


def _audit(trail: ExportedCampaign) -> list[list[str] | str]:
    found = audit_of(trail.sheet)
    if found is None:
        return ["Nothing was accepted after the baseline."]
    rows = [
        (part.name, ", ".join(map(str, part.rounds)) or "–", f"{part.ratio:.3f}×")
        for part in found.parts
    ]
    return [found.words, table(("part", "rounds", "ratio against v0"), rows)]


def _termination(trail: ExportedCampaign) -> str:
    campaign = trail.campaign
    if campaign.state == CampaignState.DONE:
        return said(f"{campaign.stop_reason}: {campaign.stop_sentence}")
    if campaign.is_finished:
        return said(f"aborted: {campaign.stop_sentence or campaign.stop_reason}")
    return f"Not ended: {trail.sheet.phase}, {len(trail.rounds)} rounds closed."


def _summary(trail: ExportedCampaign, one: ExportedRound) -> str:
    idea = one.hypothesis
    parts: list[list[str] | str] = [
        f"# Round {one.number}: {said(one.title)}",
        "## Hypothesis",
        said(idea.rationale) if idea else "The baseline tries nothing.",
        "## Single change",
        said(idea.change or idea.title) if idea else "None.",
        "## Results",
        table(("case", "median", "95 % interval", "vs last accepted", "correct"), _results(one)),
        facts([("Expectation", one.row.borne)]) if one.row.borne else "",
        f"Over all cases: {said(gain_words(one.gain, f'round {one.row.against}'))}",
        *_by_class(one),
        *_by_kernel(one),
        *_repaired(one),
        "## Decision",
        said(f"{one.row.word.words} ({one.row.reason}). {one.row.sentence}"),
        "## Attribution",
        table(
            ("gate", "passed", "found", "limit"),
            [
                (gate["name"], _mark(gate["passed"]), gate["found"], gate["limit"])
                for gate in (one.verdict.gates if one.verdict else [])
            ],
        ),
    ]
    if idea:
        parts += ["## Transfer to real use", facts([("Bucket", idea.declared.words)])]
    if not one.is_kept:
        parts += ["## Rollback analysis", _rollback(trail, one)]
    return page(*parts)


def _results(one: ExportedRound) -> Iterator[tuple[object, ...]]:
    correct = {case.case: case.correct for case in one.report.cases} if one.report else {}
    for result in one.row.results:
        time = result.time
        yield (
            result.case,
            duration(time.median) if time else NOTHING,
            f"{duration(time.low)} to {duration(time.high)}, n={time.n}" if time else NOTHING,
            gain_words(result.gain, "the incumbent"),
            "yes" if correct.get(result.case) else "no",
        )


def _by_class(one: ExportedRound) -> list[list[str] | str]:
    classes = classes_of(one.verdict) if one.verdict else ()
    rows = [
        (found.name, ", ".join(found.cases), gain_words(found.gain, f"round {one.row.against}"))
        for found in classes
    ]
    return ["## By config class", table(("class", "cases", "gain"), rows)] if rows else []


def _by_kernel(one: ExportedRound) -> list[list[str] | str]:
    dispatch = dispatch_of(one.row.round)
    if not dispatch.when:
        return []
    runs = [(run.name, f"round {run.number}") for run in dispatch.runs]
    split = f"The specialised kernel runs where {dispatch.when}."
    return ["## Kernel of each class", said(split), table(("class", "kernel of"), runs)]


def _repaired(one: ExportedRound) -> list[list[str] | str]:
    rows = [
        (
            repair.failed.candidate.label,
            repair.failed.outcome,
            repair.failed.reason,
            repair.candidate.label if repair.candidate else f"none: {repair.why}",
        )
        for repair in one.repairs
    ]
    return ["## Repairs", table(("failed", "outcome", "reason", "repair"), rows)] if rows else []


def _mark(passed: bool | None) -> str:
    return {True: "yes", False: "no", None: "–"}[passed]


def _rollback(trail: ExportedCampaign, one: ExportedRound) -> list[str]:
    idea, kept = one.hypothesis, trail.kept_before(one)
    return facts(
        [
            ("Change", idea.change or idea.title if idea else ""),
            ("Expected", one.expected),
            ("Actual", one.row.sentence),
            ("Back to", f"round {kept.number}: {kept.title}" if kept else ""),
        ]
    )


def _verdict(one: ExportedRound) -> dict[str, Any]:
    verdict = one.verdict
    known: dict[str, Any] = {
        "round": one.number,
        "status": status(one),
        "verdict": Word(one.row.word).words,
        "dispatch": dispatch_of(one.row.round).facts,
    }
    if verdict is None:
        return known
    more: dict[str, Any] = msgspec.to_builtins(verdict_value(verdict))
    del more["word"]
    return {**known, **more, "decided_at": verdict.decided_at.isoformat()}


def _time(one: ExportedRound) -> str:
    return f"{duration(one.time_us)} (geometric mean of unpaired medians)" if one.time_us else ""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _said_of(trail: ExportedCampaign) -> dict[str, str]:
    """What people said of the campaign beyond the defaults."""
    said_of, usual = intake_of(trail.campaign).stored, Intake().stored
    names = ("guard", "reference_project", "constraints", "notes")
    return {name: said_of[name] for name in names if said_of[name] != usual[name]}


def _manifest(trail: ExportedCampaign) -> str:
    """YAML, each value of which is written as JSON, as YAML allows."""
    campaign = trail.campaign
    cases = {case.name: case.params for case in campaign.problem.cases.all()}
    best = trail.best or trail.baseline
    known = {
        "target_op": campaign.problem.op,
        "target_backend": campaign.backend,
        "target_lang": best.file_name.rpartition(".")[2] if best else "",
        "target_gpu": campaign.platform.name,
        "execution_mode": "workspace",
        "project_skill": "kopt",
        "performance_target": trail.sheet.goal_words,
        "primary_metric": "GB/s" if moves_bytes(trail.sheet) else "TFLOPS",
        "target_shapes": {name: cases.get(name, {}) for name in map(str, campaign.cases)},
        "kernel_source": f"best/{best.file_name}" if best else "",
        "test_command": "python quick_test_bench.py --repeats 0",
        "benchmark_command": f"python manage.py campaign run --problem {campaign.problem.slug}"
        f" --backend {campaign.backend}",
        "quick_command": "python quick_test_bench.py",
        "representative_shapes": list(map(str, campaign.cases)),
        "git_commit": best.commit.sha if best and best.commit else None,
        "git_branch": best.commit.branch if best and best.commit else None,
        "max_iterations": stop_policy_of(campaign).max_rounds,
        **_said_of(trail),
        "created": campaign.created_at.isoformat(timespec="minutes"),
    }
    return "".join(
        f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in known.items()
    )
