"""Answers are made in the outputs where torch can, and are the same answers everywhere."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from campaigns.evaluator.builds.placed_answers import PlacedAnswers

X = torch.randn(512, 1024, generator=torch.Generator().manual_seed(3))


class Copies(TorchDispatchMode):
    """Counts copies that reach torch, and the outputs that others would be made beside."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += func is torch.ops.aten.copy_.default
        return func(*args, **(kwargs or {}))


def filled(x):
    """As a wrapper around a kernel, which fills memory where torch does not see it."""
    y = torch.empty_like(x)
    y.numpy()[:] = x.numpy() * 2
    return y


def changed(x):
    y = x + 1
    return y.mul_(3)


def copying(function, names):
    def call(x, **places):
        answers = function(x)
        answers = answers if isinstance(answers, tuple) else (answers,)
        for name, answer in zip(names, answers, strict=True):
            places[name].copy_(answer)

    return call


def copies_of(function, x=X):
    """How many copies the last call makes, after others that must be right as well."""
    want = function(x)
    want = want if isinstance(want, tuple) else (want,)
    names = [f"out{n}" for n, _ in enumerate(want)]
    call = PlacedAnswers(copying(function, names), names)
    for _ in range(5):
        places = {
            n: torch.full(w.shape, 7, dtype=w.dtype) for n, w in zip(names, want, strict=True)
        }
        with Copies() as copies:
            call(x=x, **places)
        assert all(torch.equal(places[n], w) for n, w in zip(names, want, strict=True))
    assert len(call.copied(x=x, **places)) == copies.count
    return copies.count


@pytest.mark.parametrize(
    "function",
    [
        filled,
        changed,
        lambda x: filled(x).view(-1, 256),
        lambda x: F.softmax(x, -1),
        lambda x: (x * 2).half(),
        lambda x: x @ x.T,
        lambda x: (x.mean(-1, keepdim=True), F.gelu(x)),
    ],
)
def test_what_torch_can_make_in_its_place_is_not_copied(function):
    assert copies_of(function) == 0


@pytest.mark.parametrize(
    "memory",
    [
        torch.empty_like,
        lambda x: torch.empty(x.shape),
        lambda x: x.new_empty(x.shape),
        lambda x: torch.empty_strided((512, 1024), (1024, 1)),
    ],
)
def test_memory_that_a_wrapper_takes_is_the_outputs(memory):
    taken = []

    def wrapper(x, out):
        y = memory(x)
        taken.append(y.data_ptr())
        out.copy_(y)

    call, out = PlacedAnswers(wrapper, ["out"]), torch.empty_like(X)
    for _ in range(6):
        call(x=X, out=out)
    assert [at == out.data_ptr() for at in taken] == [False, False, True, True, True, True]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x,
        lambda x: x.t(),
        lambda x: F.layer_norm(x, (1024,)),
        lambda x: torch.topk(x, 512)[0],
    ],
)
def test_what_it_cannot_is_copied(function):
    assert copies_of(function) == 1


def test_one_answer_for_two_outputs_is_copied_once():
    assert copies_of(lambda x: (lambda y: (y, y))(x + 1)) == 1


def test_an_answer_that_changes_later_does_not_change_the_output():
    def reference(x, out, other):
        y = x + 1
        out.copy_(y)
        y.mul_(2)
        other.copy_(y)

    call = PlacedAnswers(reference, ["out", "other"])
    for _ in range(4):
        out, other = torch.empty_like(X), torch.empty_like(X)
        call(x=X, out=out, other=other)
        assert torch.equal(out, X + 1)
        assert torch.equal(other, (X + 1) * 2)


def test_the_next_call_may_go_another_way():
    ways = [True, True, True, False, True, False, False, False, True]
    turns = iter(ways)

    def call(x, out):
        out.copy_(F.softmax(x, -1) if next(turns) else x + 1)

    placed = PlacedAnswers(call, ["out"])
    for way in ways:
        out = torch.empty_like(X)
        placed(x=X, out=out)
        assert torch.equal(out, F.softmax(X, -1) if way else X + 1)


@pytest.mark.parametrize("more", [[1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [1, 0, 0, 1, 1, 1, 0]])
def test_answers_do_not_mix_where_calls_have_more_operations(more):
    """As the first calls of a kernel that is compiled or tuned then: all others are shifted."""
    left = iter(more)

    def call(x, first, second, third):
        for _ in range(next(left)):
            (x * 5).sum(0)
        answers = x * 2, x.sum(0), (x * 3).sum(0)
        for place, answer in zip((first, second, third), answers, strict=True):
            place.copy_(answer)

    placed = PlacedAnswers(call, ["first", "second", "third"])
    for _ in more:
        first, second, third = torch.empty_like(X), torch.empty(1024), torch.empty(1024)
        placed(x=X, first=first, second=second, third=third)
        assert torch.equal(first, X * 2)
        assert torch.equal(second, X.sum(0))
        assert torch.equal(third, (X * 3).sum(0))


def test_a_small_answer_on_a_cpu_is_copied():
    assert copies_of(lambda x: x + 1, torch.ones(8)) == 1


def test_what_is_returned_is_compiled_where_torch_compile_is_asked_for():
    compiled = []

    def backend(graph, _):
        compiled.append(graph)
        return graph.forward

    twice = torch.compile(lambda x: x * 2, backend=backend, dynamic=False)
    call, out = PlacedAnswers(copying(twice, ["out"]), ["out"]), torch.empty_like(X)
    for _ in range(4):
        call(x=X, out=out)
    assert torch.equal(out, X * 2)
    assert len(compiled) == 1


IMPORTS = """
import sys, torch
from campaigns.evaluator.builds.placed_answers import PlacedAnswers

call = PlacedAnswers(lambda x, out: out.copy_(x + 1), ["out"])
for _ in range(3):
    call(x=torch.ones(1 << 20), out=torch.empty(1 << 20))
print("torch._dynamo" in sys.modules)
"""


def test_watching_does_not_import_the_compiler_of_torch():
    """That takes seconds, of the first call that is watched."""
    ended = subprocess.run(
        [sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "False"
