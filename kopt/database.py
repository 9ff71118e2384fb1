"""Which database is used: SQLite in the data folder by default, or the one of DATABASE_URL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from kopt import environment as env

ACCEPTED = "postgres://user:password@host:5432/name or sqlite:////folder/file"
ENGINES = ("sqlite3", "postgresql")
# Of each process; a server usually takes a hundred. timeout: seconds.
POOL = {"min_size": 0, "max_size": 20, "timeout": 30.0}


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
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        }
    else:
        # Each request has a thread of its own; without a pool two hundred at once would be more
        # connections than the server takes. Whoever finds none free waits.
        found["OPTIONS"] = {**found.get("OPTIONS", {}), "pool": POOL}
    return found
