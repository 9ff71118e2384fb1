"""The comparator: finite first, every element, nothing passes by being empty or NaN."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from campaigns.evaluator.contract.layout import Plain, lay_out
from campaigns.evaluator.judge.correctness import output_comparison
from campaigns.evaluator.judge.correctness.output_comparison import Tolerance, compare, quick
from campaigns.evaluator.judge.correctness.tolerance import of_usual_size

LOOSE = Tolerance(1e-3, 1e-3)
NAN, INF = float("nan"), float("inf")


def looked_at(found: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> bool:
    one = (1, found.numel())
    return bool(quick(found.reshape(one), expected.reshape(one), tolerance))


def both(found: list[float], expected: list[float]) -> tuple[bool, bool]:
    a, b = torch.tensor(found), torch.tensor(expected)
    return looked_at(a, b.clone(), LOOSE), compare(a, b.double(), LOOSE).ok


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
    assert not looked_at(torch.empty(0), torch.empty(0), LOOSE)


def test_it_gives_the_worst_error_as_a_share_of_its_tolerance():
    found = compare(torch.tensor([1.0, 2.001]), torch.tensor([1.0, 2.0]).double(), LOOSE)
    assert found.margin == pytest.approx(0.001 / 0.003, rel=1e-3)
    assert found.max_abs_error == pytest.approx(0.001, rel=1e-3)


def test_no_error_is_a_small_number_where_an_element_is_lost():
    found = compare(torch.tensor([NAN, 2.0]), torch.tensor([1.0, 2.0]).double(), LOOSE)
    assert (found.max_abs_error, found.max_rel_error, found.norm_error) == (INF, INF, INF)


def test_it_compares_integers_exactly():
    exact = Tolerance(0.0, 0.0)
    a = torch.tensor([1, 2, 3])
    assert looked_at(a, a.clone(), exact)
    assert compare(a, a.clone(), exact).ok
    assert not compare(a, torch.tensor([1, 2, 4]), exact).ok


def test_it_compares_large_integers_and_bytes_of_booleans_exactly():
    exact = Tolerance(1e-3, 1e-3, exact=True)
    a = torch.tensor([(1 << 60) + 1])
    assert not compare(a, torch.tensor([1 << 60]), exact).ok
    byte = torch.tensor([255], dtype=torch.uint8).view(torch.bool)
    assert not compare(byte, torch.tensor([True]), exact).ok
    assert not looked_at(byte, torch.tensor([True]), exact)


def test_r15_it_also_refuses_by_norm_what_every_element_lets_pass():
    want = torch.rand(4096, dtype=torch.float64) * 1e-3
    rounded = want.to(torch.bfloat16).double()
    loose = Tolerance(1e-5, 1e-4)
    assert compare(rounded, want, loose).ok
    found = compare(rounded, want, Tolerance(1e-5, 1e-4, norm=1e-4))
    assert not found.ok
    assert found.margin > 1
    assert "lower precision" in found.message
    assert not looked_at(rounded.float(), want.float(), Tolerance(1e-5, 1e-4, norm=1e-4))
    assert looked_at(want.float(), want.float(), Tolerance(1e-5, 1e-4, norm=1e-4))


def test_r15_a_norm_is_held_against_the_usual_size_of_an_answer():
    found, expected = torch.tensor([0.0101]), torch.tensor([0.01])
    strict = Tolerance(1e-2, 0.0, norm=1e-4)
    assert not looked_at(found, expected, strict)
    assert not compare(found, expected.double(), strict).ok
    usual = replace(strict, usual=2.0)
    assert looked_at(found, expected, usual)
    assert compare(found, expected.double(), usual).norm_error == pytest.approx(5e-5, rel=1e-2)
    assert not compare(torch.tensor([0.0103]), expected.double(), usual).ok


def test_r15_few_elements_have_a_usual_size_and_many_are_their_own():
    few, many = (
        Plain(name, "float32", (n,), output=True) for name, n in (("few", 2), ("many", 999))
    )
    layout = lay_out([few, many])
    strict = {"few": Tolerance(1.0, 0.0, 1e-4), "many": Tolerance(1.0, 0.0, 1e-4)}
    answers = [{"few": torch.tensor([3.0, 4.0]), "many": torch.ones(999)}] * 8
    found = of_usual_size(strict, layout, lambda count: answers[:count])
    assert found["few"].usual == pytest.approx(5.0)
    assert found["many"] == strict["many"]


@pytest.mark.parametrize("tolerance", [LOOSE, Tolerance(0.0, 1e-3, 1e-2), Tolerance(1e-3, 0.0)])
@pytest.mark.parametrize("special", [None, 0.0, NAN, INF, -INF])
@pytest.mark.parametrize("error", [0.0, 1e-6, 0.4])
def test_a_comparison_in_pieces_is_the_same_as_one_of_the_whole(
    monkeypatch, tolerance, special, error
):
    expected = torch.linspace(-2, 3, 101, dtype=torch.float64)
    if special is not None:
        expected[7] = special
    found = (expected * (1 + error)).float()
    whole, is_close = compare(found, expected, tolerance), looked_at(found, expected, tolerance)
    monkeypatch.setattr(output_comparison, "PIECE", 10)
    in_pieces = compare(found, expected, tolerance)
    assert in_pieces.norm_error == pytest.approx(whole.norm_error, nan_ok=True)
    assert in_pieces.margin == pytest.approx(whole.margin, nan_ok=True)
    same = {"norm_error": 0.0, "margin": 0.0}
    assert replace(in_pieces, **same) == replace(whole, **same)
    assert looked_at(found, expected, tolerance) == is_close


def test_what_is_finite_on_one_side_only_is_wrong():
    good = torch.tensor([1.0, 2.0])
    assert compare(good, good.double(), LOOSE).ok
    assert not compare(torch.tensor([1.0, NAN]), good.double(), LOOSE).ok
    assert not compare(torch.tensor([1.0, INF]), good.double(), LOOSE).ok
    assert compare(torch.tensor([1.0, INF]), torch.tensor([1.0, INF]).double(), LOOSE).ok
