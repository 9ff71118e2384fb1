"""Answer a flag: a second person says what became of a citation, and the flag is closed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils import timezone

from knowledge.curation.errors import (
    Conflict,
    CurationError,
    Forbidden,
    require_reason,
    require_storable,
)
from knowledge.curation.people import require_proposer, require_reviewer
from knowledge.curation.propose import CitedLines, cite, proof
from knowledge.curation.store import chunks, entry_of, record
from knowledge.curation.turn import turn
from knowledge.models import DRIFT, Action, Flag, FlagAnswer, FlagKind, Revision, SpecChange

# What a person may say to which kind. Retiring and replacing close flags by themselves.
ACCEPTED: dict[str, frozenset[str]] = {
    FlagKind.CHANGED: frozenset({FlagAnswer.RECITED}),
    FlagKind.LOST: frozenset({FlagAnswer.RECITED}),
    FlagKind.SOURCE_MISSING: frozenset({FlagAnswer.RECITED}),
    FlagKind.SAME_CITATION: frozenset({FlagAnswer.TYPO_FIX, FlagAnswer.MISREAD}),
}


def recite(flag: Flag, place: CitedLines, by: Any, why: str) -> Flag:
    """The value stands, on these lines of a newest text: cite them and close the flag.

    Raises Forbidden for whoever brought the changed text in, CurationError for lines without it.
    """
    require_storable("why", why)
    with turn(flag):
        _require_may_give(flag, FlagAnswer.RECITED, by)
        quote = proof(flag.spec.shown, place, known=flag.spec.known)
        close_all([flag], FlagAnswer.RECITED, by, why)
        before = str(flag.spec.citation)
        citation = cite(flag.spec, place, quote)
        record(flag.spec, Action.CITED, by, why, before=before, after=str(citation))
    return flag


def explain(flag: Flag, answer: FlagAnswer, by: Any, why: str) -> Flag:
    """Say why a value changed while its citation did not: a typo fixed, or a line misread."""
    require_reason(why)
    with turn(flag):
        _require_may_give(flag, answer, by)
        close_all([flag], answer, by, why)
    return flag


def close_all(flags: Iterable[Flag], answer: FlagAnswer, by: Any, why: str) -> None:
    """Give many open flags one answer. Run it in a turn; Conflict where one is closed already."""
    now = timezone.now()
    for some in chunks(list(flags)):
        rows = Flag.objects.open().filter(pk__in=[flag.pk for flag in some])
        if rows.update(answer=answer, answered_by=by, answered_at=now, why=why) != len(some):
            raise Conflict(f"{some[0]} was answered in the meantime")
        for flag in some:
            flag.answer, flag.answered_by, flag.answered_at, flag.why = answer, by, now, why
        SpecChange.objects.bulk_create(
            entry_of(
                flag.spec,
                Action.ANSWERED,
                by,
                why,
                after=f"{flag.get_kind_display()}: {flag.get_answer_display()}",
            )
            for flag in some
        )


def _require_may_give(flag: Flag, answer: FlagAnswer, by: Any) -> None:
    if flag.kind == FlagKind.SAME_CITATION:
        # An explanation, not a decision: whoever proposed the value knows best, others approve.
        require_proposer(by)
    else:
        require_reviewer(by)
        require_not_raised_by(flag, by)
    accepted = ACCEPTED[flag.kind]
    if answer not in accepted:
        words = ", ".join(sorted(accepted))
        raise CurationError(
            "answer", f"'{answer}' does not answer '{flag.get_kind_display()}'; accepted: {words}"
        )


def require_not_raised_by(flag: Flag, by: Any) -> None:
    """Refuse an answer by a person who stored a text of the document since it was cited."""
    citation = flag.spec.citation
    if by is None or citation is None or flag.kind not in DRIFT:
        return
    since = Revision.objects.filter(
        document=citation.revision.document_id, number__gt=citation.revision.number, author=by
    )
    if by == flag.raised_by or since.exists():
        raise Forbidden("you changed the document, so another curator must answer its flags")
