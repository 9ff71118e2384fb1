"""How other files write units and data types, and what each of them is here.

A unit that is not listed is refused.
"""

from __future__ import annotations

from knowledge.specs.quantity import canonical_unit

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
