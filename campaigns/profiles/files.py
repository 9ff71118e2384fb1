"""Which profiler wrote a text, by its head, and what it says."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping

from campaigns.evaluator.contract.programs import NCU, PERF
from campaigns.profiles import ncu, perf, rocprof
from campaigns.profiles.amd import Card
from campaigns.profiles.kernel_profile import KernelProfile, ProfileError

Found = tuple[KernelProfile, ...]
# By the name of the tool, as a stored profile has it.
READERS: Mapping[str, Callable[[str, str], Found]] = {
    NCU: ncu.read_raw,
    PERF: perf.read_stat,
}


def read_files(texts: Mapping[str, str], card: Card | None = None) -> Found:
    """The launches of one run. texts: name → text; several are passes of rocprofv3's counters.

    card: what AMD's counters do not say of it. Raises ProfileError.
    """
    if all(_is_counters(text) for text in texts.values()):
        return rocprof.read_counters(texts, card)
    if len(texts) > 1:
        other = next(name for name, text in texts.items() if not _is_counters(text))
        words = f"several files are passes of one run; accepted: {rocprof.COUNTERS}"
        raise ProfileError(other, 1, words)
    ((name, text),) = texts.items()
    return _reader_of(text)(text, name)


def _reader_of(text: str) -> Callable[[str, str], Found]:
    """What is no other profiler's is tried as ncu's, whose reader says what is accepted."""
    if {*rocprof.TRACE_COLUMNS} <= _columns(text):
        return rocprof.read_trace
    return READERS[PERF if perf.is_stat(text) else NCU]


def _is_counters(text: str) -> bool:
    return {*rocprof.COUNTER_COLUMNS} <= _columns(text)


def _columns(text: str) -> set[str]:
    """The cells of the first line."""
    try:
        return {*next(csv.reader([text.partition("\n")[0]]), [])}
    except csv.Error:
        return set()
