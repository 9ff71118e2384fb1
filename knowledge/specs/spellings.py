"""How other files write units and data types, and what each of them is here.

A unit that is not listed is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from knowledge.specs.metrics import ALIASES, METRICS, PEAK, MetricDefinition
from knowledge.specs.quantity import ACCEPTED, canonical_unit

WORD = re.compile(r"[^\W_]+")
# Words of names and meanings that are found beside any number.
COMMON = """
a all and as both by core counted device engine from gpu have highest host in into its kind
large lane may max measured module name num of one operation other outside over part peak per
plus rate second share side size the time to total two type under unit use whole width
"""
# FP8 is left out: E4M3 is another type on parts of another maker.
DTYPES = {
    "fp64": "float64",
    "fp32": "float32",
    "tf32": "tfloat32",
    "fp16": "float16",
    "bf16": "bfloat16",
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
}
KILOBYTES = {"KB": {1024: "KiB", 1000: "kB"}, "KB/s": {1024: "KiB/s", 1000: "kB/s"}}


def names_unit(text: str, canonical: str) -> bool:
    """Whether the text holds a unit of this kind, in our spelling or in one that we read."""
    return _units(canonical).search(text) is not None


def names_metric(text: str, metric: MetricDefinition) -> bool:
    """Whether the text holds a word of the metric's name, aliases or meaning."""
    return not _words_of(metric).isdisjoint(_words(text))


def metric_named_in(text: str) -> str:
    """The first metric that a text names, spelled as one or in words; "" for none.

    Things are named only beside their number: "528 tensor cores", and not "tensor cores".
    """
    return next((name for name, spelled in _spelled() if spelled.search(text)), "")


@lru_cache
def _spelled() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, _spelling(name, metric)) for name, metric in _names())


def _names() -> Iterator[tuple[str, MetricDefinition]]:
    yield from METRICS.items()
    yield from ALIASES.items()
    # Whoever asks for a peak says rarely which of its kinds.
    for name, metric in METRICS.items():
        if peak := PEAK.fullmatch(name):
            yield f"peak_{peak['dtype']}", metric


def _spelling(name: str, metric: MetricDefinition) -> re.Pattern[str]:
    words = r"[\s_-]+".join(map(re.escape, name.split("_")))
    plain = rf"(?<![A-Za-z0-9]){words}s?(?![A-Za-z0-9])"
    if metric.unit == "count" and name.endswith("s") and not name.startswith("max_"):
        number = r"\d[\d,. ]*"
        one = rf"(?:{number}|how many |number of ){words}s?\b|{plain}\W*(?:is|are)?\W*{number}"
        plain = f"{one}|{re.escape(name)}" if "_" in name else one
    return re.compile(plain, re.IGNORECASE)


@lru_cache
def _units(canonical: str) -> re.Pattern[str]:
    own = ACCEPTED[canonical]
    foreign = [word for word, ours in UNITS.items() if ours in own]
    foreign += [word for word, ours in KILOBYTES.items() if set(ours.values()) & set(own)]
    either = "|".join(map(re.escape, sorted({*own, *foreign}, key=len, reverse=True)))
    # "4.8TB/s" as well; a GB is none of GB/s.
    return re.compile(rf"(?<![A-Za-z])(?:{either})(?![A-Za-z/])", re.IGNORECASE)


@lru_cache
def _words_of(metric: MetricDefinition) -> frozenset[str]:
    own = _words(" ".join((metric.name, *metric.aliases, metric.meaning)))
    return own.difference(COMMON.split())


def _words(text: str) -> frozenset[str]:
    """The words in small letters and without the s of a plural."""
    found = (word.lower() for word in WORD.findall(text))
    return frozenset(word.removesuffix("s") if len(word) > 3 else word for word in found)


# KB is left out: caches are sized in powers of two and written with decimal prefixes.
UNITS = {
    **{f"{p}FLOP/s": f"{p}FLOPS" for p in ("", "M", "G", "T", "P")},
    **{f"{p}OP/s": f"{p}OPS" for p in ("G", "T", "P")},
    **{f"{p}bps": f"{p}bit/s" for p in ("k", "M", "G", "T")},
    **{f"{p}b/s": f"{p}bit/s" for p in ("k", "M", "G", "T")},
    "bits": "bit",
    "bytes": "B",
    "bytes/s": "B/s",
    "watts": "W",
    "watt": "W",
    **{f"{name}s": name for name in ("SM", "CU", "SIMD", "core", "thread", "warp", "wave")},
    **{f"{name}s": name for name in ("block", "workgroup", "register", "bank", "link")},
}


def our_unit(unit: str, kilobyte: int | None = None) -> str:
    """Our spelling of a unit that another file writes.

    `kilobyte` is what the file means by KB, 1024 or 1000 bytes; where it does not say, KB is
    refused. QuantityError names what is accepted.
    """
    if kilobyte is not None and unit in KILOBYTES:
        return KILOBYTES[unit][kilobyte]
    found = UNITS.get(unit, unit)
    canonical_unit(found)
    return found


def our_qualifier(key: str, word: str) -> str:
    """Our spelling of a qualifier's value that another file writes; others stay as they are."""
    return DTYPES.get(word.lower(), word) if key in ("dtype", "accumulate") else word
