"""Environment variables, read once by settings.py. Nonsense raises with what is accepted."""

from __future__ import annotations

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off", ""}


def text(name: str, default: str) -> str:
    return os.environ.get(name, default)


def choice(name: str, accepted: tuple[str, ...], *, default: str) -> str:
    value = os.environ.get(name, "").upper() or default
    if value not in accepted:
        raise ImproperlyConfigured(f"{name}={value!r}: accepted are {', '.join(accepted)}")
    return value


def flag(name: str, *, default: bool) -> bool:
    value = os.environ.get(name)
    if value is None:
        return default
    if value.lower() in TRUE:
        return True
    if value.lower() in FALSE:
        return False
    accepted = ", ".join(sorted((TRUE | FALSE) - {""}))
    raise ImproperlyConfigured(f"{name}={value!r}: accepted are {accepted}")


def number(name: str, default: float, *, least: float) -> float:
    value = os.environ.get(name, "")
    if not value:
        return default
    try:
        found = float(value)
    except ValueError:
        found = float("nan")
    if not found >= least:
        raise ImproperlyConfigured(f"{name}={value!r}: a number of at least {least:g} is accepted")
    return found


def words(name: str, default: tuple[str, ...]) -> list[str]:
    value = os.environ.get(name)
    return list(default) if value is None else [w.strip() for w in value.split(",") if w.strip()]


def folder(name: str, default: Path) -> Path:
    """The folder, made where it is missing."""
    path = Path(os.environ.get(name) or default).resolve()
    why = "not writable"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = error.strerror or str(error)
    if not (path.is_dir() and os.access(path, os.W_OK | os.X_OK)):
        raise ImproperlyConfigured(f"{name}={str(path)!r}: {why}; accepted is a writable folder")
    return path
