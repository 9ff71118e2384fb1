"""How the kernels of a trace cross the border between runner and judge."""

import json
from dataclasses import replace

import pytest

from campaigns.evaluator.builds.device_plan import DevicePlan
from campaigns.evaluator.contract import (
    CaseReport,
    Outcome,
    OwnKernel,
    Phase,
    Report,
    Timer,
    Timing,
    Traced,
)
from campaigns.evaluator.contract.files import dump, load_report
from campaigns.evaluator.tracer_answers import MOST_KERNELS, asked_names, traced_from
from campaigns.evaluator.wire import Reply, ReplyStatus

NAMES = ("rows", "tail")
SEEN = [
    ("void rows<256>(float*)", 30.0),
    ("void rows<256>(float*)", 34.0),
    ("Memset (Device)", 4.0),
    ("void at::native::rows<float>(int)", 8.0),
    ("void at::native::fill<4, at::native::FillFunctor<float> >(int)", 2.0),
]


def told(calls: int = 2) -> list[Reply]:
    plan = DevicePlan([], None, None, None)
    plan._seen, plan._seen_calls = SEEN, calls
    return [Reply(ReplyStatus.OK, n, *plan.kernel(name)) for n, name in enumerate(("", *NAMES))]


def test_it_tells_the_own_kernels_from_the_rest():
    found = traced_from(NAMES, told())
    assert found == Traced((OwnKernel("rows", 1.0, 32.0), OwnKernel("tail", 0.0, 0.0)), 7.0, 3.0)


def test_it_asks_about_declared_kernels_first_and_about_each_name_once():
    assert asked_names(("rows", "tail"), ("cub", "rows")) == ("cub", "rows", "tail")
    many = tuple(f"k{n}" for n in range(2 * MOST_KERNELS))
    assert asked_names(many, ("cub",))[:2] == ("cub", "k0")
    assert len(asked_names(many, ("cub",))) == MOST_KERNELS


def test_it_marks_what_stands_in_the_job_alone():
    found = traced_from(NAMES, told(), {"tail"})
    assert [kernel.declared for kernel in found.own] == [False, True]
    case = CaseReport("a", True, 1, candidate=Timing((1.0,), 8, 1, Timer.GRAPH, traced=found))
    report = Report("j", Outcome.PASSED, Phase.DONE, "", (case,))
    assert load_report(dump(report)) == report


def test_it_tells_of_a_source_without_kernels():
    assert traced_from((), told()[:1]) == Traced((), 39.0, 3.0)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        (0, {"a": 0}),
        (0, {"x": float("nan")}),
        (0, {"y": -1.0}),
        (1, {"a": -1}),
        (1, {"x": float("inf")}),
        (2, {"a": 2**40}),
    ],
)
def test_it_takes_no_trace_that_can_not_be(part, change):
    said = told()
    said[part] = replace(said[part], **change)
    assert traced_from(NAMES, said) is None


def test_it_takes_no_answer_too_few():
    assert traced_from(NAMES, told()[:2]) is None


def test_it_keeps_the_kernels_in_a_report_and_reads_reports_without_them():
    timing = Timing((1.0,), 8, 1, Timer.GRAPH, traced=traced_from(NAMES, told()))
    case = CaseReport("a", True, 1, candidate=timing)
    report = Report("j", Outcome.PASSED, Phase.DONE, "", (case,))
    assert load_report(dump(report)) == report
    older = json.loads(dump(report))
    del older["cases"][0]["candidate"]["traced"]
    assert load_report(json.dumps(older)).cases[0].candidate.traced is None
