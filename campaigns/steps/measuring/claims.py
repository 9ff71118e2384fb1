"""The claim of one row: its heartbeat, and the database's connection that it writes over."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.db.models import QuerySet
from django.utils import timezone

from campaigns.devices.processes import ClaimLost
from campaigns.models.transitions import claim


def renew_connection() -> bool:
    """Close this thread's connection where it has died; the next query opens another one.

    False where it lives, or where there is none. A transaction cannot go on over another
    connection: within one nothing is done.
    """
    if connection.connection is None or connection.in_atomic_block or connection.is_usable():
        return False
    connection.close()
    return True


log = logging.getLogger(__name__)


def _nothing() -> None:
    return None


class ClaimHeartbeat:
    """Called every second with the phase; stores both now and then.

    mine: the row while this process holds it. longest: as many characters as its phase has. also:
    called whenever it is stored.
    """

    def __init__(
        self, mine: QuerySet[Any], longest: int, also: Callable[[], object] = _nothing
    ) -> None:
        self._mine, self._longest, self._also = mine, longest, also
        self._phase, self._due = "", 0.0

    def __call__(self, phase: str) -> None:
        """Raises ClaimLost. What follows finds a living connection, if there is a database."""
        renew_connection()
        now = time.monotonic()
        if phase == self._phase and now < self._due:
            return
        self._phase, self._due = phase, now + settings.KOPT_HEARTBEAT_S
        try:
            held = claim(self._mine, heartbeat_at=timezone.now(), phase=phase[: self._longest])
            self._also()
        except (OperationalError, InterfaceError) as error:
            log.warning("heartbeat not written: %s", error)
            return
        if not held:
            raise ClaimLost
