"""Products of parameters: a diagonal of them at each change, all of them in `make test-all`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest


def thinned(*axes: Iterable[Any], one_in: int) -> list[Any]:
    """Every combination of these values; all but one in so many have the mark `long`.

    Along a diagonal, so that each value of each axis runs at each change, provided that another
    axis has `one_in` values or more.
    """
    numbered = [list(enumerate(axis)) for axis in axes]
    return [
        pytest.param(
            *(value for _, value in each),
            marks=() if sum(place for place, _ in each) % one_in == 0 else pytest.mark.long,
        )
        for each in product(*numbered)
    ]


def chosen(values: Iterable[Any], quick: Iterable[Any]) -> list[Any]:
    """These values; all but the quick ones have the mark `long`."""
    values, quick = list(values), list(quick)
    assert set(quick) <= set(values), quick
    return [
        pytest.param(value, marks=() if value in quick else pytest.mark.long) for value in values
    ]
