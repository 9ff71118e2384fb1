"""How other files write units, and what each of them is here. Anything not listed is refused."""

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
