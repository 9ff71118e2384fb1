"""The pooled connections to the database, of which a process has few."""

from django.db import connection


def give_connection_back() -> None:
    """Give this thread's connection back before a long wait; the next query takes another one.

    A transaction cannot go on over another connection: within one nothing is done.
    """
    if not connection.in_atomic_block:
        connection.close()
