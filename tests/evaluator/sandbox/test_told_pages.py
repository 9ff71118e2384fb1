"""The judge sees which pages a runner has touched, whoever it runs as."""

from __future__ import annotations

import platform
from dataclasses import replace

import pytest

from campaigns.benchmarks.trick import TRICKS
from campaigns.evaluator.contract import Outcome, Source
from tests.evaluator import small
from tests.evaluator.sandbox.conftest import USERS

TRICK = TRICKS / "cheats" / "cpp" / "reads_the_order_of_calls.cpp"
# Long enough a burst to be stopped in the middle.
PROTOCOL = replace(small.QUICK, burst_ms=8, max_slots=1024)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="it reads registers by their names")
@pytest.mark.parametrize("user", USERS)
def test_it_sees_calls_that_are_begun_before_their_turn(run, user):
    report = run(user, Source("candidate.cpp", TRICK.read_text()), protocol=PROTOCOL)
    assert report.outcome is Outcome.CHEATED, (report.reason, report.notes)
    assert "before its turn what the next call" in report.reason


@pytest.mark.parametrize("user", USERS)
def test_it_says_nothing_of_an_honest_kernel(run, user):
    report = run(user, small.source(small.LOOP), protocol=PROTOCOL)
    assert report.outcome is Outcome.PASSED, report.reason
    assert not [note for note in report.notes if "ahead of their turn" in note]
