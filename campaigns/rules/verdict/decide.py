"""From the measured sessions of a round to its verdict: pure, and called once per round (R43)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from campaigns.evaluator.contract import CaseReport, Outcome, Report, Timing
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.decision import SECOND_SESSION, Decision, Gate, Reason
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import (
    PairedComparison,
    against_words,
    compare_sessions,
    decide_session,
    judge_comparison,
)
from campaigns.rules.verdict.sanitizers import under_sanitizers

# The gains of two sessions may differ by drift; below this share of the other gain they are
# different effects.
LEAST_KEPT = 0.5
SESSION = "session"
_LIMIT = "every gate again, with the gain, in new processes on unseen inputs"
_AGREE = "the same gain in both, and the two together pass"
_NOT_REACHED = Gate("both sessions", None, "not reached", _AGREE)


def claims(decision: Decision) -> bool:
    """Whether this decision would be accepted, so that it needs a second session."""
    return decision.reason in (Reason.PROMOTED, Reason.NEEDS_SECOND_SESSION)


def agree(one: Gain, other: Gain, noise: float) -> bool:
    """Whether two sessions show the same gain.

    They do if their intervals meet, if they differ by less than the noise of two estimates, or if
    the smaller gain keeps at least half of the larger.
    """
    small, large = sorted((one, other), key=lambda gain: gain.gain)
    if small.high >= large.low or large.gain - small.gain <= 2 * noise:
        return True
    return small.gain >= LEAST_KEPT * large.gain


def decide_again(first: Report, second: Report, standard: Standard) -> Decision:
    """Judge a claim by its two sessions and by the sanitizers run with the second.

    Raises ValueError when the first session claims nothing.
    """
    twice = replace(standard, sessions=2)
    claim = decide_session(first, twice)
    if claim.gain is None or not claims(claim):
        raise ValueError(f"first session: {claim.reason.words}; accepted: one that shows a gain")
    decision = _by_both(claim, claim.gain, (first, second), twice)
    return under_sanitizers(decision, second.sanitized, required=standard.require_sanitizers)


def _by_both(
    claim: Decision, claimed: Gain, reports: tuple[Report, Report], standard: Standard
) -> Decision:
    shown = f"The first session showed {against_words(claimed)}"
    if broken := _broken(*reports):
        sentence = f"Not caused by the candidate: {broken}. {shown}; nothing is concluded."
        gate = Gate(SECOND_SESSION, None, "could not be measured", _LIMIT)
        return _of(Reason.BROKEN_HOST, sentence, (*claim.gates, gate, _NOT_REACHED))
    repeat = decide_session(reports[1], standard)
    both = compare_sessions(reports, standard) if repeat.gain else None
    if both is None or repeat.gain is None or not claims(repeat):
        # The second session's own gates name the reason; "within noise" is "not repeated" here.
        unshown = repeat.reason in (Reason.WITHIN_NOISE, Reason.TOO_FEW_SAMPLES)
        reason = Reason.NOT_REPEATED if unshown else repeat.reason
        sentence = (
            f"{reason.verdict.words.capitalize()}: the second session did not confirm the gain. "
            f"{shown}. The second session: {repeat.sentence}"
        )
        failed = next((gate for gate in repeat.gates if gate.passed is False), None)
        found = f"{failed.name}: {failed.found}" if failed else repeat.sentence
        gate = Gate(SECOND_SESSION, False, found, _LIMIT, failed.citation if failed else "")
        return _of(reason, sentence, (*claim.gates, gate, _NOT_REACHED), both)
    each = (
        f"The first session showed {claimed.brief}, the second, in new processes on unseen inputs, "
        f"{repeat.gain.brief}, both against the incumbent"
    )
    if agree(claimed, repeat.gain, standard.noise):
        decision = judge_comparison(both, standard, ())
        reason, sentence = decision.reason, f"{decision.sentence} {each}."
        both = both.credited if reason is Reason.PROMOTED else both
    else:
        reason = Reason.SESSIONS_DISAGREE
        sentence = f"Needs review: each session shows a gain, but not the same. {each}."
    gate = Gate(SECOND_SESSION, True, against_words(repeat.gain), _LIMIT)
    accepted = reason is Reason.PROMOTED
    last = Gate("both sessions", accepted, against_words(both.gain), _AGREE)
    return _of(reason, sentence, (*claim.gates, gate, last), both)


def _broken(first: Report, second: Report) -> str:
    """Why the second report does not count as a second session; empty if it does."""
    if second.outcome.tells_nothing:
        return f"in the second session, {second.reason}"
    name = second.environment.get(SESSION)
    if name is not None and name == first.environment.get(SESSION):
        return f"the second session is the first one again ({name})"
    return ""


def _of(
    reason: Reason, sentence: str, gates: tuple[Gate, ...], both: PairedComparison | None = None
) -> Decision:
    """A decision on both sessions. Without a common gain it has none: not the first one's."""
    if both is None:
        return Decision(reason, sentence, gates=gates)
    return Decision(reason, sentence, both.gain, both.cases, both.classes, gates)


def decide_elsewhere(report: Report, standard: Standard, accepted: Gain) -> Decision:
    """Judge the measurement of another worker: promoted if it shows the accepted gain again."""
    found = decide_session(report, replace(standard, sessions=2))
    if found.gain is None or not claims(found) or agree(found.gain, accepted, standard.noise):
        return found
    sentence = f"Here {against_words(found.gain)}; accepted was {against_words(accepted)}."
    return replace(found, reason=Reason.SESSIONS_DISAGREE, sentence=sentence)


def merged(first: Report, second: Report) -> Report:
    """The report for a verdict on both: the first, with the samples of both in every case.

    A failed second session is shown alone, one that tells nothing not at all.
    """
    if second.outcome.tells_nothing:
        return first
    if second.outcome is not Outcome.PASSED:
        return second
    others = {case.case: case for case in second.cases}
    cases = tuple(_merged(case, others.get(case.case)) for case in first.cases)
    return replace(first, cases=cases)


def _merged(case: CaseReport, other: CaseReport | None) -> CaseReport:
    if other is None:
        return case
    return replace(
        case,
        checked_calls=case.checked_calls + other.checked_calls,
        margin=_worse(case.margin, other.margin),
        max_abs_error=_worse(case.max_abs_error, other.max_abs_error),
        max_rel_error=_worse(case.max_rel_error, other.max_rel_error),
        candidate=_joined(case.candidate, other.candidate),
        incumbent=_joined(case.incumbent, other.incumbent),
    )


def _worse(one: float | None, other: float | None) -> float | None:
    return max((value for value in (one, other) if value is not None), default=None)


def _joined(one: Timing | None, other: Timing | None) -> Timing | None:
    if one is None or other is None:
        return one
    return replace(
        one,
        samples_us=one.samples_us + other.samples_us,
        device_samples_us=one.device_samples_us + other.device_samples_us,
        device_pairs=(*(one.device_pairs or ()), *(other.device_pairs or ())) or one.device_pairs,
        repeats=other.repeats or one.repeats,
    )


@dataclass(frozen=True, slots=True)
class Judgement:
    """report: the facts that the verdict shows; None for a candidate that was never run.

    second: the decision on the second session alone; None before there is one. deciding: the
    session that the verdict names, whose cases `report` has: 0, or 1 if the second one failed.
    """

    decision: Decision
    report: Report | None = None
    second: Decision | None = None
    deciding: int = 0

    @property
    def is_claim(self) -> bool:
        """Whether the gain needs a second session before it can be accepted."""
        return self.second is None and claims(self.decision)


def best_of(judgements: Sequence[Judgement]) -> int:
    """Which of several candidates that were tried beside one incumbent a round is judged by.

    The fastest whose gain passes every gate; else the fastest that was timed; else the last one
    that failed by itself. A gain is no surer for being the best: see `looks_at` of
    `campaigns.evaluator.contract.looks`, and the second session, which has that candidate alone.
    """

    def rank(n: int) -> tuple[bool, bool, float, bool, int]:
        decision = judgements[n].decision
        gain = decision.gain
        shown = gain.gain if gain else 0.0
        return claims(decision), gain is not None, shown, not decision.void, n

    return max(range(len(judgements)), key=rank)


def decide(reports: Sequence[Report], standard: Standard) -> Judgement:
    """Judge a candidate by its sessions, the first one first.

    reports: none for a candidate whose source is refused, one at first, two after a second session.
    Raises ValueError if the arms of a case differ in sample count, and without a report if nothing
    is refused.
    """
    if not reports:
        return Judgement(decide_session(None, standard))
    first = decide_session(reports[0], standard)
    if len(reports) == 1:
        return Judgement(first, reports[0])
    second = decide_session(reports[1], replace(standard, sessions=2))
    if not claims(first):
        return Judgement(first, reports[0], second)
    shown = merged(*reports)
    return Judgement(
        decision=decide_again(reports[0], reports[1], standard),
        report=shown,
        second=second,
        deciding=int(shown is reports[1]),
    )
