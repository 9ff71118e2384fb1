"""What sanitizers write, as faults: bounded text of a process that held the candidate.

Formats: compiler-rt's report printers, which GCC and Clang share; for compute-sanitizer the
"Understanding Memcheck Errors" and "Racecheck Analysis Reports" chapters of its user manual
(docs.nvidia.com/compute-sanitizer), before and after 2023, when the place moved behind the name:

    at 0x70 in /tmp/candidate.cu:7:kernel(int *)      at kernel(int *)+0x70 in candidate.cu:7
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import zip_longest

from campaigns.evaluator.contract import Fault

MOST = 5
WORDS = 300
LOG_CHARACTERS = 256 * 1024
# Sources are compiled under this name, whatever they are called (builds/shared_object.py).
PLACE = re.compile(r"\bcandidate\.(?:cpp|cu):(\d+)")

_ADDRESS = re.compile(
    r"==\d+==\s*ERROR: AddressSanitizer: ([\w -]+?)(?= on | in |: |\s*\(|$)", re.M
)
_ACCESS = re.compile(r"^(READ|WRITE) of size (\d+)", re.M)
_SIGNAL = re.compile(r"signal is caused by a (READ|WRITE) memory access")
_LOCATED = re.compile(r"\bis located ([^\[\n(]+)")
_THREAD = re.compile(r"^(?:WARNING|==\d+==ERROR): ThreadSanitizer: (.+?)(?: \(pid=| on |$)", re.M)
_RACERS = re.compile(r"^\s+((?:[Pp]revious )?(?:atomic )?(?:[Ww]rite|[Rr]ead) of size \d+)", re.M)
_UNDEFINED = re.compile(r"^(?:\S*/)?candidate\.cpp:(\d+):\d+: runtime error: (.+)$", re.M)
_DEVICE = re.compile(
    r"^========= (Invalid .+|Misaligned .+|Out-of-range .+|Malloc/Free [Ee]rror.+|Stack overflow.*"
    r"|Warp (?:Illegal|Misaligned|Invalid|Out-of-range).+|Device hardware .+)$",
    re.M,
)
_HAZARD = re.compile(r"^========= Error: (Race reported between \w+ access) at (.+)$", re.M)
_INDENTED = re.compile(r"^=========  +(.+)$", re.M)
_SUMMARY = re.compile(
    r"^========= (?:ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: .*\((\d+) error)", re.M
)


def address_faults(text: str, file: str) -> tuple[Fault, ...]:
    """Read AddressSanitizer's fault; it ends at the first one."""

    def details(head: re.Match[str], block: str) -> str:
        access, located = _ACCESS.search(block), _LOCATED.search(block)
        said = [f"{access[1].lower()} of {access[2]} bytes"] if access else []
        said += [f"{kind.lower()} of a bad address" for kind in _SIGNAL.findall(block)[:1]]
        return ", ".join([*said, *([located[1].strip()] if located else [])])

    return _faults(text, file, _ADDRESS, details)


def thread_faults(text: str, file: str) -> tuple[Fault, ...]:
    """Read ThreadSanitizer's faults."""

    def details(head: re.Match[str], block: str) -> str:
        return ", ".join(found.lower() for found in _RACERS.findall(block)[:2])

    return _faults(text, file, _THREAD, details)


def undefined_faults(text: str, file: str) -> tuple[Fault, ...]:
    """Read UndefinedBehaviorSanitizer's faults, one a line."""
    found = [
        Fault("undefined behaviour", said[:WORDS], file, int(line))
        for line, said in _UNDEFINED.findall(text)
    ]
    return tuple(found[:MOST])


def device_faults(text: str, file: str) -> tuple[Fault, ...]:
    """Read the faults of compute-sanitizer's memcheck."""

    def details(head: re.Match[str], block: str) -> str:
        lines = _INDENTED.findall(block)
        told = [line for line in lines if re.match(r"(Address|Access|and is|by thread) ", line)]
        return ", ".join(told)

    return _faults(text, file, _DEVICE, details)


def hazards(text: str, file: str) -> tuple[Fault, ...]:
    """Read the errors of compute-sanitizer's racecheck; warnings are left out."""

    def details(head: re.Match[str], block: str) -> str:
        others = [line for line in _INDENTED.findall(block) if line.startswith("and ")]
        return ", ".join([head[2], *others[:1]])

    return _faults(text, file, _HAZARD, details)


def errors_counted(text: str) -> int | None:
    """How many errors compute-sanitizer counted at its end; None where it did not come to one."""
    found = _SUMMARY.search(text)
    return int(found[1] or found[2]) if found else None


def _faults(
    text: str, file: str, heads: re.Pattern[str], details: Callable[[re.Match[str], str], str]
) -> tuple[Fault, ...]:
    """One fault for each head; `details` reads the text from there to the next head."""
    found, text = [], text[:LOG_CHARACTERS]
    started = list(heads.finditer(text))
    for head, following in zip_longest(started[:MOST], started[1 : MOST + 1]):
        block = text[head.start() : following.start() if following else len(text)]
        place = PLACE.search(block)
        told = PLACE.sub(lambda place: f"{file}:{place[1]}", details(head, block))
        said = " ".join(told.split())
        line = int(place[1]) if place else 0
        found.append(Fault(head[1].strip()[:WORDS], said[:WORDS], file, line))
    return tuple(found)
