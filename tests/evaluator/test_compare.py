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


def test_it_compares_large_integers_and_bytes_of_booleans_exactly():
    exact = Tolerance(1e-3, 1e-3, exact=True)
    a = torch.tensor([(1 << 60) + 1])
    assert not compare(a, torch.tensor([1 << 60]), exact).ok
    byte = torch.tensor([255], dtype=torch.uint8).view(torch.bool)
    assert not compare(byte, torch.tensor([True]), exact).ok
    assert not quick(byte, torch.tensor([True]), exact)


def test_r15_it_also_refuses_by_norm_what_every_element_lets_pass():
    want = torch.rand(4096, dtype=torch.float64) * 1e-3
    rounded = want.to(torch.bfloat16).double()
    loose = Tolerance(1e-5, 1e-4)
    assert compare(rounded, want, loose).ok
    found = compare(rounded, want, Tolerance(1e-5, 1e-4, norm=1e-4))
    assert not found.ok
    assert found.margin > 1
    assert "lower precision" in found.message
    assert not quick(rounded.float(), want.float(), Tolerance(1e-5, 1e-4, norm=1e-4))
    assert quick(want.float(), want.float(), Tolerance(1e-5, 1e-4, norm=1e-4))
