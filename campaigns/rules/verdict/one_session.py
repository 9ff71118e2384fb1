"""From the facts of one report to one verdict (R43): gates in order, the first failure decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from campaigns.evaluator.contract import Outcome, Report
from campaigns.evaluator.contract.looks import Pair
from campaigns.rules.noise.directions import by_step
from campaigns.rules.noise.gain import (
    ONE_SESSION,
    Gain,
    both_arms,
    clock_pairs,
    improved,
    interval,
    pooled,
    regressed,
    undecided,
)
from campaigns.rules.verdict import gates
from campaigns.rules.verdict.buckets import credit_words, transfer
from campaigns.rules.verdict.case_limits import CaseEffect, Level, case_effect
from campaigns.rules.verdict.decision import Decision, Gate, GateOutcome, Reason, stopped
from campaigns.rules.verdict.dispatch import divergence, grouped, judge_split
from campaigns.rules.verdict.gates import Standard, decisive_samples
from campaigns.rules.verdict.repeats import repeats
from campaigns.rules.verdict.source_gates import for_review, own_kernels, static_findings
from campaigns.rules.wording import share

_Sessions = Sequence[Mapping[str, Sequence[Pair]]]
_FACT_GATES: tuple[Callable[[Report, Standard], GateOutcome], ...] = (
    gates.level,
    gates.build,
    gates.correctness,
    gates.plausibility,
    gates.device_time,
    own_kernels,
    gates.samples,
    repeats,
)
GATE_NAMES = (
    "static findings",
    "transfer",
    "level",
    "build",
    "correctness",
    "plausibility",
    "device time",
    "own kernels",
    "samples",
    "repeats",
    "guard",
    "aggregate",
)


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Candidate against incumbent, over all cases, for each, and for each class of cases.

    clock: by the judge's clock alone, where the others are by device time (a plain loop was timed).
    """

    gain: Gain
    cases: dict[str, Gain]
    classes: dict[str, Gain] = field(default_factory=dict)
    clock: PairedComparison | None = None

    @property
    def credited(self) -> PairedComparison:
        """The lesser gain of both clocks, in all and for each case.

        The runner reports the device time itself: it may show that a gain exists, not how large it
        is.
        """
        if self.clock is None:
            return self
        return replace(
            self,
            gain=_lesser(self.gain, self.clock.gain),
            cases=_lesser_of_each(self.cases, self.clock.cases),
            classes=_lesser_of_each(self.classes, self.clock.classes),
        )


def decide_session(report: Report | None, standard: Standard) -> Decision:
    """Judge one report; None for a candidate that was never run because its source is refused.

    Raises ValueError when the two arms of a case differ in sample count, and without a report
    where nothing is refused.
    """
    source = static_findings(standard.examined)
    if source.reason:
        return _decision(source.reason, source.sentence, (source.gate,))
    bucket = transfer(standard.declared)
    if bucket.reason:
        return _decision(bucket.reason, bucket.sentence, (source.gate, bucket.gate))
    if report is None:
        raise ValueError("report: None; accepted: the report of a candidate that is not refused")
    if report.outcome is Outcome.BROKEN_HOST:
        blamed = (
            "The problem has a fault" if report.problem_fault else "Not caused by the candidate"
        )
        sentence = f"{blamed}: {report.reason}. Nothing is concluded."
        return _decision(Reason.BROKEN_HOST, sentence, ())
    if report.outcome is Outcome.NOT_JUDGED:
        sentence = f"Not judged here: {report.reason}. Nothing is concluded."
        return _decision(Reason.NOT_JUDGED, sentence, ())
    passed = [source.gate, bucket.gate]
    for check in _FACT_GATES:
        finding = check(report, standard)
        passed.append(finding.gate)
        if finding.reason:
            return _decision(finding.reason, finding.sentence, tuple(passed))
    if not standard.has_incumbent:
        if standard.level is Level.QUICK:
            needed = gates.needs_full_level(standard)
            return _decision(Reason.NEEDS_FULL_LEVEL, needed.sentence, tuple(passed))
        sentence = f"Baseline: correct and timed on {len(report.cases)} case(s)."
        return _decision(Reason.BASELINE, sentence, tuple(passed))
    return judge_comparison(compare(report, standard), standard, tuple(passed))


def compare(report: Report, standard: Standard) -> PairedComparison:
    """Estimate the gain over all cases, each case and each class; both arms must be timed."""
    return compare_sessions((report,), standard)


def compare_sessions(reports: Sequence[Report], standard: Standard) -> PairedComparison:
    """The same over independent sessions of the same cases, each of equal weight."""
    clock = [{case.case: clock_pairs(case) for case in report.cases} for report in reports]
    pairs: list[dict[str, list[Pair]]] = []
    for report in reports:
        pairs.append({})
        for case in report.cases:
            # Device times of both arms where either is a plain loop, else burst times of both.
            old, new = (decisive_samples(case, arm) for arm in both_arms(case))
            pairs[-1][case.case] = list(zip(old, new, strict=True))
    level = min((r.level for r in reports if r.level is not None), default=None)
    found = _estimated(pairs, standard, level)
    return found if clock == pairs else replace(found, clock=_estimated(clock, standard, level))


def _estimated(sessions: _Sessions, standard: Standard, level: float | None) -> PairedComparison:
    """level: as in `interval`, the least of all sessions."""

    def gain(of_each: _Sessions) -> Gain:
        """One gain over all of these cases; the two directions of a step count as one (R14)."""
        found = [by_step(session, standard.halves) for session in of_each]
        if len(found) == 1:
            return interval(found[0], standard.seed, level)
        return pooled(found, standard.seed, level)

    def over(cases: Iterable[str]) -> Gain:
        return gain([{case: session[case] for case in cases} for session in sessions])

    classes = grouped(sessions[0], standard.classes)
    return PairedComparison(
        gain(sessions),
        {name: over([name]) for name in sessions[0]},
        {name: over(cases) for name, cases in classes.items()},
    )


def judge_comparison(
    compared: PairedComparison, standard: Standard, passed: tuple[Gate, ...]
) -> Decision:
    """The last gates: no protected case may lose, and there must be a gain over all cases.

    A dispatch split must also show a gain for each of its classes, and no loss elsewhere.
    """
    noise = standard.noise
    guard, total = _guard(compared, standard), _aggregate(compared, standard)
    if not guard.reason and not total.reason:
        guard = _guard_by_clock(compared, standard) or guard
    found = (*passed, guard.gate, total.gate)
    # A candidate that is slower over all cases is called slower, whatever its single cases show.
    first = total if total.reason is Reason.SLOWER or not guard.reason else guard
    if standard.taken:
        by_clock = compared.clock.classes if compared.clock else {}
        split = judge_split(compared.classes, by_clock, standard.taken, noise)
        found = (*found, split.gate)
        # A second session is needed only if the split could be kept.
        if split.reason and first.reason in (None, Reason.NEEDS_SECOND_SESSION):
            first = split
    if not first.reason and standard.level is Level.QUICK:
        first = gates.needs_full_level(standard)
    asked = for_review(standard.examined, against_words(compared.credited.gain))
    if asked and first.reason in (None, Reason.NEEDS_SECOND_SESSION):
        found, first = (*found, asked.gate), asked
    apart = divergence(compared.classes, noise)
    more = f" {apart.words}" if apart else ""
    if first.reason:
        return _decision(first.reason, first.sentence + more, found, compared)
    credited = compared.credited
    clock = told = ""
    if credited.gain is not compared.gain:
        clock = " by the judge's clock"
        told = f"; device time shows {against_words(compared.gain)}"
    sentence = (
        f"Accepted: {against_words(credited.gain)}{clock}, above the noise floor of "
        f"{share(noise)}{told}.{credit_words(standard.declared)}{more}"
    )
    return _decision(Reason.PROMOTED, sentence, found, credited)


def _guard(compared: PairedComparison, standard: Standard) -> GateOutcome:
    limit = _guard_limit(standard)
    gains = {name: gain for name, gain in compared.cases.items() if _is_protected(name, standard)}
    if not gains:
        return GateOutcome(Gate("guard", None, "no case is protected", limit))
    effects = {n: case_effect(gain, standard.noise, standard.guard) for n, gain in gains.items()}
    worst = min(gains, key=lambda name: gains[name].high)
    found = f"{worst}: {against_words(gains[worst])}"
    if CaseEffect.REJECT in effects.values():
        sentence = f"Rejected: {found} on a protected case; {limit}."
        return stopped("guard", found, limit, Reason.CASE_REGRESSED, sentence)
    warned = ", ".join(name for name, effect in effects.items() if effect is CaseEffect.WARN)
    warning = f"; warning: {warned} below the noise floor" if warned else ""
    return GateOutcome(Gate("guard", True, found + warning, limit))


def _is_protected(case: str, standard: Standard) -> bool:
    return standard.protected is None or case in standard.protected


def _guard_limit(standard: Standard) -> str:
    return f"no protected case may lose more than {share(-standard.guard.limit)} of its speed"


def _guard_by_clock(compared: PairedComparison, standard: Standard) -> GateOutcome | None:
    """Guard as for the gain: the runner reports the device time, so it clears no case alone."""
    for name, by_clock in (compared.clock.cases if compared.clock else {}).items():
        effect = case_effect(by_clock, standard.noise, standard.guard)
        if effect is CaseEffect.REJECT and _is_protected(name, standard):
            slow = f"{name}: {against_words(by_clock)} by the judge's clock"
            told = against_words(compared.cases[name])
            sentence = f"Needs review: {slow} on a protected case; device time shows {told}."
            limit = _guard_limit(standard)
            return stopped("guard", slow, limit, Reason.DEVICE_TIME_DISAGREES, sentence)
    return None


def _aggregate(compared: PairedComparison, standard: Standard) -> GateOutcome:
    gain, noise, by_clock = compared.gain, standard.noise, compared.clock
    found, limit = against_words(gain), f"interval above zero and more than {share(noise)}"
    if by_clock and improved(gain, noise) and not improved(by_clock.gain, noise):
        # The runner reports the device time itself; alone it never accepts anything.
        reason = Reason.DEVICE_TIME_DISAGREES
        sentence = f"Needs review: {found} by device time, but the judge's clock shows "
        sentence += f"{against_words(by_clock.gain)}."
    elif regressed(gain, noise):
        reason, sentence = Reason.SLOWER, f"Rejected: {found}."
    elif undecided(gain, noise):
        reason = Reason.UNDECIDED
        sentence = f"Undecided: {found}, which holds both no change and one of twice the noise "
        sentence += f"floor, {share(noise)}. Measure again on a quiet host."
    elif not improved(gain, noise):
        reason = Reason.WITHIN_NOISE
        sentence = f"No change shown: {found}; the noise floor is {share(noise)}."
    elif gain.gain < ONE_SESSION and standard.sessions < 2:
        reason = Reason.NEEDS_SECOND_SESSION
        sentence = f"No change shown: {found}; under {share(ONE_SESSION)} needs a second session."
    else:
        return GateOutcome(Gate("aggregate", True, found, limit))
    return stopped("aggregate", found, limit, reason, sentence)


def _lesser(one: Gain, other: Gain) -> Gain:
    return other if other.gain < one.gain else one


def _lesser_of_each(gains: dict[str, Gain], others: dict[str, Gain]) -> dict[str, Gain]:
    return {name: _lesser(gain, others.get(name, gain)) for name, gain in gains.items()}


def against_words(gain: Gain) -> str:
    """A gain as every sentence writes it: with its baseline, interval and count (law 9)."""
    return gain.over("the incumbent")


def _decision(
    reason: Reason, sentence: str, found: tuple[Gate, ...], compared: PairedComparison | None = None
) -> Decision:
    missing = "no incumbent" if reason is Reason.BASELINE else "not reached"
    rest = tuple(Gate(name, None, missing, "") for name in GATE_NAMES[len(found) :])
    if compared is None:
        return Decision(reason, sentence, gates=found + rest)
    return Decision(reason, sentence, compared.gain, compared.cases, compared.classes, found + rest)
