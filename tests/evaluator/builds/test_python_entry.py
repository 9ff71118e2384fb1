"""Which function of a Python candidate is called, and how its answer is handed over."""

from types import ModuleType

import pytest
import torch

from campaigns.evaluator.builds.python_entry import entry_of
from campaigns.evaluator.contract.errors import BuildFailed
from campaigns.evaluator.contract.layout import Plain, ScalarArg, lay_out

LAYOUT = lay_out(
    [
        Plain("x", "float32", (4,), output=False),
        ScalarArg("factor", 2.0),
        Plain("out", "float32", (4,), output=True),
    ]
)
IN_PLACE = "def run_kernel(x, factor, out):\n    out.copy_(x * factor)\n"
RETURNS = "def scaled(x, factor=1.0):\n    return x * factor\n"


def entry(text, layout=LAYOUT):
    module = ModuleType("candidate")
    exec(text, module.__dict__)
    return entry_of(module, layout, "mine.py")


@pytest.mark.parametrize(
    "text",
    [
        IN_PLACE,
        RETURNS,
        RETURNS.replace("scaled", "run_kernel"),
        RETURNS + "\ndef _helper(x, factor):\n    return x\n\ndef other(a, b):\n    return a\n",
        RETURNS + IN_PLACE,
    ],
)
def test_an_answer_is_written_or_returned(text):
    x, out = torch.arange(4.0), torch.zeros(4)
    entry(text)(x=x, factor=2.0, out=out)
    assert out.tolist() == [0.0, 2.0, 4.0, 6.0]


SIZES = lay_out(
    [
        Plain("x", "float32", (2, 3), output=False),
        ScalarArg("N", 2),
        ScalarArg("D", 3),
        Plain("out", "float32", (2, 3), output=True),
    ]
)


@pytest.mark.parametrize(
    "text",
    [
        "def twice(x):\n    return x * 2\n",
        "def twice(x, out):\n    out.copy_(x * 2)\n",
        "def twice(x, D):\n    return x.view(-1, D) * 2\n",
        "def run_kernel(x):\n    return x * 2\n",
        # A helper that takes less than all is not taken for one that takes it all.
        "def helper(x):\n    return x\n\ndef twice(x, N, D):\n    return x * 2\n",
    ],
)
def test_sizes_that_a_function_reads_off_its_tensors_are_left_out(text):
    x, out = torch.arange(6.0).view(2, 3), torch.zeros(2, 3)
    entry(text, SIZES)(x=x, N=2, D=3, out=out)
    assert out.flatten().tolist() == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]


def test_several_answers_come_in_the_order_of_the_outputs():
    args = [Plain(name, "float32", (2,), output=name != "x") for name in ("x", "a", "b")]
    x, a, b = torch.ones(2), torch.zeros(2), torch.zeros(2)
    entry("def both(x):\n    return x + 1, x + 2\n", lay_out(args))(x=x, a=a, b=b)
    assert (a.tolist(), b.tolist()) == ([2.0, 2.0], [3.0, 3.0])
    with pytest.raises(ValueError, match="zip"):
        entry("def one(x):\n    return x\n", lay_out(args))(x=x, a=a, b=b)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\n", "no function run_kernel"),
        ("def mine(rows):\n    return rows\n", "there is mine; the cases give x, factor, out; one"),
        ("def a(x):\n    return x\n\ndef b(x):\n    return x\n", "a, b could each be it"),
        (RETURNS + RETURNS.replace("scaled", "again"), "scaled, again could each be it"),
        ("def run_kernel(y):\n    pass\n", "the cases give x, factor, out"),
        ("from math import sqrt\n", "no function run_kernel"),
    ],
)
def test_what_cannot_be_called_is_refused(text, words):
    with pytest.raises(BuildFailed, match=r"mine\.py: ") as refused:
        entry(text)
    assert words in str(refused.value)


def test_an_output_that_is_updated_is_an_argument():
    args = [Plain("x", "float32", (2,), output=False), Plain("y", "float32", (2,), True, True)]
    with pytest.raises(BuildFailed):
        entry("def add(x):\n    return x\n", lay_out(args))
