"""Tensors and numbers of example calls, read and never run."""

import ast

import pytest

from campaigns.problems.import_.draft import Distribution, DraftError
from campaigns.problems.import_.example_calls import find_calls, read_call


def one(text):
    return read_call(f"f({text})")[0][0]


@pytest.mark.parametrize(
    ("text", "shape", "dtype"),
    [
        ("torch.randn(4, 8)", (4, 8), "float32"),
        ("torch.rand((4, 8), dtype=torch.half)", (4, 8), "float16"),
        ("torch.zeros(4).to(torch.bfloat16).cuda()", (4,), "bfloat16"),
        ("torch.randint(0, 9, (3,))", (3,), "int64"),
        ("torch.ones([2, 3], device='cuda').double()", (2, 3), "float64"),
        ("torch.randn(2 * 4, 16 // 2)", (8, 8), "float32"),
        ("torch.full((5,), 0.5)", (5,), "float32"),
    ],
)
def test_it_reads_shape_and_dtype(text, shape, dtype):
    found = one(text)
    assert (found.shape, found.dtype) == (shape, dtype)


def test_it_reads_what_values_are_drawn():
    assert (one("torch.randint(2, 9, (3,))").low, one("torch.randint(2, 9, (3,))").high) == (2, 9)
    assert one("torch.randn(4) * 0.1 + 1").shift == 1
    assert one("torch.rand(4)").draw is Distribution.UNIFORM


def test_names_are_what_was_assigned_before():
    listed, named = read_call(
        "n, d = 4, 8; x = torch.randn(n, d); f(x, torch.empty_like(x), eps=1e-5)"
    )
    assert [each.shape for each in listed] == [(4, 8), (4, 8)]
    assert listed[0].names == ("n", "d")
    assert named == {"eps": 1e-5}


@pytest.mark.parametrize(
    "text", ["f(open('x'))", "1 + 1", "f(torch.randn(n))", "f(torch.randn(-1))", ""]
)
def test_it_refuses_what_it_does_not_understand(text):
    with pytest.raises(DraftError):
        read_call(text)


def test_it_finds_calls_in_tests_and_beneath_main():
    tree = ast.parse(
        "N = 4\n"
        "def bench(n=8):\n    x = torch.randn(n)\n    for _ in range(3):\n        f(x)\n"
        "if __name__ == '__main__':\n    y = torch.randn(N)\n    print(f(y))\n"
    )
    shapes = {listed[0].shape for listed, _ in find_calls(tree, "f")}
    assert shapes == {(8,), (4,)}


def test_sizes_keep_the_names_that_they_are_written_with():
    listed, _ = read_call("d = 4; f(torch.randn(8, 2 * d), torch.arange(3) * d, d // 2)")
    assert (listed[0].shape, listed[0].names) == ((8, 8), ("", "2 * d"))
    assert (listed[1].source, listed[1].named) == ("torch.arange(3) * d", (("d", 4),))
    assert (listed[2], listed[2].text) == (2, "d // 2")


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("torch.tensor([0, 3])", "int64"),
        ("torch.tensor([0.5, 3])", "float32"),
        ("torch.tensor([0, 3], dtype=torch.int32)", "int32"),
        ("torch.full((2,), 7).int()", "int32"),
        ("torch.arange(4).to(torch.int16).cumsum(0)", "int16"),
    ],
)
def test_a_tensor_of_given_numbers_is_kept_as_it_is_written(text, dtype):
    assert (one(text).source, one(text).dtype) == (text, dtype)


@pytest.mark.parametrize("text", ["torch.full((2,), 0.5)", "torch.randint(0, 9, (3,)) + 1"])
def test_what_is_drawn_is_not_kept_as_it_is_written(text):
    assert not one(text).source


def test_an_error_says_what_is_accepted():
    with pytest.raises(DraftError, match=r"torch.eye\(4\) is not understood; accepted: numbers"):
        read_call("f(torch.eye(4))")
