"""The registry of metric names: meaning, canonical unit, qualifiers, and what is plausible."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from knowledge.specs.metric_table import TABLE
from knowledge.specs.quantity import Quantity

DTYPES = (
    *("float64", "float32", "tfloat32", "float16", "bfloat16"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
    *("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"),
    *("int64", "int32", "int16", "int8", "uint8", "int4"),
)
PARTS = (
    *("GCD", "XCD", "IOD", "CCD", "CCX", "die", "stack", "core"),
    *("GPC", "TPC", "SM", "CU", "WGP", "SIMD", "link", "channel"),
)

# What products of these are always summed up in. Short floats and integers of other widths have
# more than one way, which is then said.
SUMS = {
    **dict.fromkeys(("int16", "int8", "uint8", "int4"), "int32"),
    "tfloat32": "float32",
    "float32": "float32",
    "float64": "float64",
}
TEXT = "text"
NO_QUALIFIERS: Mapping[str, str] = {}
DIMENSIONS = {
    "B": "memory size",
    "B/s": "bandwidth",
    "Hz": "frequency",
    "W": "power",
    "bit": "width",
    "bit/s": "data rate",
    "count": "count",
    "op/clk": "rate per clock",
    "op/s": "rate",
    "ratio": "ratio",
    TEXT: TEXT,
}
RECORD = re.compile(r"\n(?! )")  # an indented line continues a record
# How names of metrics write a data type.
IN_NAMES = {
    "float64": "fp64",
    "float32": "fp32",
    "tfloat32": "tf32",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float8": "fp8",
    "float6": "fp6",
    "float4": "fp4",
    "int8": "int8",
    "int4": "int4",
}
PEAK = re.compile(r"peak_(?P<dtype>[a-z]+\d+)(?P<rest>_.*)?")


@dataclass(frozen=True, slots=True)
class Qualifier:
    """One qualifier. `accepted` says in words what `pattern` matches as a whole.

    unsaid: words for what a question without the qualifier asks already, each with what it says
    there. They are refused, or one question would have two preferred answers.
    """

    meaning: str
    accepted: str
    pattern: re.Pattern[str]
    unsaid: Mapping[str, str] = field(default_factory=dict)


def _words(meaning: str, *words: str) -> Qualifier:
    return Qualifier(meaning, ", ".join(words), re.compile("|".join(map(re.escape, words))))


def _read_words(meaning: str, accepted: str, pattern: str, **unsaid: str) -> Qualifier:
    return Qualifier(meaning, accepted, re.compile(pattern, re.ASCII), unsaid)


QUALIFIERS = {
    "dtype": _words("data type of the operands", *DTYPES),
    "sparsity": _words("structured sparsity; dense is written without it", "2:4"),
    "accumulate": _words(
        "data type of the sums", "float16", "bfloat16", "float32", "float64", "int32"
    ),
    "per": _read_words(
        "part of the product that has the value; the whole product is written without it",
        f"{', '.join(PARTS)}, or several such as 2CU",
        rf"(?:[2-9]|[1-9]\d{{1,3}})?(?:{'|'.join(PARTS)})",
        package="a product is one package",
        socket="a product fills one socket",
    ),
    "portable": _words("whether it holds on every part of the architecture", "yes", "no"),
    "clock": _read_words(
        "clock at which the value holds; the highest is written without it",
        "base, or MHz such as 1830MHz",
        r"base|[1-9]\d{1,4}MHz",
        boost="the highest clock is meant without it",
    ),
    "cache": _words("whether the arrays lie in the last-level cache", "cold", "warm"),
    "array_bytes": _read_words(
        "size of one array in bytes", "a whole number of bytes such as 4194304", r"[1-9]\d{0,18}"
    ),
    "load": _words("whether the device rests between repeats", "burst", "sustained"),
}


class MetricError(ValueError):
    """A metric name that nobody registered, or a unit of the wrong kind for it."""


@dataclass(frozen=True, slots=True)
class MetricDefinition:
    """One kind of fact. `unit` is the canonical unit, or "text" for names such as HBM3e.

    `qualifiers` are those that a question about it may have; none is needed.

    `low` and `high`, in that unit, bound what is plausible: three times beyond anything that was
    found documented. They are there to warn, not to forbid. Text metrics have neither.
    """

    name: str
    unit: str
    meaning: str
    low: float | None = None
    high: float | None = None
    aliases: tuple[str, ...] = ()  # what other files call it; no line of ours may
    qualifiers: tuple[str, ...] = ()

    @property
    def numeric(self) -> bool:
        return self.unit != TEXT

    @property
    def dimension(self) -> str:
        """The kind of quantity in a word: memory size, bandwidth, rate, …"""
        return DIMENSIONS[self.unit]

    def plausible(self, value: float, /) -> bool:
        """Whether a value in the canonical unit lies in the plausible range."""
        return self.low is None or self.high is None or self.low <= value <= self.high

    def refusal(
        self, qualifier: str, value: str, /, question: Mapping[str, str] = NO_QUALIFIERS
    ) -> str:
        """Why a question about this metric may not have this qualifier, and what is accepted.

        question: all its qualifiers. "" where it may. MetricError for a qualifier that
        nobody registered.
        """
        known = QUALIFIERS.get(qualifier)
        if known is None:
            raise MetricError(f"unknown field '{qualifier}'; accepted: {', '.join(QUALIFIERS)}")
        meant = _meant(self.name, qualifier, value)
        if meant:
            return f"{self.name} takes no {qualifier}={value}; accepted: the metric {meant} alone"
        if qualifier not in self.qualifiers:
            takes = ", ".join(self.qualifiers) or "no qualifier"
            return f"{self.name} takes no {qualifier}; accepted: {takes}"
        default = known.unsaid.get(value, "")
        peak = PEAK.fullmatch(self.name)
        operands = OUR_NAMES.get(peak["dtype"], "") if peak else question.get("dtype", "")
        if qualifier == "accumulate" and value == SUMS.get(operands):
            default = "its products are never summed up in anything else"
        if default:
            return f"{self.name}: {qualifier}={value}: {default}; accepted: write it without"
        if not known.pattern.fullmatch(value):
            return f"{qualifier}='{value}'; accepted: {known.accepted}"
        return ""


def _read(record: str) -> MetricDefinition:
    line, _, more = record.partition("\n")
    named, _, taken = more.partition("?")
    aliases, takes = tuple(named.split()), tuple(taken.split())
    fields = [field.strip() for field in line.split("|")]
    if len(fields) == 3 and fields[1] == TEXT:
        return MetricDefinition(fields[0], TEXT, fields[2], aliases=aliases, qualifiers=takes)
    name, low, high, meaning = fields
    least, most = Quantity.parse(low).canonical(), Quantity.parse(high).canonical()
    return MetricDefinition(name, most.unit, meaning, least.value, most.value, aliases, takes)


METRICS = {metric.name: metric for metric in map(_read, RECORD.split(TABLE.strip()))}
ALIASES = {alias: metric for metric in METRICS.values() for alias in metric.aliases}

OUR_NAMES = {short: ours for ours, short in IN_NAMES.items()}


def _meant(name: str, qualifier: str, value: str) -> str:
    """The metrics whose names say what the qualifier would say of this one; "" for none."""
    peak = PEAK.fullmatch(name)
    if qualifier == "dtype" and peak is not None:
        dtype = IN_NAMES.get(value.partition("_")[0])
        same = f"peak_{dtype}{peak['rest'] or ''}"
        peaks = filter(None, map(PEAK.fullmatch, METRICS))
        found = [same] if same in METRICS else [p[0] for p in peaks if p["dtype"] == dtype]
    elif qualifier == "sparsity" and name.endswith(("_dense", "_sparse")):
        ending = {"dense": "_dense", "2:4": "_sparse"}.get(value, "")
        found = [name.removesuffix("_dense").removesuffix("_sparse") + ending]
    elif qualifier == "per":
        stem = name.removesuffix("_total").removesuffix("_bandwidth")
        found = [n for n in METRICS if n.endswith(f"{stem}_per_{value.lower()}")]
    else:
        found = []
    return " or ".join(other for other in found if other in METRICS)


def metric_named(name: str) -> MetricDefinition:
    """The registered metric of exactly this name.

    MetricError names the right one where an alias was given, otherwise the nearest ones.
    """
    if name in METRICS:
        return METRICS[name]
    if name in ALIASES:
        raise MetricError(f"unknown metric '{name}'; accepted: {ALIASES[name].name}")
    stem = name.split("_", 1)[0]
    near = [known for known in METRICS if known.startswith(stem)] or list(METRICS)
    raise MetricError(f"unknown metric '{name}'; accepted: {', '.join(near)}")


def resolve_metric(name_or_alias: str) -> MetricDefinition:
    """The metric of this name or alias, for readers of files that others wrote."""
    return ALIASES.get(name_or_alias) or metric_named(name_or_alias)


class Group(StrEnum):
    """The parts of a sheet, in the order in which they are read."""

    MEMORY = "Memory"
    PEAKS = "Peak rates"
    UNITS = "Units and limits"
    CACHES = "Caches and on-chip memory"
    LINKS = "Links and power"
    MEASURED = "Measured"


# The first part that knows the start of a name takes it; what none knows is a unit or a limit.
STARTS = {
    Group.MEMORY: ("memory_",),
    Group.PEAKS: ("peak_", "boost_clock", "fp32_to_fp64", "mfma_"),
    Group.CACHES: (
        *("l1_", "l2_", "l3_", "infinity_cache", "unified_l1", "lds_", "smem_", "max_smem"),
        *("register_file", "vgpr_file", "sgpr_file"),
    ),
    Group.LINKS: ("nvlink", "pcie", "infinity_fabric", "tdp"),
}
ORDER = tuple(Group)


def group_of(metric: str) -> Group:
    """The part of a sheet in which a metric stands; a metric that nobody registered is a unit."""
    known = METRICS.get(metric)
    if known is not None and known.meaning.startswith("measured"):
        return Group.MEASURED
    begun = (group for group, starts in STARTS.items() if metric.startswith(starts))
    return next(begun, Group.UNITS)
