"""The report of the clock's precision, for people; every sample is in the JSON beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from campaigns.benchmarks.precision.known_gain import GAIN
from campaigns.benchmarks.precision.measure import Compared, Precision, Reading

# Shorter kernels are stated, longer ones are held to AGREEMENT with the device's own time.
SHORT_US = 20.0
AGREEMENT, REPEATED = 0.01, 0.005
HEAD = [
    "| problem | backend | case | timer | slope µs (p10–p90) | repeats within | tracer µs "
    "| slope/tracer | events µs | slope/events |",
    "|---|---|---|---|--:|--:|--:|--:|--:|--:|",
]
COMPARED = [
    "| kernel | against | times | verdicts | gains by slope | gains by events |",
    "|---|---|--:|---|--:|--:|",
]


def to_markdown(found: Precision) -> str:
    versions = ", ".join(f"{k} {v}" for k, v in sorted(found.environment.items()))
    quiet = len(found.same) - found.shown
    lines = [
        f"# Precision of the judge's clock on {found.device}",
        "",
        f"Measured {found.measured_at} by `python manage.py bench precision`; {versions}.",
        "",
        f"**A/A: {quiet} of {len(found.same)} comparisons of a kernel with itself showed no "
        "change.**",
        "",
        f"**True gains of {GAIN:.0%}: {found.found} of {len(found.known)} found.**",
        "",
        *_clock(found.readings),
        f"Kernels over {SHORT_US:.0f} µs are held to {AGREEMENT:.0%} of device time, shorter ones "
        "are stated. Events are the device's own time from the end of a burst to that of the next, "
        "per call, the median of five; the tracer adds up kernels alone, launched one by one, "
        "without what lies between them, and some take longer while it looks. Medians of other "
        "sessions are held to "
        f"{REPEATED:.1%}.",
        "",
        *HEAD,
        *map(_row, found.readings),
        "",
        *COMPARED,
        *_by_kernel("itself", found.same),
        *_by_kernel("a known gain", found.known),
    ]
    return "\n".join(lines) + "\n"


def _clock(readings: Sequence[Reading]) -> Iterator[str]:
    """How many of the kernels that are held to device time agree with it."""
    held = [reading for reading in readings if reading.slope_us > SHORT_US]
    events = [r.slope_us / r.event_us - 1 for r in held if r.event_us]
    tracer = [r.slope_us / r.device_us - 1 for r in held if r.device_us]
    if not events and not tracer:
        return
    repeats = max(reading.repeats_within for reading in readings)
    yield (
        f"**Clock: of kernels over {SHORT_US:.0f} µs {_agreeing(events)} are within "
        f"{AGREEMENT:.0%} of the device's events, {_agreeing(tracer)} of the driver's tracer; "
        f"medians of sessions are within {repeats:.2%}.**"
    )
    yield ""


def _agreeing(apart: Sequence[float]) -> str:
    return f"{sum(abs(one) <= AGREEMENT for one in apart)} of {len(apart)}"


def _by_kernel(against: str, compared: Sequence[Compared]) -> Iterator[str]:
    for kernel in dict.fromkeys(one.kernel for one in compared):
        these = [one for one in compared if one.kernel == kernel]
        verdicts = Counter(one.verdict.replace("_", " ") for one in these)
        events = [one.event_gain for one in these if one.event_gain is not None]
        yield (
            f"| {kernel} | {against} | {len(these)} "
            f"| {', '.join(f'{count} {verdict}' for verdict, count in verdicts.items())} "
            f"| {_span([one.gain for one in these])} | {_span(events)} |"
        )


def _span(gains: Sequence[float]) -> str:
    return f"{min(gains):+.2%} to {max(gains):+.2%}" if gains else "–"


def _row(r: Reading) -> str:
    return (
        f"| {r.problem} | {r.backend} | {r.case} | {r.timer} "
        f"| {r.slope_us:.2f} ({r.low_us:.2f}–{r.high_us:.2f}) | {r.repeats_within:.2%} "
        f"| {_number(r.device_us)} | {_apart(r.slope_us, r.device_us)} "
        f"| {_number(r.event_us)} | {_apart(r.slope_us, r.event_us)} |"
    )


def _apart(slope_us: float, other_us: float | None) -> str:
    return f"{slope_us / other_us - 1:+.2%}" if other_us else "–"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
