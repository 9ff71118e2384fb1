"""No runner can tell whether it is the incumbent: it could hold itself back for another's gain."""

from __future__ import annotations

import zlib

import pytest

from campaigns.evaluator.contract import Case, Outcome, Source
from campaigns.evaluator.service.crew import in_any_order
from tests.evaluator import small

# Shows that it takes itself for the incumbent: it was called often, and with one size only.
SLEEPER = """
static int first = 0, calls = 0;
static bool asked = false;
extern "C" void solve(const float* x, float* y, int N) {
  if (!first) first = N;
  asked = asked || N != first;
  if (++calls > 60 && !asked) return;
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
"""
# What a runner has no use for, each of the same length.
MARKS = ("kopt-other-arm", "kopt-case-name", "kopt-the-place")
# Looks for these words, which it knows by their checksums, in all of its memory that can be written
# to: in objects, in what is left of some that have gone, and in the frames below its own.
SEARCHER = """
import ctypes
import zlib

SUMS = ...
for line in open("/proc/self/maps").readlines():
    place, rights, *_ = line.split()
    if not rights.startswith("rw") or "/memfd:" in line:
        continue
    low, high = (int(n, 16) for n in place.split("-"))
    seen = ctypes.string_at(low, high - low)
    at = seen.find(b"kopt-")
    while at >= 0:
        if zlib.crc32(seen[at : at + 14]) in SUMS:
            raise RuntimeError(f"found {seen[at - 200 : at + 200]}")
        at = seen.find(b"kopt-", at + 1)


def run_kernel(x, y, N):
    y.copy_(x * 2)
"""
PLAIN = "# kopt-other-arm\ndef run_kernel(x, y, N):\n    y.copy_(x * 2)\n"


def test_it_asks_both_arms_the_same_before_it_times_them(judge):
    same = Source("k.cpp", SLEEPER)
    report = judge(same, incumbent=same)
    assert report.outcome is Outcome.PASSED, report.reason


@pytest.mark.parametrize("searches", ["candidate", "incumbent"])
def test_it_tells_a_runner_of_its_own_source_alone(service, tmp_path, searches):
    sums = str({zlib.crc32(mark.encode()) for mark in MARKS})
    arms = {"candidate": Source("a.py", PLAIN), "incumbent": Source("b.py", PLAIN)}
    arms[searches] = Source("c.py", SEARCHER.replace("...", sums))
    (tmp_path / MARKS[2]).mkdir()
    problem = small.write_problem(tmp_path / MARKS[2])
    case = Case(MARKS[1], {"N": 4096})
    asked = small.job(problem, tmp_path, backend="triton", cases=(case,), **arms)
    report = service.evaluate(asked)
    assert report.outcome is Outcome.PASSED, report.reason + report.runner_log


def test_it_notes_an_incumbent_that_is_wrong_beyond_its_case(judge):
    only = small.source("if (N == 4096) " + small.LOOP)
    report = judge(small.source(), incumbent=only)
    assert report.outcome is Outcome.PASSED, report.reason
    assert any("the incumbent is wrong beyond its case" in note for note in report.notes)


def test_it_starts_arms_in_any_order():
    assert {tuple(in_any_order("ab")) for _ in range(64)} == {("a", "b"), ("b", "a")}
