"""manifest.yaml and the artifacts of rounds/: the data of kernel-optimize's campaign folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from campaigns.records.campaigns import goal_of, intake_of, stop_policy_of
from campaigns.records.cases import dispatch_of
from campaigns.records.values import verdict_value
from campaigns.reports.totals import moves_bytes
from campaigns.rules.stop.intake import SKILL, Intake
from campaigns.trails.exporters.judged_rounds import ExportedCampaign, ExportedRound


def round_files(trail: ExportedCampaign) -> Iterator[tuple[str, str]]:
    """(path, text) of each."""
    yield "manifest.yaml", _manifest(trail)
    for one in trail.rounds:
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
        "status": one.status,
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
