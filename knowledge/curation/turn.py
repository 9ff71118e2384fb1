"""One writer at a time: every step that changes the wiki takes its turn.

Decisions depend on each other (one preferred value, one newest text, one owner of a driver name),
so they are taken one after the other. Whoever only reads never waits for a turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TypeAlias

from django.db import OperationalError, connection, transaction

from knowledge.curation.errors import Conflict
from knowledge.models import Batch, Flag, Spec
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


@contextmanager
def turn(*seen: Seen | None) -> Iterator[None]:
    """A transaction in which nobody else writes to the wiki.

    seen: the rows that are decided on, read again here. Raises Conflict where one of them is no
    longer as its reader saw it, and where the turn does not come. Turns nest.
    """
    with ExitStack() as stack:
        try:
            # On SQLite the outermost transaction begins with the write lock.
            stack.enter_context(transaction.atomic())
            _wait()
        except OperationalError as error:
            if _is_busy(error):
                raise Conflict(BUSY) from error
            raise
        for row in seen:
            if row is not None:
                _read_again(row)
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


def _wait() -> None:
    """Take the lock until the transaction ends; who holds it already does not wait."""
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{WAIT_S}s"])
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        cursor.execute("SELECT set_config('lock_timeout', '0', true)")


def _is_busy(error: OperationalError) -> bool:
    cause = error.__cause__
    busy = getattr(cause, "sqlite_errorname", "").startswith("SQLITE_BUSY")
    return busy or getattr(cause, "sqlstate", "") == "55P03"


def _read_again(row: Seen) -> None:
    columns = DECIDED[type(row)]
    before = [getattr(row, name) for name in columns]
    row.refresh_from_db()
    if before != [getattr(row, name) for name in columns]:
        raise Conflict(who_was_first(row))
