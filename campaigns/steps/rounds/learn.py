"""Make a closed round part of what the team knows, with the lessons that follow (R37, R41)."""

from __future__ import annotations

import logging
import textwrap
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import DatabaseError, transaction
from msgspec import MsgspecError

from campaigns.models import Campaign, Round, RoundState
from campaigns.models.event import record
from campaigns.proposers.evidence import Facts, bottleneck_of, read_facts
from campaigns.records.cases import shapes_of
from campaigns.records.evaluations import judged_candidate, measured_on
from campaigns.records.rounds import StoredHypothesis, declared_of, hypothesis_of
from campaigns.records.stop_history import masked_rounds
from campaigns.records.verdicts import borne_of, classes_of, gain_of, noise_of
from campaigns.rules.verdict.decision import Reason
from campaigns.rules.verdict.expectation import DOWN, TIMES, TRICKS, Borne, is_decided, taught
from knowledge.experience.attempts.record import NewExperience, record_attempts
from knowledge.experience.catalogue.names import catalogue_slug
from knowledge.experience.lessons.decide import (
    MOST_OF_CAMPAIGN,
    propose_lesson,
    record_anti_pattern,
    rest_on,
)
from knowledge.experience.lessons.new import LONGEST, NewLesson
from knowledge.experience.lessons.weigh import covers
from knowledge.experience.terms import AttemptLabel
from knowledge.experience.wording import gain_words
from knowledge.models import (
    EntryStanding,
    Experience,
    ExperienceOrigin,
    Lesson,
    LessonSource,
    LessonState,
    Strategy,
)
from knowledge.models.project import eyes_of_campaign
from knowledge.models.sight import seeing
from knowledge.specs.facts import named_values

log = logging.getLogger(__name__)

# What a row that cannot be read or written raises; a mistake of ours is not hidden.
UNLEARNT = (DatabaseError, MsgspecError, LookupError, ValueError)


def learn(round_: Round) -> Experience | None:
    """Record a closed round once; its entry, or None where it teaches nothing.

    Never for a baseline nor for a failure of the infrastructure (law 8). All or nothing.
    """
    if round_.state != RoundState.CLOSED:
        raise ValueError(f"{round_}: is {round_.state}; accepted: a closed round")
    attempt = attempt_of(round_)
    if attempt is None:
        return None
    with transaction.atomic():
        # Who closed it and the heartbeats of all workers may be here at once.
        list(Round.objects.select_for_update().filter(pk=round_.pk))
        made = record_attempts([attempt])
        if made:
            note_trick(round_, made[0])
            offer_tip(round_, made[0])
    return Experience.objects.get(campaign=round_.campaign_id, round=round_.number)


def try_to_learn(round_: Round) -> bool:
    """The same for the flow, which never stops for it: a failure is logged, and tried again."""
    try:
        learn(round_)
    except UNLEARNT:
        log.exception("%s is not learned yet; the next check tries it again", round_)
        return False
    return True


def attempt_of(round_: Round) -> NewExperience | None:
    """Return the attempt for experience; None for baselines, sample campaigns and rounds that
    showed nothing.

    A verdict that needs review is kept for people, masked from machines.
    """
    idea, verdict = hypothesis_of(round_), getattr(round_, "verdict", None)
    if idea is None or verdict is None or not round_.traits.is_attempt:
        return None
    if round_.campaign.is_sample:
        return None
    reason, gain = Reason(verdict.reason), gain_of(verdict)
    if idea.scope:
        own = (found.gain for found in classes_of(verdict) if found.name == idea.scope)
        gain = next(own, gain)
    label = taught(reason, gain, noise_of(verdict))
    if label is None:
        return None
    campaign, handed, against = round_.campaign, round_.submission, round_.against
    facts = read_facts(round_.evidence.facts if round_.evidence else {})
    place, borne = measured_on(verdict.evaluation), borne_of(round_, verdict)
    measured = gain if label is not AttemptLabel.INCORRECT else None
    return NewExperience(
        strategy=idea.strategy,
        label=label,
        origin=ExperienceOrigin.ROUND,
        op=campaign.problem.op,
        dtype=campaign.problem.dtype,
        backend=campaign.backend,
        platform=campaign.platform.slug,
        arch=campaign.platform.target,
        bottleneck=bottleneck_of(facts),
        shapes=shapes_of(campaign.case_rows),
        scope_class=idea.scope,
        params=_params(round_, idea, label),
        title=idea.title,
        change=idea.change,
        evidence=idea.evidence,
        precondition=_precondition(campaign, idea, facts),
        problem=campaign.problem.slug,
        proposer=handed.kind if handed else campaign.proposer,
        verdict=verdict.word,
        reason=verdict.reason,
        gain=measured.gain if measured else None,
        gain_low=measured.low if measured else None,
        gain_high=measured.high if measured else None,
        pairs=measured.pairs if measured else 0,
        baseline=f"round {against.round.number}'s kernel, the incumbent" if against else "",
        expected_gain=_expected(idea),
        borne=borne.value if borne else "",
        compiler=place.compiler,
        driver=place.driver,
        notes=verdict.sentence,
        masked=round_.number in masked_rounds(campaign) or not is_decided(reason),
        campaign=campaign.pk,
        round=round_.number,
        happened_at=round_.closed_at,
    )


def _params(round_: Round, idea: StoredHypothesis, label: AttemptLabel) -> Mapping[str, Any]:
    """Parameters of the judged candidate; of a failed repair those of what it should repair."""
    candidate = judged_candidate(round_)
    while label is AttemptLabel.INCORRECT and (repair := getattr(candidate, "repair", None)):
        candidate = repair.failed.candidate
    found: Mapping[str, Any] = candidate.params
    return found or idea.params


def _precondition(campaign: Campaign, idea: StoredHypothesis, facts: Facts) -> str:
    """When the catalogue advises it, and what was measured here before."""
    slug = catalogue_slug(idea.strategy, campaign.backend)
    listed = Strategy.objects.filter(slug=slug).values_list("use_when", flat=True).first()
    measured = f"Measured before: {'; '.join(facts.sentences())}." if facts.cases else ""
    return "\n".join(filter(None, (listed, measured)))


def _expected(idea: StoredHypothesis) -> float | None:
    """The predicted gain in speed: 0.2 of the time saved is 0.25."""
    share = idea.expected_amount
    timed = idea.expected_metric in TIMES and idea.expected_direction == DOWN
    return 1 / (1 - share) - 1 if timed and share is not None and 0 <= share < 1 else None


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


def offer_tip(round_: Round, entry: Experience) -> Lesson | None:
    """A success, or a loss where a gain was predicted; at most five a campaign.

    None where the round shows neither, and where a lesson says so already: that one gains an entry.
    """
    lost = entry.label == AttemptLabel.REGRESSION and entry.borne == Borne.REFUTED
    if not (lost or entry.label == AttemptLabel.SUCCESS) or entry.standing != EntryStanding.COUNTS:
        return None
    with seeing(eyes_of_campaign(round_.campaign_id)):
        known = Lesson.objects.filter(strategy=entry.track.strategy, avoid=lost)
        same = [lesson for lesson in known if covers(lesson, entry.track)]
    for lesson in same:
        if lesson.state == LessonState.PROPOSED:
            rest_on(lesson, [entry], None)
    offered = Lesson.objects.filter(campaign=round_.campaign_id, source=LessonSource.CAMPAIGN)
    if same or offered.count() >= MOST_OF_CAMPAIGN:
        return None
    lesson = propose_lesson(clipped(_drafted(round_, entry, avoid=lost)), None)
    record(round_.campaign, "tip", f"round {round_.number} offers a tip: {lesson}", round=round_)
    return lesson


def _drafted(round_: Round, entry: Experience, *, avoid: bool) -> NewLesson:
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


MOST_SHAPES = 4


def seen_in(round_: Round) -> str:
    """Which round of what, and what it tried."""
    campaign, problem = round_.campaign, round_.campaign.problem
    place = f"{problem.op} ({problem.dtype}) in {campaign.backend} on {campaign.platform.name}"
    return f"{place}; campaign {campaign.pk}, round {round_.number}: {round_.title}"


def shown_for(entry: Experience) -> str:
    """The shapes and versions that it was measured with."""
    listed = [named_values(shape, ", ") for shape in entry.shapes]
    more = f" and {len(listed) - MOST_SHAPES} more" if len(listed) > MOST_SHAPES else ""
    shapes = f"{'; '.join(listed[:MOST_SHAPES])}{more}" if listed else "the cases of its problem"
    made = " and ".join(filter(None, (entry.compiler, entry.driver and f"driver {entry.driver}")))
    return f"{shapes}{f', with {made}' if made else ''}"


def clipped(new: NewLesson) -> NewLesson:
    """The same with each text as long as a lesson's may be."""
    texts = {
        name: textwrap.shorten(getattr(new, name), most, placeholder=" …")
        for name, most in LONGEST.items()
    }
    return replace(new, **texts)  # type: ignore[arg-type]  # texts alone
