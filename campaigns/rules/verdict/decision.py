"""The values that a verdict is made of: words, reasons, gates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from campaigns.rules.noise.gain import Gain
from campaigns.rules.wording import WordedEnum


class VerdictWord(WordedEnum):
    """The conclusion about a candidate. The value is stored; every page prints `words`."""

    ACCEPTED = "accepted"
    NO_CHANGE = "no_change", "no change shown"
    REJECTED = "rejected"
    INVALID = "invalid"
    NEEDS_REVIEW = "needs_review"
    NOT_JUDGED = "not_judged", "not judged here"
    RUNNING = "running"

    def told(self, sentence: str) -> str:
        """The word, then the sentence; the sentence alone if it begins with the word."""
        begins = sentence.lower().startswith(self.words)
        return sentence if begins else f"{self.words}: {sentence}"


class Reason(StrEnum):
    """Why the verdict is what it is; exactly one per decision, and of one verdict each."""

    verdict: VerdictWord
    words: str

    def __new__(cls, value: str, verdict: VerdictWord = VerdictWord.NEEDS_REVIEW) -> Self:
        member = str.__new__(cls, value)
        member._value_, member.verdict = value, verdict
        member.words = verdict.words if value == verdict else value.replace("_", " ")
        return member

    PROMOTED = "promoted", VerdictWord.ACCEPTED
    BASELINE = "baseline", VerdictWord.ACCEPTED
    WITHIN_NOISE = "within_noise", VerdictWord.NO_CHANGE
    TOO_FEW_SAMPLES = "too_few_samples", VerdictWord.NO_CHANGE
    TOO_SHORT = "too_short", VerdictWord.NO_CHANGE
    NEEDS_SECOND_SESSION = "needs_second_session", VerdictWord.NO_CHANGE
    NOT_REPEATED = "not_repeated", VerdictWord.NO_CHANGE
    SESSIONS_DISAGREE = "sessions_disagree", VerdictWord.NEEDS_REVIEW
    SLOWER = "slower", VerdictWord.REJECTED
    CASE_REGRESSED = "case_regressed", VerdictWord.REJECTED
    CLASS_REGRESSED = "class_regressed", VerdictWord.REJECTED
    CLASS_NOT_GAINED = "class_not_gained", VerdictWord.NO_CHANGE
    FINDING_REFUSED = "finding_refused", VerdictWord.REJECTED
    WRONG_RESULT = "wrong_result", VerdictWord.REJECTED
    BUILD_FAILED = "build_failed", VerdictWord.REJECTED
    CRASHED = "crashed", VerdictWord.REJECTED
    TIMED_OUT = "timed_out", VerdictWord.REJECTED
    CHEATED = "cheated", VerdictWord.INVALID
    SANITIZER = "sanitizer", VerdictWord.REJECTED
    NOT_SANITIZED = "not_sanitized", VerdictWord.NEEDS_REVIEW
    ABOVE_ROOF = "above_roof", VerdictWord.INVALID
    CEILING_TOO_LOW = "ceiling_too_low", VerdictWord.NEEDS_REVIEW
    PRECISION_CHANGED = "precision_changed", VerdictWord.NEEDS_REVIEW
    ANSWER_NEVER_VARIES = "answer_never_varies", VerdictWord.NEEDS_REVIEW
    BROKEN_HOST = "broken_host", VerdictWord.INVALID
    NOT_JUDGED = "not_judged", VerdictWord.NOT_JUDGED
    UNDECIDED = "undecided", VerdictWord.NOT_JUDGED
    DEVICE_TIME_DISAGREES = "device_time_disagrees", VerdictWord.NEEDS_REVIEW
    NO_DEVICE_TIME = "no_device_time", VerdictWord.NEEDS_REVIEW
    NOT_ITS_OWN_KERNEL = "not_its_own_kernel", VerdictWord.NEEDS_REVIEW
    KEEPS_ANSWERS = "keeps_answers", VerdictWord.NEEDS_REVIEW
    NOT_TIMED = "not_timed", VerdictWord.NEEDS_REVIEW
    NO_TRANSFER = "no_transfer", VerdictWord.REJECTED
    FITTED = "fitted_to_the_benchmark", VerdictWord.REJECTED
    NEEDS_FULL_LEVEL = "needs_full_level", VerdictWord.NO_CHANGE


# The gate of a claim that was measured again.
SECOND_SESSION = "second session"
# Of a candidate that was measured nowhere that could say: no attempt, and nothing is learned.
UNJUDGED = frozenset({Reason.BROKEN_HOST, Reason.NOT_JUDGED, Reason.UNDECIDED})


@dataclass(frozen=True, slots=True)
class Gate:
    """One check with its numbers. passed: None if it was not reached or cannot apply.

    citation: the sources of the limit, one per line.
    """

    name: str
    passed: bool | None
    found: str
    limit: str
    citation: str = ""


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """A gate and, if it decides, the reason and the sentence that explains it."""

    gate: Gate
    reason: Reason | None = None
    sentence: str = ""


def stopped(name: str, found: str, limit: str, reason: Reason, sentence: str) -> GateOutcome:
    """The outcome of a gate that was not passed."""
    return GateOutcome(Gate(name, False, found, limit), reason, sentence)


@dataclass(frozen=True, slots=True)
class Decision:
    """The conclusion from one report, and its reason.

    gain: against the incumbent; None without one. cases, classes: the same per case and per class.
    """

    reason: Reason
    sentence: str
    gain: Gain | None = None
    cases: Mapping[str, Gain] = field(default_factory=dict)
    classes: Mapping[str, Gain] = field(default_factory=dict)
    gates: tuple[Gate, ...] = ()

    @property
    def verdict(self) -> VerdictWord:
        return self.reason.verdict

    @property
    def void(self) -> bool:
        """Whether nothing was learned about the candidate, so that it must be measured again."""
        return self.reason is Reason.BROKEN_HOST
