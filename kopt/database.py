"""Which database is used: SQLite in the data folder by default, or the one of DATABASE_URL."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from kopt import environment as env

ACCEPTED = "postgres://user:password@host:5432/name or sqlite:////folder/file"
ENGINES = ("sqlite3", "postgresql")
# Of each process; a server usually takes a hundred. timeout: seconds.
# After reconnect_timeout whoever waits asks anew: the pauses between tries double.
POOL = {"min_size": 0, "max_size": 20, "timeout": 10.0, "reconnect_timeout": 5.0}
# A server that is gone without a word is noticed within about 20 s: libpq's own names and units.
LIVING = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}


def database_settings(data_dir: Path) -> dict[str, Any]:
    """Django's settings of the one database. Raises ImproperlyConfigured."""
    # The database of a team: `postgres://user:password@host:5432/kopt`. Empty: SQLite in the data
    # folder.
    url = env.text("DATABASE_URL", "") or f"sqlite:///{data_dir / 'kopt.sqlite3'}"
    try:
        found: dict[str, Any] = dict(dj_database_url.parse(url))
    except ValueError:
        found = {"ENGINE": ""}
    engine = found["ENGINE"].rpartition(".")[2]
    if engine not in ENGINES:
        # The value is not repeated: it may hold a password.
        raise ImproperlyConfigured(f"DATABASE_URL: accepted is {ACCEPTED}")
    if engine == "sqlite3":
        # IMMEDIATE takes the write lock at BEGIN, so two writers wait instead of failing half-way.
        found["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            # Sorting needs no file, so that a page can be read while the disk is full.
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;"
            ),
        }
    else:
        # Each request has a thread of its own; without a pool two hundred at once would be more
        # connections than the server takes. Whoever finds none free waits.
        found["OPTIONS"] = {**LIVING, **found.get("OPTIONS", {}), "pool": POOL}
        found["ENGINE"] = "kopt.postgresql"
    return found


def hold_open(database: dict[str, Any]) -> sqlite3.Connection | None:
    """One idle connection to an SQLite database, for as long as the caller keeps it.

    While one is open its log and index stay on the disk. Whoever comes first makes them, and on a
    full disk cannot: then no page could be read.
    """
    if not database["ENGINE"].endswith("sqlite3"):
        return None
    try:
        kept = sqlite3.connect(database["NAME"], check_same_thread=False)
        kept.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.Error:
        return None  # whoever asks for a page is told
    return kept
