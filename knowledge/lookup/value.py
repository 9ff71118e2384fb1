"""Exact questions to the wiki: platform, metric and qualifiers, and never the next best answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from django.urls import reverse

from knowledge.lookup.standing import current, standings
from knowledge.models import Platform, Spec
from knowledge.models.spec import SpecQuerySet
from knowledge.specs.citation import WIKI, CitationState
from knowledge.specs.cited import UNKNOWN as UNKNOWN
from knowledge.specs.cited import Cited, EvidenceClass
from knowledge.specs.facts import UNKNOWN_VALUE, Rank, named_values
from knowledge.specs.metrics import metric_named

SWEPT = "array_bytes"  # the qualifier of a measurement over sizes
MATMUL, FMA = "matmul_throughput", "fma_throughput"
# dtype → the units that compute in it, fastest first, each by its measured rate and its documented
# peak. float32 means full single precision: a TF32 product is another precision and has to be asked
# for by its own name. AMD's matrix units do compute in full single precision.
UNITS = {
    "float64": ((MATMUL, "peak_fp64_tensor"), (FMA, "peak_fp64")),
    "float32": ((MATMUL, "peak_fp32_matrix"), (FMA, "peak_fp32")),
    "tfloat32": ((MATMUL, "peak_tf32_tensor_dense"),),
    "float16": ((MATMUL, "peak_fp16_tensor_dense"),),
    "bfloat16": ((MATMUL, "peak_bf16_tensor_dense"),),
    "float8_e4m3fn": ((MATMUL, "peak_fp8_tensor_dense"),),
    "float8_e5m2": ((MATMUL, "peak_fp8_tensor_dense"),),
    "int8": ((MATMUL, "peak_int8_tensor_dense"),),
}
# What no metric speaks of is bound by another's units: none issues additions of 32-bit or longer
# integers faster than multiply-adds of float32.
BOUND_BY = {"int32": "float32", "int64": "float32"}
# dtype → the precisions below it, in which matrix units are faster. A kernel that computes in one
# may pass a tolerance, and has answered another question.
LESSER = {
    "float64": ("float32", "tfloat32", "float16", "bfloat16"),
    "float32": ("tfloat32", "float16", "bfloat16"),
    "tfloat32": ("float16", "bfloat16"),
    "float16": ("float8_e4m3fn", "int8"),
    "bfloat16": ("float8_e4m3fn", "int8"),
}
MEASURED_BANDWIDTHS = ("copy_bandwidth", "read_bandwidth", "write_bandwidth")
# Products of these may be summed up in float16 instead, which some matrix units do at twice the
# rate: another question, with its own answer. Libraries use float32 unless told otherwise.
ACCUMULATES = ("float32", "float16")
SHORT_FLOATS = frozenset(("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"))
# The part of a module that a program sees as a device of its own, where the wiki has values per it.
DEVICE_PART = {"per": "GCD"}


# State of a citation that no longer holds → what became of its place.
_BECAME = {
    CitationState.CHANGED: "the cited text has changed",
    CitationState.LOST: "the cited text is gone",
    CitationState.SOURCE_MISSING: "the document is gone",
}


class StaleAnswer(LookupError):
    """An approved answer whose citation no longer holds, so that it is none (law 1).

    The message is one line: the value, document and lines, and what to do.
    """

    def __init__(self, spec: Spec, state: CitationState) -> None:
        line = spec.citation.line if spec.citation else None
        place = f"{WIKI}{line.path}:{line.locator}" if line else "no citation"
        asked = " ".join([spec.metric, *(f"{key}={word}" for key, word in spec.qualifiers.items())])
        super().__init__(
            f"{asked} of {spec.platform.slug} was {spec.shown}, and {_BECAME[state]} at "
            f"{place}; a curator answers at {reverse('knowledge:review')}, or "
            "`.venv/bin/python manage.py wiki import --approve` takes the documents as they are now"
        )
        self.spec = spec
        self.shown = f"{UNKNOWN_VALUE} (citation {state.replace('_', ' ')})"


def answer_to(platform: Platform, metric: str, /, **qualifiers: str) -> Spec | None:
    """The approved, preferred value for exactly this question, or None where nobody knows it.

    Raises StaleAnswer where its citation no longer holds, and MetricError for a name that is not in
    the registry.
    """
    metric_named(metric)
    spec = Spec.objects.preferred().asking(platform, metric, qualifiers).for_sheet().first()
    if spec is None or spec.shown == UNKNOWN_VALUE:
        return None
    # Of NONE too: a unit may be there after all.
    state = standings([spec]).get(spec.pk, CitationState.OK)
    if not state.holds:
        raise StaleAnswer(spec, state)
    return spec if spec.known else None


def unknown_words(platform: Platform, *metrics: str) -> str:
    """What is printed in place of a value that none of these metrics has: UNKNOWN and why."""
    try:
        for metric in metrics:
            _of_device(platform, metric)
    except StaleAnswer as stale:
        return stale.shown
    return UNKNOWN


def find(platform: Platform, metric: str, /, **qualifiers: str) -> Spec | None:
    """The same answer; a stale one is none."""
    try:
        return answer_to(platform, metric, **qualifiers)
    except StaleAnswer:
        return None


def how_to_obtain(platform: Platform, metric: str, /, **qualifiers: str) -> str:
    """What to do about a missing value: the stored answer, or where to write it down."""
    try:
        answer_to(platform, metric, **qualifiers)
    except StaleAnswer as stale:
        return str(stale)
    unknown = _stored_unknown(platform, metric, **qualifiers).first()
    if unknown is not None:
        return unknown.note
    asked = metric_named(metric)
    for refusal in (asked.refusal(*pair, qualifiers) for pair in qualifiers.items()):
        if refusal:
            return f"no value can answer this: {refusal}"
    found = []
    for spec in known_otherwise(platform, metric, **qualifiers):
        words = named_values(spec.qualifiers)
        found.append(f"{spec.shown} with {words or 'no qualifier'}")
    others = "; ".join(found)
    known = f"known with other qualifiers: {others}; otherwise " if others else ""
    if platform.kind == "cpu" or asked.meaning.startswith("measured"):
        return f"{known}run `.venv/bin/python manage.py wiki ceilings` on this device"
    document = f"the document of {platform.slug}"
    return f"{known}add a sourced line for {metric} to {document} and import the wiki"


def known_otherwise(platform: Platform, metric: str, /, **qualifiers: str) -> list[Spec]:
    """Preferred values of the metric under other qualifiers; sizes of a sweep are left out."""
    rows = Spec.objects.preferred().filter(platform=platform, metric=metric).for_sheet()
    return [s for s in rows if s.known and s.qualifiers != qualifiers and SWEPT not in s.qualifiers]


def cited(spec: Spec, /) -> Cited:
    """The value with its citation. ValueError where there is no number or no citation."""
    citation = spec.citation
    if spec.value is None or citation is None:
        raise ValueError(f"{spec}: no number with a citation")
    path = reverse("knowledge:document", args=[citation.revision.document.path])
    return Cited(
        metric=spec.metric,
        value=spec.value,
        unit=spec.unit,
        evidence=spec.evidence,
        citation=str(citation.line),
        href=f"{path}?rev={citation.revision.short}#L{citation.first_line}",
        display=spec.shown,
        load=spec.qualifiers.get("load", ""),
    )


def spec_behind(platform: Platform, answer: Cited, /) -> Spec | None:
    """The approved value that an answer cites; None where no value has that citation now."""
    rows = Spec.objects.approved().filter(platform=platform, metric=answer.metric)
    found = rows.filter(shown=answer.display, evidence=answer.evidence).for_sheet()
    cited_now = ((spec, spec.citation) for spec in found)
    return next((s for s, c in cited_now if (str(c.line) if c else "") == answer.citation), None)


def cited_or_none(platform: Platform, metric: str, /, **qualifiers: str) -> Cited | None:
    """The value for this question with its citation, or None; a stale one is none."""
    try:
        return _answer(platform, metric, **qualifiers)
    except StaleAnswer:
        return None


def cited_by_metric(platform: Platform, metrics: Iterable[str], /) -> dict[str, Cited]:
    """The same for several metrics without qualifiers, in a few queries; those that are known."""
    asked = [metric_named(metric).name for metric in metrics]
    rows = Spec.objects.preferred().filter(platform=platform, metric__in=asked, qualifiers={})
    specs = {spec.metric: spec for spec in reversed(rows.for_sheet())}
    states = standings(list(specs.values()))
    return {
        metric: cited(spec)
        for metric, spec in specs.items()
        if spec.known and states.get(spec.pk, CitationState.OK).holds
    }


def bandwidth_ceilings(platform: Platform, /, *, strict: bool = False) -> list[Cited]:
    """What bounds bytes per second: the measured copy first, the documented peak last.

    Reads and writes alone stand between them: a kernel that does more of one of them may go faster
    than a copy does. Empty while one of them is stale, as no other may take its place; `strict`
    raises StaleAnswer instead.
    """

    def answers() -> list[Cited]:
        measured = (_answer(platform, metric) for metric in MEASURED_BANDWIDTHS)
        return _known((*measured, _of_device(platform, "memory_bandwidth")))

    return _unless_stale(strict, answers)


def cache_bandwidth_ceilings(platform: Platform, /) -> list[Cited]:
    """What bounds bytes per second out of the caches: measured warm, the copy first."""
    return _unless_stale(
        False, lambda: _known(_answer(platform, name, cache="warm") for name in MEASURED_BANDWIDTHS)
    )


def compute_ceilings(
    platform: Platform, dtype: str, /, *, accumulate: str = ACCUMULATES[0], strict: bool = False
) -> list[Cited]:
    """What bounds operations per second in `dtype`: measured, then documented, each fastest first.

    accumulate: what products of short floats are summed up in (`peak_question`). A measured rate of
    a unit that is not the fastest by the documents bounds nothing and is left out; so is everything
    slower than a unit whose peak the wiki calls UNKNOWN. Empty for a dtype that no registered
    metric speaks of or bounds: nothing is assumed for it. strict: as of `bandwidth_ceilings`.
    """
    asked = BOUND_BY.get(dtype, dtype)
    return _unless_stale(strict, lambda: _computes(platform, asked, accumulate))


def _unless_stale(strict: bool, ask: Callable[[], list[Cited]]) -> list[Cited]:
    try:
        return ask()
    except StaleAnswer:
        if strict:
            raise
        return []


def _computes(platform: Platform, dtype: str, accumulate: str) -> list[Cited]:
    units = []
    for rate, peak in UNITS.get(dtype, ((MATMUL, ""),)):
        asked = peak_question(platform, dtype, peak, accumulate) if peak else {}
        documented = _of_device(platform, peak, **asked) if peak else None
        # The libraries that are timed sum up in float32; where both ways go at one rate it is said.
        one_rate = dtype not in SHORT_FLOATS or accumulate == ACCUMULATES[0]
        measured = _answer(platform, rate, dtype=dtype, accumulate=accumulate)
        if measured is None and (one_rate or (documented and not asked)):
            # What the judge times are bursts; older measurements did not tell loads apart.
            measured = _answer(platform, rate, dtype=dtype, load="burst")
            measured = measured or _answer(platform, rate, dtype=dtype)
        units.append((measured, documented))
        known = any(documented for _, documented in units)
        if not known and _stored_unknown(platform, peak, **asked).exists():
            break
    peaks = _known(peak for _, peak in units)
    top = max((peak.value for peak in peaks), default=0.0)
    rates = _known(rate for rate, peak in units if not top or (peak and peak.value >= top))
    return [c for group in (rates, peaks) for c in sorted(group, key=lambda c: -c.value)]


def lesser_ceilings(platform: Platform, dtype: str, /) -> list[Cited]:
    """What bounds operations per second in the precisions below `dtype`, the fastest first."""
    found = [c for lesser in LESSER.get(dtype, ()) for c in compute_ceilings(platform, lesser)]
    return sorted(dict.fromkeys(found), key=lambda c: -c.value)


def peak_question(
    platform: Platform, dtype: str, peak: str, /, accumulate: str = ACCUMULATES[0]
) -> dict[str, str]:
    """The qualifiers with which to ask for a peak: `accumulate` where its values differ by that.

    ValueError for an accumulation type that no peak speaks of.
    """
    if accumulate not in ACCUMULATES:
        raise ValueError(f"accumulate: {accumulate!r}; accepted: {', '.join(ACCUMULATES)}")
    stated = Spec.objects.approved().filter(platform=platform, metric=peak)
    if dtype not in SHORT_FLOATS or not stated.filter(qualifiers__has_key="accumulate").exists():
        return {}
    return {"accumulate": accumulate}


def unit_count(platform: Platform, /) -> Cited | None:
    """The multiprocessors (sm_count) or compute units (cu_count) of a device."""
    try:
        return _of_device(platform, "sm_count") or _of_device(platform, "cu_count")
    except StaleAnswer:
        return None


def of_whole_module(platform: Platform, answers: Iterable[Cited], /) -> list[Cited]:
    """The documented answers that speak of all parts of a module whose parts are devices each.

    As limits they are safe, as targets out of reach for a kernel on one device.
    """
    if not _has_parts(platform):
        return []
    return [
        answer
        for answer in answers
        if answer.evidence != EvidenceClass.MEASURED
        and Spec.objects.preferred()
        .filter(platform=platform, metric=answer.metric, shown=answer.display)
        .exclude(qualifiers__has_key="per")
        .exists()
    ]


def higher_rivals(platform: Platform, answers: Iterable[Cited], /) -> list[Cited]:
    """Approved values beside documented answers that are higher than the preferred one.

    Sources that disagree are settled by preference for a target, but no kernel is impossible as
    long as one of them allows it; a stale one allows nothing any more.
    """
    found: list[Cited] = []
    for answer in answers:
        if answer.evidence == EvidenceClass.MEASURED:
            continue
        approved = Spec.objects.approved()
        preferred = approved.filter(rank=Rank.PREFERRED, metric=answer.metric)
        for asked in preferred.filter(platform=platform, shown=answer.display):
            rivals = approved.asking(platform, asked.metric, asked.qualifiers)
            higher = rivals.filter(rank=Rank.NORMAL, value__gt=answer.value)
            found += [cited(spec) for spec in current(list(higher.for_sheet()))]
    return found


def host_busy_share(platform: Platform, /) -> Cited | None:
    """The share of CPU time that others took while the platform's ceilings were measured."""
    return cited_or_none(platform, "host_busy_share")


def platform_for_device(name: str, /) -> Platform | None:
    """The platform whose drivers report exactly this name ("NVIDIA H200"), or None."""
    # No two platforms have one driver name: an import that would give it twice is refused.
    return next((p for p in Platform.objects.all() if name in p.aliases), None)


def _stored_unknown(platform: Platform, metric: str, **qualifiers: str) -> SpecQuerySet:
    asked = Spec.objects.approved().asking(platform, metric, qualifiers)
    return asked.filter(shown=UNKNOWN_VALUE)


def _answer(platform: Platform, metric: str, **qualifiers: str) -> Cited | None:
    spec = answer_to(platform, metric, **qualifiers)
    return cited(spec) if spec is not None and spec.value is not None else None


def _of_device(platform: Platform, metric: str, **qualifiers: str) -> Cited | None:
    """The answer for what a program sees as one device, else the one for the product as a whole."""
    if _has_parts(platform):
        part = _answer(platform, metric, **qualifiers, **DEVICE_PART)
        if part is not None:
            return part
    return _answer(platform, metric, **qualifiers)


def _has_parts(platform: Platform) -> bool:
    approved = Spec.objects.approved().filter(platform=platform)
    return approved.filter(**{f"qualifiers__{key}": v for key, v in DEVICE_PART.items()}).exists()


def _known(answers: Iterable[Cited | None]) -> list[Cited]:
    return [answer for answer in answers if answer is not None]
