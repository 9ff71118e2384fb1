"""memory/v<N>.json: the records of a round as one agent reads them.

The fields are those of atrex-kernel-agent's version files. What nobody recorded is null or empty.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from campaigns.evaluator.contract import Outcome
from campaigns.models import Evaluation
from campaigns.profiles.reading import Profiled
from campaigns.records.values import gain_value
from campaigns.reports.totals import GIGA, TERA
from campaigns.rules.noise.gain import geomean
from campaigns.trails.exporters.judged_rounds import (
    NOT_PROFILED,
    ExportedCampaign,
    ExportedRound,
    limit_words,
)

PASS, FAIL, TIMEOUT = "PASS", "FAIL", "TIMEOUT_FAIL"
STATUS: Mapping[str, str] = {Outcome.PASSED: PASS, Outcome.TIMED_OUT: TIMEOUT}
# The outcomes that are pitfalls.
ERRORS: Mapping[str, str] = {
    Outcome.BUILD_FAILED: "compilation",
    Outcome.WRONG_RESULT: "accuracy",
    Outcome.CRASHED: "runtime",
    Outcome.TIMED_OUT: "timeout",
}


def memory_files(trail: ExportedCampaign) -> Iterator[tuple[str, str]]:
    """(path, text) of each."""
    for one in trail.rounds:
        known = json.dumps(_version(trail, one), ensure_ascii=False, indent=2)
        yield f"memory/{one.version}.json", f"{known}\n"


def _version(trail: ExportedCampaign, one: ExportedRound) -> dict[str, Any]:
    closed, idea, run = one.round.closed_at, one.hypothesis, one.evaluation
    status = STATUS.get(run.outcome if run else "", FAIL)
    errors = [case.norm_error for case in one.report.cases] if one.report else []
    # What failed and was repaired, then what the round ended with.
    failed = [
        (each.failed, each.candidate.label) for each in one.round.repairs.all() if each.candidate
    ]
    failed += [(run, "")] if run else []
    return {
        "version": one.version,
        "masked": one.masked,
        "timestamp": closed.isoformat() if closed else None,
        "performance": _performance(trail, one),
        "optimization": {
            "action_category": idea.strategy if idea else "baseline",
            "action_description": one.what,
            "expected_impact": one.expected,
            "risks_and_rollback": idea.risks if idea else "",
        },
        "profile_evidence": {
            **_bottleneck(one.rests_on),
            "evidence_summary": "; ".join(idea.evidence) if idea else "",
            "evidence_chain": idea.rationale if idea else "",
        },
        "correctness": {
            "rel_err": max((error for error in errors if error is not None), default=None),
            "status": status,
        },
        "isa_metric_progress": _machine_code(one),
        "search_log": one.searched,
        "pitfalls_and_fixes": [_pitfall(*each) for each in failed if each[0].outcome in ERRORS],
        "references": [
            {"source_type": "gpu-wiki", "path_or_url": cited.citation, "description": cited.display}
            for cited in trail.sheet.target.citations
        ],
        "quality_gate": {
            "result": PASS if one.is_kept else (TIMEOUT if status == TIMEOUT else FAIL),
            "failure_reason": "" if one.is_kept else one.sentence,
        },
        "git_commit_hash": one.commit.sha if one.commit else None,
    }


def _pitfall(failed: Evaluation, fix: str) -> dict[str, str]:
    return {
        "error_type": ERRORS[failed.outcome],
        "error_message": failed.reason,
        "root_cause": "",
        "fix_applied": fix,
        "lesson": "",
    }


def _performance(trail: ExportedCampaign, one: ExportedRound) -> dict[str, Any]:
    target, gain = trail.sheet.target, one.gain
    flops, moved = _rates(trail, one)
    compute, bandwidth = target.compute, target.bandwidth
    # Of the session that measured both: a rate rises as the time falls.
    faster = gain.gain if gain and not one.is_baseline else None
    return {
        "latency_us": one.time_us,
        "incumbent_latency_us": one.incumbent_us,
        "tflops": flops / TERA if flops else None,
        "bandwidth_gbps": moved / GIGA if moved else None,
        "tflops_peak_utilization_pct": 100 * flops / compute.value if flops and compute else None,
        "tflops_peak": compute.words if compute else "",
        "bandwidth_peak_utilization_pct": (
            100 * moved / bandwidth.value if moved and bandwidth else None
        ),
        "bandwidth_peak": bandwidth.words if bandwidth else "",
        "latency_us_by_shape": one.times,
        "comparison_with_previous": {
            "latency_delta": 1 / (1 + faster) - 1 if faster is not None else None,
            "tflops_delta": faster if flops else None,
            "bandwidth_delta": faster if moved else None,
            "unit": "fraction of the last accepted version's, measured beside it in one session",
        },
        "gain_over_incumbent": gain_value(gain) if gain else None,
    }


def _rates(trail: ExportedCampaign, one: ExportedRound) -> tuple[float | None, float | None]:
    """What a round reached in op/s and B/s, by the work model: the geometric mean over its cases.

    0 where a case has no work; None where one was not timed, and where the time can be none of the
    work (invalid).
    """
    cases = trail.sheet.target.cases
    timed = [(cases[name], us / 1e6) for name, us in one.times.items() if name in cases]
    if not timed or len(timed) < len(one.results):
        return None, None
    flops = [case.flops / seconds for case, seconds in timed]
    moved = [case.bytes / seconds for case, seconds in timed]
    return (geomean(flops) if min(flops) > 0 else 0.0, geomean(moved) if min(moved) > 0 else 0.0)


def _bottleneck(found: Profiled | None) -> dict[str, Any]:
    """What counters told, under the names of atrex and beyond them."""
    if found is None:
        return {"tool_used": "", "bottleneck_type": NOT_PROFILED}
    kind = found.limit.kind
    known = ("memory", "compute")
    return {
        "tool_used": found.tool,
        "bottleneck_type": f"{kind.group}_bound" if kind.group in known else kind.value,
        "bottleneck_class": found.limit.words,
        "bottleneck_evidence": limit_words(found),
        "findings": [asdict(one) for one in found.findings],
        "metrics": dict(found.main.values),
    }


def _machine_code(one: ExportedRound) -> list[dict[str, Any]]:
    """isa_metric_progress of atrex (R31). A target is the most or the least that is wanted."""
    return [
        {
            "metric": target.name,
            "target": target.bound,
            "current": target.value,
            "met": target.is_met,
            "wanted": target.side,
            "meaning": target.words,
        }
        for target in one.isa_targets
    ]
