"""memory/v<N>.json, plans/ and baseline_report.md: the records of a round as one agent reads them.

The fields are those of atrex-kernel-agent's version files. What nobody recorded is null or empty.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from campaigns.evaluator.contract import Outcome
from campaigns.models import Evaluation
from campaigns.records.campaigns import baseline_noise
from campaigns.reports.totals import GIGA, TERA
from campaigns.rules.wording import duration, share
from campaigns.trails.exporters.judged_rounds import ExportedCampaign, ExportedRound
from campaigns.trails.exporters.markdown import NOTHING, facts, fenced, page, said, table

PASS, FAIL, TIMEOUT = "PASS", "FAIL", "TIMEOUT_FAIL"


def memory_files(trail: ExportedCampaign) -> Iterator[tuple[str, str]]:
    """(path, text) of each."""
    for one in trail.rounds:
        known = json.dumps(_version(trail, one), ensure_ascii=False, indent=2)
        yield f"memory/{one.version}.json", f"{known}\n"
        if one.hypothesis:
            yield f"plans/{one.version}_plan.md", _plan(one)
    if trail.baseline:
        yield "baseline_report.md", _baseline_report(trail, trail.baseline)


def _version(trail: ExportedCampaign, one: ExportedRound) -> dict[str, Any]:
    closed = one.row.round.closed_at
    return {
        "version": one.version,
        "masked": one.row.masked,
        "timestamp": closed.isoformat() if closed else None,
        "performance": _performance(trail, one),
        "optimization": _optimization(one),
        "profile_evidence": _evidence(trail, one),
        "correctness": {"rel_err": _worst_error(one), "status": _status(one)},
        "isa_metric_progress": [],
        "search_log": [],
        "pitfalls_and_fixes": _pitfalls(one),
        "references": [
            {"source_type": "gpu-wiki", "path_or_url": cited.citation, "description": cited.display}
            for cited in trail.sheet.target.citations
        ],
        "quality_gate": {
            "result": PASS if one.is_kept else (TIMEOUT if _status(one) == TIMEOUT else FAIL),
            "failure_reason": "" if one.is_kept else one.row.sentence,
        },
        "git_commit_hash": one.commit.sha if one.commit else None,
    }


def _performance(trail: ExportedCampaign, one: ExportedRound) -> dict[str, Any]:
    before = trail.kept_before(one)
    gain = one.gain
    return {
        "latency_us": one.time_us,
        **_rates(trail, one),
        "latency_us_by_shape": {r.case: r.time.median for r in one.row.results if r.time},
        "comparison_with_previous": {
            "latency_delta": _delta(one.time_us, before.time_us if before else None),
            "tflops_delta": _delta(_flops(one), _flops(before)),
            "bandwidth_delta": _delta(_bytes(one), _bytes(before)),
            "unit": "fraction of the last accepted version's",
        },
        "gain_over_incumbent": asdict(gain) if gain else None,
    }


def _rates(trail: ExportedCampaign, one: ExportedRound) -> dict[str, float | None]:
    target, flops, moved = trail.sheet.target, _flops(one), _bytes(one)
    compute, bandwidth = target.compute, target.bandwidth
    return {
        "tflops": flops / TERA if flops else None,
        "bandwidth_gbps": moved / GIGA if moved else None,
        "tflops_peak_utilization_pct": 100 * flops / compute.value if flops and compute else None,
        "bandwidth_peak_utilization_pct": (
            100 * moved / bandwidth.value if moved and bandwidth else None
        ),
    }


def _flops(one: ExportedRound | None) -> float | None:
    return one.rates.flops if one and one.rates else None


def _bytes(one: ExportedRound | None) -> float | None:
    return one.rates.bytes if one and one.rates else None


def _delta(now: float | None, before: float | None) -> float | None:
    return now / before - 1 if now and before else None


def _optimization(one: ExportedRound) -> dict[str, str]:
    idea = one.hypothesis
    if idea is None:
        return {
            "action_category": "baseline",
            "action_description": one.title,
            "expected_impact": "",
            "risks_and_rollback": "",
        }
    return {
        "action_category": idea.strategy,
        "action_description": one.what,
        "expected_impact": one.expected,
        "risks_and_rollback": idea.risks,
    }


def _evidence(trail: ExportedCampaign, one: ExportedRound) -> dict[str, str]:
    bounds = {case.bound for case in trail.sheet.target.cases.values() if case.bound}
    bound = next(iter(bounds)) if len(bounds) == 1 else ""
    idea = one.hypothesis
    return {
        "tool_used": "",
        "evidence_summary": "; ".join(idea.evidence) if idea else "",
        "bottleneck_type": f"{bound}_bound" if bound else "",
        "evidence_chain": idea.rationale if idea else "",
    }


def _worst_error(one: ExportedRound) -> float | None:
    found = [case.norm_error for case in one.report.cases] if one.report else []
    return max((error for error in found if error is not None), default=None)


def _status(one: ExportedRound) -> str:
    outcome = one.evaluation.outcome if one.evaluation else ""
    if outcome == Outcome.TIMED_OUT:
        return TIMEOUT
    return PASS if outcome == Outcome.PASSED else FAIL


def _pitfalls(one: ExportedRound) -> list[dict[str, str]]:
    """What failed and was repaired, then what the round ended with."""
    found = [
        _pitfall(repair.failed, repair.candidate.label)
        for repair in one.repairs
        if repair.candidate
    ]
    last = _pitfall(one.evaluation, "") if one.evaluation else None
    return [known for known in (*found, last) if known]


def _pitfall(evaluation: Evaluation, fix: str) -> dict[str, str] | None:
    """None of an outcome that is no pitfall."""
    kinds = {
        Outcome.BUILD_FAILED: "compilation",
        Outcome.WRONG_RESULT: "accuracy",
        Outcome.CRASHED: "runtime",
        Outcome.TIMED_OUT: "timeout",
    }
    kind = next((word for known, word in kinds.items() if known == evaluation.outcome), None)
    if kind is None:
        return None
    return {
        "error_type": kind,
        "error_message": evaluation.reason,
        "root_cause": "",
        "fix_applied": fix,
        "lesson": "",
    }


def _plan(one: ExportedRound) -> str:
    idea = one.hypothesis
    assert idea is not None
    return page(
        f"# {one.version}: {said(idea.title)}",
        facts(
            [
                ("Strategy", idea.strategy),
                ("One change", idea.change),
                ("Why", idea.rationale),
                ("Expected", one.expected),
                ("Risks and rollback", idea.risks),
            ]
        ),
        ["## Evidence", "", *(f"- {said(line)}" for line in idea.evidence or (NOTHING,))],
    )


def _baseline_report(trail: ExportedCampaign, one: ExportedRound) -> str:
    target = trail.sheet.target
    rows = []
    for result in one.row.results:
        case = target.cases.get(result.case)
        rows.append(
            (
                result.case,
                duration(result.time.median) if result.time else NOTHING,
                f"{duration(result.time.low)} to {duration(result.time.high)}"
                if result.time
                else NOTHING,
                result.time.n if result.time else 0,
                case.bound if case and case.bound else NOTHING,
                duration(case.floor_us) if case and case.floor_us else "UNKNOWN",
                share(case.floor_us / result.time.median)
                if case and case.floor_us and result.time
                else "UNKNOWN",
            )
        )
    head = ("case", "median", "95 % interval", "samples", "bound by", "floor", "of the floor")
    code = one.candidate
    return page(
        "# Baseline",
        f"{said(trail.campaign.title)}: v0 as it came with the problem, measured "
        f"{one.row.round.closed_at:%Y-%m-%d %H:%M} UTC. {said(one.row.sentence)}",
        table(head, rows),
        [f"Noise floor of the campaign: {_noise(trail)}."],
        fenced(code.text, code.file_name.rpartition(".")[2]) if code else "",
    )


def _noise(trail: ExportedCampaign) -> str:
    noise = baseline_noise(trail.campaign)
    if noise is None:
        return NOTHING
    return f"{share(noise.floor)}, of v0 against itself ({noise.pairs} pairs)"
