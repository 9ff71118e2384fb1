"""What a person says of a number that moved when an accepted kernel was measured again."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction

from campaigns.models import Campaign, DecisionWord, SeriesAnswer, SeriesAnswerWord, SeriesEntry
from campaigns.models.event import record
from campaigns.records.decisions import NO_ROLE, Reviewed, reviewed_result, reviewed_round
from campaigns.records.series import SeriesShown, series_shown
from campaigns.steps.review.decide import decide
from knowledge.curation.errors import (
    LONGEST_REASON,
    Conflict,
    CurationError,
    Forbidden,
    require_storable,
)

NEEDS_REASON = (SeriesAnswerWord.KNOWN, SeriesAnswerWord.INVALID)


def reviewed_entry(entry: SeriesEntry) -> Reviewed | None:
    """What an answer is about: the campaign's result for its incumbent, else the round.

    A campaign at work has no result yet.
    """
    campaign, round_ = entry.campaign, entry.round
    if round_ is None:
        return None
    is_best = campaign.is_finished and round_.chosen_id == campaign.incumbent_id
    return reviewed_result(campaign) if is_best else reviewed_round(round_)


def refusal_of(entry: SeriesEntry, person: Any) -> str:
    """Why this person may not answer, in a sentence; "" where they may."""
    found = reviewed_entry(entry)
    return found.refusal(person) if found else NO_ROLE


def answer_series(campaign: Campaign, key: int, answer: str, why: str, by: Any) -> SeriesAnswer:
    """Store an answer to the entry of that key, and mark invalid what it says is.

    No number changes. A number that is accepted is what later ones are compared with. Raises
    CurationError naming the field, Forbidden as for decisions, and Conflict where it is answered,
    or where a later measurement has taken its place.
    """
    with transaction.atomic():
        Campaign.objects.select_for_update().get(pk=campaign.pk)
        shown = _open(campaign, key)
        entry = shown.entry
        if refusal := refusal_of(entry, by):
            raise Forbidden(refusal)
        if answer not in SeriesAnswerWord.values:
            accepted = ", ".join(SeriesAnswerWord.values)
            raise CurationError("answer", f"{answer!r:.40}; accepted: {accepted}")
        if answer == SeriesAnswerWord.KNOWN and shown.now.gain is None:
            raise CurationError("answer", "known: it has no number; accepted: reopened, invalid")
        said = require_storable("why", why.strip(), LONGEST_REASON)
        if answer in NEEDS_REASON and not said:
            raise CurationError("why", "is needed: its author reads it")
        label = SeriesAnswerWord(answer).label
        number = entry.round.number if entry.round else 0
        words = f"round {number} measured again: {label}, says {by.get_username()}"
        words += f": {said}" if said else ""
        more = {"entry": entry.pk, "answer": answer, "why": said}
        try:
            with transaction.atomic():
                made = record(campaign, SeriesAnswer.KIND, words, round=entry.round, by=by, **more)
        except IntegrityError:
            raise Conflict("it is answered already; answers are never rewritten") from None
        if answer == SeriesAnswerWord.INVALID:
            _mark_invalid(entry, said, by)
    return SeriesAnswer.objects.get(pk=made.pk)


def _open(campaign: Campaign, key: int) -> SeriesShown:
    """The entry that waits for an answer. Raises Conflict where it does not."""
    shown = series_shown(campaign, key)
    if shown is None or not shown.sort.asks:
        raise Conflict(f"campaign {campaign.pk} has no measurement {key} that asks for an answer")
    if shown.answer is not None:
        raise Conflict(f"{shown.answer.by} has answered already: {shown.answer.words}")
    if not shown.newest:
        raise Conflict("it was measured again since; answer the newest one")
    return shown


def _mark_invalid(entry: SeriesEntry, why: str, by: Any) -> None:
    """The same as a decision, unless this person has said so before."""
    found = reviewed_entry(entry)
    said = found and any(
        row.by_id == by.pk and row.word == DecisionWord.INVALID for row in found.counting
    )
    if found is not None and not said:
        decide(found.round or found.campaign, DecisionWord.INVALID, why, by)
