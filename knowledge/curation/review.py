"""Approve, return, retire, rank and restore values: a second person's decisions.

Of two people who decide at once one wins; the other is told who was first.
"""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction

from knowledge.curation.answer import close_flags, require_not_raised_by
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.history import record
from knowledge.curation.people import require_proposer, require_reviewer
from knowledge.models import (
    DRIFT,
    Action,
    Answer,
    Flag,
    Platform,
    Spec,
    SpecState,
)
from knowledge.models.spec import SpecQuerySet
from knowledge.specs.citation import CitationState, resolve
from knowledge.specs.facts import UNKNOWN_VALUE, Rank

LEGAL: dict[str, frozenset[str]] = {
    SpecState.PROPOSED: frozenset({SpecState.APPROVED, SpecState.RETURNED, SpecState.RETIRED}),
    SpecState.RETURNED: frozenset({SpecState.PROPOSED, SpecState.RETIRED}),
    SpecState.APPROVED: frozenset({SpecState.RETIRED}),
    SpecState.RETIRED: frozenset({SpecState.PROPOSED, SpecState.APPROVED}),
}


def approve(spec: Spec, by: Any, why: str = "") -> Spec:
    """Put a proposed value into use; what it replaces, and a rival that was preferred, step back.

    Raises Forbidden (no curator, or the author), Conflict (somebody was first, a flag is open, the
    citation does not hold) and CurationError (no value would be preferred).
    """
    require_reviewer(by)
    _require_second_person(spec, by)
    if spec.state == SpecState.RETIRED:
        raise Conflict(f"{spec} is retired; restore it as a proposal first")
    try:
        with transaction.atomic():
            _lock_question(spec)
            _require_sound(spec)
            _make_room(spec, by)
            enter(spec, SpecState.APPROVED)
            record(spec, Action.APPROVED, by, why, after=spec.shown)
            _require_preferred(spec)
    except IntegrityError:
        raise Conflict(
            f"{spec.metric} of {spec.platform.slug}: another value was approved as preferred at "
            "the same moment; look again"
        ) from None
    return spec


def give_back(spec: Spec, by: Any, why: str) -> Spec:
    """Return a proposal to its author with a reason."""
    require_reviewer(by)
    _require_second_person(spec, by)
    _require_reason(why)
    with transaction.atomic():
        enter(spec, SpecState.RETURNED)
        record(spec, Action.RETURNED, by, why)
    return spec


def resubmit(spec: Spec, by: Any, why: str) -> Spec:
    """The author's answer to a return: propose the same value again."""
    require_proposer(by)
    if by != spec.proposed_by:
        raise Forbidden("only its author can propose a returned value again")
    _require_reason(why)
    with transaction.atomic():
        enter(spec, SpecState.PROPOSED)
        record(spec, Action.PROPOSED, by, why, after=spec.shown)
    return spec


def retire(spec: Spec, by: Any, why: str, successor: Spec | None = None) -> Spec:
    """Take a value out of use; it stays readable. An author may retire an own proposal.

    successor: the approved value that becomes preferred, needed where others stand beside a
    preferred one, so that one answer stays preferred.
    """
    mine = by is not None and by == spec.proposed_by and spec.state != SpecState.APPROVED
    if not mine:
        require_reviewer(by)
    _require_reason(why)
    if not mine:
        _require_not_raised_by(spec, by)
    with transaction.atomic():
        _lock_question(spec)
        was_preferred = spec.state == SpecState.APPROVED and spec.rank == Rank.PREFERRED
        enter(spec, SpecState.RETIRED)
        record(spec, Action.RETIRED, by, why, before=spec.shown)
        close_flags(spec, Answer.RETIRED, by, why)
        if was_preferred:
            _hand_over(spec, successor, by, why)
    return spec


def set_rank(spec: Spec, rank: Rank, by: Any, why: str) -> Spec:
    """Prefer, unprefer or deprecate an approved value. A preferred one is only ever exchanged."""
    require_reviewer(by)
    _require_second_person(spec, by)
    _require_reason(why)
    if spec.state != SpecState.APPROVED:
        raise Conflict(f"{spec} is {spec.state}; only approved values are ranked")
    if spec.rank == Rank.PREFERRED and rank != Rank.PREFERRED:
        raise CurationError(
            "rank", f"exactly one value of {spec.metric} is preferred; accepted: prefer another"
        )
    with transaction.atomic():
        _lock_question(spec)
        if rank == Rank.PREFERRED:
            _demote_rivals(spec, by, why)
        _write_rank(spec, rank, by, why)
    return spec


def restore(spec: Spec, by: Any, why: str) -> Spec:
    """Bring a retired value back as a proposal, which a second person has to approve."""
    require_proposer(by)
    _require_reason(why)
    with transaction.atomic():
        enter(spec, SpecState.PROPOSED, proposed_by=by)
        record(spec, Action.RESTORED, by, why, after=spec.shown)
    return spec


def enter(spec: Spec, state: SpecState, **columns: Any) -> None:
    """Change the state by a conditional UPDATE. Raises Conflict when it is no longer as it was."""
    if state not in LEGAL[spec.state]:
        accepted = ", ".join(sorted(LEGAL[spec.state]))
        raise Conflict(f"{spec} is {spec.state}; accepted from there: {accepted}")
    rows = Spec.objects.filter(pk=spec.pk, state=spec.state).update(state=state, **columns)
    if not rows:
        raise Conflict(_who_was_first(spec))
    spec.state = state
    for name, value in columns.items():
        setattr(spec, name, value)


def _who_was_first(spec: Spec) -> str:
    last = spec.changes.select_related("by").first()
    who = last.by.get_username() if last and last.by else "a command"
    return f"{spec} was {last.action if last else 'changed'} by {who} in the meantime"


def _require_reason(why: str) -> None:
    if not why.strip():
        raise CurationError("why", "a reason is needed; it stays in the history")


def _require_second_person(spec: Spec, by: Any) -> None:
    if by is None:
        return
    # Who ever brought it in, also before somebody else restored it.
    brought = spec.changes.filter(by=by, action__in=(Action.PROPOSED, Action.RESTORED))
    if by == spec.proposed_by or brought.exists():
        raise Forbidden("the author of a value does not decide on it; another curator does")


def _require_sound(spec: Spec) -> None:
    """No open flag, and a citation that holds in the newest text of its document."""
    open_flag = Flag.objects.open().filter(spec=spec).first()
    if open_flag is not None:
        kind = open_flag.get_kind_display()
        raise Conflict(f"flag '{kind}' is open; it has to be answered before")
    citation = spec.citation
    if citation is None:
        raise Conflict(f"{spec} has no citation; values without a source are not approved")
    document = citation.revision.document
    if document.withdrawn_at is not None:
        raise Conflict(f"{document} was withdrawn; a value needs a source that stands")
    newest = document.latest
    if resolve(citation.line, citation.quote, newest.text) is not CitationState.OK:
        raise Conflict(f"{citation} does not hold in the newest text {newest.short}")


def _same_question(spec: Spec) -> SpecQuerySet:
    asked = Spec.objects.approved().filter(platform=spec.platform, metric=spec.metric)
    return asked.filter(qualifiers=spec.qualifiers).exclude(pk=spec.pk)


def _peers(spec: Spec) -> SpecQuerySet:
    """Approved answers to the same question that are values and not deprecated."""
    return _same_question(spec).exclude(shown=UNKNOWN_VALUE).exclude(rank=Rank.DEPRECATED)


def _make_room(spec: Spec, by: Any) -> None:
    """Retire what the spec replaces or answers, and let a preferred rival step back."""
    if not spec.known and _peers(spec).exists():
        raise Conflict(f"{spec.metric} has a value; an UNKNOWN does not take its place")
    replaced = spec.replaces
    if replaced is not None and replaced.state == SpecState.APPROVED:
        _require_not_raised_by(replaced, by)
        enter(replaced, SpecState.RETIRED)
        words = f"replaced by {spec.shown}"
        record(replaced, Action.RETIRED, by, words, before=replaced.shown, after=spec.shown)
        close_flags(replaced, Answer.REPLACED, by, words)
    for unknown in _same_question(spec).filter(shown=UNKNOWN_VALUE):
        if spec.known:
            enter(unknown, SpecState.RETIRED)
            record(unknown, Action.RETIRED, by, f"known now: {spec.shown}")
    if spec.rank == Rank.PREFERRED:
        _demote_rivals(spec, by, f"{spec.shown} is preferred now")


def _require_not_raised_by(spec: Spec, by: Any) -> None:
    for flag in Flag.objects.open().filter(spec=spec, kind__in=DRIFT):
        require_not_raised_by(flag, by)


def _lock_question(spec: Spec) -> None:
    """One decision at a time about the values of a platform, where the database runs several."""
    Platform.objects.select_for_update().get(pk=spec.platform_id)


def _demote_rivals(spec: Spec, by: Any, why: str) -> None:
    for rival in _same_question(spec).filter(rank=Rank.PREFERRED):
        _write_rank(rival, Rank.NORMAL, by, why)


def _write_rank(spec: Spec, rank: Rank, by: Any, why: str) -> None:
    before = spec.rank
    columns: dict[str, str] = {"rank": rank}
    if rank == Rank.DEPRECATED and not spec.note:
        # The line of a deprecated value says why it is not used.
        columns["note"] = " ".join(why.replace("|", "/").split())
    rows = Spec.objects.filter(pk=spec.pk, rank=before, state=spec.state).update(**columns)
    if not rows:
        raise Conflict(_who_was_first(spec))
    spec.rank = rank
    record(spec, Action.RANKED, by, why, before=before, after=rank)


def _require_preferred(spec: Spec) -> None:
    if not spec.known or spec.rank == Rank.PREFERRED:
        return
    if not _same_question(spec).filter(rank=Rank.PREFERRED).exists():
        raise CurationError(
            "rank", f"no value of {spec.metric} would be preferred; accepted: rank preferred"
        )


def _hand_over(spec: Spec, successor: Spec | None, by: Any, why: str) -> None:
    peers = _peers(spec)
    if successor is None and peers.exists():
        shown = ", ".join(str(peer.shown) for peer in peers)
        raise CurationError("successor", f"which value is preferred now? accepted: {shown}")
    if successor is not None:
        _require_second_person(successor, by)
        if not peers.filter(pk=successor.pk).exists():
            raise CurationError("successor", f"{successor} does not answer the same question")
        _write_rank(successor, Rank.PREFERRED, by, why)
