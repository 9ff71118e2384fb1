"""Kinds of findings in a candidate's source, and how a campaign treats each.

A finding is evidence for a reviewer, never a verdict: every pattern here has honest uses, and a
candidate can always hide one. The lock-down and the judge limit what a candidate may do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self


class Stance(StrEnum):
    """How a campaign treats a kind of finding, the mildest first.

    REVIEW: a gain is accepted by a person only.
    """

    ALLOWED = "allowed"
    FLAGGED = "flagged"
    REVIEW = "review"
    REFUSED = "refused"


class FindingKind(StrEnum):
    """What was found; the value is stored. meaning: why a reviewer should look, in one sentence."""

    meaning: str

    def __new__(cls, value: str, meaning: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_, member.meaning = value, meaning
        return member

    IDENTITY_KEY = (
        "identity_key",
        "The code reads an address or an identity, which can lead it to an earlier answer.",
    )
    CACHE = "cache", "State outlives the call; the next call may return it."
    ANSWER_TABLE = (
        "answer_table",
        "One call stores answers, and later calls find them by what their inputs hold.",
    )
    STREAM = "stream", "The code uses its own stream, where work can go on after the call returns."
    THREAD = (
        "thread",
        "The code uses its own thread or callback, which can go on after the call returns.",
    )
    NATIVE_ACCESS = (
        "native_access",
        "The code bypasses the language to reach memory or the process.",
    )
    PROCESS = "process", "The code starts or contacts another process."
    EXIT = (
        "exit",
        "The code ends the process. Error checks do this, and so does code that hides an error.",
    )
    LIBRARY = "library", "A library operator does the work that the kernel should do."
    DETECTION = "detection", "The code inspects its caller, the time or the machine."
    FALLBACK = "fallback", "The code ignores an error; a fallback may do the work."
    PATCHING = "patching", "The code replaces a function of another module."
    GLOBAL_STATE = "global_state", "The code changes a setting beyond this call."
    HIDDEN_CODE = "hidden_code", "The code generates or loads code from outside this file."
    LAZY_OUTPUT = (
        "lazy_output",
        "The code replaces a tensor by one that computes its values when read.",
    )

    @property
    def words(self) -> str:
        """The kind as people read it."""
        return self.value.replace("_", " ")


# Where there is no campaign whose policy could refuse anything.
LENIENT: Mapping[FindingKind, Stance] = dict.fromkeys(FindingKind, Stance.FLAGGED) | {
    FindingKind.ANSWER_TABLE: Stance.REVIEW
}
DEFAULT_POLICY: Mapping[FindingKind, Stance] = {
    **LENIENT,
    FindingKind.PROCESS: Stance.REFUSED,
    FindingKind.PATCHING: Stance.REFUSED,
    FindingKind.LAZY_OUTPUT: Stance.REFUSED,
}
# What honest candidates of a backend commonly do. A C++ kernel needs threads to use its cores;
# the judge detects work that they leave running.
_BY_BACKEND: Mapping[str, Mapping[FindingKind, Stance]] = {
    "cpp": {FindingKind.THREAD: Stance.ALLOWED}
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One place: `line` counts from 1; `quote` is that line, at most 200 characters of it."""

    kind: FindingKind
    line: int
    what: str
    quote: str


class PolicyError(ValueError):
    """A policy that names an unknown kind or stance; the message says what is accepted."""


def default_policy(backend: str) -> dict[FindingKind, Stance]:
    """The stance of this backend on each kind, unless the campaign overrides it."""
    return {**DEFAULT_POLICY, **_BY_BACKEND.get(backend, {})}


def read_policy(given: Mapping[str, str], backend: str = "") -> dict[FindingKind, Stance]:
    """The backend's policy with the campaign's overrides. Raises PolicyError."""
    policy = default_policy(backend)
    for name, stance in given.items():
        if name not in set(FindingKind):
            raise PolicyError(f"findings: {name!r}; accepted: {', '.join(FindingKind)}")
        if stance not in set(Stance):
            raise PolicyError(f"findings.{name}: {stance!r}; accepted: {', '.join(Stance)}")
        policy[FindingKind(name)] = Stance(stance)
    return policy


def parse_choices(texts: Iterable[str]) -> dict[str, str]:
    """`kind=stance` each, as a command line gives them. Raises PolicyError."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, stance = text.partition("=")
        if not equals:
            raise PolicyError(f"findings: {text!r}; accepted: KIND=STANCE, such as cache=refused")
        if name in found:
            raise PolicyError(f"findings.{name}: given twice; accepted: once")
        found[name] = stance
    return found


@dataclass(frozen=True, slots=True)
class Examined:
    """The findings of one source under one campaign's policy. file: the source's name."""

    file: str
    findings: tuple[Finding, ...]
    policy: Mapping[FindingKind, Stance]

    def of(self, stance: Stance) -> tuple[Finding, ...]:
        """The findings that the policy gives this stance, in the order of their lines."""
        return tuple(found for found in self.findings if self.policy[found.kind] is stance)
