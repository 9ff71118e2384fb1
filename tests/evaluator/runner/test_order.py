"""Calls of a burst are made in an order of the judge's, and looked at in that order."""

from __future__ import annotations

from campaigns.evaluator.builds.host_plan import HostPlan
from campaigns.evaluator.contract import Outcome
from tests.evaluator.small import source

# Tells on its output which call of the burst it was, by the address that the last one had.
STEPS = """
#include <cstdio>
static const float* last;
static int steps, jumps;
"""
COUNTED = """
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
  if (last && x > last && x - last < 4 * N) ++steps;
  else if (last) ++jumps;
  last = x;
  if ((steps + jumps) % 50 == 0) fprintf(stderr, "steps %d jumps %d\\n", steps, jumps);
"""


def test_it_calls_in_the_order_it_was_told():
    made: list[int] = []
    plan = HostPlan([lambda k=k: made.append(k) for k in range(4)])
    plan.order([2, 0, 3])
    plan.run(3)
    assert made == [2, 0, 3]


def test_no_call_can_tell_where_the_next_one_will_be(judge):
    report = judge(source(COUNTED, STEPS))
    assert report.outcome is Outcome.PASSED
    words = [line.split() for line in report.runner_log.splitlines() if "jumps" in line][-1]
    assert int(words[3]) > int(words[1])
