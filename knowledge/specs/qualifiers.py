"""The qualifiers: what narrows a question beyond its metric, and the words that each one takes.

The words are closed lists, so that one question has one spelling. Which metric takes which of them
stands in `metric_table`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

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


def _read(meaning: str, accepted: str, pattern: str, **unsaid: str) -> Qualifier:
    return Qualifier(meaning, accepted, re.compile(pattern, re.ASCII), unsaid)


QUALIFIERS = {
    "dtype": _words("data type of the operands", *DTYPES),
    "sparsity": _words("structured sparsity; dense is written without it", "2:4"),
    "accumulate": _words(
        "data type of the sums", "float16", "bfloat16", "float32", "float64", "int32"
    ),
    "per": _read(
        "part of the product that has the value; the whole product is written without it",
        f"{', '.join(PARTS)}, or several such as 2CU",
        rf"(?:[2-9]|[1-9]\d{{1,3}})?(?:{'|'.join(PARTS)})",
        package="a product is one package",
        socket="a product fills one socket",
    ),
    "portable": _words("whether it holds on every part of the architecture", "yes", "no"),
    "clock": _read(
        "clock at which the value holds; the highest is written without it",
        "base, or MHz such as 1830MHz",
        r"base|[1-9]\d{1,4}MHz",
        boost="the highest clock is meant without it",
    ),
    "cache": _words("whether the arrays lie in the last-level cache", "cold", "warm"),
    "array_bytes": _read(
        "size of one array in bytes", "a whole number of bytes such as 4194304", r"[1-9]\d{0,18}"
    ),
}
