"""What a reviewer should look at in a candidate's source, and what a campaign makes of it.

A finding is evidence for a person and never a verdict: every pattern here has honest uses, and
whoever wants to hide one can. What a candidate may do is held by the lock-down and the judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Stance(StrEnum):
    """What a campaign makes of a kind of finding."""

    ALLOWED = "allowed"
    FLAGGED = "flagged"
    REFUSED = "refused"


class Kind(StrEnum):
    """What was found; the value is stored."""

    IDENTITY_KEY = "identity_key"
    CACHE = "cache"
    STREAM = "stream"
    THREAD = "thread"
    NATIVE_ACCESS = "native_access"
    PROCESS = "process"
    EXIT = "exit"
    LIBRARY = "library"
    DETECTION = "detection"
    FALLBACK = "fallback"
    PATCHING = "patching"
    GLOBAL_STATE = "global_state"
    HIDDEN_CODE = "hidden_code"
    LAZY_OUTPUT = "lazy_output"

    @property
    def words(self) -> str:
        """The kind as people read it."""
        return self.value.replace("_", " ")

    @property
    def meaning(self) -> str:
        """Why a reviewer should look, in one sentence."""
        return _MEANING[self]


_MEANING: Mapping[Kind, str] = {
    Kind.IDENTITY_KEY: "An address or identity is read; with it an earlier answer can be found.",
    Kind.CACHE: "Something outlives the call; the next call may answer from it.",
    Kind.STREAM: "Work on a stream of its own can go on after the call has returned.",
    Kind.THREAD: "Work in a thread or callback of its own can go on after the call has returned.",
    Kind.NATIVE_ACCESS: "Memory or the process is reached around the language.",
    Kind.PROCESS: "Another process or program is started, spoken to or signalled.",
    Kind.EXIT: "The process is ended from inside; error checks do so, and so does who hides one.",
    Kind.LIBRARY: "An operator of a library does work that the kernel is for.",
    Kind.DETECTION: "The surroundings are looked at: who calls, the time, the machine.",
    Kind.FALLBACK: "An error is swallowed; another way may do the work.",
    Kind.PATCHING: "A function of somebody else is replaced.",
    Kind.GLOBAL_STATE: "A setting is changed that holds for more than this call.",
    Kind.HIDDEN_CODE: "Code is made or loaded that does not stand in this file.",
    Kind.LAZY_OUTPUT: "A tensor is replaced or computes itself when it is read.",
}

DEFAULT_POLICY: Mapping[Kind, Stance] = dict.fromkeys(Kind, Stance.FLAGGED) | {
    Kind.PROCESS: Stance.REFUSED,
    Kind.PATCHING: Stance.REFUSED,
    Kind.LAZY_OUTPUT: Stance.REFUSED,
}
# Where a backend's honest candidates commonly do it. Threads are how a C++ kernel uses its cores,
# and work that they leave running is seen by the judge.
_BY_BACKEND: Mapping[str, Mapping[Kind, Stance]] = {"cpp": {Kind.THREAD: Stance.ALLOWED}}


@dataclass(frozen=True, slots=True)
class Finding:
    """One place: `line` counts from 1; `quote` is that line, at most 200 characters of it."""

    kind: Kind
    line: int
    what: str
    quote: str


class PolicyError(ValueError):
    """A policy that names an unknown kind or stance; the message says what is accepted."""


def default_policy(backend: str) -> dict[Kind, Stance]:
    """What a campaign with this backend makes of each kind, unless it says otherwise."""
    return {**DEFAULT_POLICY, **_BY_BACKEND.get(backend, {})}


def read_policy(given: Mapping[str, str], backend: str = "") -> dict[Kind, Stance]:
    """The backend's policy with what a campaign says otherwise. Raises PolicyError."""
    policy = default_policy(backend)
    for name, stance in given.items():
        if name not in set(Kind):
            raise PolicyError(f"findings: {name!r}; accepted: {', '.join(Kind)}")
        if stance not in set(Stance):
            raise PolicyError(f"findings.{name}: {stance!r}; accepted: {', '.join(Stance)}")
        policy[Kind(name)] = Stance(stance)
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
    policy: Mapping[Kind, Stance]

    def of(self, stance: Stance) -> tuple[Finding, ...]:
        """Those findings of which the policy says `stance`, in the order of their lines."""
        return tuple(found for found in self.findings if self.policy[found.kind] is stance)
