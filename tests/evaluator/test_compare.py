"""The comparator: finite first, every element, nothing passes by being empty or NaN."""

from __future__ import annotations

import pytest
import torch

from campaigns.evaluator.judge.compare import Tolerance, compare, quick

LOOSE = Tolerance(1e-3, 1e-3)
NAN, INF = float("nan"), float("inf")


def both(found: list[float], expected: list[float]) -> tuple[bool, bool]:
    a, b = torch.tensor(found), torch.tensor(expected)
    return quick(a, b.clone(), LOOSE), compare(a, b.double(), LOOSE).ok


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([NAN, 1.0], [1.0, 1.0]),
        ([INF, 1.0], [1.0, 1.0]),
        ([1.0, 1.1], [1.0, 1.0]),
        ([1.0, 1.0], [NAN, 1.0]),
        ([-INF, 1.0], [INF, 1.0]),
    ],
)
def test_it_refuses(found, expected):
    assert both(found, expected) == (False, False)


def test_it_accepts_what_is_within_tolerance():
    assert both([1.0, 100.05], [1.0, 100.0]) == (True, True)


def test_it_accepts_equal_specials_after_a_closer_look():
    assert both([INF, NAN, 1.0], [INF, NAN, 1.0]) == (False, True)


def test_it_refuses_to_compare_nothing():
    with pytest.raises(ValueError, match="nothing to compare"):
        compare(torch.empty(0), torch.empty(0), LOOSE)
    assert not quick(torch.empty(0), torch.empty(0), LOOSE)


def test_it_gives_the_worst_error_as_a_share_of_its_tolerance():
    found = compare(torch.tensor([1.0, 2.001]), torch.tensor([1.0, 2.0]).double(), LOOSE)
    assert found.margin == pytest.approx(0.001 / 0.003, rel=1e-3)
    assert found.max_abs_error == pytest.approx(0.001, rel=1e-3)


def test_it_compares_integers_exactly():
    exact = Tolerance(0.0, 0.0)
    a = torch.tensor([1, 2, 3])
    assert quick(a, a.clone(), exact)
    assert compare(a, a.clone(), exact).ok
    assert not compare(a, torch.tensor([1, 2, 4]), exact).ok
