"""Say in a campaign's log what the team's experience tells it about the present incumbent (R41)."""

from __future__ import annotations

from campaigns.models import Campaign
from campaigns.models.event import record
from campaigns.proposers.learned import advice_for, spent_for
from knowledge.experience.lessons import lessons_for

KIND, READ = "learned", "lessons"
MOST_LESSONS = 5
MOST_TOLD = 5


def tell_learned(campaign: Campaign) -> None:
    """The lessons, once and before the first attempt; then what is recommended and what is left
    out, for each new incumbent. Nothing where nothing is known. Inside the caller's transaction.
    """
    if not campaign.events.filter(kind=READ).exists():
        _tell_lessons(campaign)
    advice = [f"{one.strategy} ({one.words})" for one in advice_for(campaign)]
    same = [one for one in spent_for(campaign) if one.is_same]
    left_out = [f"{one.strategy} ({one.words})" for one in same]
    parts = (
        _listed("recommended by experience", advice),
        _listed("not tried again on this source, since it would be the same experiment", left_out),
    )
    if said := "; ".join(filter(None, parts)):
        record(campaign, KIND, said, entries=[one.entry for one in same])


def _tell_lessons(campaign: Campaign) -> None:
    found = lessons_for(
        op=campaign.problem.op,
        backend=campaign.backend,
        platform=campaign.platform.slug,
        arch=campaign.platform.target,
        dtype=campaign.problem.dtype,
        limit=MOST_LESSONS,
    )
    if not found:
        return
    count = f"{len(found)} lesson{'s' * (len(found) != 1)}"
    told = "; ".join(str(lesson).rstrip(".") for lesson in found)
    uuids = [str(lesson.uuid) for lesson in found]
    record(campaign, READ, f"read {count}: {told}", lessons=uuids)


def _listed(what: str, parts: list[str]) -> str:
    more = f" and {len(parts) - MOST_TOLD} more" if len(parts) > MOST_TOLD else ""
    return f"{what}: {', '.join(parts[:MOST_TOLD])}{more}" if parts else ""
