"""Outputs of 8 bits that may be off by a step, and hostile ones that are off by more."""

import pytest
import torch

from campaigns.evaluator.contract.problem import ProblemError
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.evaluator.judge.correctness.output_comparison import Tolerance, compare, quick
from tests.evaluator import small

WANT = torch.arange(-100, 100).repeat(5).to(torch.int8)
BY_ONE = Tolerance(0.0, 0.0, exact=True, steps=1)


def accepts(found, want=WANT, bits=""):
    tolerance = Tolerance(0.0, 0.0, exact=True, steps=1, bits=bits)
    closely = compare(found, want, tolerance)
    assert bool(quick(found.reshape(1, -1), want.reshape(1, -1), tolerance)) is closely.ok
    assert closely.ok is (closely.margin <= 1)
    return closely.ok


def off(count, by):
    found = WANT.clone()
    found[:count] += by
    return found


def test_few_elements_may_be_off_by_one_and_none_by_two():
    assert accepts(WANT)
    assert accepts(off(10, 1))
    assert not accepts(off(11, 1))
    assert not accepts(off(1, 2))


def test_hostile_answers_are_refused():
    assert not accepts(WANT + 1)
    assert not accepts(-WANT)
    assert not accepts(torch.zeros_like(WANT))
    truncated = torch.where(torch.arange(1000) % 2 == 0, WANT - 1, WANT)
    assert not accepts(truncated)
    assert not accepts(torch.ones(4, dtype=torch.int8), torch.zeros(4, dtype=torch.int8))
    assert quick((WANT + 1)[None], WANT[None], BY_ONE.by_element).all()


@pytest.mark.parametrize("bits", ["float8_e4m3fn", "float8_e5m2"])
def test_a_step_of_a_float8_is_the_next_value(bits):
    want = torch.full((1000,), 0x38, dtype=torch.uint8)

    def one(found, wanted):
        have, right = want.clone(), want.clone()
        have[0], right[0] = found, wanted
        return accepts(have, right, bits)

    assert one(0x39, 0x38)

    assert not one(0x3A, 0x38)
    assert one(0x80, 0x00)
    assert one(0x81, 0x00)
    assert not one(0x81, 0x01)
    assert one(0xFF, 0x7F)
    assert not one(0x7F, 0x38)
    assert not one(0x38, 0x7F)
    assert not one(0xB8, 0x38)
    if bits == "float8_e5m2":
        assert one(0x7C, 0x7C)
        assert not one(0x7C, 0x7B)
        assert not one(0xFC, 0x7C)
        assert one(0x7D, 0x7E)
        assert not one(0x7D, 0x7C)
    else:
        assert one(0x7C, 0x7B)
        assert not one(0x7F, 0x7E)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("steps = 5", "steps: a whole number from 0 to 4 is needed, found 5"),
        ("steps = true", "steps: a whole number from 0 to 4"),
        ('bits = "float8_e5m2"', "steps: a whole number from 0 to 4 is needed, found None"),
        ("steps = 1\natol = 1", "atol: unknown; accepted: bits, steps"),
        ('steps = 1\nbits = "float16"', "bits: 'float16'; accepted: float8_e4m3fn, float8_e5m2"),
    ],
)
def test_what_steps_cannot_be_is_named_with_its_table(tmp_path, table, said):
    own = f"[tolerance.outputs.y]\n{table}\n[[case]]"
    folder = small.write_problem(tmp_path, small.TOML.replace("[[case]]", own, 1))
    with pytest.raises(ProblemError) as told:
        load_problem(folder)
    assert "[tolerance.outputs.y]" in str(told.value)
    assert said in str(told.value)


def test_an_exact_output_says_what_would_accept_a_few_steps():
    exact = Tolerance(0.0, 0.0, exact=True)

    def said(found, want=WANT):
        found = compare(found, want, exact)
        assert not found.ok
        return found.message.partition("; ")[2]

    assert said(off(10, 1)) == "rounded otherwise? `steps = 1` accepts it"
    assert said(off(11, 1)) == said(off(1, 2)) == said(WANT + 1) == ""
    zeros = torch.zeros(1000, dtype=torch.uint8)
    below = zeros.clone()
    below[0] = 0x81
    assert 'with `bits = "float8_e4m3fn"`' in said(below, zeros)
    mask = torch.zeros(1000, dtype=torch.bool)
    assert said(mask.index_fill(0, torch.tensor([0]), True), mask) == ""
