"""A trick that the judge refused becomes an anti-pattern by itself (R41, R21)."""

from __future__ import annotations

from campaigns.models import Round
from campaigns.records.round.hypotheses import declared_of
from campaigns.rules.verdict.decision import Reason
from campaigns.rules.verdict.taught import TRICKS
from campaigns.steps.learning.told import clipped, seen_in
from knowledge.experience.lessons import NewLesson, record_anti_pattern
from knowledge.models import EntryStanding, Experience, Lesson


def note_trick(round_: Round, entry: Experience) -> Lesson | None:
    """Once for its strategy, operation and backend; further rounds add their evidence.

    None for a round that was no trick, and for one that machines may not see.
    """
    verdict = round_.verdict
    if Reason(verdict.reason) not in TRICKS or entry.standing != EntryStanding.COUNTS:
        return None
    declared = declared_of(round_)
    bucket = f" ({declared.words})" if declared and declared.bucket else ""
    new = NewLesson(
        context=f"{seen_in(round_)}{bucket}",
        signal=verdict.sentence,
        takeaway=f"Do not do this: {entry.change or entry.title}. It is refused "
        f"({Reason(verdict.reason).words}), because real use would not gain by it.",
        applicability="Any shape, dtype and platform: what was refused is the trick, not its speed "
        f"on {round_.campaign.platform.name}.",
        avoid=True,
        op=entry.track.op,
        backend=entry.track.backend,
        strategy=entry.track.strategy,
        evidence=(str(entry.uuid),),
        campaign=round_.campaign_id,
    )
    return record_anti_pattern(clipped(new), verdict.sentence)
