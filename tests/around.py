"""What all tests of a module begin with, in one transaction around theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import transaction

from campaigns.records import rounds

Built = TypeVar("Built")


@contextmanager
def built_around(blocker: Any, build: Callable[[], Built]) -> Iterator[Built]:
    """Build it, and take it back at the end; each test's own changes are taken back by itself.

    blocker: pytest-django's, as no test's database is open yet. Only what `build` answers comes
    out, so that no test hands a changed object to the next: better a key than a row.
    """
    with blocker.unblock():
        around = transaction.atomic()
        around.__enter__()
        # As in conftest.py: closed rounds of the module before may have the same keys and times.
        rounds._closed.clear()
        try:
            built = build()
        except BaseException:
            transaction.set_rollback(True)
            around.__exit__(None, None, None)
            raise
    yield built
    with blocker.unblock():
        transaction.set_rollback(True)
        around.__exit__(None, None, None)
