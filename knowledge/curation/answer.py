"""Answer a flag: a second person says what became of a citation, and the flag is closed."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.history import record
from knowledge.curation.people import require_proposer, require_reviewer
from knowledge.curation.propose import Place, cite, proof
from knowledge.models import DRIFT, Action, Answer, Flag, FlagKind, Revision, Spec

# What a person may say to which kind. Retiring and replacing close flags by themselves.
ACCEPTED: dict[str, frozenset[str]] = {
    FlagKind.CHANGED: frozenset({Answer.RECITED}),
    FlagKind.LOST: frozenset({Answer.RECITED}),
    FlagKind.SOURCE_MISSING: frozenset({Answer.RECITED}),
    FlagKind.SAME_CITATION: frozenset({Answer.TYPO_FIX, Answer.MISREAD}),
}


def recite(flag: Flag, place: Place, by: Any, why: str) -> Flag:
    """The value stands, on these lines of a newest text: cite them and close the flag.

    Raises Forbidden for whoever brought the changed text in, CurationError for lines without it.
    """
    _require_may_answer(flag, by)
    _require_accepted(flag, Answer.RECITED)
    quote = proof(flag.spec.shown, place, known=flag.spec.known)
    with transaction.atomic():
        # The flag first: of two answers at once the second ends here, and stores no citation.
        _close(flag, Answer.RECITED, by, why)
        before = str(flag.spec.citation)
        citation = cite(flag.spec, place, quote)
        record(flag.spec, Action.CITED, by, why, before=before, after=str(citation))
    return flag


def explain(flag: Flag, answer: Answer, by: Any, why: str) -> Flag:
    """Say why a value changed while its citation did not: a typo fixed, or a line misread."""
    _require_may_answer(flag, by)
    _require_accepted(flag, answer)
    if not why.strip():
        raise CurationError("why", "a reason is needed; it stays in the history")
    with transaction.atomic():
        _close(flag, answer, by, why)
    return flag


def close_flags(spec: Spec, answer: Answer, by: Any, why: str) -> None:
    """Close what is open on a spec that is retired or replaced, or whose text came back."""
    for flag in Flag.objects.open().filter(spec=spec):
        _close(flag, answer, by, why)


def _close(flag: Flag, answer: Answer, by: Any, why: str) -> None:
    rows = Flag.objects.open().filter(pk=flag.pk)
    if not rows.update(answer=answer, answered_by=by, answered_at=timezone.now(), why=why):
        flag.refresh_from_db()
        raise Conflict(f"{flag} was answered by {flag.answered_by} in the meantime: {flag.answer}")
    flag.refresh_from_db()
    words = f"{flag.get_kind_display()}: {flag.get_answer_display()}"
    record(flag.spec, Action.ANSWERED, by, why, after=words)


def _require_may_answer(flag: Flag, by: Any) -> None:
    if flag.kind == FlagKind.SAME_CITATION:
        # An explanation, not a decision: whoever proposed the value knows best, others approve.
        require_proposer(by)
        return
    require_reviewer(by)
    require_not_raised_by(flag, by)


def require_not_raised_by(flag: Flag, by: Any) -> None:
    """Whoever stored a text of the document since it was cited answers none of its flags."""
    citation = flag.spec.citation
    if by is None or citation is None or flag.kind not in DRIFT:
        return
    since = Revision.objects.filter(
        document=citation.revision.document_id, number__gt=citation.revision.number, author=by
    )
    if by == flag.raised_by or since.exists():
        raise Forbidden("who changed the document does not answer its flags; another curator does")


def _require_accepted(flag: Flag, answer: Answer) -> None:
    accepted = ACCEPTED[flag.kind]
    if answer not in accepted:
        words = ", ".join(sorted(accepted))
        raise CurationError(
            "answer", f"'{answer}' does not answer '{flag.get_kind_display()}'; accepted: {words}"
        )
