"""Step 0: the target from cited specs, before anything is measured (law 1), or assumed (R3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from django.db import IntegrityError, transaction

from campaigns.devices.problem_code import HostLacks, work_model
from campaigns.devices.processes import tempdir
from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.problem import ProblemError
from campaigns.models import (
    AbortReason,
    Campaign,
    CampaignState,
    IllegalTransition,
    PitfallKind,
    Placeholder,
)
from campaigns.models.event import record
from campaigns.models.transitions import claim
from campaigns.records.campaigns import stored_target, target_fraction
from campaigns.records.target.ceilings import (
    TARGET_SET,
    TargetWarning,
    ceilings_of,
    missing_spec_of,
    target_warnings_of,
    unknown_target,
)
from campaigns.rules.target.ceilings import (
    PLACEHOLDER,
    QUESTIONS,
    Assumption,
    CampaignTarget,
    Ceilings,
    Disputed,
    target_under,
)
from campaigns.rules.target.roofline import MemoryLevel, Work, ridges
from campaigns.steps.lifecycle.finish import abort
from campaigns.steps.measuring.waits import ask_to_pause
from campaigns.steps.notify import AGAIN, NOTHING, Next
from campaigns.steps.problems import materialise
from knowledge.curation.errors import CurationError, Forbidden
from knowledge.curation.people import may_review
from knowledge.lookup.value import (
    cache_bandwidth_ceilings,
    higher_rivals,
    host_busy_share,
    lesser_ceilings,
)
from knowledge.specs.cited import Cited
from knowledge.specs.facts import UNKNOWN_VALUE
from knowledge.specs.quantity import Quantity, QuantityError


def set_target(campaign: Campaign, works: Mapping[str, tuple[float, float]] | None = None) -> Next:
    """Write `campaign.target`; while a ceiling is UNKNOWN or stale the campaign is paused instead.

    works: case → operations and bytes, where a recording tells them; else the problem is asked.

    `confirm` has looked before, and the wiki may have changed since. A placeholder and a caution
    become pitfalls. A case without cited ceilings has flops and bytes only, whatever is assumed.
    A problem whose own code fails aborts the campaign; a host that cannot run it pauses it (law 8).
    """
    if why := unknown_target(campaign):
        held = f"the target is {UNKNOWN_VALUE}, so nothing is measured; {why} Then resume it."
        return AGAIN if ask_to_pause(campaign, held, "target_unknown") else NOTHING
    cases = tuple(Case(name=row.name, params=row.params) for row in campaign.case_rows)
    try:
        with tempdir("work") as folder:
            found = works or work_model(materialise(campaign.problem, folder), cases)
    except HostLacks as error:
        return AGAIN if ask_to_pause(campaign, str(error), "host_lacks") else NOTHING
    except ProblemError as error:
        return abort(campaign, AbortReason.PROBLEM_UNUSABLE, str(error))
    ceilings = ceilings_of(campaign)
    busy = host_busy_share(campaign.platform)
    known = {name: Work(flops, moved) for name, (flops, moved) in found.items()}
    target = _target(campaign, known, ceilings, busy)
    cautions = list(target_warnings_of(campaign.platform, ceilings, busy))
    prepared = Campaign.objects.filter(pk=campaign.pk, state=CampaignState.PREPARE, target={})
    with transaction.atomic():
        if not claim(prepared, target=stored_target(target)):
            return NOTHING
        said = f"target: {target.fraction:.0%} of the floor on {len(target.cases)} cases"
        if target.state == PLACEHOLDER:
            assumed = ", ".join(f"{name} {one.shown}" for name, one in target.assumed.items())
            said = f"target: {PLACEHOLDER}: {assumed}; kept out of every headline"
        pitfalls = [asdict(one) for one in (*_gaps(campaign, target), *cautions)]
        record(campaign, TARGET_SET, said, pitfalls=pitfalls)
    return AGAIN


def _target(
    campaign: Campaign, works: dict[str, Work], ceilings: Ceilings, busy: Cited | None
) -> CampaignTarget:
    platform, problem = campaign.platform, campaign.problem
    levels: dict[MemoryLevel, Sequence[Cited]] = {
        MemoryLevel.DRAM: ceilings.bandwidths,
        MemoryLevel.CACHE: cache_bandwidth_ceilings(platform),
    }
    return replace(
        target_under(ceilings, works, target_fraction(campaign)),
        busy=busy,
        disputed=Disputed(
            tuple(higher_rivals(platform, ceilings.bandwidths)),
            tuple(higher_rivals(platform, ceilings.computes)),
        ),
        lessers=tuple(lesser_ceilings(platform, problem.dtype)),
        accumulate=problem.accumulate,
        ridges=ridges({problem.dtype: ceilings.computes}, levels),
        assumed={
            row.question: Assumption(
                shown=row.shown,
                reason=row.reason,
                allowed_by=str(row.by),
                at=row.at.isoformat(timespec="seconds"),
            )
            for row in Placeholder.objects.filter(campaign=campaign).select_related("by")
            if row.question in ceilings.used
        },
    )


def _gaps(campaign: Campaign, target: CampaignTarget) -> Iterator[TargetWarning]:
    """The missing values, and the placeholders used for them."""
    for question in target.unknown:
        gap = missing_spec_of(campaign, question)
        yield TargetWarning(PitfallKind.UNKNOWN_SPEC, gap.message, gap.how_to_obtain)
    for question, found in target.assumed.items():
        message = (
            f"{question} {found.shown} is an {PLACEHOLDER}, allowed by {found.allowed_by}: "
            f"{found.reason}. No share of the roof, no stop and no verdict rests on it."
        )
        yield TargetWarning(PitfallKind.PLACEHOLDER, message, "")


LONGEST_SHOWN = 80
LONGEST_REASON = 500


class PlaceholderRefused(CurationError):
    """A placeholder that cannot be allowed: `field`, and what is accepted."""


def allow_placeholder(
    campaign: Campaign, question: str, value: str, reason: str, by: Any
) -> Placeholder:
    """Store it with the person and the reason; it is in no headline.

    question: "bandwidth" or "compute"; value: "4 TB/s". Raises PlaceholderRefused, Forbidden for
    a person who is no curator or lead, and IllegalTransition once the campaign is confirmed, which
    freezes what it is judged by.
    """
    if by is None or not may_review(by):
        raise Forbidden("allowing a placeholder needs the role curator or lead")
    quantity = _quantity(question, value)
    if not 0 < len(reason.strip()) <= LONGEST_REASON or "\0" in reason:
        raise PlaceholderRefused(
            "reason",
            f"is needed, of at most {LONGEST_REASON} characters; it is shown with the value",
        )
    with transaction.atomic():
        # Held until the end, so that no confirmation comes between the look and the row.
        found = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if found.state != CampaignState.DRAFT:
            raise IllegalTransition(
                f"campaign: is {found.doing}; accepted for a placeholder: "
                f"{CampaignState.DRAFT}, as confirming freezes the goal"
            )
        ceilings = ceilings_of(found)
        if question not in ceilings.missing:
            known = ceilings.bandwidth if question == "bandwidth" else ceilings.compute
            cited = known.citation if known else ""
            why = f"is known: {cited}; a placeholder is only for a value without a citation"
            raise PlaceholderRefused("question", f"{question} {why}")
        words = f"{question}: {value} is an {PLACEHOLDER}, allowed by {by.get_username()}: {reason}"
        given = {"question": question, "value": quantity.value, "unit": quantity.unit}
        given |= {"shown": value, "reason": reason.strip()}
        try:
            with transaction.atomic():
                made = record(found, Placeholder.KIND, words, by=by, **given)
        except IntegrityError:
            raise PlaceholderRefused(
                "question", f"{question} has a placeholder already; it is never rewritten"
            ) from None
    return Placeholder.objects.get(pk=made.pk)


def _quantity(question: str, value: str) -> Quantity:
    if question not in QUESTIONS:
        raise PlaceholderRefused("question", f"'{question}'; accepted: {', '.join(QUESTIONS)}")
    unit = QUESTIONS[question]
    if len(value) > LONGEST_SHOWN:
        raise PlaceholderRefused("value", f"{len(value)} characters; at most {LONGEST_SHOWN}")
    try:
        quantity = Quantity.parse(value).to(unit)
    except QuantityError as error:
        raise PlaceholderRefused("value", str(error)) from error
    if quantity.value <= 0:
        raise PlaceholderRefused("value", f"{value}; accepted: more than 0 {unit}")
    return quantity
