"""After a round that showed something clear: a lesson is drafted for people to decide on (R41)."""

from __future__ import annotations

from campaigns.models import Round
from campaigns.models.event import record
from campaigns.rules.verdict.expectation import Borne
from campaigns.steps.learning.told import clipped, seen_in, shown_for
from knowledge.experience.lessons import NewLesson, propose_lesson
from knowledge.experience.lessons.propose import MOST_OF_CAMPAIGN, rest_on
from knowledge.experience.lessons.weigh import covers
from knowledge.experience.terms import AttemptLabel
from knowledge.experience.wording import gain_words
from knowledge.models import EntryStanding, Experience, Lesson, LessonSource, LessonState


def offer_tip(round_: Round, entry: Experience) -> Lesson | None:
    """A success, or a loss where a gain was predicted; at most five a campaign.

    None where the round shows neither, and where a lesson says so already: that one gains an entry.
    """
    avoid = _says(entry)
    if avoid is None or entry.standing != EntryStanding.COUNTS:
        return None
    known = Lesson.objects.filter(strategy=entry.track.strategy, avoid=avoid)
    same = [lesson for lesson in known if covers(lesson, entry.track)]
    for lesson in same:
        if lesson.state == LessonState.PROPOSED:
            rest_on(lesson, [entry], None)
    offered = Lesson.objects.filter(campaign=round_.campaign_id, source=LessonSource.CAMPAIGN)
    if same or offered.count() >= MOST_OF_CAMPAIGN:
        return None
    lesson = propose_lesson(clipped(_drafted(round_, entry, avoid)), None)
    record(round_.campaign, "tip", f"round {round_.number} offers a tip: {lesson}", round=round_)
    return lesson


def _says(entry: Experience) -> bool | None:
    """Whether it says to avoid its strategy; None where it says nothing clear."""
    if entry.label == AttemptLabel.SUCCESS:
        return False
    lost = entry.label == AttemptLabel.REGRESSION and entry.borne == Borne.REFUTED
    return True if lost else None


def _drafted(round_: Round, entry: Experience, avoid: bool) -> NewLesson:
    track = entry.track
    found = gain_words(entry.gain, entry.gain_low, entry.gain_high)
    predicted = gain_words(entry.expected_gain) if entry.expected_gain is not None else ""
    hoped = f"; predicted was {predicted.removesuffix(', no interval')}" if predicted else ""
    with_values = ", ".join(f"{name} {value}" for name, value in entry.params.items())
    what = f"{entry.title}{f' ({with_values})' if with_values else ''}"
    return NewLesson(
        context=f"{seen_in(round_)}. {entry.change}",
        signal="; ".join(entry.evidence) or entry.notes,
        takeaway=f"{'Avoid' if avoid else 'Try'}: {what}. It was {found} against "
        f"{entry.baseline}{hoped}.",
        applicability=f"Shown for {shown_for(entry)}; not beyond.",
        avoid=avoid,
        op=track.op,
        dtype=track.dtype,
        backend=track.backend,
        platform=track.platform,
        strategy=track.strategy,
        evidence=(str(entry.uuid),),
        source=LessonSource.CAMPAIGN,
        campaign=round_.campaign_id,
    )
