"""The values that a verdict is made of: words, reasons, gates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from campaigns.rules.noise.gain import Gain

# Of verdicts whose words say more than their stored value.
_WORDS = {"no_change": "no change shown", "not_judged": "not judged here"}


class VerdictWord(StrEnum):
    """The conclusion about a candidate. The value is stored; `words` is for people."""

    ACCEPTED = "accepted"
    NO_CHANGE = "no_change"
    REJECTED = "rejected"
    INVALID = "invalid"
    NEEDS_REVIEW = "needs_review"
    NOT_JUDGED = "not_judged"
    RUNNING = "running"

    @property
    def words(self) -> str:
        """The verdict as every page, report and command prints it."""
        return _WORDS.get(self.value, self.value.replace("_", " "))

    def told(self, sentence: str) -> str:
        """The word, then the sentence; the sentence alone if it begins with the word."""
        begins = sentence.lower().startswith(self.words)
        return sentence if begins else f"{self.words}: {sentence}"


class Reason(StrEnum):
    """Why the verdict is what it is; exactly one per decision."""

    PROMOTED = "promoted"
    BASELINE = "baseline"
    WITHIN_NOISE = "within_noise"
    TOO_FEW_SAMPLES = "too_few_samples"
    TOO_SHORT = "too_short"
    NEEDS_SECOND_SESSION = "needs_second_session"
    NOT_REPEATED = "not_repeated"
    SESSIONS_DISAGREE = "sessions_disagree"
    SLOWER = "slower"
    CASE_REGRESSED = "case_regressed"
    CLASS_REGRESSED = "class_regressed"
    CLASS_NOT_GAINED = "class_not_gained"
    FINDING_REFUSED = "finding_refused"
    WRONG_RESULT = "wrong_result"
    BUILD_FAILED = "build_failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    CHEATED = "cheated"
    SANITIZER = "sanitizer"
    NOT_SANITIZED = "not_sanitized"
    ABOVE_ROOF = "above_roof"
    CEILING_TOO_LOW = "ceiling_too_low"
    PRECISION_CHANGED = "precision_changed"
    ANSWER_NEVER_VARIES = "answer_never_varies"
    BROKEN_HOST = "broken_host"
    NOT_JUDGED = "not_judged"
    DEVICE_TIME_DISAGREES = "device_time_disagrees"
    NO_DEVICE_TIME = "no_device_time"
    NOT_ITS_OWN_KERNEL = "not_its_own_kernel"
    NOT_TIMED = "not_timed"
    NO_TRANSFER = "no_transfer"
    FITTED = "fitted_to_the_benchmark"
    NEEDS_FULL_LEVEL = "needs_full_level"

    @property
    def words(self) -> str:
        """The reason as people read it."""
        return _WORDS.get(self.value, self.value.replace("_", " "))


# Of a candidate that was measured nowhere that could say: no attempt, and nothing is learned.
UNJUDGED = frozenset({Reason.BROKEN_HOST, Reason.NOT_JUDGED})

VERDICT_OF: Mapping[Reason, VerdictWord] = {
    Reason.PROMOTED: VerdictWord.ACCEPTED,
    Reason.BASELINE: VerdictWord.ACCEPTED,
    Reason.WITHIN_NOISE: VerdictWord.NO_CHANGE,
    Reason.TOO_FEW_SAMPLES: VerdictWord.NO_CHANGE,
    Reason.TOO_SHORT: VerdictWord.NO_CHANGE,
    Reason.NEEDS_SECOND_SESSION: VerdictWord.NO_CHANGE,
    Reason.NOT_REPEATED: VerdictWord.NO_CHANGE,
    Reason.NEEDS_FULL_LEVEL: VerdictWord.NO_CHANGE,
    Reason.SESSIONS_DISAGREE: VerdictWord.NEEDS_REVIEW,
    Reason.SLOWER: VerdictWord.REJECTED,
    Reason.CASE_REGRESSED: VerdictWord.REJECTED,
    Reason.CLASS_REGRESSED: VerdictWord.REJECTED,
    Reason.CLASS_NOT_GAINED: VerdictWord.NO_CHANGE,
    Reason.FINDING_REFUSED: VerdictWord.REJECTED,
    Reason.WRONG_RESULT: VerdictWord.REJECTED,
    Reason.BUILD_FAILED: VerdictWord.REJECTED,
    Reason.CRASHED: VerdictWord.REJECTED,
    Reason.TIMED_OUT: VerdictWord.REJECTED,
    Reason.SANITIZER: VerdictWord.REJECTED,
    Reason.CHEATED: VerdictWord.INVALID,
    Reason.ABOVE_ROOF: VerdictWord.INVALID,
    Reason.BROKEN_HOST: VerdictWord.INVALID,
    Reason.NOT_JUDGED: VerdictWord.NOT_JUDGED,
    Reason.NOT_SANITIZED: VerdictWord.NEEDS_REVIEW,
    Reason.CEILING_TOO_LOW: VerdictWord.NEEDS_REVIEW,
    Reason.PRECISION_CHANGED: VerdictWord.NEEDS_REVIEW,
    Reason.ANSWER_NEVER_VARIES: VerdictWord.NEEDS_REVIEW,
    Reason.DEVICE_TIME_DISAGREES: VerdictWord.NEEDS_REVIEW,
    Reason.NO_DEVICE_TIME: VerdictWord.NEEDS_REVIEW,
    Reason.NOT_ITS_OWN_KERNEL: VerdictWord.NEEDS_REVIEW,
    Reason.NOT_TIMED: VerdictWord.NEEDS_REVIEW,
    Reason.NO_TRANSFER: VerdictWord.REJECTED,
    Reason.FITTED: VerdictWord.REJECTED,
}


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
class Decision:
    """The conclusion from one report, and its reason.

    gain: against the incumbent; None without one. cases, classes: the same per case and per class.
    void: nothing was learned about the candidate (broken host), so it must be measured again.
    """

    verdict: VerdictWord
    reason: Reason
    sentence: str
    gain: Gain | None = None
    cases: Mapping[str, Gain] = field(default_factory=dict)
    classes: Mapping[str, Gain] = field(default_factory=dict)
    gates: tuple[Gate, ...] = ()
    void: bool = False
