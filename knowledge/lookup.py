"""Exact questions to the wiki: platform, metric and qualifiers, and never the next best answer."""

from __future__ import annotations

from collections.abc import Iterable

from django.urls import reverse

from knowledge.models import Platform, Spec
from knowledge.models.spec import SpecQuerySet
from knowledge.specs.cited import UNKNOWN, Cited, Evidence
from knowledge.specs.facts import UNKNOWN_VALUE, Rank
from knowledge.specs.metrics import metric_named

__all__ = [
    "UNKNOWN",
    "bandwidth_ceilings",
    "cache_bandwidth_ceilings",
    "cited",
    "cited_or_none",
    "compute_ceilings",
    "find",
    "higher_rivals",
    "host_busy_share",
    "how_to_obtain",
    "platform_for_device",
]

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
MEASURED_BANDWIDTHS = ("copy_bandwidth", "read_bandwidth", "write_bandwidth")


def find(platform: Platform, metric: str, /, **qualifiers: str) -> Spec | None:
    """The approved, preferred value for exactly this question, or None where nobody knows it.

    Raises MetricError for a name that is not in the registry.
    """
    metric_named(metric)
    preferred = Spec.objects.preferred().filter(platform=platform, metric=metric)
    spec = preferred.filter(qualifiers=dict(sorted(qualifiers.items()))).for_sheet().first()
    return spec if spec is not None and spec.known else None


def how_to_obtain(platform: Platform, metric: str, /, **qualifiers: str) -> str:
    """What to do about a missing value: the stored answer, or where to write it down."""
    unknown = _stored_unknown(platform, metric, **qualifiers).first()
    if unknown is not None:
        return unknown.note
    if platform.kind == "cpu" or metric_named(metric).meaning.startswith("measured"):
        return "run `python manage.py wiki ceilings` on this device"
    return f"add a sourced line for {metric} to the document of {platform.slug} and import the wiki"


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
    )


def cited_or_none(
    platform: Platform, metric: str, /, *, prefer_measured: bool, **qualifiers: str
) -> Cited | None:
    """The value for this question with its citation, or None.

    With `prefer_measured` a measured value of the same question goes before the documented one,
    whichever of them is ranked preferred.
    """
    if prefer_measured:
        asked = Spec.objects.approved().filter(platform=platform, metric=metric)
        measured = asked.filter(
            qualifiers=dict(sorted(qualifiers.items())), evidence=Evidence.MEASURED
        ).exclude(rank=Rank.DEPRECATED)
        newest = measured.for_sheet().order_by("-pk").first()
        if newest is not None and newest.value is not None:
            return cited(newest)
    return _answer(platform, metric, **qualifiers)


def bandwidth_ceilings(platform: Platform, /) -> list[Cited]:
    """What bounds bytes per second: the measured copy first, the documented peak last.

    Reads and writes alone stand between them: a kernel that does more of one of them may go faster
    than a copy does.
    """
    metrics = (*MEASURED_BANDWIDTHS, "memory_bandwidth")
    return _known(_answer(platform, metric) for metric in metrics)


def cache_bandwidth_ceilings(platform: Platform, /) -> list[Cited]:
    """What bounds bytes per second out of the caches: measured warm, the copy first."""
    return _known(_answer(platform, metric, cache="warm") for metric in MEASURED_BANDWIDTHS)


def compute_ceilings(platform: Platform, dtype: str, /) -> list[Cited]:
    """What bounds operations per second in `dtype`: measured, then documented, each fastest first.

    A measured rate of a unit that is not the fastest by the documents bounds nothing and is left
    out; so is everything slower than a unit whose peak the wiki calls UNKNOWN. Empty for a dtype
    that no registered metric speaks of: nothing is assumed for it.
    """
    units = []
    for rate, peak in UNITS.get(dtype, ((MATMUL, ""),)):
        units.append(
            (_answer(platform, rate, dtype=dtype), _answer(platform, peak) if peak else None)
        )
        known = any(documented for _, documented in units)
        if not known and _stored_unknown(platform, peak).exists():
            break
    peaks = _known(peak for _, peak in units)
    top = max((peak.value for peak in peaks), default=0.0)
    rates = _known(rate for rate, peak in units if not top or (peak and peak.value >= top))
    return [c for group in (rates, peaks) for c in sorted(group, key=lambda c: -c.value)]


def higher_rivals(platform: Platform, answers: Iterable[Cited], /) -> list[Cited]:
    """Approved values beside documented answers that are higher than the preferred one.

    Sources that disagree are settled by preference for a target, but no kernel is impossible as
    long as one of them allows it.
    """
    found: list[Cited] = []
    for answer in answers:
        if answer.evidence == Evidence.MEASURED:
            continue
        beside = Spec.objects.approved().filter(platform=platform, metric=answer.metric)
        beside = beside.filter(qualifiers={}, rank=Rank.NORMAL, value__gt=answer.value)
        found += [cited(spec) for spec in beside.for_sheet()]
    return found


def host_busy_share(platform: Platform, /) -> Cited | None:
    """The share of CPU time that others took while the platform's ceilings were measured."""
    return _answer(platform, "host_busy_share")


def platform_for_device(name: str, /) -> Platform | None:
    """The platform whose drivers report exactly this name ("NVIDIA H200"), or None."""
    # The first that claimed the name: no later document can take a device over.
    return next((p for p in Platform.objects.order_by("pk") if name in p.aliases), None)


def _stored_unknown(platform: Platform, metric: str, **qualifiers: str) -> SpecQuerySet:
    asked = Spec.objects.approved().filter(platform=platform, metric=metric, shown=UNKNOWN_VALUE)
    return asked.filter(qualifiers=dict(sorted(qualifiers.items())))


def _answer(platform: Platform, metric: str, **qualifiers: str) -> Cited | None:
    spec = find(platform, metric, **qualifiers)
    return cited(spec) if spec is not None and spec.value is not None else None


def _known(answers: Iterable[Cited | None]) -> list[Cited]:
    return [answer for answer in answers if answer is not None]
