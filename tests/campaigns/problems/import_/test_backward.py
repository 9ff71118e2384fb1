"""Gradients of a kernel that an autograd.Function launches."""

import pytest

from campaigns.problems.import_.draft import DraftError, Given, Role
from campaigns.problems.import_.propose import propose
from campaigns.steps.propose_problem import propose_problem
from tests.campaigns.problems.import_.sources import TRITON

KERNEL = (
    TRITON.split("def scaled_ref")[0]
    + """
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, shape, weight, table, factor=2.0):
        ctx.save_for_backward(x, weight)
        return scaled(x, weight)

    @staticmethod
    def backward(ctx, dy):
        x, weight = ctx.saved_tensors
        return scaled(dy, weight), None, (dy * x).sum(0), None, None


scale = Scale.apply
"""
)
REFERENCE = "def right(x, shape, weight, table):\n    return x * weight\n"
CALL = "scale(torch.randn(8, 16), (16,), torch.randn(16), torch.randn(3)).backward(%s)"


def given(incoming="torch.randn(8, 16)", call=CALL, **more):
    return Given("scale.py", KERNEL, "ref.py", REFERENCE, calls=(call % incoming,), **more)


def gradients_of(draft):
    return draft.kernels["triton"][1].split("torch.autograd.grad")[0].rsplit("for one in", 1)[1]


def test_a_call_of_backward_asks_for_the_gradients_that_are_not_none():
    found = propose_problem(propose(given()))
    assert "(x, weight)" in gradients_of(found.draft)
    outputs = [arg for arg in found.draft.args if arg.role is Role.OUTPUT]
    assert [arg.dtype for arg in outputs] == ["float32", "float32"]
    shapes = {arg["name"]: arg["shape"] for arg in found.read["arguments"]}
    assert (shapes["grad_out"], shapes["out1"], shapes["out2"]) == ([8, 16], [8, 16], [16])


def test_that_both_ways_are_timed_is_said():
    assert "runs forward and backward, and both are timed" in propose(given()).assumed[0]


def test_arguments_that_the_call_marks_are_the_only_ones():
    call = CALL.replace("torch.randn(16)", "torch.randn(16, requires_grad=True)")
    assert "(weight,)" in gradients_of(propose(given(call=call)))


def test_a_call_without_what_comes_in_is_refused_with_what_to_give():
    with pytest.raises(DraftError, match=r"needed: f\(…\)\.backward\(torch\.randn\(…\)\)"):
        propose(given(incoming=""))


def test_one_call_with_backward_and_one_without_are_refused():
    plain = CALL.split(".backward")[0]
    calls = (CALL % "torch.randn(8, 16)", plain)
    with pytest.raises(DraftError, match=r"one has \.backward and another has not"):
        propose(Given("scale.py", KERNEL, "ref.py", REFERENCE, calls=calls))
