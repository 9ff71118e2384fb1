"""One import of any kind: planned, confirmed or dropped, and undone as one.

What a kind brings in is told by its `ImportKind`; who may decide, that one of two people who decide
at once wins, and what stays written down is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from knowledge.curation.errors import (
    LONGEST_BATCH_REASON,
    Conflict,
    CurationError,
    Forbidden,
    require_reason,
    require_storable,
)
from knowledge.curation.people import may_propose, may_review, require_proposer
from knowledge.curation.turn import turn, who_was_first
from knowledge.exchange.readers.files import ImportRefused
from knowledge.models import Batch, BatchState
from knowledge.models.guarded import COMMAND

NAMED = 8  # things that a refusal lists


@dataclass(frozen=True, slots=True)
class ImportKind:
    """What imports of one kind do, each a function of the batch and run in its turn.

    ready: look at the files again before they are taken; CurationError or Conflict where that
    cannot be. take: store what `ready` returned, in whose name; its answer is that of `confirm`.
    built_upon: what rests on the import by now, each in a few words. take_back: withdraw what it
    brought, by whom and why. second_person: why a curator other than its author has to confirm.
    """

    name: str
    ready: Callable[[Batch], Any]
    take: Callable[[Batch, Any, Any], Any]
    built_upon: Callable[[Batch], Iterable[str]]
    take_back: Callable[[Batch, Any, str], None]
    second_person: Callable[[Batch], list[str]] | None = None
    author_may_undo: bool = False


KINDS: dict[str, ImportKind] = {}


def register(kind: ImportKind) -> None:
    """Let imports of this kind be confirmed and undone; an app does it when it is ready."""
    KINDS[kind.name] = kind


def may_decide(batch: Batch, person: Any) -> bool:
    """Whether this user may answer, confirm or drop the plan: its author, or a curator."""
    return may_propose(person) and bool(person == batch.author or may_review(person))


def may_undo(batch: Batch, person: Any) -> bool:
    """Whether this user may take the import back: a curator, and of some kinds its author."""
    mine = KINDS[batch.kind].author_may_undo and person == batch.author
    return bool(mine or may_review(person))


def is_second_person(batch: Batch, person: Any) -> bool:
    """Whether this user may confirm what its author alone may not."""
    return bool(person != batch.author and may_review(person))


def second_person_for(batch: Batch) -> list[str]:
    """Why a curator other than its author has to confirm a plan; empty where its author may."""
    reasons = KINDS[batch.kind].second_person
    return reasons(batch) if reasons is not None else []


def confirm(batch: Batch, by: Any) -> Any:
    """Do what was planned, all or nothing, in the name of who planned it; what its kind returns.

    by: the user, or None for a command. Raises Forbidden, Conflict (decided already, or changed
    since) and CurationError for what is not taken.
    """
    kind = KINDS[batch.kind]
    try:
        with turn(batch):
            ready = begin(batch, by, BatchState.CONFIRMED)
            return kind.take(batch, by, ready)
    except ImportRefused as error:
        raise CurationError("files", str(error)) from error


def begin(batch: Batch, by: Any, state: BatchState) -> Any:
    """Bring a plan that may be confirmed to this state; what is ready. Raises as `confirm` does."""
    require_may_decide(batch, by)
    reasons = second_person_for(batch)
    if reasons and by is not None and not is_second_person(batch, by):
        raise Forbidden(f"{'; '.join(reasons)}: a curator other than its author confirms that")
    require_open(batch)
    ready = KINDS[batch.kind].ready(batch)
    _decide(batch, state, by)
    return ready


def close(batch: Batch, **plan: Any) -> None:
    """The import is done: forget its files, and keep what it did."""
    done = {"state": BatchState.CONFIRMED, "decided_at": timezone.now()}
    Batch.objects.filter(pk=batch.pk).update(files={}, plan=batch.plan | plan, progress={}, **done)
    batch.refresh_from_db()


def drop(batch: Batch, by: Any, why: str = "") -> None:
    """Forget the files of a plan; that there was one stays."""
    require_may_decide(batch, by)
    reason = require_storable("why", why.strip(), LONGEST_BATCH_REASON)
    with turn(batch):
        require_open(batch, (BatchState.PLANNED, BatchState.PLANNING))
        _decide(batch, BatchState.DROPPED, by)
        Batch.objects.filter(pk=batch.pk).update(files={}, why=reason)
    batch.refresh_from_db()


def undo(batch: Batch, by: Any, why: str) -> None:
    """Take an import back as one: all that it caused, and nothing of what others did since.

    by: the user, or None for a command. Raises Forbidden, CurationError without a reason, and
    Conflict where somebody was first or something imported has been built upon since.
    """
    kind = KINDS[batch.kind]
    if by is not None and not may_undo(batch, by):
        its_author = "its author, or " if kind.author_may_undo else ""
        raise Forbidden(f"undoing an import needs {its_author}the role curator or lead")
    reason = require_reason(why, LONGEST_BATCH_REASON)
    with turn(batch):
        if batch.state != BatchState.CONFIRMED:
            state = batch.get_state_display()
            raise Conflict(f"{batch} is {state}; only a confirmed import can be undone")
        built = list(kind.built_upon(batch))
        if built:
            more = f"; and {len(built) - NAMED} more" if len(built) > NAMED else ""
            raise Conflict(f"built upon since: {'; '.join(built[:NAMED])}{more}")
        kind.take_back(batch, by, f"{batch} was undone: {reason}")
        done = {"state": BatchState.UNDONE, "undone_at": timezone.now(), "undone_by": by}
        Batch.objects.filter(pk=batch.pk).update(**done, why=reason)
    batch.refresh_from_db()


def require_may_decide(batch: Batch, by: Any) -> None:
    """Raise Forbidden unless this person, or a command, may decide on the plan."""
    require_proposer(by)
    if by is not None and not may_decide(batch, by):
        raise Forbidden("only its author or a curator can decide on an import")


def require_open(batch: Batch, among: Sequence[str] = (BatchState.PLANNED,)) -> None:
    """Raise Conflict where somebody has decided on the plan already."""
    if batch.state not in among:
        raise Conflict(who_was_first(batch))


def _decide(batch: Batch, state: BatchState, by: Any) -> None:
    plan = batch.plan | {"decided_by": by.get_username() if by is not None else COMMAND}
    rows = Batch.objects.filter(pk=batch.pk)
    rows.update(state=state, plan=plan, decided_at=timezone.now())
    batch.state, batch.plan = state, plan
