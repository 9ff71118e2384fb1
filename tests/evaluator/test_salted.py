"""Inputs that setup would hardly draw are also among the calls that are timed."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract import Outcome
from tests.evaluator.small import source

# Right for what setup draws, and for everything as long as calls are as few as a check makes.
CAREFUL = "static int calls = 0;\n"
BODY = """
  bool careful = ++calls < 40;
  for (int i = 0; i < N; ++i) y[i] = careful || x[i] < 50 || x[i] > 2000 ? 2 * x[i] : 0;
"""


def test_it_catches_who_is_careful_only_while_it_is_checked(judge):
    report = judge(source(BODY, CAREFUL))
    assert report.outcome is Outcome.WRONG_RESULT
    assert "timed call" in report.reason
    assert "128 times larger" in report.reason


def test_it_does_not_hold_that_against_an_incumbent(judge):
    report = judge(source(), incumbent=source(BODY, CAREFUL))
    assert report.outcome is Outcome.PASSED


@pytest.mark.parametrize("aligned", [0, 1])
def test_it_catches_who_is_careful_only_at_some_addresses(judge, aligned):
    body = f"""
      bool careful = ((unsigned long)x % 256 == 0) == {aligned};
      for (int i = 0; i < N; ++i) y[i] = careful || x[i] < 50 || x[i] > 2000 ? 2 * x[i] : 0;
    """
    report = judge(source(body), timed=False)
    assert report.outcome is Outcome.WRONG_RESULT
    assert "128 times larger" in report.reason
