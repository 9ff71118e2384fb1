"""Campaigns, rounds, events and a bisection as commands print them: plain values and lines."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

import msgspec
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from campaigns.evaluator.contract.files import protocol_from
from campaigns.models import Campaign, Evaluation, Event, Repair, Round, Verdict
from campaigns.records.campaigns import intake_of, result_of, target_of
from campaigns.records.cases import dispatch_of, no_split
from campaigns.records.device_waits import no_worker_told
from campaigns.records.evaluations import report_of
from campaigns.records.findings import (
    finding_counts,
    found_lines,
    kinds_by_stance,
    policy_of,
    stored_policy,
)
from campaigns.records.rounds import declared_of, proposed_by
from campaigns.records.submissions import AwaitedRepair, awaited_repair
from campaigns.records.sweeps import sweep_of
from campaigns.records.target.ceilings import pitfalls_of
from campaigns.records.target.target_drift import drift_of, spec_value
from campaigns.records.values import (
    campaign_value,
    candidate_value,
    evaluation_value,
    gain_facts,
    picked,
    repair_value,
    round_value,
    standing_value,
    verdict_value,
)
from campaigns.records.verdicts import borne_of, measured_of
from campaigns.reports.baselines import baseline_lines, baseline_rows
from campaigns.reports.course import course_facts, course_lines
from campaigns.reports.lineage import commit_facts, lineage_of
from campaigns.reports.progress import progress_of
from campaigns.reports.proposers import proposer_rows, waiting_sheets
from campaigns.reports.rows import (
    doubts_of,
    sessions_by_round,
    sessions_of,
    standing_of,
    standing_words,
    with_standing,
)
from campaigns.reports.sheet import campaign_sheet
from campaigns.reports.sweeps import lead_of, sweep_facts
from campaigns.rules.noise.bisect import BisectAnswer, BisectProbe, BisectResult
from campaigns.rules.verdict.decision import VerdictWord as Word
from campaigns.rules.verdict.report_words import notes_of
from campaigns.rules.wording import duration, share
from campaigns.steps.rounds.bisect import BisectQuestion, BisectRefused


def campaign_facts(campaign: Campaign) -> dict[str, Any]:
    """What `campaign run` and `campaign show` answer; the gain is over v0, None if not measured."""
    value = campaign_value(campaign)
    return {
        **msgspec.to_builtins(value),
        **value.result.facts,
        "rounds": campaign.rounds.count(),
        "incumbent_round": value.incumbent,
        "target": target_of(campaign).state,
    }


def campaign_details(campaign: Campaign) -> dict[str, Any]:
    """What `campaign show` answers beyond that: wait, pitfalls, assumptions, pins as they are."""
    drift, sheet = drift_of(campaign), campaign_sheet(campaign, timezone.now())
    progress, sessions = progress_of(campaign, timezone.now()), sessions_by_round(campaign)
    return {
        **campaign_facts(campaign),
        "wait": sheet.wait.facts if sheet.wait else None,
        "awaits_repair": sheet.awaited.facts if sheet.awaited else None,
        "no_worker": no_worker_told(campaign),
        "progress": progress.stored if progress else None,
        "by_proposer": [row.facts for row in proposer_rows(sheet, timezone.now())],
        "waiting": [waiting.facts for waiting in waiting_sheets(campaign)],
        **course_facts(campaign),
        "baselines": [row.facts for row in baseline_rows(campaign)],
        "goal": campaign.goal,
        "floors_us": {name: case.floor_us for name, case in target_of(campaign).cases.items()},
        "dispatch": dispatch_of(campaign.incumbent.round).facts if campaign.incumbent else None,
        "findings_policy": stored_policy(policy_of(campaign)),
        "own_kernels": campaign.own_kernels or [],
        "require_sanitizers": protocol_from(campaign.protocol.rules).require_sanitizers,
        "goal_words": sheet.goal_words,
        "standings": [
            {"round": number, **msgspec.to_builtins(standing_value(step))}
            for key, number in campaign.rounds.order_by("number").values_list("pk", "number")
            for step in sessions.get(key, ())
        ],
        "commits": [commit_facts(commit) for commit in lineage_of(campaign).commits],
        "pitfalls": [
            picked(pitfall, "kind message how_to_obtain at") for pitfall in pitfalls_of(campaign)
        ],
        "placeholders": msgspec.to_builtins(target_of(campaign).assumed),
        "pins": [msgspec.to_builtins(spec_value(pin)) for pin in drift.pins],
        "would_be": {
            "words": drift.words,
            "target": drift.target,
            "would_be": drift.would_be,
            "cases": [asdict(move) for move in drift.moving],
        },
    }


def campaign_line(campaign: Campaign) -> str:
    """One line for a list."""
    return f"{campaign.pk:4} {campaign.title}: {campaign.doing}  {_result(campaign)}".rstrip()


def campaign_text(campaign: Campaign) -> str:
    """The campaign with its rounds."""
    sheet = campaign_sheet(campaign, timezone.now())
    lines = [f"campaign {campaign.pk}: {campaign.title}", f"state: {sheet.phase}"]
    lines += [found.words for found in (sheet.wait, sheet.awaited) if found]
    lines += [warning] if (warning := no_worker_told(campaign)) else []
    if progress := progress_of(campaign, timezone.now()):
        since = f"since {progress.since:%H:%M:%S} UTC, " if progress.since else ""
        lines.append(f"{since}{progress.doing}; {progress.eta_words}")
    lines += [row.words for row in proposer_rows(sheet, timezone.now())]
    lines += [
        f"handed in by {one.submission.name}: {one.submission.title}. {one.words}"
        for one in waiting_sheets(campaign)
    ]
    lines += course_lines(campaign)
    lines += [f"in the queue: {sheet.queue.why}"] if sheet.queue else []
    lines.append(f"target: {sheet.goal_words}")
    lines += [
        f"findings {stance}: {', '.join(kind.words for kind in kinds)}"
        for stance, kinds in kinds_by_stance(campaign).items()
        if kinds
    ]
    lines.append(f"guard: {intake_of(campaign).guard_policy.words}")
    if campaign.own_kernels:
        lines.append(f"own kernels by declaration: {', '.join(campaign.own_kernels)}")
    if protocol_from(campaign.protocol.rules).require_sanitizers:
        lines.append("sanitizers: required, one that does not run stops a gain")
    if campaign.stop_sentence:
        lines.append(f"ended: {campaign.stop_sentence}")
    if result := _result(campaign):
        times = [duration(us) for us in (sheet.shown.incumbent_us, sheet.shown.time_us) if us]
        lines.append(f"result: {' to '.join(times)}, {result}")
    lines += baseline_lines(campaign)
    drift = drift_of(campaign)
    for doubt in doubts_of(campaign):
        answer, number = doubt.answer, doubt.round.number
        said = f"`round answer {campaign.pk} {number}` answers"
        said = f"{answer.words}, says {answer.by}: {answer.why}" if answer else said
        lines.append(f"caution: round {number} was not reproduced. {doubt.sentence} ({said})")
    lines += [f"drift: {pin.words}" for pin in drift.revised]
    lines += [f"drift: {drift.words}"] if drift.words else []
    lines += [f"pitfall: {pitfall}" for pitfall in pitfalls_of(campaign)]
    rounds = with_standing(campaign.rounds.select_related("verdict", "chosen")).order_by("number")
    return "\n".join([*lines, "", *(round_line(round_) for round_ in rounds)])


def round_line(round_: Round) -> str:
    """One line for a list of rounds."""
    verdict: Verdict | None = getattr(round_, "verdict", None)
    word = Word(verdict.word).words if verdict else "running"
    standing = standing_words(standing_of(round_))
    found = finding_counts(round_.chosen, round_.campaign) if round_.chosen else ""
    told = f"  [findings: {found}]" if found else ""
    told += f"  [standing: {standing}]" if standing else ""
    return f"{round_.number:3} {word:16} {round_.title}{told}"


def round_facts(round_: Round) -> dict[str, Any]:
    """Everything about one round: candidates with every sample that was taken, and the verdict."""
    verdict: Verdict | None = getattr(round_, "verdict", None)
    value, sweep, measured = round_value(round_), sweep_of(round_), measured_of(verdict)
    # Where every point of its search is, as CSV.
    points = reverse("sweep", args=[value.campaign, value.number])
    return {
        **msgspec.to_builtins(value),
        "round": value.number,
        "dispatch": {**dispatch_of(round_).facts, "no_split": no_split(round_)},
        "expectation": str(borne_of(round_, verdict) or "") if verdict else "",
        "standing": standing_words(standing_of(round_)),
        "standings": [msgspec.to_builtins(standing_value(step)) for step in sessions_of(round_)],
        "against_round": value.against,
        "candidate_us": measured.time_us,
        "incumbent_us": measured.incumbent_us,
        "candidates": [
            {
                **msgspec.to_builtins(candidate_value(candidate, round_)),
                "outcomes": [
                    msgspec.to_builtins(evaluation_value(evaluation))
                    for evaluation in candidate.evaluations.all()
                    if not evaluation.traits.is_torch
                ],
            }
            for candidate in round_.candidates.prefetch_related("evaluations")
        ],
        "sweep": sweep_facts(sweep) | {"points": f"{points}?format=csv"} if sweep else None,
        "awaits_repair": awaited.facts if (awaited := _awaited(round_)) else None,
        "repairs": [msgspec.to_builtins(repair_value(repair)) for repair in _repairs(round_)],
        "commit": commit_facts(getattr(round_, "commit", None)),
        "verdict": verdict
        and {
            **msgspec.to_builtins(verdict_value(verdict)),
            "verdict": Word(verdict.word).words,
            "interval": verdict.interval_kind,
        },
    }


def round_text(round_: Round) -> str:
    """The round with its gates and cases."""
    verdict: Verdict | None = getattr(round_, "verdict", None)
    lines = [round_line(round_).strip()]
    if verdict is None:
        return "\n".join([*lines, *([awaited.words] if (awaited := _awaited(round_)) else [])])
    lines += [verdict.sentence, ""]
    lines += [f"  proposed by: {by}"] if (by := proposed_by(round_).words) else []
    if declared := declared_of(round_):
        lines.append(f"  bucket: {declared.words}")
    lines += [f"  {step.words}: {step.sentence}" for step in sessions_of(round_)]
    lines += [f"  {lead_of(sweep)}"] if (sweep := sweep_of(round_)) else []
    voids = Evaluation.objects.filter(candidate__round=round_).exclude(void="").order_by("pk")
    lines += [f"  void and repeated: {one.void}" for one in voids]
    lines += [f"  {repair.words}" for repair in _repairs(round_)]
    for gate in verdict.gates:
        mark = {True: "passed", False: "failed", None: "–"}[gate["passed"]]
        lines.append(f"  {gate['name']:14} {mark:7} {gate['found']}  (limit: {gate['limit']})")
    # What was found in the judged source; what is allowed last.
    chosen = round_.chosen
    found = (found_lines(chosen, round_.campaign) if chosen else None) or []
    lines += [
        f"  {row.stance}: line {row.line}, {row.what} ({row.kind}): {row.meaning}"
        for row in sorted(found, key=lambda row: (row.stance == "allowed", row.line))
    ]
    lines += ["", f"  measured in {verdict.sessions_words}"]
    lines += [case_line(case) for case in verdict.cases]
    report = report_of(verdict.evaluation)
    lines += [f"  note: {note}" for note in (notes_of(report) if report else ())]
    dispatch = dispatch_of(round_)
    lines += [f"  split: {dispatch.when}"] if dispatch.when else []
    lines += [f"  {run.words}" for run in dispatch.runs]
    lines += [f"  {why}"] if (why := no_split(round_)) else []
    return "\n".join(lines)


def _awaited(round_: Round) -> AwaitedRepair | None:
    found = awaited_repair(round_.campaign)
    return found if found and found.round == round_ else None


def _repairs(round_: Round) -> QuerySet[Repair]:
    return round_.repairs.select_related("candidate", "failed__candidate")


def case_line(case: dict[str, Any]) -> str:
    """One case: the times of both arms with their intervals and sample counts."""
    times, other = case["time_us"], case.get("incumbent_us")
    told = spread_words(times) if times else "not timed"
    told += f"; incumbent {spread_words(other)}" if other else ""
    return f"  {case['case']:16} {told}"


def spread_words(times: dict[str, Any]) -> str:
    """A median with its interval and count, rounded as on the pages."""
    median, low, high = (duration(times[name]) for name in ("median", "low", "high"))
    return f"{median} ({low} to {high}, n={times['n']})"


def event_facts(event: Event) -> dict[str, Any]:
    """One event as data."""
    return picked(event, "at kind message data")


def _result(campaign: Campaign) -> str:
    """The gain over v0 with its interval and count; empty where nothing was compared."""
    return gain.against("v0") if (gain := result_of(campaign)) else ""


def percentage(text: str) -> float:
    """ "3%", "3 %" or "3" as a fraction. Raises BisectRefused."""
    found = re.fullmatch(r"(\d{1,2}(?:\.\d{1,6})?)\s*%?", text.strip(), re.ASCII)
    if found is None:
        raise BisectRefused(f"slower-than: {text!r}; accepted: 0% to 99%")
    return float(found[1]) / 100


def look_line(look: BisectProbe, good: int) -> str:
    """One measured round; the ratio names its baseline, interval and count (law 9)."""
    text = look.why
    if look.gain:
        text = look.gain.against(f"round {good}")
    return f"round {look.round}: {look.answer}: {text}"


def found_words(found: BisectResult, question: BisectQuestion) -> str:
    """What was found, in one sentence."""
    slower = f"slower than round {question.good} by more than {share(question.limit)}"
    if not found.suspects:
        last = found.probes[0]
        shown = "is not" if last.answer is BisectAnswer.BETTER else "could not be shown to be"
        return f"Round {last.round} {shown} {slower}, so there is nothing to find."
    if len(found.suspects) == 1:
        return f"Round {found.suspects[0]} is the first that is {slower}; {found.good} is not."
    listed = ", ".join(map(str, found.suspects))
    return f"One of the rounds {listed} is the first that is {slower}; {found.good} is not."


def found_facts(found: BisectResult, question: BisectQuestion) -> dict[str, Any]:
    """The same as data."""
    return {
        "campaign": question.campaign.pk,
        "good": question.good,
        "slower_than": question.limit,
        "suspects": list(found.suspects),
        "last_good": found.good,
        "looks": [
            {
                "round": look.round,
                "answer": look.answer.value,
                **gain_facts(look.gain),
                "why": look.why,
            }
            for look in found.probes
        ],
        "sentence": found_words(found, question),
    }
