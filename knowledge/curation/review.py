"""Approve, return, retire, rank and restore values: a second person's decisions.

Each decision takes its turn: of two people who decide at once one wins, and the other is told who
was first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from knowledge.curation.answer import close_all, require_not_raised_by
from knowledge.curation.errors import (
    Conflict,
    CurationError,
    Forbidden,
    require_reason,
    require_storable,
)
from knowledge.curation.people import require_proposer, require_reviewer
from knowledge.curation.revise import recheck
from knowledge.curation.store import chunks, entry_of, record
from knowledge.curation.turn import turn, who_was_first
from knowledge.lookup.standing import standings
from knowledge.models import (
    DRIFT,
    Action,
    Flag,
    FlagAnswer,
    Kind,
    NoticeKind,
    Notification,
    Spec,
    SpecChange,
    SpecState,
)
from knowledge.models.spec import SpecQuerySet
from knowledge.search.index import index_specs, remove
from knowledge.specs.citation import CitationState
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
    citation does not hold) and CurationError (no value would be preferred, or what it replaces
    answers another question).
    """
    require_reviewer(by)
    require_storable("why", why)
    with _decision(spec, by):
        if spec.state == SpecState.RETIRED:
            raise Conflict(f"{spec} is retired; restore it as a proposal first")
        _require_sound(spec)
        _make_room(spec, by)
        enter(spec, SpecState.APPROVED)
        record(spec, Action.APPROVED, by, why, after=spec.shown)
        Notification.objects.tell_author(spec, NoticeKind.APPROVED, by, why)
        preferred = _same_question(spec).filter(rank=Rank.PREFERRED)
        answers = spec.shown != UNKNOWN_VALUE and spec.rank != Rank.PREFERRED
        if answers and not preferred.exists():
            raise CurationError(
                "rank", f"no value of {spec.metric} would be preferred; accepted: rank preferred"
            )
    return spec


def give_back(spec: Spec, by: Any, why: str) -> Spec:
    """Return a proposal to its author with a reason."""
    require_reviewer(by)
    require_reason(why)
    with turn(spec):
        require_second_person(spec, by)
        enter(spec, SpecState.RETURNED)
        record(spec, Action.RETURNED, by, why)
        Notification.objects.tell_author(spec, NoticeKind.RETURNED, by, why)
    return spec


def resubmit(spec: Spec, by: Any, why: str) -> Spec:
    """The author's answer to a return: propose the same value again."""
    require_proposer(by)
    require_reason(why)
    with turn(spec):
        if by != spec.proposed_by:
            raise Forbidden("only its author can propose a returned value again")
        if spec.state != SpecState.RETURNED:
            raise Conflict(f"{spec} is {spec.state}; only a returned value is proposed again")
        enter(spec, SpecState.PROPOSED)
        record(spec, Action.PROPOSED, by, why, after=spec.shown)
    return spec


def retire(spec: Spec, by: Any, why: str, successor: Spec | None = None) -> Spec:
    """Take a value out of use; it stays readable. An author may retire an own proposal.

    successor: the approved value that becomes preferred, needed where others stand beside a
    preferred one, so that one answer stays preferred.
    """
    require_reason(why)
    with turn(spec, successor):
        if by is None or by != spec.proposed_by or spec.state == SpecState.APPROVED:
            require_reviewer(by)
            _require_not_raised_by(spec, by)
        was_preferred = spec.state == SpecState.APPROVED and spec.rank == Rank.PREFERRED
        put_out_of_use([spec], FlagAnswer.RETIRED, by, why)
        if was_preferred:
            peers = _peers(spec)
            if successor is None and peers.exists():
                shown = ", ".join(str(peer.shown) for peer in peers)
                raise CurationError("successor", f"which value is preferred now? accepted: {shown}")
            if successor is not None:
                require_second_person(successor, by)
                if not peers.filter(pk=successor.pk).exists():
                    raise CurationError(
                        "successor", f"{successor} does not answer the same question"
                    )
                _write_rank(successor, Rank.PREFERRED, by, why)
    return spec


def put_out_of_use(
    specs: Iterable[Spec], answer: FlagAnswer, by: Any, why: str, *, after: str = ""
) -> None:
    """Retire values, write it down, and close their flags with this answer. Run it in a turn.

    after: what stands in their place. Raises Conflict for one that is retired already.
    """
    for some in chunks(list(specs)):
        for spec in some:
            _require_legal(spec, SpecState.RETIRED)
        rows = Spec.objects.filter(pk__in=[spec.pk for spec in some])
        rows.update(state=SpecState.RETIRED)
        remove((Kind.SPEC, str(spec.pk)) for spec in some)
        for spec in some:
            spec.state = SpecState.RETIRED
        SpecChange.objects.bulk_create(
            entry_of(spec, Action.RETIRED, by, why, before=spec.shown, after=after) for spec in some
        )
        flags = Flag.objects.open().filter(spec__in=[spec.pk for spec in some])
        close_all(flags.select_related("spec__platform"), answer, by, why)


def set_rank(spec: Spec, rank: Rank, by: Any, why: str) -> Spec:
    """Prefer, unprefer or deprecate an approved value. A preferred one is only ever exchanged."""
    require_reviewer(by)
    require_reason(why)
    with _decision(spec, by):
        if spec.state != SpecState.APPROVED:
            raise Conflict(f"{spec} is {spec.state}; only approved values are ranked")
        if spec.rank == Rank.PREFERRED and rank != Rank.PREFERRED:
            raise CurationError(
                "rank", f"exactly one value of {spec.metric} is preferred; accepted: prefer another"
            )
        if rank == Rank.PREFERRED:
            _demote_rivals(spec, by, why)
        _write_rank(spec, rank, by, why)
    return spec


def restore(spec: Spec, by: Any, why: str) -> Spec:
    """Bring a retired value back as a proposal, which a second person has to approve.

    Its citation follows the text that has moved since; one that does not hold is flagged, and a
    second person recites it first.
    """
    require_proposer(by)
    require_reason(why)
    with turn(spec):
        enter(spec, SpecState.PROPOSED, proposed_by=by)
        record(spec, Action.RESTORED, by, why, after=spec.shown)
        recheck(spec, by)
    return spec


def enter(spec: Spec, state: SpecState, **columns: Any) -> None:
    """Change the state. Run it in a turn; Conflict where the state does not lead there."""
    _require_legal(spec, state)
    if not Spec.objects.filter(pk=spec.pk, state=spec.state).update(state=state, **columns):
        raise Conflict(who_was_first(spec))
    if spec.state == SpecState.RETIRED:
        index_specs([spec])
    spec.state = state
    for name, value in columns.items():
        setattr(spec, name, value)


def _require_legal(spec: Spec, state: SpecState) -> None:
    if state not in LEGAL[spec.state]:
        accepted = ", ".join(sorted(LEGAL[spec.state]))
        raise Conflict(f"{spec} is {spec.state}; accepted from there: {accepted}")


def require_second_person(spec: Spec, by: Any) -> None:
    """Raise Forbidden for whoever proposed or restored this value, ever."""
    if by is None:
        return
    # Who ever brought it in, also before somebody else restored it.
    brought = spec.changes.filter(by=by, action__in=(Action.PROPOSED, Action.RESTORED))
    if by == spec.proposed_by or brought.exists():
        raise Forbidden("you proposed this value, so another curator decides on it")


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
    if standings([spec])[spec.pk] not in (CitationState.OK, CitationState.MOVED):
        raise Conflict(f"{citation} does not hold in the newest text {document.latest.short}")


def _same_question(spec: Spec) -> SpecQuerySet:
    asked = (spec.platform, spec.metric, spec.qualifiers)
    return Spec.objects.approved().asking(*asked).exclude(pk=spec.pk)


@contextmanager
def _decision(spec: Spec, by: Any) -> Iterator[None]:
    """A turn of a second person; Conflict where another value became preferred meanwhile."""
    preferred = _same_question(spec).filter(rank=Rank.PREFERRED)
    seen = preferred.first()
    with turn(spec):
        require_second_person(spec, by)
        now = preferred.first()
        if now is not None and now != seen:
            raise Conflict(f"{who_was_first(now)} and is preferred; look again")
        yield


def _peers(spec: Spec) -> SpecQuerySet:
    """Approved answers to the same question that are values and not deprecated."""
    return _same_question(spec).exclude(shown=UNKNOWN_VALUE).exclude(rank=Rank.DEPRECATED)


def _make_room(spec: Spec, by: Any) -> None:
    """Retire what the spec replaces or answers, and let a preferred rival step back."""
    others = (peer for peer in _peers(spec) if peer.pk != spec.replaces_id)
    if not spec.known and any(others):
        raise Conflict(f"{spec.metric} has an answer; {spec.shown} does not take its place")
    replaced = spec.replaces
    if replaced is not None and replaced.state == SpecState.APPROVED:
        # The answer to another question has peers of its own, which would lose their preferred one.
        asked = (spec.platform_id, spec.metric, spec.qualifiers)
        if (replaced.platform_id, replaced.metric, replaced.qualifiers) != asked:
            raise CurationError(
                "replaces",
                f"{replaced} answers another question; accepted: return "
                "this one, and propose its value without replacing that",
            )
        _require_not_raised_by(replaced, by)
        words = f"replaced by {spec.shown}"
        put_out_of_use([replaced], FlagAnswer.REPLACED, by, words, after=spec.shown)
    for unknown in _same_question(spec).filter(shown=UNKNOWN_VALUE):
        put_out_of_use([unknown], FlagAnswer.REPLACED, by, f"answered now: {spec.shown}")
    if spec.rank == Rank.PREFERRED:
        _demote_rivals(spec, by, f"{spec.shown} is preferred now")


def _require_not_raised_by(spec: Spec, by: Any) -> None:
    for flag in Flag.objects.open().filter(spec=spec, kind__in=DRIFT):
        require_not_raised_by(flag, by)


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
        raise Conflict(who_was_first(spec))
    spec.rank = rank
    index_specs([spec])
    record(spec, Action.RANKED, by, why, before=before, after=rank)
