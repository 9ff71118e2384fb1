"""OpenMP pragmas that the compiler ignores are told, with the flag that they need."""

from __future__ import annotations

import pytest

from campaigns.evaluator.backends.cpp import openmp_note
from campaigns.evaluator.contract import Outcome, Source
from tests.evaluator import small

LOOP = f"#pragma omp parallel for\n  {small.LOOP}"


def test_it_says_that_a_kernel_runs_on_one_thread(judge):
    report = judge(small.source(f"\n{LOOP}"), timed=False)
    assert report.outcome is Outcome.PASSED, report.reason
    assert [note for note in report.notes if "omp" in note] == [
        "candidate.cpp:3: '#pragma omp' is ignored, so the kernel runs on one thread: it was built "
        "without -fopenmp; add the flag to use more"
    ]


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (LOOP, ("-fopenmp",)),
        (LOOP, ("-O3", "-fopenmp=libgomp")),
        ("#pragma omp simd\n", ()),
        ("#pragma omp declare simd\n", ()),
        ("// with #pragma omp parallel for it would be faster\n", ()),
    ],
    ids=["flag", "flag with a library", "simd", "declare simd", "comment"],
)
def test_it_says_nothing_where_no_thread_is_lost(text, flags):
    assert openmp_note(Source("k.cpp", text, flags)) == ""
