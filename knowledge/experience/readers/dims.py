"""PURE: sizes in free text, "N=4096 D=4096" or "1024x1024x1024", and parameters in braces."""

from __future__ import annotations

import re
from typing import Any

NAMED_SIZE = re.compile(r"([A-Za-z_]\w*)\s*[=:]\s*(\d+)")
LARGEST_SIZE = 2**63
PLAIN_SIZES = re.compile(r"\s*\d+(?:\s*[x×*,]\s*\d+)*\s*")
MATMUL = ("M", "N", "K")
PARAMETERS = re.compile(r"(?P<name>[^{]*)\{(?P<inside>[^{}]*)\}\s*")


def shape_of(text: str) -> dict[str, int]:
    """Name → size; {} where the text names none. Three sizes without names are M, N and K."""
    if PLAIN_SIZES.fullmatch(text):
        sizes = [int(each) for each in re.findall(r"\d+", text)]
        names = MATMUL if len(sizes) == 3 else [f"d{n}" for n in range(len(sizes))]
        found = dict(zip(names, sizes, strict=True))
    else:
        found = {name: int(size) for name, size in NAMED_SIZE.findall(text)}
    return {name: size for name, size in found.items() if size < LARGEST_SIZE}


def strategy_and_params(text: str) -> tuple[str, dict[str, Any]]:
    """`name{param=value, …}` as the name and its parameters; any other text is all name."""
    found = PARAMETERS.fullmatch(text.strip())
    if found is None:
        return text.strip(), {}
    parts = [each.partition("=") for each in found["inside"].split(",") if each.strip()]
    return found["name"].strip(), {name.strip(): _value(value) for name, _, value in parts}


def _value(text: str) -> Any:
    said = text.strip()
    try:
        return int(said)
    except ValueError:
        return said
