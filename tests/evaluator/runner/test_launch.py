"""How a launch is read from a trace and crosses the border between runner and judge."""

import json
from dataclasses import replace

import pytest

from campaigns.evaluator.builds.device_plan import read_launch
from campaigns.evaluator.contract import (
    CaseReport,
    KernelLaunch,
    Outcome,
    Phase,
    Report,
    Timer,
    Timing,
)
from campaigns.evaluator.contract.files import dump, load_report
from campaigns.evaluator.runner.main import launch_part
from campaigns.evaluator.tracer_answers import PARTS, launch_from
from campaigns.evaluator.wire import Reply, ReplyStatus

LAUNCH = KernelLaunch(2, (16, 32, 1), (128, 1, 1), 64, 49152, 25)


def kernel(dur, grid, **args):
    known = {"grid": grid, "block": [128, 1, 1], "registers per thread": 64, **args}
    return {"cat": "kernel", "name": "k", "dur": dur, "args": known}


def trace(*events):
    return json.dumps({"traceEvents": list(events)})


def replies(launch):
    return [Reply(ReplyStatus.OK, n, *launch_part(launch, n)) for n in PARTS]


def test_it_reads_the_longest_kernel_of_a_call():
    found = read_launch(
        trace(
            {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "dur": 99, "args": {}},
            {"cat": "gpu_memset", "name": "Memset", "dur": 99, "args": {}},
            kernel(1.5, [4, 1, 1]),
            kernel(9, [16, 32, 1], **{"shared memory": 49152, "est. achieved occupancy %": 25}),
        )
    )
    assert found == LAUNCH


def test_it_reads_nothing_where_no_kernel_ran():
    assert read_launch(trace()) is None
    assert read_launch(trace({"cat": "kernel", "name": "k", "dur": 1, "args": {}})) is None
    with pytest.raises(ValueError, match="Expecting value"):
        read_launch("no trace")


@pytest.mark.parametrize("launch", [LAUNCH, replace(LAUNCH, occupancy_percent=None)])
def test_it_carries_a_launch_in_four_answers(launch):
    assert launch_from(replies(launch)) == launch


def test_it_says_that_there_is_none():
    assert [launch_part(None, n) for n in PARTS] == [(0, 0.0, 0.0)] * 4
    assert launch_from(replies(None)) is None


@pytest.mark.parametrize(
    ("part", "change"),
    [
        (0, {"a": 0}),
        (0, {"x": 101.0}),
        (0, {"x": float("nan")}),
        (1, {"a": -1}),
        (1, {"y": 0.0}),
        (1, {"x": 2.5}),
        (2, {"a": 2**40}),
        (2, {"x": float("inf")}),
        (3, {"a": -64}),
    ],
)
def test_it_takes_no_launch_that_can_not_be(part, change):
    said = replies(LAUNCH)
    said[part] = replace(said[part], **change)
    assert launch_from(said) is None


def test_it_keeps_a_launch_in_a_report_and_reads_reports_without_one():
    timing = Timing((1.0,), 8, 1, Timer.GRAPH, launch=LAUNCH)
    case = CaseReport("a", True, 1, candidate=timing)
    report = Report("j", Outcome.PASSED, Phase.DONE, "", (case,))
    assert load_report(dump(report)) == report
    older = json.loads(dump(report))
    del older["cases"][0]["candidate"]["launch"]
    assert load_report(json.dumps(older)).cases[0].candidate.launch is None
