"""Where a sanitizer would be wrong about honest code, or has nothing to look for: in words."""

from __future__ import annotations

import re
from pathlib import Path

from campaigns.evaluator.contract import Source

_TURNED_OFF = re.compile(r"\bno_sanitize|\bdisable_sanitizer")
# ThreadSanitizer follows atomics and locks, but neither fences nor what libraries that were built
# without it do inside; both would be told as races.
_NOT_FOLLOWED = (
    ("OpenMP, whose runtime synchronises unseen", re.compile(r"-fopenmp|\bomp\.h\b")),
    (
        "fences, which it does not follow",
        re.compile(r"thread_fence\b|__sync_synchronize\b|\bmfence\b|\b_mm_[lsm]fence\b"),
    ),
    ("parallel algorithms, whose library synchronises unseen", re.compile(r"\bexecution::par")),
)
# Racecheck does not follow the barriers that asynchronous bulk copies complete on.
_BULK_COPIES = re.compile(r"cp\.async\.bulk|cp_async_bulk")
# One of these names is in every program that starts a thread; in a plain one none has to be.
_THREADS = re.compile(rb"pthread_create|_M_start_thread|thrd_create|GOMP_|dlsym|dlopen|syscall|tbb")


def turned_off(source: Source) -> str:
    """Why no sanitizer could say anything; "" where it can."""
    found = _TURNED_OFF.search(source.text)
    return f"the source turns sanitizers off ({found[0]})" if found else ""


def no_thread_verdict(source: Source) -> str:
    """Why ThreadSanitizer would see races that are none; "" where it would not."""
    text = "\n".join([*source.flags, source.text])
    for words, mark in _NOT_FOLLOWED:
        if mark.search(text):
            return f"the source uses {words}, so races that are none would be told"
    return ""


def no_race_verdict(source: Source) -> str:
    """Why racecheck would see hazards that are none; "" where it would not."""
    if _BULK_COPIES.search(source.text):
        return "the source uses bulk copies, whose barriers racecheck does not follow"
    return ""


def starts_threads(program: Path) -> bool:
    """Whether a built program may start threads, by the names that it holds."""
    return bool(_THREADS.search(program.read_bytes()))
