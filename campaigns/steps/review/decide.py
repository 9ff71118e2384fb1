"""What people decide about rounds and results, and what follows; a decision can be taken back.

What cannot be taken back waits: a re-run is handed in by the next check of a worker, once its
person can no longer undo it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from campaigns.models import (
    Campaign,
    Candidate,
    DecisionWord,
    Event,
    ReviewDecision,
    Round,
    Submitter,
)
from campaigns.models.event import record
from campaigns.proposers.handed_in import SubmissionRefused
from campaigns.records.decisions import (
    MAY_RERUN,
    Reviewed,
    reviewed_result,
    reviewed_round,
)
from campaigns.records.series import may_be_in_series
from campaigns.records.submissions import no_round_left, not_now
from campaigns.rules.review.standing import choices
from campaigns.steps.lifecycle.control import resume
from campaigns.steps.lifecycle.restart import hide_rounds, show_rounds
from campaigns.steps.measuring.series import NotInSeries, queue_series
from campaigns.steps.measuring.waits import ask_to_pause
from campaigns.steps.notify import AGAIN, NOTHING, Next, notify
from campaigns.steps.rounds.submit import measure_again
from knowledge.curation.errors import (
    LONGEST_REASON,
    Conflict,
    CurationError,
    Forbidden,
    require_storable,
)
from knowledge.models import EntryStanding, Experience, NoticeKind, Notification

DECIDED, RERUN = "decided", "rerun"
UNDO_S = 15  # a page offers ten of them; the rest is for the way to the server
CARRIED_OUT_S = 20
NEEDS_REASON = (DecisionWord.RETURNED, DecisionWord.INVALID)
NO_ROUND = "is finished and takes no round; accepted: an accepted round of one that is done"


def decide(
    about: Campaign | Round, word: str, reason: str, by: Any, seen: int | None = None
) -> ReviewDecision:
    """Store what a person says of a round or of a campaign's result, and do what follows.

    seen: the key of the newest decision that the person was shown, 0 for none; None: whatever it
    is. Raises Forbidden for who may not (an author, a role), CurationError naming the field, and
    Conflict where somebody was first or where there is nothing to decide.
    """
    with transaction.atomic():
        found = _held(about)
        if refusal := found.refusal(by):
            raise Forbidden(refusal)
        said = _checked(found, word, reason, by)
        _require_seen(found, seen, word, by)
        made: ReviewDecision = ReviewDecision.objects.create(
            campaign=found.campaign, round=found.round, word=word, reason=said, by=by
        )
        _follow(found, made)
        notify(found.campaign, NOTHING if found.campaign.is_finished else AGAIN)
    return made


def undo(decision: ReviewDecision, by: Any) -> None:
    """Take an own decision back at once, with what followed from it.

    Raises Forbidden for one of somebody else, and Conflict for one of more than `UNDO_S` ago.
    """
    with transaction.atomic():
        found = _held(decision.round or decision.campaign)
        if decision.by_id != by.pk:
            raise Forbidden("a decision is taken back by who made it")
        if decision not in found.counting:
            raise Conflict("the decision no longer counts")
        if timezone.now() - decision.at > timedelta(seconds=UNDO_S):
            raise Conflict("it is too late to take this back; decide anew instead")
        ReviewDecision.objects.create(
            campaign=found.campaign,
            round=found.round,
            word=DecisionWord.UNDONE,
            by=by,
            undoes=decision,
        )
        _take_back(found, decision)


def carry_out_reruns() -> list[tuple[Campaign, Next]]:
    """Hand in what people sent for a re-run, once they cannot undo it; which campaigns to notify.

    Run by the heartbeat of each worker; running it more often does no harm.
    """
    before = timezone.now() - timedelta(seconds=CARRIED_OUT_S)
    asked = ReviewDecision.objects.filter(word=DecisionWord.RERUN, at__lt=before).not_undone()
    rows = list(asked.select_related("campaign", "round", "by"))
    done = _carried_out([row.campaign_id for row in rows]) if rows else set()
    found = ((row.campaign, _carry_out(row)) for row in rows if row.pk not in done)
    return [(campaign, following) for campaign, following in found if following != NOTHING]


def _held(about: Campaign | Round) -> Reviewed:
    """What is decided about, read anew and held until the transaction ends."""
    key = about.campaign_id if isinstance(about, Round) else about.pk
    campaign = Campaign.objects.select_for_update().get(pk=key)
    if isinstance(about, Campaign):
        found = reviewed_result(campaign)
        if found is None:
            raise Conflict(f"campaign {key} has no result to decide about: it runs, or v0 is best")
        return found
    rows = campaign.rounds.select_related("verdict", "chosen", "submission")
    round_ = rows.get(pk=about.pk)
    round_.campaign = campaign
    found = reviewed_round(round_)
    if found is None:
        raise Conflict(f"{round_} has no verdict to decide about")
    return found


def _checked(found: Reviewed, word: str, reason: str, by: Any) -> str:
    """The reason, where word and reason may be said of it. Raises as `decide` does."""
    if word not in choices(found.word):
        accepted = ", ".join(choices(found.word))
        raise CurationError("word", f"{word!r:.40}; accepted for {found.name}: {accepted}")
    said = require_storable("reason", reason.strip(), LONGEST_REASON)
    if word in NEEDS_REASON and not said:
        raise CurationError("reason", "is needed: its author reads it")
    if word != DecisionWord.RERUN:
        return said
    if not by.has_perm(MAY_RERUN):
        raise Forbidden("A re-run needs the role engineer or lead.")
    if found.campaign.is_finished:
        if found.round is None or not may_be_in_series(found.round):
            raise Conflict(f"campaign {found.campaign.pk} {NO_ROUND}")
        return said
    if why := not_now(found.campaign) or no_round_left(found.campaign):
        raise Conflict(f"campaign {found.campaign.pk} {why}")
    if found.is_incumbent:
        raise Conflict(f"{found.name} has the incumbent, which each round measures")
    return said


def _require_seen(found: Reviewed, seen: int | None, word: str, by: Any) -> None:
    """Raise Conflict where the page showed less than there is, or the person said so already."""
    if seen is not None and seen != found.seen:
        last = found.log[-1] if found.log else None
        first = f"{last.by} was first: {last.get_word_display()}" if last else "it has changed"
        raise Conflict(f"{first}; look again before you decide.")
    if any(row.by_id == by.pk and row.word == word for row in found.counting):
        raise Conflict(f"you have said so already: {DecisionWord(word).label}")


def _follow(found: Reviewed, made: ReviewDecision) -> None:
    """What a decision leads to at once: a mask, a pause, a line in the log, a notification."""
    paused = False
    if made.word == DecisionWord.INVALID and found.round is not None:
        hide_rounds(found.campaign, [found.round.number], _mask_reason(made))
        if found.is_incumbent and not found.campaign.is_finished:
            why = f"pause requested: {found.name}, the incumbent, is marked invalid"
            paused = ask_to_pause(found.campaign, why)
    said = f": {made.reason}" if made.reason else ""
    words = f"{_short(found)} {made.get_word_display()} by {made.by}{said}"
    more = {"decision": made.pk, "word": made.word, "paused": paused}
    record(found.campaign, DECIDED, words, round=found.round, by=made.by, **more)
    if made.word in NoticeKind.values:
        told, kind = found.authors - {made.by_id}, NoticeKind(made.word)
        text, campaign = _notice(found, made), found.campaign.pk
        Notification.objects.tell(told, kind, text, found.url, campaign)


def _take_back(found: Reviewed, decision: ReviewDecision) -> None:
    """Undo what followed: the mask, the pause and the notification, as far as they still stand."""
    if decision.word == DecisionWord.INVALID and found.round is not None:
        numbers = _masked_for(found.round, decision)
        show_rounds(found.campaign, numbers, f"taken back by {decision.by}")
    news = Notification.objects.filter(text=_notice(found, decision)[:300], url=found.url)
    news.filter(read_at=None, at__gte=decision.at).delete()
    words = f"{_short(found)}: {decision.by} takes back ‘{decision.get_word_display()}’"
    more = {"decision": decision.pk, "word": DecisionWord.UNDONE.value}
    record(found.campaign, DECIDED, words, round=found.round, by=decision.by, **more)
    log = Event.objects.filter(campaign=found.campaign, kind=DECIDED)
    held = log.filter(data__decision=decision.pk, data__paused=True).exists()
    still = found.campaign.pause_requested or found.campaign.paused_from
    if held and still:
        notify(found.campaign, resume(found.campaign))


def _masked_for(round_: Round, decision: ReviewDecision) -> list[int]:
    """The round's number, where its entry is masked for this decision and not for more."""
    entry = Experience.objects.filter(
        campaign=round_.campaign_id, round=round_.number, standing=EntryStanding.MASKED
    ).first()
    last = entry.changes.order_by("-pk").first() if entry else None
    return [round_.number] if last and last.why == _mask_reason(decision) else []


def _mask_reason(made: ReviewDecision) -> str:
    return f"marked invalid by {made.by} (decision {made.pk}): {made.reason}"[:LONGEST_REASON]


def _short(found: Reviewed) -> str:
    return f"round {found.round.number}" if found.round else "the result"


def _notice(found: Reviewed, made: ReviewDecision) -> str:
    said = f": {made.reason}" if made.reason else ""
    return f"{found.name.capitalize()} {made.get_word_display()} by {made.by}{said}"


def _carried_out(campaigns: list[int]) -> set[int]:
    """Keys of the decisions of these campaigns whose re-run was handed in, or refused."""
    rows = Event.objects.filter(campaign__in=campaigns, kind=RERUN)
    return {row.data["decision"] for row in rows}


def _carry_out(decision: ReviewDecision) -> Next:
    """Hand one in, once; a refusal is told to who asked for it."""
    number = decision.round.number if decision.round else 0
    with transaction.atomic():
        campaign = Campaign.objects.select_for_update().get(pk=decision.campaign_id)
        undone = ReviewDecision.objects.filter(undoes=decision).exists()
        if undone or decision.pk in _carried_out([campaign.pk]):
            return NOTHING
        name, said = decision.by.get_username(), {"decision": decision.pk}
        if campaign.is_finished and decision.round is not None and decision.round.chosen:
            return _carry_out_in_series(decision, decision.round.chosen, name)
        try:
            made = measure_again(campaign, number, Submitter.PERSON, name, decision.by)
        except (SubmissionRefused, Forbidden) as error:
            words = f"round {number} is not measured again: {error}"
            record(campaign, RERUN, words, round=decision.round, by=decision.by, **said)
            url = reverse("round", args=[campaign.pk, number])
            told = f"{words} (campaign {campaign.pk})".capitalize()
            asked = [decision.by_id]
            Notification.objects.tell(asked, NoticeKind.RERUN, told, url, campaign.pk)
            return NOTHING
        words = f"round {number} is handed in to be measured again, as {name} asked"
        more = {"submission": made.pk, **said}
        record(campaign, RERUN, words, round=decision.round, by=decision.by, **more)
    return AGAIN


def _carry_out_in_series(decision: ReviewDecision, candidate: Candidate, name: str) -> Next:
    """A finished campaign takes no round, so the kernel is measured against v0 again."""
    number = candidate.round.number
    try:
        made = queue_series(candidate, f"{name} asked for a re-run", decision.by)
    except NotInSeries as error:
        words, more = f"round {number} is not measured again: {error}", {}
    else:
        words = f"round {number} is measured again in the series, as {name} asked"
        more = {"evaluation": made.pk}
    said = {"decision": decision.pk, **more}
    record(decision.campaign, RERUN, words, round=decision.round, by=decision.by, **said)
    return NOTHING
