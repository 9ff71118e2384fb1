"""trail.json: the campaign and its closed rounds as records, for `campaign import` to read back.

The other files say the same in the words of other systems; this one loses nothing of the numbers.
The seed is left out, as the rounds that are still to come are checked on inputs drawn from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from campaigns.records.campaigns import intake_of
from campaigns.records.submissions import budgets_of
from campaigns.trails.exporters.judged_rounds import ExportedCampaign, ExportedRound

NAME = "trail.json"
FORMAT = 1
# What is told of a verdict beside its word, wherever a trail has it as data.
VERDICT = (
    *("reason", "sentence", "gain", "gain_low", "gain_high", "pairs", "interval_kind"),
    *("cases", "classes", "gates", "noise"),
)


def record_files(trail: ExportedCampaign) -> Iterator[tuple[str, str]]:
    """(path, text) of the one file."""
    known = {
        "kopt_trail": FORMAT,
        "campaign": _campaign(trail),
        "rounds": [_round(one) for one in trail.rounds],
    }
    yield NAME, json.dumps(known, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _campaign(trail: ExportedCampaign) -> dict[str, Any]:
    campaign, best = trail.campaign, trail.best
    finished = campaign.finished_at
    return {
        "title": campaign.title,
        "operator": campaign.problem.op,
        "problem": campaign.problem.slug,
        "backend": campaign.backend,
        "platform": campaign.platform.slug,
        "platform_name": campaign.platform.name,
        "architecture": campaign.platform.arch,
        "cases": list(campaign.cases),
        "proposer": campaign.proposer,
        "proposers": budgets_of(campaign),
        "goal": campaign.goal,
        "guard": intake_of(campaign).guard,
        "stop_policy": campaign.stop_policy,
        "protocol": campaign.protocol.rules,
        "noise": campaign.noise,
        "result": campaign.result,
        "state": campaign.state,
        "stop_reason": campaign.stop_reason,
        "stop_sentence": campaign.stop_sentence,
        "incumbent": best.number if best else None,
        "created_at": campaign.created_at.isoformat(),
        "finished_at": finished.isoformat() if finished else None,
    }


def _round(one: ExportedRound) -> dict[str, Any]:
    row, code = one.row.round, one.candidate
    return {
        "number": one.number,
        "kind": row.kind,
        "hypothesis": row.hypothesis,
        "proposed_by": one.row.proposed_by.facts,
        "opened_at": row.opened_at.isoformat(),
        "closed_at": row.closed_at.isoformat() if row.closed_at else None,
        "against": one.row.against,
        "time_us": one.time_us,
        "verdict": _verdict(one),
        "outcome": one.evaluation.outcome if one.evaluation else None,
        "candidate": {
            "file": one.snapshot,
            "label": code.label,
            "flags": code.flags,
            "params": code.params,
            "sha256": code.digest,
        }
        if code
        else None,
        "commit": one.commit.sha if one.commit else None,
        "masked": one.row.masked,
    }


def _verdict(one: ExportedRound) -> dict[str, Any] | None:
    verdict = one.verdict
    if verdict is None:
        return None
    return {name: getattr(verdict, name) for name in ("word", *VERDICT)}
