"""One writer at a time: every step that changes the wiki takes its turn.

Decisions depend on each other (one preferred value, one newest text, one owner of a driver name),
so they are taken one after the other. Whoever only reads never waits for a turn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TypeAlias

from django.db import OperationalError, connection, transaction
from django.db.models import Max, Q

from knowledge.curation.errors import Conflict
from knowledge.models import Action, Batch, Flag, Spec, SpecChange
from knowledge.models.guarded import COMMAND

Seen: TypeAlias = Spec | Flag | Batch

LOCK = 0x6B6F7074  # one number for all servers of a team
WAIT_S = 20  # as long as SQLite waits for its write lock; see kopt.database
# What a decision depends on: if it is another by now, somebody else was first.
DECIDED: dict[type[Seen], tuple[str, ...]] = {
    Spec: ("state", "rank"),
    Flag: ("answer",),
    Batch: ("state",),
}
BUSY = f"somebody else has been writing to the wiki for more than {WAIT_S} s; try again"
# What makes another value of the question the preferred one, or none.
DECISIONS = (Action.APPROVED, Action.RETIRED, Action.RANKED)


@contextmanager
def turn(*seen: Seen | None) -> Iterator[None]:
    """A transaction in which nobody else writes to the wiki.

    seen: the rows that are decided on, read again here. Raises Conflict where one of them is no
    longer as its reader saw it, and where the turn does not come. Turns nest.
    """
    with ExitStack() as stack:
        try:
            # On SQLite the outermost transaction begins with the write lock. On PostgreSQL the lock
            # is taken until the transaction ends; its holder does not wait for it again.
            stack.enter_context(transaction.atomic())
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:
                    cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{WAIT_S}s"])
                    cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
                    cursor.execute("SELECT set_config('lock_timeout', '0', true)")
        except OperationalError as error:
            cause = error.__cause__
            busy = getattr(cause, "sqlite_errorname", "").startswith("SQLITE_BUSY")
            if busy or getattr(cause, "sqlstate", "") == "55P03":
                raise Conflict(BUSY) from error
            raise
        for row in seen:
            if row is not None:
                columns = DECIDED[type(row)]
                before = [getattr(row, name) for name in columns]
                row.refresh_from_db()
                if before != [getattr(row, name) for name in columns]:
                    raise Conflict(who_was_first(row))
        yield


def who_was_first(row: Seen) -> str:
    """What somebody else did to this row meanwhile, as a sentence for the one who came second."""
    if isinstance(row, Flag):
        return f"{row} was answered by {row.answerer} in the meantime: {row.get_answer_display()}"
    if isinstance(row, Batch):
        undone = row.undone_by.get_username() if row.undone_by else "a command"
        who = undone if row.undone_at else row.plan.get("decided_by", "somebody else")
        return f"{row} was {row.get_state_display()} by {who} in the meantime"
    last = row.changes.select_related("by").first()
    who = last.who if last else COMMAND
    return f"{row} was {last.get_action_display() if last else 'changed'} by {who} in the meantime"


def newest_change(spec: Spec) -> SpecChange | None:
    """The last step in the life of the spec, or the last decision on its question if that is later.

    Its key only grows, so a page that keeps it tells a later decision by it.
    """
    rivals = Spec.objects.asking(spec.platform_id, spec.metric, spec.qualifiers)
    own, decided = Q(spec=spec), Q(spec__in=rivals, action__in=DECISIONS)
    changes = SpecChange.objects.filter(own | decided).select_related("by", "spec")
    return changes.order_by("-pk").first()


def newest_changes(specs: Iterable[Spec]) -> dict[int, int]:
    """The key of each spec to that of its `newest_change`; two queries for all of them."""
    asked = list(specs)
    changes = SpecChange.objects.order_by()
    own = changes.filter(spec__in=asked).values_list("spec").annotate(Max("pk"))
    found = dict(own)
    questions: dict[str, int] = {}
    decisions = changes.filter(
        spec__platform__in={spec.platform_id for spec in asked},
        spec__metric__in={spec.metric for spec in asked},
        action__in=DECISIONS,
    )
    columns = ("spec__platform_id", "spec__metric", "spec__qualifiers", "pk")
    for platform, metric, qualifiers, key in decisions.values_list(*columns):
        question = _question(platform, metric, qualifiers)
        questions[question] = max(key, questions.get(question, 0))
    for spec in asked:
        decided = questions.get(_question(spec.platform_id, spec.metric, spec.qualifiers), 0)
        if decided > found.get(spec.pk, 0):
            found[spec.pk] = decided
    return found


def _question(platform: int, metric: str, qualifiers: dict[str, str]) -> str:
    return json.dumps([platform, metric, dict(sorted(qualifiers.items()))])
