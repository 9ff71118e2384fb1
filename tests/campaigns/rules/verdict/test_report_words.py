"""A copy that a plain caller would not pay for is told beside the times that hold it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.template.loader import render_to_string

from campaigns.evaluator.contract import (
    CaseReport,
    CopiedOutput,
    Function,
    KernelLaunch,
    MachineCode,
    Outcome,
    Phase,
    Report,
    Timer,
    Timing,
)
from campaigns.evaluator.machine_code.kinds import OpKind
from campaigns.rules.verdict.report_words import (
    SAID,
    UNSAID,
    code_words,
    copied_by,
    copied_words,
    function_words,
    launch_words,
    notes_of,
)


def timing(*copied: tuple[str, int]) -> Timing:
    return Timing((9.0,), 64, 8, Timer.GRAPH, copied=tuple(CopiedOutput(*one) for one in copied))


def report(*cases: tuple[Timing, Timing | None]) -> Report:
    rows = tuple(
        CaseReport(f"case{n}", True, 1, candidate=candidate, incumbent=incumbent)
        for n, (candidate, incumbent) in enumerate(cases)
    )
    return Report("1", Outcome.PASSED, Phase.DONE, "fine", rows, notes=("a",))


def test_nothing_is_said_where_nothing_is_copied():
    found = report((timing(), timing()))
    assert (copied_by(found), copied_words(found), notes_of(found)) == ((), "", ("a",))


def test_one_that_copies_is_told_with_the_size():
    found = report((timing(("y", 16_800_000)), None), (timing(("y", 16_800_000)), None))
    assert copied_words(found) == (
        "Each timed call copies `y` (16.8 MB) into its place; a caller that takes the returned "
        "tensor would not pay for that."
    )


def test_the_largest_size_counts_and_the_cases_are_named_where_not_all_copy():
    found = report(
        (timing(("y", 4000), ("z", 8)), None), (timing(("y", 2000)), None), (timing(), None)
    )
    assert copied_by(found) == (CopiedOutput("z", 8), CopiedOutput("y", 4000))
    words = copied_words(found)
    assert words.startswith("In case0, case1 each timed call copies ")
    assert "`y` (up to 4.00 kB)" in words
    assert "`z` (8.00 B)" in words


def test_a_copy_of_the_incumbent_is_told_as_its_own():
    found = report((timing(), timing(("y", 4000))))
    assert notes_of(found) == (
        "a",
        "Each timed call of the incumbent copies `y` (4.00 kB) into its place; a caller that "
        "takes the returned tensor would not pay for that.",
    )


SOLVE = Function("solve", 1312, {"vector_256": 24, "call": 3, "other": 9}, {"expf": 2, "logf": 1})


@pytest.mark.parametrize(
    ("function", "words"),
    [
        pytest.param(
            SOLVE, "1,312 instructions: vectors of 256 bits 24, calls 3 (expf, logf)", id="on a CPU"
        ),
        pytest.param(
            Function("k", 90, {"global_load": 4, "matrix": 8, "float32": 2}, {}, 16),
            "90 instructions: matrix products 8, float32 arithmetic 2, "
            "loads from global memory 4 (at most 16 bytes a thread)",
            id="on a GPU",
        ),
        pytest.param(
            Function("f", 2, {"other": 2}), "2 instructions: none that compute", id="none"
        ),
        pytest.param(
            Function("f", 1, {"sparse_matrix": 1}),
            "1 instruction: sparse matrix 1",
            id="a kind of another version",
        ),
    ],
)
def test_r48_instructions_are_told_by_what_they_do(function, words):
    assert function_words(function) == words


def test_every_kind_has_words():
    assert set(SAID) | UNSAID == {kind.value for kind in OpKind}


def test_the_longest_functions_are_told_first_and_the_others_counted():
    small = [Function(f"f{n}", n, {"integer": n}) for n in (1, 2, 3)]
    words = code_words(MachineCode("objdump, native", (*small, SOLVE)))
    assert words.startswith("solve: 1,312 instructions")
    assert "; f3: 3 instructions: integers 3; and 2 more" in words


def test_it_says_why_nothing_was_read():
    words = code_words(MachineCode("objdump, native", note="objdump is not on this host"))
    assert words == "its instructions were not read: objdump is not on this host"


def test_a_table_has_every_function():
    code = MachineCode("cuobjdump, sm_90a", (SOLVE, replace(SOLVE, name="<b>spill</b>")))
    table = render_to_string("campaigns/partials/machine_code.html", {"code": code})
    assert table.count(function_words(SOLVE)) == 2
    assert "&lt;b&gt;spill&lt;/b&gt;" in table


@pytest.mark.parametrize(
    ("percent", "more"), [(None, ""), (50, ", 50 % occupancy that this grid can reach (estimate)")]
)
def test_a_launch_is_told_by_what_a_block_takes(percent, more):
    launch = KernelLaunch(1, (512, 1, 1), (128, 1, 1), 255, 4096, percent)
    words = "255 registers a thread, 4,096 B shared memory a block"
    assert launch_words(launch) == f"{words}{more}, by the driver's tracer"
