"""Whether an error says that a disk is full, and which one."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path

from django.conf import settings
from django.db import connection

FULL = (errno.ENOSPC, errno.EDQUOT)
# SQLite's words for it: of a write, and of the shared memory that its readers need, too.
SQLITE_FULL = ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_WRITE")
FULL_TEXT = "database or disk is full"
POSTGRESQL_FULL = "53100"
STILL = "What is stored can still be read; nothing new is stored until space is freed."


def full_disk(error: BaseException) -> str:
    """What is full and what still works, in one or two sentences; empty for any other error."""
    one: BaseException | None = error
    while one is not None:
        if getattr(one, "sqlstate", None) == POSTGRESQL_FULL:
            return f"The disk of the database server is full. {STILL}"
        if getattr(one, "sqlite_errorname", "") in SQLITE_FULL or str(one) == FULL_TEXT:
            return _full(Path(connection.settings_dict["NAME"]).parent)
        if isinstance(one, OSError) and one.errno in FULL:
            # Else the folder with the fullest disk among those that kopt writes to.
            folders = (Path(settings.DATA_DIR), Path(tempfile.gettempdir()), Path(os.getcwd()))
            fullest = min(folders, key=lambda folder: shutil.disk_usage(folder).free)
            return _full(Path(one.filename).parent if one.filename else fullest)
        one = one.__cause__ or one.__context__
    return ""


def _full(folder: Path) -> str:
    return f"The disk of {folder} is full. {STILL}"
