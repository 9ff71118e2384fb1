"""A connection to the database that may have died while a measurement ran."""

from __future__ import annotations

from django.db import connection


def renew_connection() -> bool:
    """Close this thread's connection where it has died; the next query opens another one.

    False where it lives, or where there is none. A transaction cannot go on over another
    connection: within one nothing is done.
    """
    if connection.connection is None or connection.in_atomic_block or connection.is_usable():
        return False
    connection.close()
    return True
