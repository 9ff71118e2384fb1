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
    assert one("torch.randn(4) * 0.1 + 1").after == "(({} * 0.1) + 1)"
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
    shapes = {listed[0].shape for listed, _ in find_calls(tree, "f", [])}
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
        ("torch.arange(4).to(torch.int16).cumsum(0)", "int64"),
        ("torch.arange(4) / 2", "float32"),
        ("torch.tensor([True, False])", "bool"),
        ("torch.full(size=(2,), fill_value=7)", "int64"),
    ],
)
def test_a_tensor_of_given_numbers_is_kept_as_it_is_written(text, dtype):
    assert (one(text).source, one(text).dtype) == (text, dtype)


@pytest.mark.parametrize("text", ["torch.full((2,), 0.5)", "torch.randint(0, 9, (3,)) + 1"])
def test_what_is_drawn_is_not_kept_as_it_is_written(text):
    assert not one(text).source


def test_an_error_says_the_expression_its_line_and_what_is_accepted():
    said = r"line 3: torch.eye\(4\) is not understood; accepted: numbers"
    with pytest.raises(DraftError, match=said):
        read_call("n = 4\nx = torch.randn(n)\ny = torch.eye(4)\nf(x, y)")


@pytest.mark.parametrize(
    "changed",
    [
        "x.mul_(2)",
        "x[0] = 3",
        "x += 1",
        "torch.nn.init.normal_(x)",
        "y = x.clamp_(0)",
        "x, y = g()",
    ],
)
def test_what_another_statement_changes_is_not_understood_from_there_on(changed):
    with pytest.raises(DraftError, match=r"line 2: .* is not understood"):
        read_call(f"x = torch.randn(4)\n{changed}\nf(x)")


def test_names_of_one_statement_are_read_before_any_of_them_changes():
    listed, _ = read_call("a, b = 2, 4; a, b = b, a; f(a, b)")
    assert listed == [4, 2]


def test_a_call_that_unpacks_names_is_not_understood():
    with pytest.raises(DraftError, match="is not understood"):
        read_call("f(torch.randn(4), **more)")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2**10", 1024),
        ("1 << 4", 16),
        ("4 ** -0.5", 0.5),
        ("1 / math.sqrt(16)", 0.25),
        ("-3 % 2", 1),
        ("triton.cdiv(9, 4)", 3),
        ("triton.next_power_of_2(5)", 8),
        ("int(math.log2(8))", 3),
    ],
)
def test_arithmetic_of_numbers_is_read(text, number):
    assert one(text) == number


@pytest.mark.parametrize("text", ["2**2**99", "(-8) ** 0.5", "1 / 0", "10**30", "float('inf')"])
def test_numbers_that_are_none_or_too_large_are_not_understood(text):
    with pytest.raises(DraftError, match="is not understood"):
        one(text)


def test_a_power_of_a_size_is_no_size_that_moves_with_it():
    listed, _ = read_call("n = 5; f(torch.randn(2**n))")
    assert (listed[0].shape, listed[0].names) == ((32,), ("",))


@pytest.mark.parametrize("text", ["f(" + "1 + " * 9000 + "1)", "f(\0)", "f(1"])
def test_a_text_that_cannot_be_read_is_an_error_of_the_call(text):
    with pytest.raises(DraftError, match="call: "):
        read_call(text)
