"""Tensors of example calls: what is read of each, beside what torch makes of the same text."""

import math

import pytest
import torch

from campaigns.problems.import_.call_values import FACTORIES
from campaigns.problems.import_.draft import DraftError, Given
from campaigns.problems.import_.example_calls import read_call
from campaigns.problems.import_.propose import propose
from campaigns.problems.import_.write import written

BEFORE = (
    "D = 64; half = torch.float16; x = torch.randn(32, 64, dtype=half); "
    "i = torch.randint(0, 9, (32, 64)); a = torch.arange(4)"
)
SIZES = ("32, 64", "(32, 64)", "[32, D]", "size=(32, D)", "*(32, 64)", "x.shape", "size=x.shape")
SIZED = ("randn", "rand", "zeros", "ones", "empty")
KEYWORDS = (
    "dtype=torch.float16",
    "dtype=half",
    "dtype=x.dtype",
    "dtype=torch.double",
    "dtype=float",
    "dtype=None",
    "device='cpu'",
    "requires_grad=True",
    "generator=None",
    "layout=torch.strided",
    "memory_format=torch.contiguous_format",
    "pin_memory=False",
)
DTYPES = ("bool", "uint8", "int8", "short", "int", "long", "half", "bfloat16", "float", "double")
ACCEPTED = (
    *(f"torch.{name}({size})" for name in SIZED for size in SIZES),
    *(f"torch.{name}_like(x)" for name in SIZED),
    *(f"torch.{name}_like(input=x, dtype=torch.float64)" for name in SIZED),
    *(f"torch.randn(32, 64, {one})" for one in KEYWORDS if "memory_format" not in one),
    *(f"torch.empty(32, 64, {one})" for one in KEYWORDS if "generator" not in one),
    *(f"torch.randint(0, 2, (32, 64), dtype=torch.{one})" for one in DTYPES),
    *(f"torch.ones(32, 64, dtype=torch.{one})" for one in DTYPES),
    *(
        f"torch.randperm(2048, dtype=torch.{one})"
        for one in DTYPES
        if one not in ("bool", "uint8", "int8", "half", "bfloat16")
    ),
    "torch.randint(100, (32, 64))",
    "torch.randint(3, 100, (32, D))",
    "torch.randint(low=3, high=100, size=(32, 64))",
    "torch.randint(3, 100, size=(32, 64))",
    "torch.randint(3, high=100, size=(32, 64))",
    "torch.randint(100, size=(32, 64))",
    "torch.randint(high=100, size=(32, 64), dtype=torch.int32)",
    "torch.randint_like(x, 9)",
    "torch.randint_like(i, 2, 9)",
    "torch.randint_like(i, low=2, high=9, dtype=torch.int32)",
    "torch.full((32, 64), 0.5)",
    "torch.full((32, 64), -0.5)",
    "torch.full(size=(32, 64), fill_value=2.5)",
    "torch.full((32, 64), fill_value=1 / 4, dtype=torch.float16)",
    "torch.full((32, 64), 7)",
    "torch.full(x.shape, 7)",
    "torch.full((32, 64), True)",
    "torch.full_like(x, 3)",
    "torch.full_like(i, fill_value=3)",
    "torch.randperm(n=2048)",
    "-torch.rand(32, 64)",
    "2 * torch.rand(32, 64) - 1",
    "1 - torch.rand(32, 64)",
    "torch.rand(32, 64) ** 2",
    "2 ** torch.rand(32, 64)",
    "torch.randn(32, 64) / math.sqrt(D)",
    "torch.randn(32, 64) * D ** -0.5",
    "torch.randn(32, 64).abs()",
    "torch.randn(32, 64, dtype=half).abs() + 1",
    "torch.randn(32, 64).clamp(min=-1, max=0.5)",
    "torch.rand(32, 64).sqrt().half()",
    "torch.randn(32, 64).softmax(-1)",
    "torch.randn(32, 64).softmax(dim=-1)",
    "torch.rand(32, 64) > 0.5",
    "0.25 < torch.rand(32, 64)",
    "x > 0",
    "(x > 0).float()",
    "(torch.rand(32, 64) * 9).int() * 5",
    "i + 1",
    "-i",
    "1 - i",
    "i * 0.5",
    "i / 4",
    "i // 2",
    "i % 3 == 0",
    "i.float() / 9",
    "i.int()",
    "i.to(x)",
    "torch.randint(0, 256, (32, 64), dtype=torch.uint8) * 2",
    "torch.randint(0, 2, (32, 64)).bool()",
    "torch.randn(32, 64).to(dtype=torch.bfloat16, device='cpu').contiguous()",
    "-torch.ones(32, 64)",
    "torch.ones(32, 64) * 0.5",
    "torch.zeros(32, 64, dtype=torch.int32) + 3",
    "torch.ones(32, 64) > 0",
    "a",
    "a.int()",
    "a * D",
    "a / 3",
    "a > 1",
    "a.float() * 0.5",
    "torch.arange(4, device='cpu')",
    "torch.arange(0, 1, 0.25)",
    "torch.arange(4, dtype=half)",
    "torch.tensor([0.5, 2], dtype=half, requires_grad=True)",
    "torch.tensor([1, 2]) * 0.5",
    "2 - torch.arange(4)",
    "torch.stack([torch.arange(4), torch.arange(4)])",
)


# How far a sample's mean and spread may be from another's, in its spread.
NEAR = 0.2


def read(text):
    return read_call(f"{BEFORE}; f({text})")[0][0]


def drawn(text):
    """What the problem's own setup draws for a tensor of an example call."""
    kernel = "def run_kernel(one, out):\n    out.copy_(one)\n"
    call = f"{BEFORE}; run_kernel({text}, torch.empty(1))"
    given = Given("k.py", kernel, "r.py", "def right(one, out):\n    ...\n", calls=(call,))
    draft = propose(given)
    scope = {}
    exec(written(draft)["ref.py"], scope)
    sizes = next(iter(draft.cases.values()), {})
    made = scope["setup"](**sizes, seed=1, device="cpu")["inputs"]["one"]
    return made, next(arg for arg in draft.args if arg.name == "one")


@pytest.mark.parametrize("text", ACCEPTED)
def test_a_tensor_is_drawn_as_torch_makes_it(text):
    scope = {"torch": torch, "math": math}
    exec(BEFORE, scope)
    theirs = eval(text, scope)
    mine, arg = drawn(text)
    assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
    assert str(theirs.dtype) == f"torch.{arg.dtype}"
    value = read(text)
    if value.source:
        assert torch.equal(mine, theirs.detach())
    elif value.fill is not None:
        # One number everywhere is drawn around it, or from it and the next.
        empty = torch.zeros_like(theirs) if value.blank else theirs
        assert (mine.double().mean() - empty.double().mean()).abs() < 0.8
    else:
        mine, theirs = mine.double(), theirs.detach().double()
        spread = theirs.std()
        assert (mine.mean() - theirs.mean()).abs() <= NEAR * spread
        assert (mine.std() - spread).abs() <= NEAR * spread


def test_the_table_has_every_factory():
    assert {name for name in FACTORIES if any(f"torch.{name}(" in one for one in ACCEPTED)} == {
        *FACTORIES
    }


@pytest.mark.parametrize(
    "text",
    [
        "torch.randn(32, 64, names=('N', 'C'))",
        "torch.randn(32, 64, out=x)",
        "torch.zeros(32, 64, layout=torch.sparse_coo)",
        "torch.empty(2, 3, 4, 4, memory_format=torch.channels_last)",
        "torch.zeros(32, 64, dtype=torch.complex64)",
        "torch.zeros(32, 64, dtype=kind)",
        "torch.zeros(32, 64, torch.float16)",
        "torch.randn(32, 64, dtype=torch.int32)",
        "torch.rand_like(i)",
        "torch.randn(size=4)",
        "torch.randn()",
        "torch.randn(32, size=(64,))",
        "torch.randint(9)",
        "torch.randint(low=9, size=(4,))",
        "torch.randint(9, 4)",
        "torch.randint(9, 9, (4,))",
        "torch.full(4, 0.5)",
        "torch.full((4,))",
        "torch.full((4,), 'a')",
        "torch.randperm()",
        "torch.zeros(**more)",
        "torch.empty_like(a)",
        "torch.randn(32, 64).to(kind)",
        "torch.randn(32, 64).view(64, 32)",
        "torch.randn(32, 64).random_(0, 9)",
        "torch.randn(32, 64) @ x",
        "x * x",
        "x.to(torch.float8_e5m2) * 2",
        "-(x > 0)",
        "i // 0",
        "i ** -1",
        "i.softmax(-1)",
        "i.clamp(min=0.5)",
        "x.abs(2)",
        "torch.zeros(4).exp()",
        "0 < x < 1",
        "x in i",
        "[1, 2][7]",
    ],
)
def test_anything_else_is_not_understood(text):
    with pytest.raises(DraftError, match=r"line 1: .* is not understood; accepted: numbers"):
        read(text)


def test_arguments_that_the_call_makes_of_one_tensor_are_said_to_be_drawn_apart():
    kernel = "def run_kernel(x, mask, out):\n    out.copy_(x * mask)\n"
    right = "def right(x, mask, out):\n    out.copy_(x * mask)\n"
    call = "x = torch.randn(8, 64); run_kernel(x, x > 0, torch.empty_like(x))"
    draft = propose(Given("k.py", kernel, "r.py", right, calls=(call,)))
    assert "x, mask are drawn apart, though the call makes them all of x." in draft.assumed


def test_calls_that_make_an_argument_differently_are_one_and_that_is_said():
    kernel = "def run_kernel(x, out):\n    out.copy_(x)\n"
    right = "def right(x, out):\n    out.copy_(x)\n"
    calls = [f"run_kernel(torch.randn({n}), torch.empty({n}))" for n in (32, 64)]
    said = "x is float32 and drawn as in the first call in every case."
    for last, is_said in ((calls[1], False), (calls[1].replace("randn", "rand"), True)):
        draft = propose(Given("k.py", kernel, "r.py", right, calls=(calls[0], last)))
        assert (said in draft.assumed) is is_said


def test_of_calls_in_a_file_the_line_that_is_not_understood_is_said():
    kernel = (
        "import torch\ndef run_kernel(x, out):\n    out.copy_(x)\n"
        "def right(x, out):\n    out.copy_(x)\n\n\nrun_kernel(torch.eye(4), torch.empty(4, 4))\n"
    )
    with pytest.raises(DraftError, match=r"k.py, line 8: torch.eye\(4\) is not understood; acc"):
        propose(Given("k.py", kernel, function="right"))
