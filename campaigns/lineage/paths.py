"""Names in a repository: of branches and of files, where neither git nor a shell misreads them."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import PurePosixPath

from campaigns.lineage.git import LineageError

LONGEST_WORD = 40
# Git keeps its own things under such names, some systems read others as the same.
OWN = re.compile(r"\.git|git~\d", re.IGNORECASE)


def branch_name(op: str, backend: str, gpu: str, day: datetime) -> str:
    """R9's and R46's branch: optimize/<op>_<backend>_<gpu>_<date>."""
    return "optimize/" + "_".join([*(map(_word, (op, backend, gpu))), f"{day:%Y-%m-%d}"])


def quoted(path: str) -> str:
    """A file's path in fast-import's quotes. Raises LineageError where it is no plain path."""
    parts = PurePosixPath(path).parts
    plain = path == "/".join(parts) and path.isprintable() and not set('"\\') & set(path)
    if not plain or not parts or any(p in ("..", "/") or OWN.match(p) for p in parts):
        raise LineageError(f"file name {path!r}; accepted: a plain path inside of the problem")
    return f'"{path}"'


def _word(text: str) -> str:
    """Letters, digits, _ and -: whatever else there is could mean something in a branch's name."""
    plain = re.sub(r"[^A-Za-z0-9_]+", "-", text)[:LONGEST_WORD].strip("-_")
    return plain or "unnamed"
