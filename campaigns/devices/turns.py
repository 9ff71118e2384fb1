"""How many requests may read a problem or a repository at once: of one person, and together.

A turn is a lock on a file of the data folder. So all processes of a host count together, and the
kernel takes the turn back from one that was killed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from django.conf import settings

from campaigns.evaluator.contract.sandbox import memory_limit
from knowledge.curation.errors import TooManyAtOnce
from knowledge.lookup.database import give_connection_back

# One person has half of them.
MOST_AT_ONCE = 4
# torch alone takes a third of this.
LEAST_SHARE_BYTES = 1 << 30
RETRY_S, LOOK_S = 10, 0.2
TAKEN = "kopt reads as many problems and repositories as it may at once"
TAKEN_BY_ONE = "You wait for as many problems and repositories as one person may at once"

# The memory in bytes that the code of this thread's turn may take; None without a turn.
_share: ContextVar[int | None] = ContextVar("share", default=None)


@contextmanager
def turn(by: Any = None) -> Iterator[None]:
    """For what a door waits for: a few problems at once share the memory of one candidate.

    The database connection is given back, as others may need it while this one waits.

    by: the user who waits for the answer. Raises TooManyAtOnce; without a user, as of a command,
    this waits. Raises OSError.
    """
    memory = memory_limit(int(settings.KOPT_RUNNER_MIB) << 20)
    most = max(1, min(MOST_AT_ONCE, memory // LEAST_SHARE_BYTES))
    with ExitStack() as held:
        if by is not None:
            held.enter_context(_place(f"person-{by.pk}", max(1, most // 2), TAKEN_BY_ONE))
        held.enter_context(_place("host", most, "" if by is None else TAKEN))
        give_connection_back()
        before = _share.set(memory // most)
        try:
            yield
        finally:
            _share.reset(before)


@contextmanager
def turn_memory() -> Iterator[int]:
    """What a problem's code may take, in bytes; 0 for as much as a candidate.

    Without a turn the code is that of a worker or a command, with cases of any size: one at a time.
    """
    give_connection_back()
    if (share := _share.get()) is not None:
        yield share
        return
    with _place("large", 1, ""):
        yield 0


@contextmanager
def _place(name: str, most: int, refusal: str) -> Iterator[None]:
    """One of so many places; without a refusal this waits for one."""
    folder = Path(settings.DATA_DIR) / "turns"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    while (held := _free(folder, name, most)) is None:
        if refusal:
            raise TooManyAtOnce("problem", refusal, RETRY_S)
        time.sleep(LOOK_S)
    try:
        yield
    finally:
        os.close(held)


def _free(folder: Path, name: str, most: int) -> int | None:
    """The open and locked file of a place that is free."""
    for number in range(most):
        file = os.open(folder / f"{name}-{number}", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except OSError as error:
            os.close(file)
            if error.errno != errno.EWOULDBLOCK:
                raise
    return None
