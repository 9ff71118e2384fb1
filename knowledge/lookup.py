"""Exact questions to the wiki: platform, metric and qualifiers, and never the next best answer."""

from __future__ import annotations

from django.urls import reverse

from knowledge.models import Platform, Spec
from knowledge.specs.cited import UNKNOWN, Cited, Evidence
from knowledge.specs.facts import UNKNOWN_VALUE, Rank
from knowledge.specs.metrics import metric_named

__all__ = [
    "UNKNOWN",
    "bandwidth_ceilings",
    "cited",
    "cited_or_none",
    "compute_ceilings",
    "find",
    "how_to_obtain",
    "platform_for_device",
]

Question = tuple[str, dict[str, str]]  # metric and qualifiers

# dtype → the documented peaks that bound it, fastest unit first. float32 means the plain FP32
# lanes: a TF32 product is another precision and has to be asked for by its own name.
PEAKS = {
    "float64": ("peak_fp64_tensor", "peak_fp64"),
    "float32": ("peak_fp32",),
    "tfloat32": ("peak_tf32_tensor_dense",),
    "float16": ("peak_fp16_tensor_dense",),
    "bfloat16": ("peak_bf16_tensor_dense",),
    "float8_e4m3fn": ("peak_fp8_tensor_dense",),
    "float8_e5m2": ("peak_fp8_tensor_dense",),
    "int8": ("peak_int8_tensor_dense",),
}
# float32 and float64 also run outside the matrix units; there the multiply-add rate is measured.
MEASURED_RATE = {"float32": "fma_throughput", "float64": "fma_throughput"}


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
    asked = Spec.objects.approved().filter(platform=platform, metric=metric, shown=UNKNOWN_VALUE)
    unknown = asked.filter(qualifiers=dict(sorted(qualifiers.items()))).first()
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
    spec = find(platform, metric, **qualifiers)
    return cited(spec) if spec is not None and spec.value is not None else None


def bandwidth_ceilings(platform: Platform, /) -> list[Cited]:
    """What bounds bytes per second: the measured copy first, then the documented peak."""
    return _answers(platform, [("copy_bandwidth", {}), ("memory_bandwidth", {})])


def compute_ceilings(platform: Platform, dtype: str, /) -> list[Cited]:
    """What bounds operations per second in `dtype`: measured first, then documented peaks.

    Empty for a dtype that no registered metric speaks of: nothing is assumed for it.
    """
    rate = MEASURED_RATE.get(dtype, "matmul_throughput")
    questions: list[Question] = [(rate, {"dtype": dtype})]
    questions += [(metric, {}) for metric in PEAKS.get(dtype, ())]
    return _answers(platform, questions)


def platform_for_device(name: str, /) -> Platform | None:
    """The platform whose drivers report exactly this name ("NVIDIA H200"), or None."""
    return next((p for p in Platform.objects.all() if name in p.aliases), None)


def _answers(platform: Platform, questions: list[Question]) -> list[Cited]:
    specs = [find(platform, metric, **qualifiers) for metric, qualifiers in questions]
    return [cited(spec) for spec in specs if spec is not None and spec.value is not None]
