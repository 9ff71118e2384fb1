"""The sizes of measured cases, as experience compares them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from campaigns.models import Case


def shapes_of(cases: Iterable[Case]) -> list[dict[str, int]]:
    """The sizes of each case; what describes its values, such as a distribution, is left out."""
    found = ({k: v for k, v in case.params.items() if _is_size(v)} for case in cases)
    return [sizes for sizes in found if sizes]


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
