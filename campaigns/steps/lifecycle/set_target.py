"""Step 0: the target from cited specs, before anything is measured (law 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction

from campaigns.devices.problem_code import HostLacks, work_model
from campaigns.evaluator.contract import Case
from campaigns.evaluator.problem import ProblemError
from campaigns.models import (
    AbortReason,
    Campaign,
    CampaignState,
    Pitfall,
    PitfallKind,
)
from campaigns.models.event import record
from campaigns.models.transitions import claim
from campaigns.records.target.ceilings import ceilings_of, missing_spec_of, unknown_target
from campaigns.records.target.target_warnings import TargetWarning, target_warnings_of
from campaigns.rules.target.ceilings import PLACEHOLDER, Ceilings, provisional, target_under
from campaigns.rules.target.roofline import MemoryLevel, Work, ridges
from campaigns.steps.lifecycle.abort import abort
from campaigns.steps.lifecycle.ask_to_pause import ask_to_pause
from campaigns.steps.measuring.materialise import materialise
from campaigns.workers.notify import AGAIN, NOTHING, Next
from campaigns.workers.tempdirs import tempdir
from knowledge.lookup.value import (
    cache_bandwidth_ceilings,
    higher_rivals,
    host_busy_share,
    lesser_ceilings,
)
from knowledge.specs.cited import Cited
from knowledge.specs.facts import UNKNOWN_VALUE


def set_target(campaign: Campaign) -> Next:
    """Write `campaign.target`; while a ceiling is UNKNOWN or stale the campaign is paused instead.

    `confirm` has looked before, and the wiki may have changed since. A placeholder and a caution
    become pitfalls. Shape: {"state": "known" | "unverified placeholder", "fraction",
    "missing": [names], "bandwidth": [Cited], "compute": [Cited],
    "disputed": {"bandwidth": [Cited], "compute": [Cited]} (higher values of other sources, which
    only the physical floor heeds), "lesser": [Cited] (the faster units of lesser precisions, which
    tell a changed precision from the impossible), "busy_share": Cited | None, "accumulate",
    "ridges": [{"dtype", "level", "flops_per_byte", "text", "bandwidth": Cited | None, "compute":
    Cited | None}],
    "cases": {name: {"flops", "bytes", "intensity", "ridge", "bound", "floor_us", "target_us",
    "attainable_flops_per_s", "formula", "goal": {fields of `Target`, "words"}, "bandwidth": Cited,
    "compute": Cited}}, "placeholders": {question: {"shown", "reason", "allowed_by", "at"}},
    "provisional": {name: {"floor_us", "target_us", "bound", "formula"}}}. A case without cited
    ceilings has flops, bytes and intensity only, whatever is assumed.
    A problem whose own code fails aborts the campaign; a host that cannot run it pauses it (law 8).
    """
    if why := unknown_target(campaign):
        held = f"the target is {UNKNOWN_VALUE}, so nothing is measured; {why} Then resume it."
        return AGAIN if ask_to_pause(campaign, held, "target_unknown") else NOTHING
    try:
        works = _work(campaign)
    except HostLacks as error:
        return AGAIN if ask_to_pause(campaign, str(error), "host_lacks") else NOTHING
    except ProblemError as error:
        return abort(campaign, AbortReason.PROBLEM_UNUSABLE, str(error))
    ceilings = ceilings_of(campaign)
    busy = host_busy_share(campaign.platform)
    target = _target(campaign, works, ceilings, busy)
    cautions = target_warnings_of(campaign.platform, ceilings, busy)
    prepared = Campaign.objects.filter(pk=campaign.pk, state=CampaignState.PREPARE, target={})
    with transaction.atomic():
        if not claim(prepared, target=target):
            return NOTHING
        record(campaign, "target_set", _sentence(target))
        _write_pitfalls(campaign, target, cautions)
    return AGAIN


def _work(campaign: Campaign) -> dict[str, Work]:
    cases = tuple(Case(name=row.name, params=row.params) for row in campaign.case_rows)
    with tempdir("work") as folder:
        found = work_model(materialise(campaign.problem, folder), cases)
    return {name: Work(flops=flops, bytes=bytes_) for name, (flops, bytes_) in found.items()}


def _target(
    campaign: Campaign, works: dict[str, Work], ceilings: Ceilings, busy: Cited | None
) -> dict[str, Any]:
    fraction = float(campaign.stop_policy["target_fraction"])
    platform = campaign.platform
    return target_under(ceilings, works, fraction) | {
        "busy_share": asdict(busy) if busy else None,
        "disputed": {
            "bandwidth": [asdict(c) for c in higher_rivals(platform, ceilings.bandwidths)],
            "compute": [asdict(c) for c in higher_rivals(platform, ceilings.computes)],
        },
        "lesser": [asdict(c) for c in lesser_ceilings(platform, campaign.problem.dtype)],
        "accumulate": campaign.problem.accumulate,
        "ridges": _ridges(campaign, ceilings),
        "placeholders": {
            row.question: {
                "shown": row.shown,
                "reason": row.reason,
                "allowed_by": row.allowed_by.get_username(),
                "at": row.at.isoformat(timespec="seconds"),
            }
            for row in campaign.placeholders.select_related("allowed_by")
            if row.question in ceilings.used
        },
        "provisional": provisional(ceilings, works, fraction),
    }


def _write_pitfalls(
    campaign: Campaign, target: dict[str, Any], cautions: Sequence[TargetWarning]
) -> None:
    """Record missing values, the placeholders used for them, and warnings."""
    for question in target["missing"]:
        gap = missing_spec_of(campaign, question)
        Pitfall.objects.create(
            campaign=campaign,
            kind=PitfallKind.UNKNOWN_SPEC,
            message=gap.message,
            how_to_obtain=gap.how_to_obtain,
        )
    for question, found in target["placeholders"].items():
        message = (
            f"{question} {found['shown']} is an {PLACEHOLDER}, allowed by {found['allowed_by']}: "
            f"{found['reason']}. No share of the roof, no stop and no verdict rests on it."
        )
        Pitfall.objects.create(campaign=campaign, kind=PitfallKind.PLACEHOLDER, message=message)
    for caution in cautions:
        Pitfall.objects.create(campaign=campaign, **asdict(caution))


def _ridges(campaign: Campaign, ceilings: Ceilings) -> list[dict[str, Any]]:
    levels: dict[MemoryLevel, Sequence[Cited]] = {
        MemoryLevel.DRAM: ceilings.bandwidths,
        MemoryLevel.CACHE: cache_bandwidth_ceilings(campaign.platform),
    }
    return [
        {
            "dtype": ridge.dtype,
            "level": ridge.level.value,
            "flops_per_byte": ridge.flops_per_byte,
            "text": ridge.text,
            "bandwidth": asdict(ridge.bandwidth) if ridge.bandwidth else None,
            "compute": asdict(ridge.compute) if ridge.compute else None,
        }
        for ridge in ridges({campaign.problem.dtype: ceilings.computes}, levels)
    ]


def _sentence(target: dict[str, Any]) -> str:
    if target["state"] == PLACEHOLDER:
        assumed = ", ".join(f"{name} {p['shown']}" for name, p in target["placeholders"].items())
        return f"target: {PLACEHOLDER}: {assumed}; kept out of every headline"
    return f"target: {target['fraction']:.0%} of the floor on {len(target['cases'])} cases"
