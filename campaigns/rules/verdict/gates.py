"""The gates on a single report: build, correctness, plausibility, device time, samples."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from campaigns.evaluator.contract import CaseReport, Outcome, Report, Timer, Timing
from campaigns.evaluator.contract.timing import LAUNCH_US, SLACK, excess_us, pairs_of, ratios
from campaigns.rules.noise.directions import Halves
from campaigns.rules.noise.gain import LEAST_FLOOR, LEAST_PAIRS
from campaigns.rules.target.roofline import Floor
from campaigns.rules.verdict.buckets import Declared
from campaigns.rules.verdict.case_limits import GuardPolicy, Level, level_words
from campaigns.rules.verdict.decision import Gate, GateOutcome, Reason, stopped
from campaigns.rules.verdict.finding_kinds import Examined
from campaigns.rules.wording import digits, duration, share
from knowledge.specs.cited import EvidenceClass

_FAILED = (Outcome.WRONG_RESULT, Outcome.CHEATED, Outcome.CRASHED, Outcome.TIMED_OUT)


@dataclass(frozen=True, slots=True)
class Standard:
    """The standard that a report is judged by.

    has_incumbent: False for the baseline. is_v0: whether a campaign starts from this, which may be
    a library's. noise: the noise floor as a fraction (`noise_floor`).
    noise_source: where that comes from, in words.
    floors: physical floor per case; a case without one is not checked. lesser_floors: the same on
    the faster units of lesser precisions, where there are any. protected: cases that may
    not regress; None means all. sessions: independent sessions that showed this same gain.
    examined: the findings in the candidate's source under the campaign's policy.
    require_sanitizers: whether a sanitizer that did not run stops a gain. cases: all that must be
    in the report; None requires only one. classes: case → its config class (`classes.class_of`).
    declared: the transfer that the round's hypothesis declares; None without one. taken: in a
    dispatch split the classes that take the specialised kernel. level: of `cases`. whole: how many
    cases the campaign has, 0 if unknown. halves: case → the step that it is one direction of, in a
    problem of two. has_kernels: whether the source defines kernels that were compiled, where it
    ought to and no device tells which were launched; None where that is not asked.
    """

    has_incumbent: bool
    is_v0: bool = False
    noise: float = LEAST_FLOOR
    seed: int = 0
    floors: Mapping[str, Floor] = field(default_factory=dict)
    lesser_floors: Mapping[str, Floor] = field(default_factory=dict)
    protected: frozenset[str] | None = None
    guard: GuardPolicy = GuardPolicy.DEFAULT
    sessions: int = 1
    launch_overhead_us: float = LAUNCH_US
    noise_source: str = ""
    examined: Examined | None = None
    require_sanitizers: bool = False
    cases: frozenset[str] | None = None
    classes: Mapping[str, str] = field(default_factory=dict)
    declared: Declared | None = None
    taken: frozenset[str] = frozenset()
    level: Level = Level.FULL
    whole: int = 0
    halves: Halves = field(default_factory=dict)
    has_kernels: bool | None = None


def loops(timings: Iterable[Timing | None]) -> bool:
    """Say whether any arm was timed as a plain loop, so that device time decides (design §3)."""
    return any(timing is not None and timing.timer is Timer.LOOP for timing in timings)


def has_device_samples(timing: Timing) -> bool:
    """Say whether there is a device time for every sample."""
    return 0 < len(timing.samples_us) == len(timing.device_samples_us)


def decisive_samples(case: CaseReport, timing: Timing) -> tuple[float, ...]:
    """The samples of one arm that decide: device times where either arm is a plain loop."""
    if loops((case.candidate, case.incumbent)) and has_device_samples(timing):
        return timing.device_samples_us
    return timing.samples_us


def level(report: Report | None, standard: Standard) -> GateOutcome:
    """Which cases were measured? It stops nothing by itself; see `needs_full_level` (R18)."""
    words = level_words(standard.level, len(standard.cases or ()), standard.whole)
    full = standard.level is Level.FULL
    return GateOutcome(Gate("level", full or None, words, "all cases before anything is accepted"))


def needs_full_level(standard: Standard) -> GateOutcome:
    """The outcome of a gain on the quick level, which is never accepted."""
    gate = level(None, standard).gate
    sentence = f"No change shown: {gate.found}; nothing is accepted before the full level."
    return stopped("level", gate.found, gate.limit, Reason.NEEDS_FULL_LEVEL, sentence)


def build(report: Report, standard: Standard) -> GateOutcome:
    """Did it compile and load?"""
    limit = "compiles and loads"
    if report.outcome is Outcome.BUILD_FAILED:
        sentence = f"The build failed: {report.reason}"
        return stopped("build", report.reason, limit, Reason.BUILD_FAILED, sentence)
    return GateOutcome(Gate("build", True, "built", limit))


def correctness(report: Report, standard: Standard) -> GateOutcome:
    """Was every case right, and how much of the tolerance was used?"""
    limit = "every case within 1 × its tolerance"
    if report.outcome in _FAILED:
        reason, found = Reason(report.outcome.value), report.reason
        sentence = f"{reason.words.capitalize()} during {report.phase}: {found}"
    elif not report.cases:
        reason, found = Reason.WRONG_RESULT, "no case was checked"
        sentence = "Wrong result: no case was checked, so nothing shows that it is right."
    else:
        worst = max(report.cases, key=_error_share)
        found = _errors(worst)
        if _error_share(worst) <= 1:
            return GateOutcome(Gate("correctness", True, found, limit))
        reason = Reason.WRONG_RESULT
        sentence = f"Wrong result: {found}{'; ' + worst.message if worst.message else ''}"
    return stopped("correctness", found, limit, reason, sentence)


def plausibility(report: Report, standard: Standard) -> GateOutcome:
    """Is it slower than physics allows (law 6)?"""
    checked: list[tuple[float, CaseReport, float, Floor]] = []
    for case in report.cases:
        if case.candidate is None:
            continue
        if (strange := _strange_times(case.case, case.candidate)) is not None:
            return strange
        # The least time of any clock; none may be below the floor.
        clocks = (case.candidate.samples_us, decisive_samples(case, case.candidate))
        time_us = min(map(statistics.median, clocks))
        if floor := standard.floors.get(case.case):
            checked.append((time_us / floor.floor_us, case, time_us, floor))
        elif standard.has_incumbent and not case.answer_varies:
            found = f"{case.case}: the right answer is the same in every draw of setup"
            limit = "an answer that varies, or a known floor"
            sentence = (
                f"Needs review: {found}, and no floor of this device is known, so a kernel that "
                "reads nothing could pass. Let setup draw inputs whose answers differ."
            )
            return stopped("plausibility", found, limit, Reason.ANSWER_NEVER_VARIES, sentence)
    if not checked:
        return GateOutcome(Gate("plausibility", None, "no floor is known", "at or above the floor"))
    ratio, case, time_us, floor = min(checked, key=lambda item: item[0])
    found = f"{case.case}: {duration(time_us)}"
    limit = f"floor {duration(floor.floor_us)} ({floor.arithmetic})"
    cited, lesser = floor.limit.citation, standard.lesser_floors.get(case.case)
    if ratio >= 1:
        return GateOutcome(Gate("plausibility", True, found, limit, cited))
    if floor.limit.evidence == EvidenceClass.MEASURED:
        # No document rules this out, and the results of every call were checked.
        reason = Reason.CEILING_TOO_LOW
        sentence = (
            f"Needs review: {found} is below the {limit}, {share(ratio)} of it, so the "
            f"measured {floor.limit.metric} is too low: run `wiki ceilings` on an idle host."
        )
    elif lesser is not None and time_us >= lesser.floor_us:
        reason = Reason.PRECISION_CHANGED
        cited += f"\n{lesser.limit.citation}"
        sentence = (
            f"Needs review: precision changed. {found} is below the floor of the declared "
            f"precision, {duration(floor.floor_us)} ({floor.arithmetic}), and possible in a lower "
            f"one: {lesser.limit.metric} allows {duration(lesser.floor_us)} ({lesser.arithmetic})."
        )
    else:
        reason = Reason.ABOVE_ROOF
        sentence = f"Invalid: {found} is below the physical {limit}, {share(ratio)} of it."
    return GateOutcome(Gate("plausibility", False, found, limit, cited), reason, sentence)


def _strange_times(name: str, timing: Timing) -> GateOutcome | None:
    """Where times of a case cannot be times of work."""
    times = timing.samples_us
    # Noise alone is as long as a call; honest kernels of less than a µs are so.
    if all(map(math.isfinite, times)) and any(us <= 0 for us in times):
        found = f"{name}: one call is shorter than this worker's clock can measure"
        sentence = f"No change shown: {found}. Increase the work of this case."
        return stopped("plausibility", found, "times above zero", Reason.TOO_SHORT, sentence)
    if not _is_time(timing):
        found = f"{name}: a measured time that is not above 0 µs"
        sentence = f"Invalid: {found}. Real work takes time above zero."
        limit = "finite times above zero"
        return stopped("plausibility", found, limit, Reason.ABOVE_ROOF, sentence)
    return None


def device_time(report: Report, standard: Standard) -> GateOutcome:
    """Do the judge's clock and the driver's tracer agree, or disagree alike for both arms?"""
    least = duration(standard.launch_overhead_us)
    limit = f"within {least} + {share(SLACK)} of burst time"
    compared = []
    for case in report.cases:
        arms = (case.candidate, case.incumbent if standard.has_incumbent else None)
        timings = [timing for timing in arms if timing]
        if loops(timings) and not all(has_device_samples(timing) for timing in timings):
            return _no_device_time(
                case.case, "timed as a plain loop, which device time has to decide", limit
            )
        if not loops(timings) and any(timing.device_pairs == () for timing in timings):
            continue
        counted = [timing for timing in timings if pairs_of(timing)]
        if 0 < len(counted) < len(timings):
            return _no_device_time(case.case, "traced in one arm only", limit)
        for timing in counted:
            other = next((one for one in counted if one is not timing), None)
            compared.append(_apart(case.case, timing, other, standard))
    if not compared:
        return GateOutcome(Gate("device time", None, "not recorded on this device", limit))
    excess, found = max(compared)
    if excess > 0:
        sentence = f"Needs review: {found} disagree beyond the launch overhead."
        return stopped("device time", found, limit, Reason.DEVICE_TIME_DISAGREES, sentence)
    return GateOutcome(Gate("device time", True, found, limit))


def samples(report: Report, standard: Standard) -> GateOutcome:
    """Was every case timed often enough, and beside the incumbent if there is one?"""
    limit = f"at least {LEAST_PAIRS} {'pairs' if standard.has_incumbent else 'samples'} a case"
    fewest = math.inf
    if absent := sorted((standard.cases or frozenset()) - {case.case for case in report.cases}):
        sentence = f"Needs review: {absent[0]} was never measured, so nothing is shown there."
        found = f"{absent[0]}: not in the report"
        return stopped("samples", found, limit, Reason.NOT_TIMED, sentence)
    for case in report.cases:
        if not _timed(case, standard):
            sentence = (
                f"Needs review: {case.case} is correct but was not timed, so no gain is shown."
            )
            found = f"{case.case}: not timed"
            return stopped("samples", found, limit, Reason.NOT_TIMED, sentence)
        if standard.has_incumbent and case.incumbent and not _is_time(case.incumbent):
            sentence = f"The incumbent's times on {case.case} are not times; measure again."
            found = f"{case.case}: incumbent at or below 0 µs"
            return stopped("samples", found, limit, Reason.BROKEN_HOST, sentence)
        fewest = min(fewest, len(case.candidate.samples_us) if case.candidate else 0)
    source = f" ({standard.noise_source})" if standard.noise_source else ""
    ended = ""
    if report.looks:
        sure = share(1 - report.looks[-1].level)
        ended = f", ended at look {len(report.looks)}, whose intervals have {sure}"
    found = f"{fewest:g}{ended}; noise floor {share(standard.noise)}{source}"
    if fewest < LEAST_PAIRS:
        sentence = f"No change shown: {fewest:g} measured, {limit} needed."
        return stopped("samples", found, limit, Reason.TOO_FEW_SAMPLES, sentence)
    return GateOutcome(Gate("samples", True, found, limit))


def _error_share(case: CaseReport) -> float:
    if not case.correct:
        return math.inf
    if case.margin is None:
        return 0.0
    return math.inf if math.isnan(case.margin) else case.margin


def _errors(case: CaseReport) -> str:
    parts = [f"{case.case}: {'correct' if _error_share(case) <= 1 else 'wrong'}"]
    if case.margin is not None:
        warning = ", more than half of it" if 0.5 < case.margin <= 1 else ""
        parts.append(f"{digits(case.margin, 2)} × its tolerance{warning}")
    if case.max_abs_error is not None:
        parts.append(f"largest absolute error {case.max_abs_error:.2g}")
    if case.max_rel_error is not None:
        # A relative error is meaningless beside an expected value near zero.
        tells = case.max_rel_error <= 1
        parts.append(f"relative {case.max_rel_error:.2g}" if tells else "relative above 1")
    return ", ".join(parts)


def _is_time(timing: Timing) -> bool:
    times = (*timing.samples_us, *timing.device_samples_us)
    if timing.device_us is not None:
        times = (*times, timing.device_us)
    return bool(timing.samples_us) and all(0 < us < math.inf for us in times)


def _timed(case: CaseReport, standard: Standard) -> bool:
    if case.candidate is None or case.candidate.timer is Timer.NONE:
        return False
    if not standard.has_incumbent:
        return True
    if case.incumbent is None or case.incumbent.timer is Timer.NONE:
        return False
    pairs = len(case.candidate.samples_us), len(case.incumbent.samples_us)
    if pairs[0] != pairs[1]:
        raise ValueError(f"{case.case}: {pairs[0]} and {pairs[1]} samples; accepted: equal numbers")
    return True


def _apart(
    name: str, timing: Timing, other: Timing | None, standard: Standard
) -> tuple[float, str]:
    """Return how far beyond the allowance (µs; positive fails) burst and device time are apart."""
    beyond_us = excess_us(timing, other, standard.launch_overhead_us)
    bursts, traced = zip(*pairs_of(timing), strict=True)
    burst_us, device_us = statistics.median(bursts), statistics.median(traced)
    found = f"{name}: burst {duration(burst_us)} and device {duration(device_us)}"
    if ratios(timing)[1] < 1 - SLACK:
        found = f"{name}: samples of {duration(statistics.median(timing.samples_us))}, {found}"
    return beyond_us, found


def _no_device_time(name: str, how: str, limit: str) -> GateOutcome:
    sentence = f"Needs review: {name} was {how}, and a device time is missing."
    return stopped("device time", f"{name}: {how}", limit, Reason.NO_DEVICE_TIME, sentence)
