"""What is said of a kernel's machine code."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.template.loader import render_to_string

from campaigns.evaluator.contract import Function, KernelLaunch, MachineCode
from campaigns.evaluator.machine_code.kinds import OpKind
from campaigns.rules.verdict.report_words import (
    SAID,
    UNSAID,
    code_words,
    function_words,
    launch_words,
)

SOLVE = Function("solve", 1312, {"vector_256": 24, "call": 3, "other": 9}, {"expf": 2, "logf": 1})


@pytest.mark.parametrize(
    ("function", "words"),
    [
        pytest.param(
            SOLVE,
            "1,312 instructions: vectors of 256 bits 24, calls 3 (expf, logf)",
            id="on a CPU",
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


@pytest.mark.parametrize(("percent", "more"), [(None, ""), (50, ", 50 % occupancy (estimate)")])
def test_a_launch_is_told_by_what_a_block_takes(percent, more):
    launch = KernelLaunch(1, (512, 1, 1), (128, 1, 1), 255, 4096, percent)
    words = "255 registers a thread, 4,096 B shared memory a block"
    assert launch_words(launch) == f"{words}{more}"
