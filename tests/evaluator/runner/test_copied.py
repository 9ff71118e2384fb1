"""The runner names the outputs it copies by one number; the judge makes of it what it can be."""

from __future__ import annotations

from functools import partial

import torch

from campaigns.evaluator.builds.host_plan import copied_bits
from campaigns.evaluator.builds.placed_answers import PlacedAnswers
from campaigns.evaluator.contract import CopiedOutput
from campaigns.evaluator.contract.layout import Plain, lay_out
from campaigns.evaluator.tracer_answers import copied_from
from campaigns.evaluator.wire import Reply, ReplyStatus

LAYOUT = lay_out(
    [
        Plain("x", "float32", (4,), output=False),
        Plain("total", "float32", (1,), output=True, update=True),
        Plain("a", "float32", (4,), output=True),
        Plain("b", "bfloat16", (4,), output=True),
    ]
)


def told(number: int) -> tuple[CopiedOutput, ...]:
    return copied_from(Reply(ReplyStatus.OK, 1, number, 0.0, 0.0), LAYOUT)


def bits(function) -> int:
    run = PlacedAnswers(function, ["a", "b"])
    call = partial(
        run, x=torch.ones(4), total=torch.ones(1), a=torch.ones(4), b=torch.ones(4).bfloat16()
    )
    call()
    return copied_bits(run, call, LAYOUT)


def test_what_one_side_tells_the_other_reads():
    def copies(x, total, a, b):
        a.copy_(x + 1)
        b.copy_((x + 2).bfloat16())

    assert told(bits(copies)) == (CopiedOutput("a", 16), CopiedOutput("b", 8))


def test_what_is_written_where_it_belongs_or_rounded_is_no_copy():
    def writes(x, total, a, b):
        torch.mul(x, 2, out=a)
        b.copy_(x)

    assert bits(writes) == 0


def test_a_function_that_is_called_as_it_is_tells_nothing():
    assert copied_bits(print, partial(print), LAYOUT) == 0


def test_a_number_that_is_no_answer_names_outputs_of_the_problem_at_most():
    assert told(1 << 40) == ()
    assert [one.name for one in told(-1)] == ["total", "a", "b"]
